"""Fits of the data with the answers so far, whose clusters are one more opinion of an interview."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Index
from maylink.data_forms import as_coded
from maylink.errors import MaylinkError
from maylink.links import Links
from maylink.problem import check
from maylink.solvers.rdpmeans import RDPMeansSettings
from maylink.tuning import rdpmeans_views
from maylink.tuning.rdpmeans import RDPMeansRequest
from maylink.tuning.settings import Tuning

logger = logging.getLogger("maylink")

FEWEST_ANSWERS = Tuning().fewest_held_out  # by which settings may be chosen
TIMES = 2  # as many answers as at the last fit: then there is another one


class FitOpinion(NamedTuple):
    """What a fit says.

    Parameters
    ----------
    labels : array of int of shape (n,)
        The cluster of each row; −1 of rows that the fit has not seen.
    n_heard : int
        Answers that had been taken in when it was made.
    """

    labels: Index
    n_heard: int = 0

    @property
    def seen(self) -> Index:
        """The rows that the fit has seen."""
        return np.flatnonzero(self.labels >= 0)

    @property
    def n_clusters(self) -> int:
        """How many clusters the fit found."""
        return len(np.unique(self.labels[self.seen]))


def due_between(n_before: int, n_after: int) -> list[int]:
    """Return after how many answers fits are due, above one number and up to another.

    Examples
    --------
    >>> from maylink.questions.fits import due_between
    >>> due_between(0, 70), due_between(16, 31)
    ([16, 32, 64], [])
    """
    found, due = list[int](), FEWEST_ANSWERS
    while due <= n_after:
        if due > n_before:
            found.append(due)
        due *= TIMES
    return found


def fitted_clusters(X: Any, links: Links, rows: Index, seed: int) -> Index | None:
    """Return the clusters of a quick fit, of which held-out links choose all settings.

    It is the fit at which RDPMeans begins (:mod:`maylink.tuning.rdpmeans_views`). None where there
    is no such fit: links between the rows are too few to choose, or the data cannot be fitted.

    Parameters
    ----------
    X : array-like, sparse matrix, table or data frame
        The data.
    links : Links
        The answers.
    rows : array of int
        The rows that are fitted; all others have −1.
    seed : int
        Of all that is random.
    """
    coded = as_coded(X)
    settings = RDPMeansSettings(penalty=np.nan, xi_may=0.001, xi_not=0.001)
    request = RDPMeansRequest(
        "auto", settings, relative_weights=True, choose_weights=True, neighbours="auto", scale=None
    )
    checked = check(coded.X, links, request.families, None, coded.blocks)
    problems, tuning = [one.rows(rows) for one in checked], Tuning()
    if not tuning.can_race(problems[0].links):
        return None
    try:
        choice = rdpmeans_views.tune(problems, request, tuning, np.random.default_rng(seed))
    except MaylinkError as error:
        logger.info("no fit of the answers so far: %s", error)
        return None
    labels = np.full(links.n, -1)
    labels[rows] = choice.start
    return labels
