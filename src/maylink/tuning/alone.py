"""What the data alone say: the best fit without links, begun at several numbers of clusters.

Where clusters overlap, a partition scores lower than one cluster for all, though soft clusters are
more probable than one: no merging by exact scores begins there. So fits begin at what K-means makes
of the data with 2, 3, 4, 6, … clusters, until more clusters have been worse twice. They make a few
sweeps each, and the best of them go on. They are compared by their bounds on the log probability of
the data.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from maylink.arrays import Index
from maylink.solvers import loop
from maylink.solvers.fit import Fit
from maylink.solvers.variational import VariationalSettings, VariationalSolver, VariationalState
from maylink.tuning.hard_fits import hard_fit
from maylink.tuning.kmeans_starts import kmeans_partitions
from maylink.tuning.pieces import PieceView
from maylink.tuning.pool import score_settings

LEVELS = (2, 3, 4, 6, 8, 12, 16, 24, 32)  # numbers of clusters that fits begin at
POINTS_A_CLUSTER = 5  # of K-means, at least on average
FIRST_SWEEPS = 4  # that every fit makes
BEST = 3  # fits that go on
PATIENCE = 2  # numbers of clusters in a row that may be worse than the best so far


class AloneFit(NamedTuple):
    """Clusters of the data without links, and the bound on the log probability of the data."""

    labels: Index
    bound: float


def fit_alone(view: PieceView, prior: Any, settings: VariationalSettings) -> AloneFit:
    """Return the best fit without links.

    Parameters
    ----------
    view : PieceView
        Data and family.
    prior
        Prior of the clusters' parameters; None for the family's own.
    settings : VariationalSettings
        How to run.
    """
    problem = view.problem
    prior = problem.prior if prior is None else prior
    hard = hard_fit(view, problem.links, score_settings(settings))
    first = VariationalSolver(problem, prior, replace(settings, max_sweeps=FIRST_SWEEPS))
    short = [loop.run(first, first.init(hard.labels))]
    worse = 0
    for count in (1, *(level for level in LEVELS if level * POINTS_A_CLUSTER <= problem.n)):
        (labels,) = kmeans_partitions(problem, (count,), view.seed)
        short.append(loop.run(first, first.init(labels)))
        worse = worse + 1 if _bound(short[-1]) < max(_bound(one) for one in short[1:]) else 0
        if worse == PATIENCE:
            break
    solver = VariationalSolver(problem, prior, settings)
    best = sorted(short, key=_bound, reverse=True)[:BEST]
    fit = max((loop.run(solver, one.state, rows=one.trace.sweeps) for one in best), key=_bound)
    return AloneFit(solver.labels(fit.state), fit.objective)


def _bound(fit: Fit[VariationalState]) -> float:
    return fit.objective
