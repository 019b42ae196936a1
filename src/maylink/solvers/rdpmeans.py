"""RDP-means, Algorithm 1 of the paper: a K-means that opens clusters and listens to links.

Each point in turn goes to the cluster with the least ``D(x, μ_k) − ξ_may f_k + ξ_not s_k``, with
f_k friends and s_k strangers there, or opens a cluster of its own when all of these are λ or more.
Then centres move to the means and the link weights ξ grow. With ξ fixed, no sweep raises::

    Σ_k Σ_{i∈k} D(x_i, μ_k) + λ K − ξ_may · (may links inside) + ξ_not · (may-not links inside)

Centres stand still within a sweep; how the engine uses that is told in
:mod:`maylink.engines.cpu`. The labels are those of the plain loop.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from maylink.arrays import Array
from maylink.engines.protocol import Engine, Labels
from maylink.engines.totals import Totals
from maylink.errors import MaylinkError
from maylink.families.base import Statistics
from maylink.labels import complete_codes, renumbered
from maylink.model.joint import log_crp, log_data
from maylink.model.reliability import LinkCounts, as_counts, expected, log_evidence
from maylink.problem import Problem
from maylink.runtime.progress import SILENT, Progress
from maylink.solvers import merging
from maylink.solvers.fit import Parts, Result, Status, Sweep, Trace

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """How RDP-means runs.

    Parameters
    ----------
    penalty : float
        λ, what opening a cluster costs; above 0.
    xi_may, xi_not : float
        Link weights of the first sweep.
    rate : float
        Factor by which both grow after each sweep; 1 keeps them fixed.
    patience : int
        Sweeps without a change after which to stop, while the link weights grow.
    max_sweeps : int
        Sweeps after which to stop in any case.
    scale : float, optional
        What a nat of log odds weighs in units of the divergence. The weights then grow no
        further than ``scale · ln(p/(1−q))`` and ``scale · ln(q/(1−p))``, with p and q as the
        present partition shows them. None: they grow until links are obeyed.
    keep : {"probability", "objective"}
        What to keep of the runs: the most probable partition that a sweep of any of them left, or
        the last partition of the run with the least objective, as the paper does.
    data_weight : float
        γ, the power on the likelihood of the data in that probability.
    alpha : float, optional
        Concentration of the Chinese restaurant process in it; None averages it out.
    merge : bool
        Whether clusters of the most probable partition of a run are merged while that makes it more
        probable still.
    """

    penalty: float
    xi_may: float = 0.001
    xi_not: float = 0.001
    rate: float = 2.0
    patience: int = 20
    max_sweeps: int = 300
    scale: float | None = None
    keep: str = "probability"
    data_weight: float = 1.0
    alpha: float | None = 1.0
    merge: bool = False


@dataclass(frozen=True)
class State:
    """What the next sweep needs."""

    order: NDArray[Any]  # in which points are visited
    labels: Labels  # in the engine's order, −1 for a point that no sweep has visited yet
    totals: Totals  # sums of the clusters
    centers: Array
    counts: LinkCounts  # links inside and between clusters
    xi_may: float
    xi_not: float
    heaviest: float  # link weight at which growth ends
    shuffle: int | None = None  # seed of new orders, one for each sweep; None keeps the order
    distortion: float = np.inf  # Σ D(x_i, μ_k) of this partition
    still: int = 0  # sweeps in a row without a change
    sweeps: tuple[Sweep, ...] = field(default=(), repr=False)


class Kept(NamedTuple):
    """The state that a run is judged by, and the whole run."""

    state: State
    log_joint: float  # of its partition; NaN where runs are judged by their objective
    run: State
    root: NDArray[np.int64] | None = None  # of each cluster the one that it was merged into


def solve(
    problem: Problem,
    engine: Engine,
    settings: Settings,
    starts: Iterable[State | Kept],
    progress: Progress = SILENT,
    before: Kept | None = None,
    done: Iterable[Kept] = (),
    watch: Callable[[list[Kept], Kept], None] | None = None,
) -> tuple[Result, Kept]:
    """Run Algorithm 1 from every start and keep the best; a run made before may win, too.

    A start that is a :class:`Kept` is a run that was broken off. ``done`` are runs that ended
    before that, and ``watch`` is told after each sweep of the runs that have ended and of the
    present one.
    """
    runs = list(done)
    score = Score(problem, engine, settings) if settings.keep == "probability" else None
    for start in starts:
        told = None if watch is None else partial(watch, list(runs))
        runs.append(_run(problem, engine, settings, start, progress, score, told))
        engine.forget()
        if score is not None:
            runs = [best_of(settings, runs)]
    if before is not None and score is not None:
        runs.append(before)
    best = best_of(settings, runs)
    return result_of(problem, engine, settings, best), best


def best_of(settings: Settings, runs: list[Kept]) -> Kept:
    """The most probable, or the least objective at the largest link weights that a run ended at."""
    if settings.keep == "probability":
        return max(runs, key=lambda kept: kept.log_joint)
    xi_may, xi_not = max((kept.run.xi_may, kept.run.xi_not) for kept in runs)
    return min(runs, key=lambda kept: objective(settings, kept.state, xi_may, xi_not))


def result_of(problem: Problem, engine: Engine, settings: Settings, kept: Kept) -> Result:
    """Number the clusters by first appearance and say how the run ended."""
    status = Status.CONVERGED if _settled(problem, settings, kept.run) else Status.MAX_SWEEPS
    state = kept.state
    labels, old = engine.numbered(state.labels, kept.root)
    trace = Trace(kept.run.sweeps, len(state.sweeps) - 1)
    value = state.sweeps[-1].objective
    if kept.root is None or len(old) == len(state.centers):
        return Result(labels, state.centers[old], value, trace, status)
    cluster = renumbered(kept.root, old)
    centers = engine.means(state.totals.joined(cluster))
    return Result(labels, centers, value, trace, status, Parts(state.centers, cluster))


def init(
    problem: Problem,
    engine: Engine,
    settings: Settings,
    order: NDArray[Any],
    start: NDArray[Any] | None = None,
    shuffle: int | None = None,
) -> State:
    """Start from one cluster, or from labels of shape (n,), or from centres of shape (k, s)."""
    if start is None:
        stored, totals = engine.together(), engine.whole
        centers = engine.means(totals)
    elif start.ndim == 1:
        labels = complete_codes(start, "init")
        stored = engine.stored(labels)
        totals = engine.totals(stored, int(labels.max()) + 1)
        centers = engine.means(totals)
    else:
        centers = np.asarray(start, np.float64)
        stored = engine.stored(np.full(problem.n, -1))
        totals = engine.totals(stored, len(centers))
    counts = as_counts(engine.votes(stored))
    heaviest = engine.heaviest(settings.penalty)
    weights = (settings.xi_may, settings.xi_not)
    return State(order, stored, totals, centers, counts, *weights, heaviest, shuffle)


def step(problem: Problem, engine: Engine, settings: Settings, state: State) -> State:
    """Make one sweep: visit all points, move the centres, let the link weights grow."""
    if state.shuffle is not None:
        rng = np.random.default_rng([state.shuffle, len(state.sweeps)])
        state = replace(state, order=rng.permutation(np.arange(problem.n, dtype=np.int32)))
    weights = (state.xi_may, state.xi_not)
    labels, totals, n_changed = engine.sweep(
        state.labels, state.totals, state.centers, state.order, weights, settings.penalty
    )
    centers, distortion, counts = state.centers, state.distortion, state.counts
    if n_changed or not state.sweeps:
        centers = engine.means(totals)
        distortion = engine.distortion(labels, totals, centers)
        counts = as_counts(engine.votes(labels))
    growth = min(settings.rate, max(1.0, state.heaviest / max(*weights, 1e-300)))
    xi_may, xi_not = weights[0] * growth, weights[1] * growth
    if settings.scale is not None:
        most = learned(counts)
        xi_may, xi_not = (
            min(grown, settings.scale * odds)
            for grown, odds in zip((xi_may, xi_not), most, strict=True)
        )
    swept = State(
        state.order, labels, totals, centers, counts, xi_may, xi_not,
        state.heaviest, state.shuffle, distortion, 0 if n_changed else state.still + 1,
    )  # fmt: skip
    record = Sweep(objective(settings, swept, *weights), len(centers), n_changed, *weights)
    logger.debug("sweep %d: %s", len(state.sweeps), record)
    return replace(swept, sweeps=(*state.sweeps, record))


def learned(counts: LinkCounts) -> tuple[float, float]:
    """Return ln(p/(1−q)) and ln(q/(1−p)) of all sources as one, never below 0."""
    p, q = (
        float(part[0])
        for part in expected(LinkCounts(*(votes.sum(keepdims=True) for votes in counts)))
    )
    return max(0.0, float(np.log(p / (1.0 - q)))), max(0.0, float(np.log(q / (1.0 - p))))


def objective(settings: Settings, state: State, xi_may: float, xi_not: float) -> float:
    """Return the objective, which counts each pair once."""
    may, may_not = float(state.counts.may_same.sum()), float(state.counts.not_same.sum())
    clusters = settings.penalty * len(state.centers)
    return state.distortion + clusters - xi_may * may + xi_not * may_not


def warn_unsettled(result: Result) -> None:
    """Tell the user that the sweeps ran out."""
    warnings.warn(
        f"RDP-means had not settled after {len(result.trace)} sweeps; raise max_sweeps",
        ConvergenceWarning,
        stacklevel=3,
    )


def _run(
    problem: Problem,
    engine: Engine,
    settings: Settings,
    start: State | Kept,
    progress: Progress,
    score: Score | None,
    watch: Callable[[Kept], None] | None = None,
) -> Kept:
    """Sweep until nothing changes; with a score, remember the best partition on the way."""
    best = Kept(start, -np.inf, start) if isinstance(start, State) else start
    state = best.run
    for state in sweeps(problem, engine, settings, best.run):
        last = state.sweeps[-1]
        progress.show(sweep=len(state.sweeps), clusters=last.n_clusters, changed=last.n_changed)
        if not np.isfinite(last.objective):
            raise MaylinkError("the objective is not finite: X or the link weights are too large")
        if score is not None:
            if len(state.sweeps) == 1 or last.n_changed > 0:
                best = max(best, Kept(state, score(state), state), key=lambda kept: kept.log_joint)
            elif len(best.state.sweeps) == len(state.sweeps) - 1:
                best = best._replace(state=state)  # the same partition, under heavier links
        if watch is not None:
            watch(Kept(state, np.nan, state) if score is None else best._replace(run=state))
    logger.info("%d sweeps, %d clusters", len(state.sweeps), len(state.centers))
    progress.advance()
    run = replace(state, order=np.empty(0, np.int32))  # an order is large, and no longer needed
    if score is None:
        return Kept(run, np.nan, run)
    best = best._replace(state=replace(best.state, order=run.order), run=run)
    return score.merged(best) if settings.merge else best


def sweeps(problem: Problem, engine: Engine, settings: Settings, state: State) -> Iterator[State]:
    """Yield the state after each sweep, until nothing changes."""
    while len(state.sweeps) < settings.max_sweeps:
        state = step(problem, engine, settings, state)
        yield state
        if _settled(problem, settings, state):
            break


class Score:
    """The exact log probability of partitions of one problem; see :func:`maylink.log_joint`.

    Parameters
    ----------
    problem : Problem
        Data, links and family.
    engine : Engine
        Holds the points.
    settings : Settings
        Hold the data weight and the concentration.
    """

    def __init__(self, problem: Problem, engine: Engine, settings: Settings) -> None:
        self.problem = problem
        self.engine = engine
        self.settings = settings

    @cached_property
    def _log_base(self) -> float:
        return self.problem.total_log_base

    def __call__(self, state: State) -> float:
        """Return the score of the partition of a state."""
        data, rest = self.parts(state)
        return self.settings.data_weight * data + rest

    def parts(self, state: State) -> tuple[float, float]:
        """Return the log probability of the data, and that of the partition and the links."""
        statistics = self.statistics(state)
        data = log_data(self.problem.family, statistics, self.problem.prior)
        seats = log_crp(statistics.size, self.settings.alpha)
        return data, seats + log_evidence(state.counts)

    def statistics(self, state: State) -> Statistics:
        """Return the statistics of the clusters of a state."""
        family, totals = self.problem.family, state.totals
        size = totals.size.astype(np.float64)
        total = family.summed(totals.points, totals.potential)
        if total is None:  # the sums of the sweep are not the statistics of the likelihood
            labels = self.engine.given(state.labels)
            return self.problem.cluster_statistics(labels, size.size)
        return Statistics(size, total, np.full(size.size, self._log_base / size.size))

    def merged(self, kept: Kept) -> Kept:
        """Merge the clusters of a partition while that raises the score; not if very many."""
        size = len(kept.state.centers)
        if not 2 <= size <= merging.MOST:
            return kept
        root, gain = merging.merge_clusters(
            self.problem.family,
            self.problem.prior,
            merging.Settings(self.settings.data_weight, self.settings.alpha),
            self.statistics(kept.state),
            self.engine.between(kept.state.labels, size),
        )
        logger.info("merged into %d clusters", len(np.unique(root)))
        return kept._replace(root=root, log_joint=kept.log_joint + gain)


def _settled(problem: Problem, settings: Settings, state: State) -> bool:
    """Whether nothing can change any more, or has not for long while the link weights grew."""
    last = state.sweeps[-1]
    growing = problem.links.n_links > 0 and (state.xi_may, state.xi_not) != last[-2:]
    return state.still >= (settings.patience if growing else 1)
