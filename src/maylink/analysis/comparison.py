"""Several methods on the same data and links, judged by links that their fits did not see.

TVClust keeps the family and the data weight that it chose by all links, so its score is somewhat
kind to it; other methods choose again in each fit, without the held-out links.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.analysis import methods
from maylink.errors import MaylinkError
from maylink.links import Links
from maylink.metrics import adjusted_rand, link_agreement, pair_f
from maylink.tuning import race
from maylink.tuning.folds import LinkFolds
from maylink.tuning.scores import log_scores, summary

REFERENCE = "tvclust"


@dataclass(frozen=True)
class Row:
    """What one method did.

    Parameters
    ----------
    method : str
        Its name.
    clusters : int or None
        How many it found; None where it failed.
    told_k : str
        "" where it finds k itself, otherwise who told it.
    seconds : float
        Of the fit to all links.
    held_out : float
        Mean log probability of a held-out link, 0 at best; NaN where there are fewer than 40, or
        a fit without them fails.
    error : float
        Standard error of that.
    kept : float
        Share of the links that the partition obeys.
    agreement : float
        Adjusted Rand index with TVClust.
    f, ari : float
        Pairwise F and adjusted Rand index against true labels; NaN where there are none.
    failure : str
        Why it failed, or why held-out links could not be predicted; "" where nothing failed.
    """

    method: str
    clusters: int | None
    told_k: str
    seconds: float
    held_out: float = np.nan
    error: float = np.nan
    kept: float = np.nan
    agreement: float = np.nan
    f: float = np.nan
    ari: float = np.nan
    failure: str = ""


def compare(
    X: Any,
    links: Links,
    names: Sequence[str],
    *,
    family: str = methods.AUTO,
    k: int | None = None,
    y: NDArray[Any] | None = None,
    seed: int = 0,
    each: Callable[[str], None] = lambda name: None,
) -> list[Row]:
    """Fit several methods and judge each.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        The data.
    links : Links
        The links.
    names : sequence of str
        Some of ``maylink.analysis.methods.METHODS``. TVClust is always fitted first, since the
        others are
        compared with it.
    family : str, default "auto"
        Given to the methods that have one.
    k : int, optional
        Number of clusters, for methods that must be told; what TVClust found if not given.
    y : array of shape (n,), optional
        True labels.
    seed : int, default 0
        Of everything that is random.
    each : function, optional
        Told the name of each method before its fit.

    Returns
    -------
    list of Row
        In the order of ``names``. Held-out links are those of a quarter of the pairs at a time, the
        same for all methods; TVClust keeps the family and data weight that it chose by all links,
        and other methods choose again without the held-out ones.

    Examples
    --------
    >>> import maylink as ml
    >>> from maylink.analysis.comparison import compare
    >>> draw = ml.datasets.make_two_view(60, rng=3)
    >>> rows = compare(draw.X, draw.links, ["tvclust", "plainkmeans"])
    >>> [(row.method, row.told_k) for row in rows]
    [('tvclust', ''), ('plainkmeans', 'TVClust')]
    """
    for name in names:
        if name not in methods.METHODS:
            raise MaylinkError(f"methods: {name!r} is not one of {', '.join(methods.METHODS)}")
    setting = _Setting(X, links, family, seed, y)
    each(REFERENCE)
    base = setting.fitted(REFERENCE, None)
    told, by = (base.model.n_clusters_, "TVClust") if k is None else (k, "you")
    rows = []
    for name in dict.fromkeys(names):
        needs = methods.needs_k(name)
        if name != REFERENCE:
            each(name)
        fitted = base if name == REFERENCE else setting.fitted(name, told if needs else None)
        rows.append(setting.row(name, fitted, by * needs, base.model.labels_))
    return rows


@dataclass(frozen=True)
class _Fitted:
    model: Any
    seconds: float
    failure: str = ""


@dataclass(frozen=True)
class _Setting:
    """What all methods share."""

    X: Any
    links: Links
    family: str
    seed: int
    y: NDArray[Any] | None

    def fitted(self, name: str, k: int | None) -> _Fitted:
        family = methods.plan(self.X, name, self.family).family
        model = methods.make(name, family, k=k, random_state=self.seed)
        start = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                methods.fit(model, self.X, self.links)
        except (MaylinkError, TypeError) as error:
            if name == REFERENCE:
                raise
            return _Fitted(model, time.perf_counter() - start, _in_one_line(error))
        return _Fitted(model, time.perf_counter() - start)

    def row(self, name: str, fitted: _Fitted, told_k: str, reference: Any) -> Row:
        if fitted.failure:
            return Row(name, None, told_k, fitted.seconds, failure=fitted.failure)
        labels = fitted.model.labels_
        judged = held_out(fitted.model, self.X, self.links, self.seed)
        y = self.y
        return Row(
            method=name,
            clusters=int(fitted.model.n_clusters_),
            told_k=told_k,
            seconds=fitted.seconds,
            held_out=judged.mean,
            error=judged.error,
            kept=link_agreement(labels, self.links),
            agreement=adjusted_rand(reference, labels),
            f=np.nan if y is None else pair_f(y, labels),
            ari=np.nan if y is None else adjusted_rand(y, labels),
            failure=f"without the held-out links: {judged.failure}" if judged.failure else "",
        )


class HeldOut(NamedTuple):
    """How well held-out links are predicted: mean log probability of a link, standard error."""

    mean: float = np.nan
    error: float = np.nan
    failure: str = ""  # why there is no score, where a fit failed


def held_out(model: Any, X: Any, links: Links, seed: int = 0) -> HeldOut:
    """Return how well links are predicted by fits that did not see them.

    Parameters
    ----------
    model : estimator
        Fitted. Of a TVClust the fits are told what it has chosen by all links; other methods choose
        again in each (:func:`maylink.analysis.methods.again`).
    X, links : data and links of its fit
    seed : int, default 0
        Deals out the links.

    Returns
    -------
    HeldOut
        NaN where there are too few links, or a fit fails; then it tells why.
    """
    if not race.enough(links):
        return HeldOut()
    scores, votes = [], []
    for fold in LinkFolds(race.FOLDS, random_state=seed).split(links):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                fitted = methods.fit(methods.again(model), X, fold.train)
        except (MaylinkError, TypeError) as error:
            return HeldOut(failure=_in_one_line(error))
        scores.append(log_scores(fitted, fold.test, fold.train))
        votes.append(fold.test.weight)
    found = summary(np.concatenate(scores), np.concatenate(votes))
    return HeldOut(found.mean, found.error)


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())
