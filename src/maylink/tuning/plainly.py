"""Whether the plainest family is clearly enough for large data, so that no other need be tried.

A choice among five covariances at six data weights takes as long where it is clear as where it is
not. Of data with more points than the choice looks at, the plainest Gaussian family is looked at
first, on some of these points, and taken where all of this holds:

* no other kind of family could describe the data;
* its clusters have 30 points or more on average;
* without links, no other covariance is as probable: each is begun at the clusters of the plainest,
  and may merge them, cut them and move points as it wants to;
* held-out links are predicted better than by a guess, and by data weights of a tenth or a hundredth
  no better than by the largest: data and links agree.

Otherwise the choice goes on as if nothing had been looked at.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from maylink.families.gaussian import EuclideanFamily
from maylink.links import Links
from maylink.problem import Problem
from maylink.runtime.progress import SILENT, Progress
from maylink.solvers.score_settings import ScoreSettings
from maylink.tuning.candidates import gaussians
from maylink.tuning.hard_candidates import HardCandidate, hard_race
from maylink.tuning.hard_fits import HardFit, hard_fit
from maylink.tuning.pieces import PieceView
from maylink.tuning.race import RaceResult
from maylink.tuning.samples import sample_rows
from maylink.tuning.settings import Tuning
from maylink.tuning.settings_prior import around
from maylink.tuning.spread import same_spread, spread_fit
from maylink.views.neighbours import NeighbourGraph

logger = logging.getLogger("maylink")

POINTS_A_CLUSTER = 30  # below it, on average, a small sample does not tell clusters
FOLDS = 3  # one of them holds out as many links as say how well links are predicted
STEP = 2  # of the data weights every other one is tried: a decade apart, not half a one
ALONE = ScoreSettings(1.0, alpha=None)  # by which families are compared without links


class PlainChoice(NamedTuple):
    """Points under the family that was taken, and the race between its data weights."""

    sample: Problem
    view: PieceView
    result: RaceResult


def plainly(
    samples: dict[str, Problem],
    tuning: Tuning,
    rng: np.random.Generator,
    progress: Progress = SILENT,
) -> PlainChoice | None:
    """Return the choice of the plainest family, or None where it is not clear.

    Parameters
    ----------
    samples : dict of Problem
        The points that the choice looks at, under each family that is open to choice; the
        plainest first.
    tuning : Tuning
        How to choose.
    rng : Generator
        Deals out links; where nothing is clear, it is left as it was.
    progress : Progress, optional
        Counts fits.
    """
    covariances = [name for name in samples if name in gaussians()]
    plain, *others = [name for name in covariances if not samples[name].given_family.learns] or [""]
    if not tuning.plain_size or len(covariances) < len(samples) or not others:
        return None
    if not tuning.can_race(samples[plain].links):
        return None
    state = rng.bit_generator.state
    few = sample_rows(samples[plain], min(tuning.plain_size, samples[plain].n), rng)
    samples = {name: samples[name].rows(few) for name in (plain, *others)}
    view = PieceView.of(samples[plain], NeighbourGraph(samples[plain], 0), rng, True)
    view, fit = spread_fit(view)
    crowded = len(few) < POINTS_A_CLUSTER * (int(fit.labels.max()) + 1)
    if not crowded and not any(_is_as_probable(samples[name], view, fit) for name in others):
        links, weights = samples[plain].links, tuning.data_weights
        tried = [HardCandidate(plain, weight) for weight in weights]
        tried = [one for one in tried if one.data_weight >= tuning.least_weight_of_pieces][::STEP]
        view, short = replace(view, starts=[fit.labels]), _short(tuning)
        result = hard_race({plain: view}, links, tried, around(tried[0]), short, rng, progress)
        if result.says_something and result.chosen == tried[0]:
            logger.info("%s is clearly enough: no other family is tried", plain)
            return PlainChoice(samples[plain], view, result)
    rng.bit_generator.state = state
    return None


def _short(tuning: Tuning) -> Tuning:
    """Return settings of a race that need only tell whether the first candidate is behind."""
    short: Tuning = clone(tuning)
    short.set_params(n_folds=FOLDS, behind=tuning.behind[-1:])
    return short


def _is_as_probable(problem: Problem, view: PieceView, fit: HardFit) -> bool:
    """Whether another family describes the data as well as the plainest, or nearly so.

    Nearly is what one number more is worth, ½ ln n.
    """
    n = fit.problem.n
    if fit.labels.max() == 0:
        return True  # of one cluster nothing is clear
    alone = Problem(problem.X, Links.empty(n), problem.family)
    if isinstance(problem.family, EuclideanFamily):
        alone = same_spread(alone, view)
    other = PieceView(alone.prepared(), [fit.labels], view.graph, view.seed)
    found = hard_fit(other, alone.links, ALONE)
    return bool(found.log_joint > fit.log_joint - 0.5 * np.log(n))
