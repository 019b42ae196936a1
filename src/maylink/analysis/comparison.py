"""Several methods on the same data and links, judged by links that their fits did not see.

TVClust keeps the family and the data weight that it chose by all links, so its score is somewhat
too high; other methods choose again in each fit, without the held-out links.
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
from maylink.runtime.progress import Progress, delay_of
from maylink.tuning.folds import LinkFolds
from maylink.tuning.scores import log_scores, summary
from maylink.tuning.settings import as_tuning

REFERENCE = "tvclust"


@dataclass(frozen=True)
class Row:
    """How one method did.

    Parameters
    ----------
    method : str
        Name of the method.
    clusters : int or None
        Number of clusters; None where the fit failed.
    told_k : str
        "" where the method finds k itself, otherwise who gave k: "you", or the class of a method.
    seconds : float
        Time of the fit to all links.
    held_out : float
        Mean log probability of a held-out link, 0 at best; NaN where there are fewer than 40
        linked pairs, or a fit without them fails.
    error : float
        Standard error of ``held_out``.
    kept : float
        Fraction of the links that the partition obeys.
    agreement : float
        Adjusted Rand index with TVClust; NaN where it was not asked for.
    f, ari : float
        Pairwise F and adjusted Rand index against true labels; NaN where there are none.
    failure : str
        Why the fit failed, or why held-out links could not be predicted; "" where nothing failed.
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
        Some of ``maylink.analysis.methods.METHODS``; where TVClust is one of them, the others are
        compared with it.
    family : str, default "auto"
        Family of the methods that have one.
    k : int, optional
        Number of clusters, for methods that need it. If not given, that of TVClust, or of the first
        method that finds it; TVClust is fitted unasked only if no other finds it.
    y : array of shape (n,), optional
        True labels.
    seed : int, default 0
        Seed of everything that is random.
    each : function, optional
        Called with the name of each method before its fit.

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
            raise MaylinkError(f"methods: {methods.not_a_method(name)}")
    comparison = _Comparison(X, links, family, seed, y)
    named = list(dict.fromkeys(names))
    find_k = sorted((name for name in named if not methods.needs_k(name)), key=_reference_first)
    fits = {name: comparison.fit(name, None, each) for name in find_k}
    told_by = "you"
    if k is None and len(find_k) < len(named):
        teller = next((name for name in find_k if not fits[name].failure), REFERENCE)
        told = fits.get(teller) or comparison.fit(REFERENCE, None, each)
        k, told_by = int(told.model.n_clusters_), type(told.model).__name__
    for name in named:
        if name not in fits:
            fits[name] = comparison.fit(name, k, each)
    reference = fits[REFERENCE].model.labels_ if REFERENCE in named else None
    return [
        comparison.row(name, fits[name], told_by * methods.needs_k(name), reference)
        for name in named
    ]


def _reference_first(name: str) -> bool:
    return name != REFERENCE


@dataclass(frozen=True)
class _TimedFit:
    model: Any
    seconds: float
    failure: str = ""


@dataclass(frozen=True)
class _Comparison:
    """Data, links and settings that all methods share."""

    X: Any
    links: Links
    family: str
    seed: int
    y: NDArray[Any] | None

    def fit(self, name: str, k: int | None, each: Callable[[str], None]) -> _TimedFit:
        each(name)
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
            return _TimedFit(model, time.perf_counter() - start, _in_one_line(error))
        return _TimedFit(model, time.perf_counter() - start)

    def row(self, name: str, timed_fit: _TimedFit, told_k: str, reference: Any) -> Row:
        if timed_fit.failure:
            return Row(name, None, told_k, timed_fit.seconds, failure=timed_fit.failure)
        labels = timed_fit.model.labels_
        score = held_out_score(timed_fit.model, self.X, self.links, self.seed)
        y = self.y
        return Row(
            method=name,
            clusters=int(timed_fit.model.n_clusters_),
            told_k=told_k,
            seconds=timed_fit.seconds,
            held_out=score.mean,
            error=score.error,
            kept=link_agreement(labels, self.links),
            agreement=np.nan if reference is None else adjusted_rand(reference, labels),
            f=np.nan if y is None else pair_f(y, labels),
            ari=np.nan if y is None else adjusted_rand(y, labels),
            failure=f"without the held-out links: {score.failure}" if score.failure else "",
        )


class HeldOutScore(NamedTuple):
    """How well held-out links are predicted."""

    mean: float = np.nan  # log probability of a link
    error: float = np.nan  # standard error of the mean
    failure: str = ""  # why there is no score, where a fit failed


def held_out_score(model: Any, X: Any, links: Links, seed: int = 0) -> HeldOutScore:
    """Return how well links are predicted by fits that did not see them.

    Parameters
    ----------
    model : estimator
        Fitted. A TVClust keeps what it has chosen by all links; other methods choose again in each
        fit (:func:`maylink.analysis.methods.unfitted_copy`).
    X, links : data and links of that fit
    seed : int, default 0
        Seed of the folds of links.

    Returns
    -------
    HeldOutScore
        NaN where there are too few links, or a fit fails; ``failure`` then says why.
    """
    tuning = as_tuning(None)
    if not tuning.can_hold_out(links):
        return HeldOutScore()
    scores, votes = [], []
    title = f"held-out links, {type(model).__name__}"
    with Progress(title, tuning.n_folds, delay_of(False), "fit") as bar:
        for fold in LinkFolds(tuning.n_folds, random_state=seed).split(links):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    fitted = methods.fit(methods.unfitted_copy(model), X, fold.train)
            except (MaylinkError, TypeError) as error:
                return HeldOutScore(failure=_in_one_line(error))
            scores.append(log_scores(fitted, fold.test, fold.train))
            votes.append(fold.test.weight)
            bar.advance()
    total = summary(np.concatenate(scores), np.concatenate(votes))
    return HeldOutScore(total.mean, total.error)


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())
