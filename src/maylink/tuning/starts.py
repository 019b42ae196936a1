"""Where a fit of TVClust starts: the best of a pool, RDP-means, one cluster, or given labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from maylink.errors import MaylinkError
from maylink.estimators.rdpmeans import RDPMeans
from maylink.labels import complete_codes
from maylink.problem import Problem
from maylink.runtime.progress import Progress
from maylink.solvers import merging, variational
from maylink.solvers.variational import Result, S
from maylink.tuning.pool import Fitted, Pool, View, exact_settings
from maylink.tuning.tvclust import WEIGHTS, labels_of, quick

PLAIN_STARTS = ("rdp-means", "one", "singletons")
STARTS = ("auto", *PLAIN_STARTS)
AGAIN = 3  # times that the clusters of a fit are cut and merged anew, at most


class Model(NamedTuple):
    """What a fit depends on besides the problem."""

    prior: Any
    settings: variational.Settings

    @property
    def exact(self) -> merging.Settings:
        """What the exact score depends on."""
        return exact_settings(self.settings)


class Start:
    """Makes the partitions that a fit starts from."""

    def __init__(
        self,
        init: Any,
        n_jobs: int | None,
        rng: np.random.Generator,
        model: Model | None = None,
        views: list[View] | None = None,
    ) -> None:
        self.init = init
        self.n_jobs = n_jobs
        self.rng = rng
        self.model = model
        self.views = views  # of the data of the fit, where they were made before
        self.fitted: Fitted | None = None

    def several(self, problem: Problem, count: int) -> Iterator[NDArray[np.int64]]:
        """Yield so many starts, or fewer where they are alike; the best first."""
        if not isinstance(self.init, str):
            labels = complete_codes(self.init, "init")
            if labels.size != problem.n:
                raise MaylinkError(f"init: {labels.size} labels, but X has {problem.n} rows")
            yield labels
        elif self.init == "auto":
            yield from self._from_pool(problem, count)
        elif self.init == "rdp-means":
            yield from self._from_rdp_means(problem, count)
        else:
            one = self.init == "one"
            yield np.zeros(problem.n, np.int64) if one else np.arange(problem.n)

    def _from_pool(self, problem: Problem, count: int) -> list[NDArray[np.int64]]:
        if self.model is None:
            raise ValueError("a pool needs a model to judge its partitions by")
        views = self.views or [View.of(problem, self.rng, self.n_jobs)]
        own = repr(problem.family.coarser())
        view = next((one for one in views if repr(one.problem.family) == own), views[0])
        pool = Pool(views, problem.links, self.rng, self.n_jobs)
        self.fitted = Fitted(problem, self.model.prior, view)
        return pool.best(self.fitted, self.model.exact, count, _near(pool, self.fitted, self.model))

    def anew(self, labels: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Cut the clusters that a fit found and merge them again; None if that is no better."""
        if self.fitted is None or self.model is None:
            return None
        links, settings = self.fitted.problem.links, self.model.exact
        made = self.fitted.remerged(labels, links, settings)
        before = self.fitted.score(labels, links, settings)
        return made if self.fitted.score(made, links, settings) > before + merging.ENOUGH else None

    def _from_rdp_means(self, problem: Problem, count: int) -> Iterator[NDArray[np.int64]]:
        model = RDPMeans(
            problem.family.coarser(),
            keep="objective",
            n_init=1,
            n_jobs=self.n_jobs,
            random_state=self.rng,
        )
        for _ in range(count):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(problem.X, links=problem.links)
            model.cluster_penalty = model.cluster_penalty_  # chosen once
            yield model.labels_

    @property
    def at_once(self) -> bool:
        """Whether it costs nothing to start with all points at once."""
        return not isinstance(self.init, str) or self.init in ("one", "singletons")

    def later(self) -> Start:
        """Return the start of points that come later, of which given labels say nothing."""
        init = self.init if isinstance(self.init, str) else "rdp-means"
        return Start(init, self.n_jobs, self.rng, self.model)


def best_of(
    starts: Iterable[Any],
    run: Callable[[Any], Result[S]],
    again: Callable[[S], Any],
    progress: Progress,
) -> Result[S]:
    """Run from every start and keep the best bound; cut and merge its clusters while that helps.

    Parameters
    ----------
    starts : iterable
        Partitions.
    run : callable
        Fits from one of them.
    again : callable
        Makes another partition of what a run left, or None where there is none that is better.
    progress : Progress
        Told about every start.
    """
    results = []
    for labels in starts:
        results.append(run(labels))
        progress.advance()
        if progress.stopped:
            break
    best = max(results, key=lambda result: float(result.bounds[-1]))
    for _ in range(AGAIN):
        labels = None if progress.stopped else again(best.state)
        if labels is None:
            break
        result = run(labels)
        if result.bounds[-1] <= best.bounds[-1]:
            break
        best = result
    return best


def _near(pool: Pool, fitted: Fitted, model: Model) -> list[NDArray[np.int64]]:
    """Fit with higher data weights, the highest first, each from the one before.

    Where data are quiet one cluster for all is a start that no fit leaves, though better ones are
    near: those that the data find when they are louder.
    """
    settings, near = quick(model.settings), list[NDArray[np.int64]]()
    for weight in WEIGHTS:
        if weight <= settings.data_weight:
            break
        louder = replace(settings, data_weight=weight)
        labels = pool.best(fitted, exact_settings(louder), 1, near)[0]
        near = [labels_of(variational.solve(fitted.problem, model.prior, louder, labels).state)]
        if not near[0].any():
            break
    return near


class ChainStart:
    """Makes the partition that a chain starts from, in the chain's own process."""

    def __init__(self, problem: Problem, init: Any, model: Model | None = None) -> None:
        self.problem = problem
        self.init = init
        self.model = model

    def __call__(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the partition."""
        return next(Start(self.init, 1, rng, self.model).several(self.problem, 1))

    def told(self) -> str:
        """Tell what kind of start it is."""
        return self.init if isinstance(self.init, str) else repr(list(self.init))
