"""What the benchmarks share: data, fair timing, tables."""

import contextlib
import resource
import time
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from maylink import Links

PAUSE = 0.2  # seconds between two sides: libraries keep threads spinning for a while


def blobs(n, d, k, dtype=np.float32, apart=1.0, linked=0.1):
    """k Gaussian blobs, right links between some points, and k of the points to start from."""
    rng = np.random.default_rng(0)
    centers = apart * rng.standard_normal((k, d))
    y = rng.integers(0, k, n)
    X = np.empty((n, d), dtype)
    for low in range(0, n, 100_000):
        part = slice(low, low + 100_000)
        X[part] = centers[y[part]] + rng.standard_normal((len(y[part]), d))
    pairs = rng.choice(n, int(linked * n) // 2 * 2, replace=False).reshape(-1, 2)
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    links = Links.from_pairs(may=pairs[same], may_not=pairs[~same], n=n)
    return X, links, X[rng.choice(n, k, replace=False)]


def truth(n, d, k):
    """The blob of each point: what :func:`blobs` draws first, after the centres."""
    rng = np.random.default_rng(0)
    rng.standard_normal((k, d))
    return rng.integers(0, k, n)


def seconds(work, clock=time.perf_counter):
    """How long a call takes."""
    time.sleep(PAUSE)
    begin = clock()
    work()
    return clock() - begin


class Lloyd:
    """Seconds of one Lloyd iteration of scikit-learn: the best long fit less the best short one.

    The best of the differences would be too low: whatever disturbs a short fit shortens them.
    """

    def __init__(self, X, start, length=20):
        self.X, self.start, self.lengths = X, start, (1, 1 + length)
        self.best = [(np.inf, 0), (np.inf, 0)]

    def measure(self):
        """Make one more short and one more long fit."""
        for at, length in enumerate(self.lengths):
            model = KMeans(len(self.start), init=self.start, n_init=1, max_iter=length, tol=0.0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                time_taken = seconds(lambda: model.fit(self.X))  # noqa: B023
            self.best[at] = min(self.best[at], (time_taken, model.n_iter_))
        return self

    @property
    def seconds(self):
        (short, few), (long, many) = self.best
        return (long - short) / (many - few)


def exponent(sizes, times):
    """The power with which the times grow, by least squares on logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def verdict(value, limit):
    """A number with whether it keeps to its limit."""
    return f"{value:.2f}" + ("" if value <= limit else " (lost)")


def markdown(title, columns, rows):
    """A table."""
    lines = [f"## {title}", "", "| " + " | ".join(columns) + " |", "| --- " * len(columns) + "|"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def resident():
    """Bytes of this process in memory now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def highest():
    """Bytes of this process in memory at most so far."""
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def forget_highest():
    """Begin anew to look for the most memory, where the system allows it."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")
