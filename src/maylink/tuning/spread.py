"""How wide clusters are expected to be: what the data are most probable with, without links.

The usual prior of a Gaussian family expects clusters about as wide as a handful would be. Where
there are hundreds, each of them is far narrower, and a prior that expects wide ones pays for every
cluster that is opened: too few are found. So the prior's variance is lowered, by half a decade at a
time, while the exact score of a fit without links (:mod:`maylink.tuning.hard_fits`) rises by more
than one more number is worth, ½ ln n.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Index
from maylink.families.gaussian import EuclideanFamily
from maylink.links import Links
from maylink.problem import Problem
from maylink.solvers.score_settings import ScoreSettings
from maylink.tuning.hard_fits import hard_fit
from maylink.tuning.penalty import sampled
from maylink.tuning.pieces import PieceView
from maylink.views.neighbours import NeighbourGraph

SPREADS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # half a decade apart


class SpreadFit(NamedTuple):
    """A problem whose family expects clusters as wide as its data say, and clusters like that."""

    problem: Problem
    labels: Index | None = None  # of all points, where all were looked at


def with_spread(problem: Problem, size: int, rng: np.random.Generator) -> SpreadFit:
    """Return the problem whose family expects clusters as wide as the data say.

    Parameters
    ----------
    problem : Problem
        Data and family; links are not looked at. A family that has no such width, or learns it, is
        returned as it is.
    size : int
        Points that are looked at: of more points, a sample.
    rng : Generator
        Draws the sample, and seeds K-means.
    """
    family = problem.family
    if not isinstance(family, EuclideanFamily) or family.learns or family.spread != 1.0:
        return SpreadFit(problem)
    alone = sampled(replace(problem, links=Links.empty(problem.n)), size, rng)
    view = PieceView.of(alone, NeighbourGraph(alone, 0), rng)
    best, spread, enough = None, 1.0, 0.5 * np.log(alone.n)
    for one in SPREADS:
        expecting = replace(view.problem, family=_expecting(view.problem.family, one))
        score = ScoreSettings(1.0, alpha=None)
        fit = hard_fit(replace(view, problem=expecting), expecting.links, score)
        if best is not None and fit.log_joint <= best.log_joint + enough:
            break
        best, spread = fit, one
    found = replace(problem, family=_expecting(family, spread))
    return SpreadFit(found, best.labels if best is not None and alone.n == problem.n else None)


def _expecting(family: Any, spread: float) -> Any:
    return replace(family, spread=spread)
