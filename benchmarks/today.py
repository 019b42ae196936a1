"""Fits with nothing set, the choice of settings included, beside fits of others.

python benchmarks/today.py                                 all rows
python benchmarks/today.py --rows 500 2000 --limit 60      some of them, a minute a fit at most

Data are simulated embeddings. "asked" is what fits of ours may take, "(lost)" where they take more;
a line at the end names those that have a lower F than KMeans, which is told k. Every measurement is
a process of its own, which has its libraries and its compiled loops before the clock starts.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from maylink.datasets import make_embeddings, sample_links
from maylink.runtime.threads import thread_count
from timing import markdown

SIZES = {  # n: d, k, links
    500: (64, 8, 1_000),
    2_000: (384, 12, 4_000),
    20_000: (384, 30, 20_000),
    100_000: (64, 50, 100_000),
}
OURS = ("RDPMeans", "TVClust")
METHODS = ("KMeans", "HDBSCAN", "BayesianGaussianMixture", *OURS)
ASKED = {  # n: seconds beyond fits of KMeans, such fits, and the memory in units of X
    500: (0.5, 10, None),
    2_000: (20.0, 0, 10.0),
    20_000: (120.0, 0, None),
    100_000: (300.0, 0, None),
}
LIMIT = 300.0  # seconds that one fit may take
START = 60.0  # seconds that a process may take before and after its fit
REPEATS, SMALL = 3, 5_000  # of up to so many rows the best of several is taken
ACCURACY = 0.9
POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

CHILD = """
import json, sys, time, warnings
here, folder, method, k = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
sys.path.insert(0, here)
warnings.simplefilter("ignore")
import numpy as np
import maylink
from maylink.metrics import pair_f
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.mixture import BayesianGaussianMixture
from timing import forget_highest, highest, resident
X = np.load(folder + "/X.npy")
drawn = np.load(folder + "/links.npz")
links = maylink.Links(len(X), drawn["i"], drawn["j"], drawn["kind"])
models = {
    "KMeans": lambda: KMeans(k, n_init=10, random_state=0),
    "HDBSCAN": lambda: HDBSCAN(copy=True),
    "BayesianGaussianMixture": lambda: BayesianGaussianMixture(
        n_components=20, covariance_type="diag" if X.shape[1] > 100 else "full", random_state=0
    ),
    "RDPMeans": lambda: maylink.RDPMeans(random_state=0),
    "TVClust": lambda: maylink.TVClust(random_state=0),
}
ours = method in ("RDPMeans", "TVClust")
if ours:
    maylink.warmup()
else:
    models[method]().fit(X[:100])
before = resident()
forget_highest()
begin = time.perf_counter()
model = models[method]()
if ours:
    labels = model.fit(X, links=links).labels_
else:
    labels = model.fit_predict(X)
