"""One candidate of a search: an estimator with its parameters, fitted and scored fold by fold.

A candidate may be any clusterer, or a pipeline that ends in one, whether it looks at links or not.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.base import clone

from maylink.arrays import Array
from maylink.links import Links
from maylink.tuning.folds import Fold
from maylink.tuning.race import Contestant
from maylink.tuning.scores import Score, log_scores


class SearchFit(NamedTuple):
    """One fit of a candidate: its scores of held-out links, or why it failed."""

    scores: list[Array]  # of the held-out links, by fold
    seconds: float
    failure: str | None


@dataclass
class SearchContestant(Contestant):
    """A candidate in the race: its parameters, its scores, and how its fits went."""

    model: Any = None  # not fitted
    seconds: list[float] = field(default_factory=list)
    failure: str | None = None

    def add(self, fit: SearchFit) -> None:
        """Add the scores of a fit; a candidate that failed once is out."""
        self.scores += fit.scores
        self.seconds.append(fit.seconds)
        self.failure = fit.failure
        self.racing = fit.failure is None

    def score(self, votes: list[Array]) -> Score:
        """Return its mean score; NaN for one that failed."""
        score = super().score(votes)
        return score if self.failure is None else score._replace(mean=np.nan, error=np.nan)


def model_of(estimator: Any, params: Mapping[str, Any], seed: int) -> Any:
    """Return an estimator with these parameters and, where it has none, a seed."""
    model = clone(estimator).set_params(**{k: clone(v, safe=False) for k, v in params.items()})
    random = [
        name
        for name, value in model.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    return model.set_params(**dict.fromkeys(random, seed))


def fit_and_score(model: Any, X: Any, y: Any, folds: Sequence[Fold]) -> SearchFit:
    """Fit to the links of the first fold and score the links that each fold holds out."""
    started = perf_counter()
    try:
        fitted = fit_with(clone(model), X, y, folds[0].train)
        seconds = perf_counter() - started
        scores = [log_scores(last_step(fitted), fold.test, fold.train) for fold in folds]
    except Exception as error:
        return SearchFit([], perf_counter() - started, f"{type(error).__name__}: {error}")
    return SearchFit(scores, seconds, None)


def fit_with(model: Any, X: Any, y: Any, links: Links) -> Any:
    """Fit a model, with links where it looks at them."""
    name = link_name(model)
    return model.fit(X, y) if name is None else model.fit(X, y, **{name: links})


def link_name(estimator: Any) -> str | None:
    """Return the name by which ``fit`` takes links; None where it does not look at any."""
    steps = getattr(estimator, "steps", None)
    if steps is None:
        return "links" if "links" in inspect.signature(estimator.fit).parameters else None
    step, last = steps[-1]
    name = link_name(last)
    if name is None or get_config()["enable_metadata_routing"]:
        return name
    return f"{step}__{name}"


def last_step(estimator: Any) -> Any:
    """Return the clusterer at the end of a pipeline, or the estimator itself."""
    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    return estimator
