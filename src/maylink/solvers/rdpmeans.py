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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index
from maylink.engines.protocol import Engine, Labels
from maylink.engines.totals import Totals
from maylink.families.gaussian import EuclideanFamily
from maylink.labels import complete_codes, renumbered
from maylink.model.partition_priors import DIRICHLET_PROCESS, PartitionPrior
from maylink.model.reliability import LinkCounts, as_counts
from maylink.model.source_prior import SHARED, source_prior
from maylink.problem import Problem
from maylink.runtime.progress import SILENT, Progress
from maylink.solvers import loop
from maylink.solvers.fit import Clustering, Fit, Parts, Status, Sweep
from maylink.solvers.link_weights import greatest_log_odds, pooled_log_odds, source_shares
from maylink.solvers.partition_score import PartitionScore

logger = logging.getLogger(__name__)
NO_ORDER = np.empty(0, np.int32)
FEW = 0.02  # of the points; while no more move in a sweep, centres may go beyond the means
ABOVE = 1.0 + 1e-9  # a point at exactly λ opens a cluster; a penalty this much larger keeps it


@dataclass(frozen=True)
class RDPMeansSettings:
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
    by_source : bool
        Whether that holds for each source of links by itself, as far as its own p and q go, or for
        all sources as one. It needs points in memory.
    keep : {"probability", "objective"}
        What to keep of the runs: the most probable partition that a sweep of any of them left, or
        the last partition of the run with the least objective, as the paper does.
    data_weight : float
        γ, the power on the likelihood of the data in that probability.
    alpha : float, optional
        Concentration of the partition's prior in it; None averages it out.
    partition_prior : PartitionPrior
        Prior of the partition in it.
    merge : bool
        Whether clusters of the most probable partition of a run are merged while that makes it more
        probable still.
    judge_start : bool
        Whether the labels that a run starts from may be its most probable partition.
    still : float
        Share of the points that may move in a sweep that counts as one without a change.
    stretch : float
        How far centres go, in units of their way to the means. Beyond these, above 1, they only go
        while few points move; a sweep that would raise the objective is made anew from the means.
    """

    penalty: float
    xi_may: float = 0.001
    xi_not: float = 0.001
    rate: float = 2.0
    patience: int = 20
    max_sweeps: int = 300
    scale: float | None = None
    by_source: bool = False
    keep: str = "probability"
    data_weight: float = 1.0
    alpha: float | None = 1.0
    merge: bool = False
    judge_start: bool = False
    partition_prior: PartitionPrior = DIRICHLET_PROCESS
    still: float = 0.0
    stretch: float = 1.0


@dataclass(frozen=True)
class RDPMeansState:
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
    n_still: int = 0  # sweeps in a row without a change
    n_sweeps: int = 0  # sweeps made
    last: Sweep | None = None  # the last of them
    best: MostProbable | None = None  # of the partitions so far, where probability decides
    shares: Array | None = None  # of ξ that votes of each kind and source have, where they differ
    way: Array | None = None  # of the centres in the last sweep, where it was short; (K, s)


class MostProbable(NamedTuple):
    """The most probable partition that the sweeps of a run have left so far."""

    state: RDPMeansState  # of the sweep that made it
    log_joint: float
    n_sweeps: int  # up to the last sweep that left it as it is
    objective: float  # at that sweep
    root: Index | None = None  # of each cluster the one that it was merged into


Run = Fit[RDPMeansState]


class RDPMeansSolver:
    """Algorithm 1 on the points of one engine.

    Parameters
    ----------
    problem : Problem
        Data, links and family.
    engine : Engine
        Holds the points.
    settings : RDPMeansSettings
        How RDP-means runs.
    """

    name: ClassVar[str] = "RDP-means"
    objective: ClassVar[str] = "objective"
    records_start: ClassVar[bool] = False

    def __init__(self, problem: Problem, engine: Engine, settings: RDPMeansSettings) -> None:
        self.problem, self.engine, self.settings = problem, engine, settings
        by_probability = settings.keep == "probability"
        self.score = PartitionScore(problem, engine, settings) if by_probability else None
        self.sources = source_prior(SHARED, problem.links.sources)
        self.may_stretch = settings.stretch > 1.0 and isinstance(problem.family, EuclideanFamily)

    def init(
        self,
        order: NDArray[Any],
        start: NDArray[Any] | None = None,
        shuffle: int | None = None,
    ) -> RDPMeansState:
        """Start from one cluster, or from labels of shape (n,), or from centres of shape (k, s)."""
        engine, settings = self.engine, self.settings
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
            stored = engine.stored(np.full(self.problem.n, -1))
            totals = engine.totals(stored, len(centers))
        counts = as_counts(engine.votes(stored))
        heaviest = engine.heaviest(settings.penalty)
        weights, shares = (settings.xi_may, settings.xi_not), None
        if settings.by_source and settings.scale is not None:
            shares = source_shares(counts, weights, settings.scale, self.sources)
        state = RDPMeansState(
            order, stored, totals, centers, counts, *weights, heaviest, shuffle, shares=shares
        )
        if not settings.judge_start or self.score is None:
            return state
        distortion = engine.distortion(stored, totals, centers)
        state = replace(state, distortion=distortion)
        value = objective(settings, state, weights)
        return replace(state, best=MostProbable(state, self.score(state), 0, value))

    def step(self, state: RDPMeansState) -> RDPMeansState:
        """Make one sweep: visit all points, move the centres, let the link weights grow."""
        engine, settings = self.engine, self.settings
        if state.shuffle is not None:
            rng = np.random.default_rng([state.shuffle, state.n_sweeps])
            turns = np.arange(self.problem.n, dtype=np.int32)
            state = replace(state, order=rng.permutation(turns))
        if settings.by_source:
            engine.weigh_sources(state.shares)
        swept = None if state.way is None else self._stretched(state, state.way)
        swept = swept or self._swept(state, state.centers)
        swept = self._with_grown_weights(swept)
        logger.debug("sweep %d: %s", swept.n_sweeps, swept.last)
        return swept if self.score is None else replace(swept, best=self._best(swept, state.best))

    def _stretched(self, state: RDPMeansState, way: Array) -> RDPMeansState | None:
        """Return what a sweep beyond the means leaves; None where it is no better than before."""
        before = objective(self.settings, state, (state.xi_may, state.xi_not))
        swept = self._swept(state, state.centers + (self.settings.stretch - 1.0) * way)
        assert swept.last is not None
        return swept if swept.last.n_changed and swept.last.objective <= before else None

    def _swept(self, state: RDPMeansState, places: Array) -> RDPMeansState:
        """Return what a sweep leaves in which centres stand at these places."""
        engine, settings, weights = self.engine, self.settings, (state.xi_may, state.xi_not)
        labels, totals, n_changed = engine.sweep(
            state.labels, state.totals, places, state.order, weights, settings.penalty
        )
        centers, distortion, counts = state.centers, state.distortion, state.counts
        if n_changed or not state.n_sweeps:
            centers = engine.means(totals)
            distortion = engine.distortion(labels, totals, centers)
            counts = as_counts(engine.votes(labels))
        n_still = 0 if n_changed > settings.still * self.problem.n else state.n_still + 1
        short = self.may_stretch and 0 < n_changed <= FEW * self.problem.n
        way = centers - state.centers if short and len(centers) == len(state.centers) else None
        swept = RDPMeansState(
            state.order, labels, totals, centers, counts, *weights, state.heaviest, state.shuffle,
            distortion, n_still, state.n_sweeps + 1, shares=state.shares, way=way,
        )  # fmt: skip
        last = Sweep(objective(settings, swept, weights), len(centers), n_changed, *weights)
        return replace(swept, last=last)

    def record(self, state: RDPMeansState) -> Sweep:
        """Return the last sweep."""
        assert state.last is not None
        return state.last

    def done(self, state: RDPMeansState, rows: Sequence[Sweep]) -> Status | None:
        """Stop when nothing can change, or nothing has for long while link weights grew."""
        if state.last is not None:
            growing = (state.xi_may, state.xi_not) != state.last[-2:]
            growing = growing and self.problem.links.n_links > 0
            if state.n_still >= (self.settings.patience if growing else 1):
                return Status.CONVERGED
        return Status.MAX_SWEEPS if len(rows) >= self.settings.max_sweeps else None

    def _with_grown_weights(self, state: RDPMeansState) -> RDPMeansState:
        """Return the state with the link weights of the next sweep."""
        settings, weights = self.settings, (state.xi_may, state.xi_not)
        growth = min(settings.rate, max(1.0, state.heaviest / max(*weights, 1e-300)))
        xi_may, xi_not = weights[0] * growth, weights[1] * growth
        if settings.scale is None:
            return replace(state, xi_may=xi_may, xi_not=xi_not)
        counts, scale, shares = state.counts, settings.scale, None
        if settings.by_source:
            odds = greatest_log_odds(counts, self.sources)
        else:
            odds = pooled_log_odds(counts)
        grown = min(xi_may, scale * odds[0]), min(xi_not, scale * odds[1])
        if settings.by_source:
            shares = source_shares(counts, grown, scale, self.sources)
        return replace(state, xi_may=grown[0], xi_not=grown[1], shares=shares)

    def _best(self, state: RDPMeansState, best: MostProbable | None) -> MostProbable:
        """Return the most probable partition so far, that of this state included."""
        assert self.score is not None
        assert state.last is not None
        if best is None or state.last.n_changed > 0:
            log_joint = self.score(state)
            if best is None or log_joint > best.log_joint:
                return MostProbable(state, log_joint, state.n_sweeps, state.last.objective)
        elif best.n_sweeps == state.n_sweeps - 1:  # the same partition, under heavier links
            return best._replace(n_sweeps=state.n_sweeps, objective=state.last.objective)
        return best


def solve(
    solver: RDPMeansSolver,
    starts: Iterable[RDPMeansState],
    progress: Progress = SILENT,
    earlier: Run | None = None,
    make_run: Callable[..., Run] | None = None,
) -> Fit[Clustering]:
    """Run Algorithm 1 from every start and keep the best; an earlier run may win, too.

    Parameters
    ----------
    solver : RDPMeansSolver
        Data, links, family and settings.
    starts : iterable of RDPMeansState
        Where to start; each is made when its run begins.
    progress : Progress, optional
        Shows each sweep and counts runs.
    earlier : Fit, optional
        A run that was made before; it may win where probability decides.
    make_run : callable, optional
        Makes a run as :func:`run` does, which is the default.
    """
    runs: list[Run] = []
    for start in starts:
        runs.append((make_run or run)(solver, start, progress))
        if solver.score is not None:
            runs = [best_run(solver.settings, runs)]
        if progress.stopped:
            break
    if earlier is not None and solver.score is not None:
        runs.append(earlier)
    fit = clustering(solver, best_run(solver.settings, runs))
    return replace(fit, status=Status.of_stop(progress.out_of_time)) if progress.stopped else fit


def run(solver: RDPMeansSolver, start: RDPMeansState, progress: Progress = SILENT) -> Run:
    """Run Algorithm 1 from one start."""
    fit = finish(solver, loop.run(solver, start, progress))
    progress.advance()
    return fit


def finish(solver: RDPMeansSolver, fit: Run) -> Run:
    """Merge clusters of the best partition of a run, if settings say so, and free memory."""
    state = replace(fit.state, order=NO_ORDER)  # an order is large, and no longer needed
    if state.best is not None:
        assert solver.score is not None
        best = state.best._replace(state=replace(state.best.state, order=NO_ORDER))
        state = replace(state, best=solver.score.merged(best) if solver.settings.merge else best)
    solver.engine.forget()
    return replace(fit, state=state)


def best_run(settings: RDPMeansSettings, runs: list[Run]) -> Run:
    """Return the most probable run, or the least objective at the largest final link weights."""
    if settings.keep == "probability":
        return max(runs, key=lambda fit: log_joint_of(fit.state))
    weights = max((fit.state.xi_may, fit.state.xi_not) for fit in runs)
    return min(runs, key=lambda fit: objective(settings, fit.state, weights))


def log_joint_of(state: RDPMeansState) -> float:
    """Return the log probability of the best partition of a run; NaN if none was computed."""
    return np.nan if state.best is None else state.best.log_joint


def clustering(solver: RDPMeansSolver, fit: Run) -> Fit[Clustering]:
    """Return the best partition of a run, its clusters numbered by first appearance."""
    state, last = fit.state, fit.state.last
    assert last is not None
    best = state.best or MostProbable(state, np.nan, state.n_sweeps, last.objective)
    engine, state = solver.engine, best.state
    labels, old = engine.numbered(state.labels, best.root)
    merged, centers = None, state.centers
    if best.root is None or len(old) == len(centers):
        centers = centers[old]
    else:
        cluster = renumbered(best.root, old)
        merged = Parts(centers, cluster)
        centers = engine.means(state.totals.joined(cluster))
    trace = replace(fit.trace, kept=max(0, best.n_sweeps - 1))
    return Fit(Clustering(labels, centers, merged), best.objective, trace, fit.status)


def objective(
    settings: RDPMeansSettings, state: RDPMeansState, weights: tuple[float, float]
) -> float:
    """Return the objective of a state, which counts each pair once."""
    may, may_not = state.counts.may_same, state.counts.not_same
    if state.shares is not None:
        may, may_not = may * state.shares[1::2], may_not * state.shares[::2]
    clusters = settings.penalty * len(state.centers)
    friends, strangers = float(may.sum()), float(may_not.sum())
    return state.distortion + clusters - weights[0] * friends + weights[1] * strangers