seconds = time.perf_counter() - begin
peak = highest() - before
noise = labels < 0
labels = np.where(noise, labels.max() + 1 + np.cumsum(noise), labels)
print(json.dumps({
    "seconds": seconds, "peak": peak, "F": pair_f(drawn["y"], labels),
    "clusters": len(np.unique(labels)),
}))
"""


def table(rows=tuple(SIZES), methods=METHODS, limit=LIMIT, dtype="float32", threads=None):
    threads = threads or thread_count(None)
    found = {n: measure_row(n, methods, limit, dtype, threads) for n in rows}
    lines = [
        line
        for n, (results, size) in found.items()
        for line in said_of(n, results, size, dtype, threads)
    ]
    columns = (
        "n", "d", "k", "links", "type", "threads", "method", "clusters", "F", "seconds",
        "in fits of KMeans", "peak beyond X, MB", "in units of X", "asked",
    )  # fmt: skip
    title = (
        "Fits with nothing set: TVClust and RDPMeans choose their settings and are not given k; "
        "KMeans(k, n_init=10), the mixture has 20 components"
    )
    return markdown(title, columns, lines) + lower_than_kmeans(found)


def measure_row(n, methods, limit, dtype, threads):
    """Return the result of each method on one size of data, and the size of X in bytes."""
    k = SIZES[n][1]
    with tempfile.TemporaryDirectory() as folder:
        size = write_data(Path(folder), n, dtype)
        results = {method: [] for method in methods}
        for _ in range(REPEATS if n <= SMALL else 1):  # in turns, so that all have the same luck
            for method, so_far in results.items():
                if not any("failure" in result for result in so_far):
                    so_far.append(measure(folder, method, k, limit, threads))
    return {method: best(each) for method, each in results.items()}, size


def said_of(n, results, size, dtype, threads):
    """One line for each method."""
    d, k, n_links = SIZES[n]
    unit = results.get("KMeans", {}).get("seconds")
    what = (f"{n:,}", d, k, f"{n_links:,}", dtype, threads)
    lines = []
    for method, one in results.items():
        goals = asked(n, one, unit, size) if method in OURS else ""
        lines.append((*what, method, *entries(one, unit, size), goals))
    return lines


def asked(n, result, unit, size):
    """What a fit of ours may take, and whether it takes more."""
    seconds, fits, memory = ASKED[n]
    goals = list[tuple[str, float, float]]()
    if not fits:
        goals.append((f"{seconds:g} s", result.get("seconds", np.inf), seconds))
    elif unit:
        most = fits * unit + seconds
        goals.append((f"{most:.2f} s", result.get("seconds", np.inf), most))
    if memory:
        goals.append((f"{memory:g} X", result.get("peak", np.inf) / size, memory))
    return ", ".join(name + ("" if value <= most else " (lost)") for name, value, most in goals)


def lower_than_kmeans(found):
    """Return a line about fits of ours that have a lower F than KMeans, which is told k."""
    lower = [
        f"{method} on {n:,} rows ({one['F']:.3f} for {results['KMeans']['F']:.3f})"
        for n, (results, _) in found.items()
        for method, one in results.items()
        if method in OURS and "F" in one and "F" in results.get("KMeans", {})
        if one["F"] < results["KMeans"]["F"]
    ]
    return f"\nLower F than KMeans: {', '.join(lower) or 'nowhere'}.\n"


def write_data(folder, n, dtype):
    """Draw data and links, write them to files; return the size of X in bytes."""
    d, k, n_links = SIZES[n]
    data = make_embeddings(n, d, k, rng=0)
    links = sample_links(data.y, 2.0 * n_links / n**2, ACCURACY, rng=0)
    X = data.X.astype(dtype)
    np.save(folder / "X.npy", X)
    np.savez(folder / "links.npz", i=links.i, j=links.j, kind=links.kind, y=data.y)
    return X.nbytes


def best(results):
    """The fastest of several, or the one that failed."""
    return min(results, key=lambda result: result.get("seconds", 0.0))


def measure(folder, method, k, limit, threads):
    """Seconds, peak of memory and F of one fit in a process of its own."""
    here = str(Path(__file__).parent)
    command = [sys.executable, "-c", CHILD, here, str(folder), method, str(k)]
    environment = os.environ | dict.fromkeys(POOLS, str(threads))
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=limit + START
        )
    except subprocess.TimeoutExpired:
        result = {"failure": f"over {limit:g} s"}
    else:
        if done.returncode:
            reasons = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
            result = {"failure": reasons[-1]}
        else:
            result = json.loads(done.stdout)
    if result.get("seconds", 0.0) > limit:
        result = {"failure": f"over {limit:g} s"}
    said = result.get("failure") or f"{result['seconds']:.2f} s"
    print(f"{Path(__file__).stem}: {method}, {said}", file=sys.stderr, flush=True)
    return result


def entries(result, unit, size):
    """What a line says of a result: clusters, F, seconds, ratio and memory."""
    if "failure" in result:
        return "", "", result["failure"], "", "", ""
    ratio = f"{result['seconds'] / unit:.1f}" if unit else ""
    return (
        result["clusters"], f"{result['F']:.3f}", f"{result['seconds']:.2f}", ratio,
        f"{result['peak'] / 1e6:.0f}", f"{result['peak'] / size:.2f}",
    )  # fmt: skip


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", type=int, choices=SIZES, default=list(SIZES))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds a fit may take")
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32")
    parser.add_argument("--threads", type=int, help="of a fit; all processors by default")
    return parser.parse_args()


if __name__ == "__main__":
    chosen = options()
    print(table(chosen.rows, chosen.methods, chosen.limit, chosen.dtype, chosen.threads))
