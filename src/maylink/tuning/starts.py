"""Where a fit of TVClust starts: the best of a pool, RDP-means, one cluster, or given labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from maylink.arrays import Index
from maylink.errors import MaylinkError
from maylink.labels import complete_codes
from maylink.links import Links
from maylink.problem import Problem
from maylink.runtime.progress import Progress
from maylink.solvers import loop, rdpmeans
from maylink.solvers.fit import Fit, Status
from maylink.solvers.merging_rounds import ENOUGH
from maylink.solvers.rdpmeans import RDPMeansSettings, RDPMeansSolver
from maylink.solvers.score_settings import ScoreSettings
from maylink.solvers.variational import VariationalSettings, VariationalSolver
from maylink.tuning.alone import fit_alone
from maylink.tuning.candidate_fits import quick
from maylink.tuning.pieces import PieceView
from maylink.tuning.pool import FamilyOnData, StartPool, StartView, score_settings
from maylink.tuning.rdpmeans import RDPMeansRequest
from maylink.tuning.rdpmeans import tune as tune_rdpmeans
from maylink.tuning.settings import Tuning
from maylink.views.neighbours import NeighbourGraph

S = TypeVar("S")

PLAIN_STARTS = ("rdp-means", "one", "singletons")
STARTS = ("auto", *PLAIN_STARTS)
MOST_REPAIRS = 3  # times that the clusters of a fit are cut and merged anew, at most


@dataclass(frozen=True)
class StartModel:
    """What a fit depends on besides the problem."""

    prior: Any
    settings: VariationalSettings

    @property
    def score(self) -> ScoreSettings:
        """What the exact score depends on."""
        return score_settings(self.settings)


class Starts:
    """Makes the partitions that a fit starts from.

    Parameters
    ----------
    init : {"auto", "rdp-means", "one", "singletons"} or array of shape (n,)
        Which start; an array is the partition itself.
    rng : Generator
        Orders visits.
    tuning : Tuning
        How RDP-means chooses its penalty.
    n_jobs : int, optional
        Threads.
    model : StartModel, optional
        Prior and settings by which partitions of the pool are scored.
    """

    def __init__(
        self,
        init: Any,
        rng: np.random.Generator,
        tuning: Tuning,
        n_jobs: int | None = None,
        model: StartModel | None = None,
    ) -> None:
        self.init, self.rng, self.tuning, self.n_jobs = init, rng, tuning, n_jobs
        self.model = model
        self.family: FamilyOnData | None = None

    def several(self, problem: Problem, count: int) -> Iterator[Any]:
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

    def _from_pool(self, problem: Problem, count: int) -> list[Index]:
        if self.model is None:
            raise ValueError("a pool needs a model to judge its partitions by")
        view = StartView.of(problem, self.rng, self.n_jobs)
        pool = StartPool([view], problem.links, self.rng, self.n_jobs)
        self.family = FamilyOnData(problem, self.model.prior, view)
        near = _fits_at_higher_weights(pool, self.family, self.model, self.tuning)
        best = pool.best(self.family, self.model.score, count, near)
        if count > 1:
            alone = replace(problem, links=Links.empty(problem.n))
            pieces = PieceView.of(alone, NeighbourGraph(alone, 0), self.rng)
            settings = quick(self.model.settings)
            best.insert(1, fit_alone(pieces, self.model.prior, settings).labels)
        return best

    def repaired(self, labels: Index) -> Index | None:
        """Cut the clusters that a fit found and merge them again; None if that is no better."""
        if self.family is None or self.model is None:
            return None
        links, settings = self.family.problem.links, self.model.score
        remerged = self.family.remerged(labels, links, settings)
        before = self.family.score(labels, links, settings)
        better = self.family.score(remerged, links, settings) > before + ENOUGH
        return remerged if better else None

    def _from_rdp_means(self, problem: Problem, count: int) -> Iterator[Any]:
        """Yield what the paper's RDP-means leaves; its penalty is chosen once."""
        coarse = problem.with_family(problem.family.coarser())
        settings = RDPMeansSettings(np.nan, keep="objective")
        request = RDPMeansRequest(coarse.family, settings, True, choose_weights=False)
        centers = None
        for _ in range(count):
            choice = tune_rdpmeans(coarse, request, self.tuning, self.rng, self.n_jobs)
            centers = choice.start if choice.by == "evidence" else centers
            request = replace(request, cluster_penalty=choice.settings.penalty)
            solver = RDPMeansSolver(coarse, choice.engine, choice.settings)
            order = np.arange(coarse.n, dtype=np.int32)
            self.rng.shuffle(order)
            labels = rdpmeans.solve(solver, [solver.init(order, centers)]).state.labels
            del (
                choice,
                solver,
            )  # the engine holds a copy of the data, and a fit comes before the next
            yield labels

    @property
    def needs_no_search(self) -> bool:
        """Whether it costs nothing to start with all points at once."""
        return not isinstance(self.init, str) or self.init in ("one", "singletons")

    def later(self) -> Starts:
        """Return the starts of points that come later, of which given labels say nothing."""
        init = self.init if isinstance(self.init, str) else "rdp-means"
        return Starts(init, self.rng, self.tuning, self.n_jobs, self.model)


class ProblemStart:
    """Makes the partition that a chain starts from, in the chain's own process."""

    def __init__(
        self, problem: Problem, init: Any, tuning: Tuning, model: StartModel | None = None
    ) -> None:
        self.problem, self.init, self.tuning, self.model = problem, init, tuning, model

    def __call__(self, rng: np.random.Generator) -> Index:
        """Return the partition."""
        starts = Starts(self.init, rng, self.tuning, n_jobs=1, model=self.model)
        return next(starts.several(self.problem, 1))


def best_of_restarts(
    starts: Iterable[Any],
    run: Callable[[Any], Fit[S]],
    repaired: Callable[[S], Any],
    progress: Progress,
    worth: Callable[[Fit[S]], float] = lambda fit: fit.objective,
) -> Fit[S]:
    """Run from every start and keep the best fit; cut and merge its clusters while that helps.

    Parameters
    ----------
    starts : iterable
        Partitions.
    run : callable
        Fits from one of them.
    repaired : callable
        Makes another partition of what a run left, or None where there is none that is better.
    progress : Progress
        Counts starts.
    worth : callable, optional
        What fits are compared by; the bound by default.
    """
    fits = []
    for labels in starts:
        fits.append(run(labels))
        progress.advance()
        if progress.stopped:
            break
    best = max(fits, key=worth)
    for _ in range(MOST_REPAIRS):
        labels = None if progress.stopped else repaired(best.state)
        if labels is None:
            break
        fit = run(labels)
        if worth(fit) <= worth(best):
            break
        best = fit
    return replace(best, status=Status.of_stop(progress.out_of_time)) if progress.stopped else best


def _fits_at_higher_weights(
    pool: StartPool, family: FamilyOnData, model: StartModel, tuning: Tuning
) -> list[Index]:
    """Fit with higher data weights, the highest first, each from the one before.

    Where data count little, one cluster for all is a start that no fit leaves, though better ones
    are near: those that the data find when they count more.
    """
    settings, near = quick(model.settings), list[Index]()
    for weight in tuning.data_weights:
        if weight <= settings.data_weight:
            break
        higher = replace(settings, data_weight=weight)
        labels = pool.best(family, score_settings(higher), 1, near)[0]
        solver = VariationalSolver(family.problem, model.prior, higher)
        near = [solver.labels(loop.run(solver, solver.init(labels)).state)]
        if not near[0].any():
            break
    return near
