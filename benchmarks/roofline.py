"""What a sweep could cost at least on this machine, and what share of that it reaches.

python benchmarks/roofline.py

No pass over n points that scores every point against k centres can be quicker than reading the
points once, nor than the 2ndk multiplications and additions of the scores. Both speeds are measured
in the same run, on the same threads: reading by a plain compiled loop over an array as large as the
points, arithmetic by the quickest of BLAS's products of square matrices (the machine's best) and of
these very shapes. The floor is the longer of the two times. A sweep that need not score every point
can go below it. What lies above the floor is ours to win: labels and bounds that are written,
linked points that are visited in order, threads that are started.

The sampler visits one point after the other, so its floor is that of one thread: the quadratic
forms, and a logarithm and an exponential for each point and cluster, at the speed at which plain
compiled loops make them. For counts a plain loop takes the logarithm of a gamma function for each
feature, too; who multiplies instead can go below that. Where the time goes is told apart by sizes:
forms grow with the square of the features, choices with the clusters, and a point's own cluster
takes the same time among few clusters and among many.

A whole fit of DP-means has the floor of a sweep times its sweeps; what it takes before any, to
check the data and lay them out, is what a fit of a single sweep takes.
"""

import time
import warnings
from math import exp, lgamma, log

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import dp_means
import gibbs
from maylink.kernels.compile import compiled
from maylink.problem import Problem
from maylink.runtime.threads import share, thread_count
from sweep import LIMITS, course, full, prepare
from timing import PAUSE, Lloyd, blobs, markdown

ROUNDS = 3  # of everything, in turns
TIMES = 5  # that a call is made in a row, as sweeps are: the best counts
SIDE = 1536  # of the square matrices
FUNCTIONS = 1_000_000  # values whose functions are timed
CPU = time.process_time  # the clock of what is on one thread, which others do not disturb as much


@compiled()
def read(values, low, high):
    """Add up whole numbers that lie where the values do: eight sums, so that nothing waits."""
    total = np.zeros(8, np.int64)
    for i in range(low, high - 7, 8):
        for lane in range(8):
            total[lane] += values[i + lane]
    return total.sum()


@compiled()
def logarithms(values):
    total = 0.0
    for i in range(values.size):
        total += log(values[i])
    return total


@compiled()
def exponentials(values):
    total = 0.0
    for i in range(values.size):
        total += exp(-values[i])
    return total


@compiled()
def log_gammas(values):
    total = 0.0
    for i in range(values.size):
        total += lgamma(values[i])
    return total


def best(work, clock=time.perf_counter):
    """The least seconds of several calls in a row."""
    time.sleep(PAUSE)
    least = np.inf
    for _ in range(TIMES):
        begin = clock()
        work()
        least = min(least, clock() - begin)
    return least


def read_seconds(X):
    """Seconds in which all threads read an array once."""
    values = X.reshape(-1).view(np.int64)
    return best(lambda: share(lambda low, high: read(values, low, high), values.size, 10**6))


def product_seconds(X, start):
    """Seconds of one product of BLAS that scores all points."""
    out = np.empty((len(X), len(start)), X.dtype)
    return best(lambda: np.matmul(X, start.T, out=out))


def square_rate(dtype):
    """Multiplications and additions a second, of square matrices."""
    A = np.ones((SIDE, SIDE), dtype)
    out = np.empty_like(A)
    return 2.0 * SIDE**3 / best(lambda: np.matmul(A, A, out=out))


def table():
    return "\n".join((sweeps(), descents(), sampler(), parts_of_a_sweep()))


def sweeps():
    rows = []
    for (n, d, k), limit in LIMITS.items():
        X, links, start = blobs(n, d, k)
        ready = prepare(X, links, start, rate=1.0)
        read_seconds(X[:1000])
        theirs, reads, products, rates, ours, whole = Lloyd(X, start), [], [], [], [], []
        for _ in range(ROUNDS):  # interleaved
            theirs.measure()
            reads.append(read_seconds(X))
            products.append(product_seconds(X, start))
            rates.append(square_rate(X.dtype))
            ours.append(course(*ready))
            whole.append(full(*ready))
        work = 2.0 * n * d * k
        rate = max(max(rates), work / min(products))
        floor = max(min(reads), work / rate)
        rows.append((
            f"{n:,}", d, k, f"{X.nbytes / min(reads) / 1e9:.0f}",
            f"{work / min(products) / 1e9:.0f}", f"{rate / 1e9:.0f}",
            f"{1000 * min(reads):.2f}", f"{1000 * work / rate:.2f}",
            f"{1000 * min(whole):.2f}", f"{floor / min(whole):.0%}", f"{1000 * min(ours):.2f}",
            f"{floor / theirs.seconds:.2f}", f"{min(ours) / theirs.seconds:.2f}", limit,
        ))  # fmt: skip
    columns = (
        "n", "d", "k", "read, GB/s", "BLAS, these shapes, GFLOP/s", "best, GFLOP/s",
        "reading, ms", "arithmetic, ms", "every point scored, ms", "the floor's share",
        "sweep, ms", "floor in KMeans iterations", "sweep in these", "asked",
    )  # fmt: skip
    title = f"The floor of a sweep, float32, 10% linked, {thread_count(None)} threads"
    return markdown(title, columns, rows)


