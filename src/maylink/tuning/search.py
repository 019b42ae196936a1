"""LinkSearchCV: the setting of any clusterer that predicts held-out links best."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples

from maylink.arrays import Array
from maylink.errors import MaylinkError
from maylink.link_forms import LinksLike, as_links
from maylink.parameters import (
    as_generator,
    check_flag,
    check_integer,
    check_number,
    forbid_links_as_y,
)
from maylink.runtime.progress import Progress, delay_of
from maylink.tuning import race
from maylink.tuning.folds import Fold, LinkFolds
from maylink.tuning.search_candidates import (
    SearchContestant,
    fit_and_score,
    fit_with,
    last_step,
    link_name,
    model_of,
)
from maylink.tuning.search_results import results_table

SEEDS = 2**31 - 1  # numbers that every library takes
NOT_HANDED_ON = ("_", "fit", "partial_fit", "set_")  # a search must not be refitted in part


@dataclass(frozen=True)
class SearchResult:
    """The outcome of a search: ``best_index`` becomes ``best_index_``, and so on."""

    cv_results: dict[str, Any]
    best_index: int
    best_params: dict[str, Any]
    best_score: float
    n_splits: int


def _best_has(name: str) -> Callable[[Any], bool]:
    """Return a function that says whether the best estimator of a search has a method."""

    def has(search: Any) -> bool:
        if not hasattr(search.estimator, name):
            return False
        if "best_estimator_" not in vars(search):
            raise NotFittedError(f"{name}: call fit first, with refit=True")
        return True

    return has


def _link_options(links: Any) -> dict[str, Any]:
    return {} if links is None else {"links": links}


class LinkSearchCV(MetaEstimatorMixin, ClusterMixin, BaseEstimator):
    """Search for the setting of a clusterer that predicts held-out links best.

    Links are dealt out to folds. In each fold every candidate is fitted on the links of the other
    folds and scored by the mean log probability of the links held out; a candidate that is
    hopelessly behind the leader, link by link, drops out. No labels, no number of clusters and no
    distance is needed to compare candidates, so that they may differ in anything.

    Parameters
    ----------
    estimator : estimator
        Any clusterer with ``labels_`` after ``fit``: those of this library, the baselines, those of
        scikit-learn, which do not look at links and are merely judged by them, or a pipeline that
        ends in one. Where it has a ``posterior_``, the probability of a pair to share a cluster is
        taken from there, otherwise it is 0 or 1.
    param_grid : dict or list of dict, optional
        Values to try by name of the parameter, all combinations of them.
    param_distributions : dict or list of dict, optional
        Values or distributions to draw ``n_iter`` candidates from. Give this or ``param_grid``.
    n_iter : int, default 10
        How many candidates to draw.
    cv : int or LinkFolds, default 4
        How many folds, or how links are dealt out.
    refit : bool, default True
        Whether to fit the best candidate to all links.
    drop : float or None, default 2
        A candidate is out when it lies this many standard errors of the difference behind the
        leader; the race ends when one is left. None keeps all to the end.
    within : float, default 0
        Of the candidates that came to the end and lie within this many standard errors of the
        leader the first one wins. 1 is the one-standard-error rule: list the plainest first.
    n_jobs : int, optional
        Processes, one candidate each; one by default. It does not change the result.
    verbose : bool, default False
        Whether to show a progress bar.
    random_state : int, RandomState or Generator, optional
        Seed of folds and candidates, and of every ``random_state`` of the estimator that is None:
        all candidates and folds then get the same one, since differences should not be luck.

    Attributes
    ----------
    best_estimator_ : estimator
        The best candidate, fitted to all links. All that it has and the search has not, such as
        ``labels_`` and ``predict``, can be asked of the search.
    best_params_ : dict
        Its parameters.
    best_score_ : float
        Its mean log probability of a held-out link.
    best_index_ : int
        Its place in ``cv_results_``.
    cv_results_ : dict of arrays
        One entry per candidate: ``params`` and ``param_…``; ``split0_test_score`` … (NaN where a
        candidate was not in the race any more), ``mean_test_score`` and its standard error
        ``std_error_test_score`` over the ``n_links`` links of its ``n_folds`` folds, the mean NaN
        where it failed; ``rank_test_score``, by how far it came and then by score;
        ``mean_behind_best`` and ``std_error_behind_best``, how far it was behind the first of
        these on the links that both predicted; ``mean_fit_time`` in seconds; ``failure``, in words.
    n_splits_ : int
        How many folds there were.
    refit_time_ : float
        Seconds of the last fit.

    See Also
    --------
    LinkFolds : how links are dealt out.
    link_score : the score of a fitted clusterer.

    Examples
    --------
    K-means does not look at links, but they can say how many clusters it should make:

    >>> import maylink as ml
    >>> from maylink.tuning import LinkSearchCV
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(150, centers=4, random_state=0)
    >>> links = ml.sample_links(y, rate=0.03, accuracy=0.9, rng=0)
    >>> grid = {"n_clusters": [2, 3, 4, 5, 6]}
    >>> search = LinkSearchCV(KMeans(), grid, random_state=0).fit(X, links=links)
    >>> search.best_params_
    {'n_clusters': 4}
    >>> search.labels_.shape
    (150,)
    """

    # Pipelines and cross-validation pass links on by default.
    __metadata_request__fit: ClassVar = {"links": True}
    __metadata_request__predict: ClassVar = {"links": True}
    __metadata_request__predict_proba: ClassVar = {"links": True}

    def __init__(
        self,
        estimator: Any,
        param_grid: Any = None,
        *,
        param_distributions: Any = None,
        n_iter: int = 10,
        cv: Any = 4,
        refit: bool = True,
        drop: float | None = 2.0,
        within: float = 0.0,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.cv = cv
        self.refit = refit
        self.drop = drop
        self.within = within
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, links: LinksLike | None = None) -> Self:
        """Search, and fit the best candidate to all links.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The data.
        y : ignored
            For scikit-learn.
        links : Links, pair of lists, n × n matrix or DataFrame
            Links between the rows, at least one for each fold.

        Returns
        -------
        self
        """
        forbid_links_as_y(y)
        self._check_parameters()
        all_links = as_links(links, _num_samples(X))
        if not all_links.n_links:
            raise MaylinkError("links: none given; a search needs links to hold out")
        seeds = as_generator(self.random_state).integers(SEEDS, size=3)
        sampling, dealing, fitting = (int(seed) for seed in seeds)
        contestants = [
            SearchContestant(params, model=model_of(self.estimator, params, fitting))
            for params in self._candidates(sampling)
        ]
        cv = self.cv if hasattr(self.cv, "split") else LinkFolds(self.cv, random_state=dealing)
        folds = list(cv.split(all_links))
        self._race(contestants, X, y, folds)
        result = self._result(contestants, folds)
        attributes = {f"{one.name}_": getattr(result, one.name) for one in fields(result)}
        if self.refit:
            model, started = clone(contestants[result.best_index].model), perf_counter()
            attributes["best_estimator_"] = fit_with(model, X, y, all_links)
            attributes["refit_time_"] = perf_counter() - started
        # All at once: none of a failed fit, none of an earlier one.
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        for name, value in attributes.items():
            setattr(self, name, value)
        return self

    def fit_predict(
        self, X: Any, y: Any = None, *, links: LinksLike | None = None
    ) -> NDArray[np.int64]:
        """Search and return the clusters of the best candidate; parameters as in :meth:`fit`."""
        if not self.refit:
            raise MaylinkError("refit: False leaves no clusters to return; set it to True")
        labels: NDArray[np.int64] = self.fit(X, y, links=links).labels_
        return labels

    @available_if(_best_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any, *, links: LinksLike | None = None) -> NDArray[np.int64]:
        """Return the cluster of each new point, by the best estimator.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            New points.
        links : Links or matrix, optional
            As the best estimator takes them.

        Returns
        -------
        array of shape (m,)
        """
        labels: NDArray[np.int64] = self.best_estimator_.predict(X, **_link_options(links))
        return labels

    @available_if(_best_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, *, links: LinksLike | None = None) -> Array:
        """Return the probability of each new point to be in each cluster, as :meth:`predict`."""
        responsibilities: Array = self.best_estimator_.predict_proba(X, **_link_options(links))
        return responsibilities

    def __getattr__(self, name: str) -> Any:
        # What the best estimator has and the search has not.
        if not name.startswith(NOT_HANDED_ON) and "estimator" in vars(self):
            best = vars(self).get("best_estimator_")
            if best is not None:
                return getattr(best if hasattr(best, name) else last_step(best), name)
            if hasattr(self.estimator, name):
                raise NotFittedError(f"{name}: call fit first, with refit=True")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    # ------------------------------------------------------------------ the race

    def _race(self, contestants: list[SearchContestant], X: Any, y: Any, folds: list[Fold]) -> None:
        """Fit and score fold by fold; put candidates that are hopelessly behind out of the race."""
        from sklearn.utils.parallel import Parallel, delayed

        # A fit that does not look at links is the same in every fold.
        rounds = [[fold] for fold in folds] if link_name(self.estimator) else [folds]
        votes = [fold.test.weight for fold in folds]
        with (
            Progress("search", len(rounds), delay_of(bool(self.verbose)), "fold") as progress,
            Parallel(n_jobs=self.n_jobs) as parallel,
        ):
            for together in rounds:
                racing = [one for one in contestants if one.racing]
                fits = parallel(delayed(fit_and_score)(one.model, X, y, together) for one in racing)
                for one, fit in zip(racing, fits, strict=True):
                    one.add(fit)
                progress.advance()
                racing = [one for one in racing if one.racing]
                if self.drop is not None and racing:
                    race.drop(racing, votes, float(self.drop))
                n_left = sum(one.racing for one in contestants)
                alone = n_left == 1 and len(contestants) > 1 and self.drop is not None
                if n_left == 0 or alone:
                    break

    def _result(self, contestants: list[SearchContestant], folds: list[Fold]) -> SearchResult:
        """Rank the candidates and choose the best."""
        _warn_of_failures(contestants)
        results = results_table(contestants, folds)
        leader = int(np.argmin(results["rank_test_score"]))
        near = results["mean_behind_best"] <= self.within * results["std_error_behind_best"]
        best = int(np.argmax(near & (results["n_folds"] == results["n_folds"][leader])))
        score = float(results["mean_test_score"][best])
        return SearchResult(results, best, contestants[best].candidate, score, len(folds))

    # ------------------------------------------------------------------ parameters

    def _check_parameters(self) -> None:
        if (self.param_grid is None) == (self.param_distributions is None):
            raise MaylinkError(
                "param_grid: give it or param_distributions, the settings to choose from, and not "
                "both"
            )
        check_integer("n_iter", self.n_iter, 1)
        if not hasattr(self.cv, "split"):
            check_integer("cv", self.cv, 2)
        if self.drop is not None:
            check_number("drop", self.drop, 0.0)
        check_number("within", self.within, 0.0)
        check_flag("refit", self.refit)

    def _candidates(self, seed: int) -> list[dict[str, Any]]:
        from sklearn.model_selection import ParameterGrid, ParameterSampler

        name = "param_grid" if self.param_grid is not None else "param_distributions"
        try:
            candidates = list(
                ParameterGrid(self.param_grid)
                if self.param_grid is not None
                else ParameterSampler(self.param_distributions, self.n_iter, random_state=seed)
            )
        except (TypeError, ValueError) as error:
            raise MaylinkError(f"{name}: {error}") from None
        if not candidates:
            raise MaylinkError(f"{name}: no candidate in it; give each parameter some values")
        return candidates


def _warn_of_failures(contestants: list[SearchContestant]) -> None:
    """Warn about candidates that failed; raise where all did."""
    failed = [one for one in contestants if one.failure is not None]
    if not failed:
        return
    first = f"the first is {failed[0].candidate} with {failed[0].failure}"
    if len(failed) == len(contestants):
        raise MaylinkError(f"estimator: all {len(contestants)} candidates failed; {first}")
    warnings.warn(
        f"{len(failed)} of {len(contestants)} candidates failed and cannot win; {first}",
        FitFailedWarning,
        stacklevel=4,
    )
