"""How wide clusters are expected to be: what the data are most probable with, without links.

The usual prior of a Gaussian family expects clusters about as wide as a handful would be. Where
there are hundreds, each of them is far narrower, and a prior that expects wide ones pays for every
cluster that is opened: too few are found. So the prior's variance is lowered, by half a decade at a
time, while the exact score of a fit without links (:mod:`maylink.tuning.hard_fits`) rises by more
than one more number is worth, ½ ln n.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from maylink.families.gaussian import EuclideanFamily
from maylink.problem import Problem
from maylink.solvers.score_settings import ScoreSettings
from maylink.tuning.hard_fits import HardFit, hard_fit
from maylink.tuning.pieces import PieceView

SPREADS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # half a decade apart


def with_spread(view: PieceView) -> PieceView:
    """Return a view whose family expects clusters as wide as the data say.

    A family that has no such width, or learns it, stays as it is.
    """
    problem = view.problem
    if not isinstance(problem.family, EuclideanFamily) or problem.family.learns:
        return view
    return spread_fit(view)[0]


def spread_fit(view: PieceView) -> tuple[PieceView, HardFit]:
    """Return a view whose Gaussian family expects clusters as wide as the data say, and its fit."""
    problem, enough = view.problem, 0.5 * np.log(view.problem.n)
    best: tuple[PieceView, HardFit] | None = None
    for spread in SPREADS:
        one = replace(view, problem=expecting(problem, spread))
        fit = hard_fit(one, problem.links, ScoreSettings(1.0, alpha=None))
        if best is not None and fit.log_joint <= best[1].log_joint + enough:
            break
        best = one, fit
    assert best is not None
    return best


def expecting(problem: Problem, spread: float) -> Problem:
    """Return a problem whose family, a Gaussian, expects clusters so wide."""
    family: Any = problem.family
    return replace(problem, family=replace(family, spread=spread))


def same_spread(problem: Problem, view: PieceView) -> Problem:
    """Return a problem whose family expects what that of a view does."""
    spread = getattr(view.problem.family, "spread", 1.0)
    return problem if spread == 1.0 else expecting(problem, spread)