def descents():
    """Whole fits of DP-means beside pdc-dp-means, in seconds of the processor, and their floor."""
    rows = []
    for n, d, what, X, penalty in dp_means.data():
        found = dp_means.compare(X, penalty)
        start = X[np.random.default_rng(0).choice(n, found.n_clusters, replace=False)]
        values, scores = X.reshape(-1).view(np.int64), np.empty((n, len(start)), X.dtype)
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            floor = max(
                best(lambda: read(values, 0, values.size), CPU),  # noqa: B023
                best(lambda: np.matmul(X, start.T, out=scores), CPU),  # noqa: B023
            )
            single, whole = (
                best(lambda: dp_means.ours(penalty, sweeps, 1).fit(X), CPU)  # noqa: B023
                for sweeps in (1, found.enough or found.n_sweeps)
            )
        rows.append((
            f"{n:,}", d, what, found.n_clusters, found.enough or "never", f"{1000 * floor:.1f}",
            f"{1000 * floor * (found.enough or found.n_sweeps):.1f}", f"{1000 * single:.1f}",
            f"{1000 * whole:.1f}", found.why_not or f"{1000 * found.processor:.1f}",
        ))  # fmt: skip
    columns = (
        "n", "d", "clusters", "k", "sweeps until not worse", "floor of one, ms", "of all, ms",
        "a fit of one sweep, ms", "DPMeans until not worse, ms", "pdc-dp-means, ms",
    )  # fmt: skip
    title = "The floor of DP-means, one run, float32, one thread, milliseconds of the processor"
    return markdown(title, columns, rows)


def parts_of_a_sweep():
    """Where a sweep of full Gaussians goes: the seconds of a point, by clusters and features."""
    rows = []
    with threadpool_limits(1):
        for n, d, most in gibbs.SIZES:
            sizes, times = sorted({most, most // 2, 4 * most}), []
            for k in sizes:
                X, y = gibbs.data(n, d, k, 9.0)  # so far apart that no label changes
                problem = Problem.build(X, None, "full-gaussian")
                times.append(min(gibbs.sweep(problem, y, clock=CPU)[0] for _ in range(ROUNDS)) / n)
            each, own = np.polyfit(sizes, times, 1, w=1.0 / np.array(times))
            whole = own + most * each
            rows.append((
                f"{n:,}", d, most, f"{1e9 * whole:.0f}", f"{own / whole:.0%}",
                f"{most * each / whole:.0%}", f"{1e9 * each:.1f}",
            ))  # fmt: skip
    columns = (
        "n", "d", "clusters", "a point, ns", "of which its own cluster", "all clusters",
        "one of them, ns",
    )  # fmt: skip
    return markdown("Where the sampler's time goes, full Gaussian, one thread", columns, rows)


def sampler():
    rows = []
    n, d, k = gibbs.SIZES[0]
    values = np.random.default_rng(0).uniform(1.0, 30.0, FUNCTIONS)
    for function in (logarithms, exponentials, log_gammas):
        function(values[:10])
    with threadpool_limits(1):
        for name in ("full-gaussian", "poisson"):
            if name == "poisson":
                rng = np.random.default_rng(0)
                y = rng.integers(0, k, n)
                X = rng.poisson(rng.gamma(1.0, 3.0, (k, d))[y]).astype(float)
            else:
                X, y = gibbs.data(n, d, k, 3.0)
            problem = Problem.build(X, None, name)
            ours = min(gibbs.sweep(problem, y)[0] for _ in range(3))
            each = [
                best(lambda: f(values)) / FUNCTIONS  # noqa: B023
                for f in (logarithms, exponentials, log_gammas)
            ]
            rate = max(square_rate(np.float64) for _ in range(ROUNDS))
            forms = n * k * d * (d + 1) / rate if name == "full-gaussian" else 0.0
            plain = n * k * (each[0] + each[1]) + forms
            if name == "poisson":
                plain = n * k * (each[1] + d * each[2])
            rows.append((
                name, f"{n:,}", d, k, *(f"{1e9 * one:.1f}" for one in each), f"{rate / 1e9:.0f}",
                f"{1000 * plain:.1f}", f"{1000 * ours:.1f}", f"{plain / ours:.0%}",
            ))  # fmt: skip
    columns = (
        "family", "n", "d", "clusters", "log, ns", "exp, ns", "log Γ, ns", "best, GFLOP/s",
        "plain loops, ms", "sweep, ms", "plain loops in sweeps",
    )  # fmt: skip
    return markdown("The collapsed sampler beside plain loops, one thread", columns, rows)


if __name__ == "__main__":
    print(table())
