"""One sweep of RDP-means against one Lloyd iteration of scikit-learn's KMeans, same start."""

import time
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from maylink import Links
from maylink.engines.cpu import CpuEngine, thread_count
from maylink.problem import Problem
from maylink.solvers import rdpmeans

SIZES = [(100_000, 16, 20), (100_000, 64, 100), (1_000_000, 32, 50)]
ROUNDS, SWEEPS = 3, 5


def blobs(n, d, k, dtype):
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((k, d))
    y = rng.integers(0, k, n)
    X = (centers[y] + rng.standard_normal((n, d))).astype(dtype)
    linked = rng.choice(n, n // 10, replace=False).reshape(-1, 2)
    same = y[linked[:, 0]] == y[linked[:, 1]]
    links = Links.from_pairs(may=linked[same], may_not=linked[~same], n=n)
    return X, links, X[rng.choice(n, k, replace=False)]


def lloyd(X, start, length):
    """Seconds and iterations of a fit of this length."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KMeans(len(start), init=start, n_init=1, max_iter=length, tol=0.0)
        begin = time.perf_counter()
        model.fit(X)
        return time.perf_counter() - begin, model.n_iter_


def prepare(X, links, start):
    problem = Problem.build(X, links)
    engine = CpuEngine(problem.X, problem.family)
    settings = rdpmeans.Settings(penalty=1e9, rate=1.0)
    centers = problem.family.coordinates(start.astype(np.float64))
    state = rdpmeans.init(problem, engine, settings, np.arange(len(X)), centers)
    return problem, engine, settings, rdpmeans.step(problem, engine, settings, state)


def sweep(problem, engine, settings, state):
    begin = time.perf_counter()
    for _ in range(SWEEPS):
        state = rdpmeans.step(problem, engine, settings, state)
    return (time.perf_counter() - begin) / SWEEPS


def table():
    rows = []
    for dtype in (np.float32, np.float64):
        for n, d, k in SIZES:
            X, links, start = blobs(n, d, k, dtype)
            ready = prepare(X, links, start)
            short, long, ours = [], [], []
            for _ in range(ROUNDS):  # interleaved
                short.append(lloyd(X, start, 1))
                ours.append(sweep(*ready))
                long.append(lloyd(X, start, 1 + 4 * SWEEPS))
            # A long fit less a short one leaves the iterations alone.
            (long_time, iterations), (short_time, _) = min(long), min(short)
            theirs = (long_time - short_time) / (iterations - 1)
            ratio = min(ours) / theirs
            rows.append(
                f"| {dtype.__name__} | {n:,} | {d} | {k} | {1000 * theirs:.0f} "
                f"| {1000 * min(ours):.0f} | {ratio:.2f}{' (lost)' * (ratio > 1)} |\n"
            )
    return (
        f"## One sweep, 10% of the points linked, {thread_count(None)} threads\n\n"
        "| type | n | d | k | KMeans iteration, ms | RDP-means sweep, ms | ratio |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n" + "".join(rows)
    )
