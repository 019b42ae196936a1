"""How wide clusters are expected to be: what the data are most probable with, without links.

The usual prior of a Gaussian family expects clusters about as wide as a handful would be. Where
there are hundreds, each of them is far narrower, and a prior that expects wide ones pays for every
cluster that is opened: too few are found. So the prior's variance is lowered, by half a decade at a
time, while the exact score of a fit without links (:mod:`maylink.tuning.hard_fits`) rises by more
than one more number is worth, ½ ln n.

Pieces that a prior of wide clusters has made may hold several narrow ones, which no fit takes apart
again. So they are made anew under the prior that was found, and taken where the fit from them has a
score that is as much higher.

Clusters of a few points each are narrower by decades, and half a decade less is no better than the
usual prior. Neighbours tell of them (:mod:`maylink.tuning.few_points`); then all widths are tried,
each with pieces of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from maylink.families.gaussian import EuclideanFamily
from maylink.problem import Problem
from maylink.solvers.score_settings import ScoreSettings
from maylink.tuning.few_points import hold_few_points
from maylink.tuning.hard_fits import HardFit, hard_fit
from maylink.tuning.pieces import PieceView, pieces_of

SCORE = ScoreSettings(1.0, alpha=None)
SPREADS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # half a decade apart
NARROWEST = (3e-4, 1e-4, 3e-5, 1e-5)  # tried only where neighbours tell of clusters of a few points


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
        fit = hard_fit(one, problem.links, SCORE)
        if best is not None and fit.log_joint <= best[1].log_joint + enough:
            break
        best = one, fit
    assert best is not None
    spreads = [spread_of(best[0])]
    if hold_few_points(problem.family.neighbour_rows(problem.X)):
        spreads = [one for one in SPREADS + NARROWEST if one <= spreads[0]]
    for spread in spreads:
        if spread == 1.0:
            continue
        one = replace(view, problem=expecting(problem, spread))
        one = replace(one, starts=[pieces_of(one.problem), *view.starts[1:]])
        fit = hard_fit(one, problem.links, SCORE)
        if fit.log_joint > best[1].log_joint + enough:
            best = one, fit
    return best


def expecting(problem: Problem, spread: float) -> Problem:
    """Return a problem whose family, a Gaussian, expects clusters so wide."""
    family: Any = problem.family
    return replace(problem, family=replace(family, spread=spread))


def same_spread(problem: Problem, view: PieceView) -> Problem:
    """Return a problem whose family expects what that of a view does."""
    spread = spread_of(view)
    return problem if spread == 1.0 else expecting(problem, spread)


def spread_of(view: PieceView) -> float:
    """Return by how much narrower clusters are expected than usually."""
    return float(getattr(view.problem.family, "spread", 1.0))
