"""Fits of many candidates by hard assignment, and the race between them.

They cost a tenth of variational fits. RDPMeans chooses by them; TVClust lets them say which
candidates are worth a variational fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from maylink.links import Links
from maylink.runtime.progress import SILENT, Progress
from maylink.solvers.score_settings import ScoreSettings
from maylink.tuning import race
from maylink.tuning.folds import Fold
from maylink.tuning.hard_fits import HardFit, hard_fit
from maylink.tuning.pieces import LinksWithNeighbours, PieceView
from maylink.tuning.scores import partition_scores
from maylink.tuning.settings import Tuning
from maylink.tuning.settings_prior import Prior


class HardCandidate(NamedTuple):
    """What may be chosen."""

    family: str
    data_weight: float
    neighbours: int = 0


class HardFits:
    """Fits of many candidates to the same links.

    Parameters
    ----------
    views : dict of PieceView
        The data under each family, by its name.
    links : Links
        All that the fits may see of judged links.
    """

    def __init__(self, views: dict[str, PieceView], links: Links) -> None:
        self.views, self.linked = views, LinksWithNeighbours(links)

    def fit(self, candidate: HardCandidate) -> HardFit:
        """Fit a candidate."""
        name, weight, count = candidate
        view, score = self.views[name], ScoreSettings(weight, alpha=None)
        return hard_fit(view, self.linked.to(view, count), score, self.linked.groups)


def hard_race(
    views: dict[str, PieceView],
    links: Links,
    tried: Sequence[HardCandidate],
    prior: Prior,
    tuning: Tuning,
    rng: np.random.Generator,
    progress: Progress = SILENT,
    is_small: bool = False,
) -> race.RaceResult:
    """Let held-out links choose among hard fits.

    Parameters
    ----------
    views : dict of PieceView
        The data under each family, by its name.
    links : Links
        All judged links.
    tried : sequence of HardCandidate
        What may be chosen.
    prior : function
        The log probability of a candidate before any link was seen.
    tuning, rng, progress, is_small
        As in :func:`maylink.tuning.race.compete`.
    """

    def prepare(fold: Fold) -> race.Predictor:
        fits = HardFits(views, fold.train)
        return lambda one: partition_scores(fits.fit(one).labels, fold.test, fold.train)

    return race.compete(
        tried,
        links,
        prepare,
        rng,
        tuning,
        progress,
        path=lambda one: (one.family, one.neighbours),
        group=lambda one: (one.family, one.neighbours),
        prior=prior,
        is_small=is_small,
    )
