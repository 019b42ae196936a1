"""Whole fits with nothing set, the choice included, beside KMeans(n_init=1) that is told k.

python benchmarks/whole_fits.py                     all rows
python benchmarks/whole_fits.py --rows 100000       some of them

10% of the points are linked, all links right. Fits of all methods take turns, in one process that
has its libraries and compiled loops before the clock starts; the best of three counts.
"""

import argparse
import sys
import warnings

import numpy as np
from sklearn.cluster import KMeans

import maylink
from maylink.metrics import adjusted_rand
from maylink.runtime.threads import thread_count
from timing import blobs, markdown, seconds, truth, verdict

ALL = ("RDPMeans", "TVClust")
SIZES = {  # n: d, k, what is fitted
    100_000: (16, 20, ALL),
    200_000: (32, 50, ALL),
    1_000_000: (32, 50, ALL[:1]),
}
LIMITS = {("RDPMeans", 100_000): 3.0, ("RDPMeans", 1_000_000): 1.0}
LIMITS |= {("TVClust", n): 8.0 for n in SIZES}
APART = {1.0: "overlapping", 2.0: "clear"}
REPEATS = 3


def table(rows=tuple(SIZES), apart=tuple(APART)):
    maylink.warmup()
    lines = [line for n in rows for far in apart for line in measure(n, far)]
    columns = (
        "n", "d", "k", "clusters", "method", "k found", "ARI", "seconds", "in fits of KMeans",
        "asked",
    )  # fmt: skip
    title = f"Whole fits, 10% linked, float32, {thread_count(None)} threads"
    return markdown(title, columns, lines)


def measure(n, apart):
    """One line for each method on one size of data."""
    d, k, methods = SIZES[n]
    X, links, _ = blobs(n, d, k, np.float32, apart)
    y = truth(n, d, k)
    models = {
        "KMeans": lambda: KMeans(k, n_init=1, random_state=0).fit(X),
        "RDPMeans": lambda: maylink.RDPMeans(random_state=0).fit(X, links=links),
        "TVClust": lambda: maylink.TVClust(random_state=0).fit(X, links=links),
    }
    times, labels = {name: [] for name in ("KMeans", *methods)}, {}
    for _ in range(REPEATS):  # in turns, so that all have the same luck
        for name, so_far in times.items():
            model, passed = fitted(models[name])
            so_far.append(passed)
            print(f"whole_fits: {n:,}, {name}, {passed:.2f} s", file=sys.stderr, flush=True)
            labels[name] = model.labels_
    unit = min(times["KMeans"])
    for name, so_far in times.items():
        ratio, limit = min(so_far) / unit, LIMITS.get((name, n))
        yield (
            f"{n:,}", d, k, APART[apart], name, len(np.unique(labels[name])),
            f"{adjusted_rand(y, labels[name]):.3f}", f"{min(so_far):.2f}",
            f"{ratio:.1f}" if limit is None else verdict(ratio, limit), limit or "",
        )  # fmt: skip


def fitted(make):
    """Return a model and how long its fit took."""
    kept = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        passed = seconds(lambda: kept.append(make()))
    return kept[0], passed


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", type=int, choices=SIZES, default=list(SIZES))
    parser.add_argument("--apart", nargs="+", type=float, choices=APART, default=list(APART))
    return parser.parse_args()


if __name__ == "__main__":
    chosen = options()
    print(table(chosen.rows, chosen.apart))
