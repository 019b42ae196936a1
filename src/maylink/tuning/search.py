"""LinkSearchCV: the setting of any clusterer that predicts held-out links best."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClusterMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples

from maylink.arrays import Array
from maylink.errors import MaylinkError
from maylink.link_forms import as_links
from maylink.links import Links
from maylink.parameters import (
    as_generator,
    check_flag,
    check_integer,
    check_number,
    forbid_links_as_y,
)
from maylink.runtime.progress import Progress
from maylink.tuning import race, scores
from maylink.tuning.folds import Fold, LinkFolds

SEEDS = 2**31 - 1  # numbers that every library takes
NOT_HANDED_ON = ("_", "fit", "partial_fit", "set_")  # a search must not be refitted in part


def _asked_of_the_best(name: str) -> Callable[[Any], bool]:
    """Say whether the best estimator, or before a fit the one given, has a method."""

    def has(search: Any) -> bool:
        if not hasattr(search.estimator, name):
            return False
        if "best_estimator_" not in vars(search):
            raise NotFittedError(f"{name}: call fit first, with refit=True")
        return True

    return has


def _if_given(links: Any) -> dict[str, Any]:
    return {} if links is None else {"links": links}


class LinkSearchCV(MetaEstimatorMixin, ClusterMixin, BaseEstimator):
    """Search for the setting of a clusterer that predicts held-out links best.

    Links are dealt out to folds. In each fold every candidate is fitted on the links of the other
    folds and scored by the mean log probability of the links held out; who is hopelessly behind the
    leader, link by link, drops out. No labels, no number of clusters and no distance is needed to
    compare candidates, so that they may differ in anything.

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

    def fit(self, X: Any, y: Any = None, *, links: Any = None) -> Self:
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
        checked = as_links(links, _num_samples(X))
        if not checked.n_links:
            raise MaylinkError("links: none given; a search needs links to hold out")
        seeds = as_generator(self.random_state).integers(SEEDS, size=3)
        sampling, dealing, fitting = (int(seed) for seed in seeds)
        runners = [
            Runner(params, model=candidate(self.estimator, params, fitting))
            for params in self._candidates(sampling)
        ]
        cv = self.cv if hasattr(self.cv, "split") else LinkFolds(self.cv, random_state=dealing)
        folds = list(cv.split(checked))
        self._race(runners, X, y, folds)
        found = self._outcome(runners, folds)
        if self.refit:
            best, started = clone(runners[found["best_index_"]].model), perf_counter()
            found["best_estimator_"] = fit_with(best, X, y, checked)
            found["refit_time_"] = perf_counter() - started
        # All at once: none of a failed fit, none of an earlier one.
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        for name, value in found.items():
            setattr(self, name, value)
        return self

    def fit_predict(self, X: Any, y: Any = None, *, links: Any = None) -> NDArray[np.int64]:
        """Search and return the clusters of the best candidate; parameters as in :meth:`fit`."""
        if not self.refit:
            raise MaylinkError("refit: False leaves no clusters to return; set it to True")
        labels: NDArray[np.int64] = self.fit(X, y, links=links).labels_
        return labels

    @available_if(_asked_of_the_best("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any, *, links: Any = None) -> NDArray[np.int64]:
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
        labels: NDArray[np.int64] = self.best_estimator_.predict(X, **_if_given(links))
        return labels

    @available_if(_asked_of_the_best("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, *, links: Any = None) -> Array:
        """Return the probability of each new point to be in each cluster, as :meth:`predict`."""
        responsibilities: Array = self.best_estimator_.predict_proba(X, **_if_given(links))
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

    def _race(self, runners: list[Runner], X: Any, y: Any, folds: list[Fold]) -> None:
        """Fit and score fold by fold; put out of the race who is hopelessly behind."""
        from sklearn.utils.parallel import Parallel, delayed

        # A fit that does not look at links is the same in every fold.
        rounds = [[fold] for fold in folds] if link_name(self.estimator) else [folds]
        with (
            Progress("search", len(rounds), bool(self.verbose), "fold") as progress,
            Parallel(n_jobs=self.n_jobs) as parallel,
        ):
            for held in rounds:
                racing = [runner for runner in runners if runner.racing]
                tried = parallel(delayed(_try)(runner.model, X, y, held) for runner in racing)
                for runner, trial in zip(racing, tried, strict=True):
                    runner.add(trial)
                progress.advance()
                racing = [runner for runner in racing if runner.racing]
                if self.drop is not None and racing:
                    votes = [fold.test.weight for fold in folds]
                    race.drop(racing, votes, float(self.drop))
                left = sum(runner.racing for runner in runners)
                if left == 0 or (left == 1 and len(runners) > 1 and self.drop is not None):
                    break

    def _outcome(self, runners: list[Runner], folds: list[Fold]) -> dict[str, Any]:
        """Rank the candidates and tell the race."""
        failed = [runner for runner in runners if runner.failure is not None]
        if failed:
            told = f"the first is {failed[0].candidate} with {failed[0].failure}"
            if len(failed) == len(runners):
                raise MaylinkError(f"estimator: all {len(runners)} candidates failed; {told}")
            warnings.warn(
                f"{len(failed)} of {len(runners)} candidates failed and cannot win; {told}",
                FitFailedWarning,
                stacklevel=3,
            )
        results = _table(runners, folds)
        leader = int(np.argmin(results["rank_test_score"]))
        near = results["mean_behind_best"] <= self.within * results["std_error_behind_best"]
        best = int(np.argmax(near & (results["n_folds"] == results["n_folds"][leader])))
        return {
            "cv_results_": results,
            "best_index_": best,
            "best_params_": runners[best].candidate,
            "best_score_": float(results["mean_test_score"][best]),
            "n_splits_": len(folds),
        }

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
            if self.param_grid is not None:
                found = list(ParameterGrid(self.param_grid))
            else:
                found = list(
                    ParameterSampler(self.param_distributions, self.n_iter, random_state=seed)
                )
        except (TypeError, ValueError) as error:
            raise MaylinkError(f"{name}: {error}") from None
        if not found:
            raise MaylinkError(f"{name}: no candidate in it; give each parameter some values")
        return found


class Trial(NamedTuple):
    """What became of one fit."""

    scores: list[Array]  # of the held-out links, by fold
    seconds: float
    failure: str | None


@dataclass
class Runner(race.Contestant):
    """A candidate in the race: its parameters, and what became of its fits."""

    model: Any = None  # not fitted
    seconds: list[float] = field(default_factory=list)
    failure: str | None = None

    def add(self, trial: Trial) -> None:
        """Note what became of a fit; who has failed once is out."""
        self.scores += trial.scores
        self.seconds.append(trial.seconds)
        self.failure = trial.failure
        self.racing = trial.failure is None

    def score(self, votes: list[Array]) -> scores.Score:
        """Return its mean score; none for one that failed."""
        told = super().score(votes)
        return told if self.failure is None else told._replace(mean=np.nan, error=np.nan)


# ---------------------------------------------------------------------- one candidate


def candidate(estimator: Any, params: Mapping[str, Any], seed: int) -> Any:
    """Return an estimator with these parameters and, where it has none, a seed."""
    model = clone(estimator).set_params(**{k: clone(v, safe=False) for k, v in params.items()})
    random = [
        name
        for name, value in model.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    return model.set_params(**dict.fromkeys(random, seed))


def link_name(estimator: Any) -> str | None:
    """Return the name by which ``fit`` takes links; None where it does not look at any."""
    steps = getattr(estimator, "steps", None)
    if steps is None:
        return "links" if "links" in inspect.signature(estimator.fit).parameters else None
    name, last = steps[-1]
    own = link_name(last)
    if own is None or get_config()["enable_metadata_routing"]:
        return own
    return f"{name}__{own}"


def last_step(estimator: Any) -> Any:
    """Return the clusterer at the end of a pipeline, or the estimator itself."""
    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    return estimator


def fit_with(model: Any, X: Any, y: Any, links: Links) -> Any:
    """Fit a model, with links where it looks at them."""
    name = link_name(model)
    return model.fit(X, y) if name is None else model.fit(X, y, **{name: links})


def _try(model: Any, X: Any, y: Any, folds: Sequence[Fold]) -> Trial:
    """Fit to the links of the first fold and score the links that each fold holds out."""
    started = perf_counter()
    try:
        fitted = fit_with(clone(model), X, y, folds[0].train)
        seconds = perf_counter() - started
        found = [scores.log_scores(last_step(fitted), f.test, f.train) for f in folds]
    except Exception as error:
        return Trial([], perf_counter() - started, f"{type(error).__name__}: {error}")
    return Trial(found, seconds, None)


# ---------------------------------------------------------------------- all of them


def _table(runners: list[Runner], folds: list[Fold]) -> dict[str, Any]:
    """Return the race as scikit-learn has it."""
    size = len(runners)
    table: dict[str, Any] = {
        "mean_fit_time": np.array([np.mean(runner.seconds) for runner in runners]),
        "params": [runner.candidate for runner in runners],
    }
    for name in dict.fromkeys(name for runner in runners for name in runner.candidate):
        column = np.ma.MaskedArray(np.empty(size, object), mask=True)
        for number, runner in enumerate(runners):
            if name in runner.candidate:
                column[number] = runner.candidate[name]
        table[f"param_{name}"] = column
    votes = [fold.test.weight for fold in folds]
    for k in range(len(folds)):
        table[f"split{k}_test_score"] = np.array(
            [
                np.average(runner.scores[k], weights=votes[k]) if k < len(runner.scores) else np.nan
                for runner in runners
            ]
        )
    told = [runner.score(votes) for runner in runners]
    mean = np.array([own.mean for own in told])
    table["mean_test_score"] = mean
    table["std_error_test_score"] = np.array([own.error for own in told])
    table["n_links"] = np.array([own.n_links for own in told])
    table["n_folds"] = np.array([len(runner.scores) for runner in runners])
    place = [
        (runner.failure is not None, -len(runner.scores), -value if np.isfinite(value) else 0.0)
        for runner, value in zip(runners, mean, strict=True)
    ]
    rank = np.array([1 + sum(other < own for other in place) for own in place])
    table["rank_test_score"] = rank
    best = runners[int(rank.argmin())]
    behind = [
        race.NO_SCORE if runner.failure else best.ahead_of(runner, votes) for runner in runners
    ]
    table["mean_behind_best"] = np.array([own.mean for own in behind])
    table["std_error_behind_best"] = np.array([own.error for own in behind])
    table["failure"] = [runner.failure for runner in runners]
    return table
