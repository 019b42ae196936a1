"""What the data alone say: the best fit without links, begun at several numbers of clusters.

Where clusters overlap, a partition scores lower than one cluster for all, though soft clusters are
more probable than one: no merging by exact scores begins there. So fits begin at what K-means makes
of the data with 2, 3, 4, 6, … clusters, make a few sweeps each, and the best of them go on. They
are compared by their bounds on the log probability of the data.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from maylink.arrays import Index
from maylink.links import Links
from maylink.solvers import loop
from maylink.solvers.fit import Fit
from maylink.solvers.variational import VariationalSettings, VariationalSolver, VariationalState
from maylink.tuning.pool import FamilyOnData, score_settings

FIRST_SWEEPS = 4  # that every fit makes
BEST = 3  # fits that go on


class AloneFit(NamedTuple):
    """Clusters of the data without links, and the bound on the log probability of the data."""

    labels: Index
    bound: float


def fit_alone(
    family: FamilyOnData, settings: VariationalSettings, begun: Index | None = None
) -> AloneFit:
    """Return the best fit without links.

    Parameters
    ----------
    family : FamilyOnData
        Data and family.
    settings : VariationalSettings
        How to run.
    begun : array of shape (n,), optional
        Clusters to begin at, beside those of K-means; by default pieces, merged.
    """
    none = Links.empty(family.problem.n)
    problem = replace(family.problem, links=none)
    if begun is None:
        begun = family.merged(family.view.pieces, none, score_settings(settings))
    starts = [np.zeros(problem.n, np.int64), begun, *family.view.levels]
    first = VariationalSolver(problem, family.prior, replace(settings, max_sweeps=FIRST_SWEEPS))
    short = [loop.run(first, first.init(labels)) for labels in starts]
    solver = VariationalSolver(problem, family.prior, settings)
    best = sorted(short, key=_bound, reverse=True)[:BEST]
    fit = max((loop.run(solver, one.state, rows=one.trace.sweeps) for one in best), key=_bound)
    return AloneFit(solver.labels(fit.state), fit.objective)


def _bound(fit: Fit[VariationalState]) -> float:
    return fit.objective
