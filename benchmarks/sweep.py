"""One sweep of RDP-means against one Lloyd iteration of scikit-learn's KMeans, same start.

Both are averages over 20 rounds that follow the first one. A sweep is also timed without what the
engine remembers from the sweep before, so that every point is scored in full, and when nothing
moves any more.
"""

import time

import numpy as np

from maylink.engines.cpu import CpuEngine
from maylink.problem import Problem
from maylink.runtime.threads import thread_count
from maylink.solvers.rdpmeans import RDPMeansSettings, RDPMeansSolver
from timing import PAUSE, Lloyd, blobs, markdown, verdict

LIMITS = {
    (100_000, 64, 100): 0.45,
    (1_000_000, 32, 50): 0.45,
    (100_000, 16, 20): 0.6,
    (200_000, 384, 100): 0.6,
}
ROUNDS, SWEEPS = 5, 20


def prepare(X, links, start, **settings):
    problem = Problem.build(X, links)
    engine = CpuEngine(problem.X, problem.family, links=problem.links)
    settings = RDPMeansSettings(
        penalty=4.0 * engine.reach,  # nothing opens
        keep="objective",  # no sweep judges its partition
        **settings,
    )
    solver = RDPMeansSolver(problem, engine, settings)
    centers = problem.family.coordinates(start.astype(np.float64))
    return solver, solver.step(solver.init(np.arange(len(X)), centers))


def course(solver, state, length=SWEEPS):
    """Mean seconds of a sweep while the centres find their places."""
    time.sleep(PAUSE)
    state = solver.step(state)
    begin = time.perf_counter()
    for _ in range(length):
        state = solver.step(state)
    return (time.perf_counter() - begin) / length


def full(solver, state):
    """Seconds of a sweep that knows nothing from before, when labels have nearly settled."""
    for _ in range(5):
        state = solver.step(state)
    time.sleep(PAUSE)
    best = np.inf
    for _ in range(5):
        solver.engine.sweeper.forget()
        begin = time.perf_counter()
        solver.step(state)
        best = min(best, time.perf_counter() - begin)
    return best


def still(X, links, start):
    """Seconds of a sweep in which nothing moves, while link weights grow."""
    solver, state = prepare(X, links, start, rate=2.0)
    while state.n_still < 3 and state.n_sweeps < 1000:
        state = solver.step(state)
    best = np.inf
    for _ in range(20):
        begin = time.perf_counter()
        state = solver.step(state)
        best = min(best, time.perf_counter() - begin)
        if state.last.n_changed:
            return np.nan
    return best


def table():
    rows = []
    for dtype in (np.float32, np.float64):
        for (n, d, k), limit in LIMITS.items():
            if dtype is np.float64 and n > 100_000:
                continue
            X, links, start = blobs(n, d, k, dtype)
            ready = prepare(X, links, start, rate=1.0)
            theirs, ours, whole = Lloyd(X, start), [], []
            for _ in range(ROUNDS):  # interleaved
                theirs.measure()
                ours.append(course(*ready))
                whole.append(full(*ready))
            unit = theirs.seconds
            rows.append(
                (
                    dtype.__name__,
                    f"{n:,}",
                    d,
                    k,
                    f"{1000 * unit:.1f}",
                    verdict(min(ours) / unit, limit if dtype is np.float32 else 1.0),
                    limit if dtype is np.float32 else "",
                    verdict(min(whole) / unit, 1.0),
                    verdict(still(X, links, start) / unit, 0.05),
                )
            )
    columns = (
        "type", "n", "d", "k", "KMeans iteration, ms", "sweep", "asked", "every point scored",
        "nothing moves (0.05 asked)",
    )  # fmt: skip
    title = f"A sweep in KMeans iterations, 10% of the points linked, {thread_count(None)} threads"
    return markdown(title, columns, rows)
