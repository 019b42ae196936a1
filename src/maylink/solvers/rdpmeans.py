"""RDP-means, Algorithm 1 of the paper: a K-means that opens clusters and listens to links.

Each point in turn goes to the cluster with the least ``D(x, μ_k) − ξ_may f_k + ξ_not s_k``, with
f_k friends and s_k strangers there, or opens a cluster of its own when all of these are λ or more.
Then centres move to the means and the link weights ξ grow. With ξ fixed, no sweep raises::

    Σ_k Σ_{i∈k} D(x_i, μ_k) + λ K − ξ_may · (may links inside) + ξ_not · (may-not links inside)

Centres stand still within a sweep, so scores are computed for blocks of points at once, on
threads; only the choice is made point by point. A cluster that opens is scored for the rest of its
block. The labels are those of the plain loop, whatever the blocks.
"""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from maylink.engines.cpu import CpuEngine, Index
from maylink.errors import MaylinkError
from maylink.families.base import Array
from maylink.joint import joint_of
from maylink.labels import complete_codes, first_appearance
from maylink.links import Links
from maylink.problem import Problem
from maylink.progress import SILENT, Progress
from maylink.result import Result, Status, Sweep, Trace

logger = logging.getLogger(__name__)

SMALLEST_BLOCK, LARGEST_BLOCK = 256, 65_536
SPARE = 32  # clusters that may open inside a block before it is cut short
MOST_SCORES = 8_000_000  # entries of the table of linked points' scores: 64 MB
HEAVIEST = 1e6  # link weight in units of data: beyond it nothing changes but the rounding of D


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
    keep : {"probability", "objective"}
        What to keep of the runs: the most probable partition that a sweep of any of them left, or
        the last partition of the run with the least objective, as the paper does.
    """

    penalty: float
    xi_may: float = 0.001
    xi_not: float = 0.001
    rate: float = 2.0
    patience: int = 20
    max_sweeps: int = 300
    keep: str = "probability"


@dataclass(frozen=True)
class State:
    """What the next sweep needs."""

    order: Index  # in which points are visited
    labels: Index  # −1 for a point that no sweep has visited yet
    centers: Array
    xi_may: float
    xi_not: float
    heaviest: float  # link weight at which growth ends
    block: int  # points to score at once; small while clusters open often
    shuffle: int | None = None  # seed of new orders, one for each sweep; None keeps the order
    distortion: float = np.inf  # Σ D(x_i, μ_k) of this partition
    still: int = 0  # sweeps in a row without a change
    sweeps: tuple[Sweep, ...] = field(default=(), repr=False)


class Kept(NamedTuple):
    """The state that a run is judged by, and the whole run."""

    state: State
    log_joint: float  # of its partition; NaN where runs are judged by their objective
    run: State


def solve(
    problem: Problem,
    engine: CpuEngine,
    settings: Settings,
    starts: list[State],
    progress: Progress = SILENT,
    before: Kept | None = None,
) -> tuple[Result, Kept]:
    """Run Algorithm 1 from every start and keep the best; a run made before may win, too."""
    runs = [_run(problem, engine, settings, start, progress) for start in starts]
    if before is not None and settings.keep == "probability":
        runs.append(before)
    best = best_of(problem, settings, runs)
    return result_of(problem, settings, best), best


def best_of(problem: Problem, settings: Settings, runs: list[Kept]) -> Kept:
    """The most probable, or the least objective at the largest link weights that a run ended at."""
    if settings.keep == "probability":
        return max(runs, key=lambda kept: kept.log_joint)
    xi_may, xi_not = max((kept.run.xi_may, kept.run.xi_not) for kept in runs)
    return min(runs, key=lambda kept: objective(problem, settings, kept.state, xi_may, xi_not))


def result_of(problem: Problem, settings: Settings, kept: Kept) -> Result:
    """Number the clusters by first appearance and say how the run ended."""
    status = Status.CONVERGED if _settled(problem, settings, kept.run) else Status.MAX_SWEEPS
    labels, old = first_appearance(kept.state.labels)
    sweep = len(kept.state.sweeps) - 1
    value = kept.state.sweeps[-1].objective
    return Result(labels, kept.state.centers[old], value, Trace(kept.run.sweeps, sweep), status)


def init(
    problem: Problem,
    engine: CpuEngine,
    settings: Settings,
    order: Index,
    start: NDArray[Any] | None = None,
    shuffle: int | None = None,
) -> State:
    """Start from one cluster, or from labels of shape (n,), or from centres of shape (k, s)."""
    if start is None:
        labels = np.zeros(problem.n, np.int64)
        centers = _means(engine, labels, 1)[0]
    elif start.ndim == 1:
        labels = complete_codes(start, "init")
        centers = _means(engine, labels, int(labels.max()) + 1)[0]
    else:
        labels = np.full(problem.n, -1)
        centers = np.asarray(start, np.float64)
    _, reach = engine.assign(order, centers)
    heaviest = HEAVIEST * (float(reach.max()) + settings.penalty)
    weights = (settings.xi_may, settings.xi_not)
    return State(order, labels, centers, *weights, heaviest, SMALLEST_BLOCK, shuffle)


def step(problem: Problem, engine: CpuEngine, settings: Settings, state: State) -> State:
    """Make one sweep: visit all points, move the centres, let the link weights grow."""
    if state.shuffle is not None:
        rng = np.random.default_rng([state.shuffle, len(state.sweeps)])
        state = replace(state, order=rng.permutation(problem.n))
    labels = state.labels.copy()
    centers, n_changed, block = _visit_all(problem, engine, settings, state, labels)
    centers, labels, distortion = _move(engine, centers, labels)
    swept = replace(state, labels=labels, centers=centers, distortion=distortion)
    value = objective(problem, settings, swept, state.xi_may, state.xi_not)
    record = Sweep(value, len(centers), n_changed, state.xi_may, state.xi_not)
    growth = min(settings.rate, max(1.0, state.heaviest / max(state.xi_may, state.xi_not, 1e-300)))
    logger.debug("sweep %d: %s", len(state.sweeps), record)
    return replace(
        swept,
        xi_may=state.xi_may * growth,
        xi_not=state.xi_not * growth,
        block=block,
        still=0 if n_changed else state.still + 1,
        sweeps=(*state.sweeps, record),
    )


def objective(
    problem: Problem, settings: Settings, state: State, xi_may: float, xi_not: float
) -> float:
    """Return the objective, which counts each pair once."""
    links = problem.links
    inside = state.labels[links.i] == state.labels[links.j]
    signed = links.kind[inside] * links.weight[inside]
    may, may_not = float(signed[signed > 0].sum()), -float(signed[signed < 0].sum())
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
    problem: Problem, engine: CpuEngine, settings: Settings, state: State, progress: Progress
) -> Kept:
    """Sweep until nothing changes; remember the most probable partition on the way."""
    prior = problem.family.default_prior(problem.X) if settings.keep == "probability" else None
    best = Kept(state, -np.inf, state)
    while len(state.sweeps) < settings.max_sweeps:
        state = step(problem, engine, settings, state)
        last = state.sweeps[-1]
        progress.show(sweep=len(state.sweeps), clusters=last.n_clusters, changed=last.n_changed)
        if not np.isfinite(last.objective):
            raise MaylinkError("the objective is not finite: X or the link weights are too large")
        if prior is not None:
            first, changed = len(state.sweeps) == 1, last.n_changed > 0
            if first or changed:
                score = joint_of(problem, state.labels, prior)
                best = max(best, Kept(state, score, state), key=lambda kept: kept.log_joint)
            elif len(best.state.sweeps) == len(state.sweeps) - 1:
                best = best._replace(state=state)  # the same partition, under heavier links
        if _settled(problem, settings, state):
            break
    logger.info("%d sweeps, %d clusters", len(state.sweeps), len(state.centers))
    progress.advance()
    return Kept(state, np.nan, state) if prior is None else best._replace(run=state)


def _settled(problem: Problem, settings: Settings, state: State) -> bool:
    """Whether nothing can change any more, or has not for long while the link weights grew."""
    last = state.sweeps[-1]
    growing = problem.links.n_links > 0 and (state.xi_may, state.xi_not) != last[-2:]
    return state.still >= (settings.patience if growing else 1)


def _visit_all(
    problem: Problem, engine: CpuEngine, settings: Settings, state: State, labels: Index
) -> tuple[Array, int, int]:
    """Let every point choose; return the centres, new ones last, the changes, and a good block."""
    from maylink.kernels.visit import visit

    links = problem.links.csr
    centers = state.centers
    changed = np.zeros(1, np.int64)
    position, block = 0, state.block
    while position < state.order.size:
        room = len(centers) + SPARE
        block = max(1, min(block, MOST_SCORES // room))
        points = state.order[position : position + block]
        linked = problem.links.degree[points] > 0
        slot = np.where(linked, np.cumsum(linked) - 1, -1)
        scores = np.empty((int(linked.sum()), room))
        best, value = engine.assign(points, centers, slot, scores)
        pull, opened, at = np.zeros(room), 0, 0
        while True:
            at = visit(
                at, points, best, value, slot, scores, len(centers),
                links.indptr, links.neighbour, links.signed, state.xi_may, state.xi_not,
                settings.penalty, labels, pull, changed,
            )  # fmt: skip
            if at == points.size:
                break
            labels[points[at]] = len(centers)
            changed[0] += 1
            at += 1
            opened += 1
            centers = np.vstack([centers, engine.point(points[at - 1])])
            if len(centers) == room:  # go on with a new block from here
                break
            _score_new(engine, centers, points, at, best, value, slot, scores)
        position += at
        block = min(2 * block, LARGEST_BLOCK) if opened == 0 else max(block // 2, SMALLEST_BLOCK)
    return centers, int(changed[0]), block


def _score_new(
    engine: CpuEngine,
    centers: Array,
    points: Index,
    at: int,
    best: Index,
    value: Array,
    slot: Index,
    scores: Array,
) -> None:
    """Score the cluster that has just opened for the points after position ``at``."""
    new = len(centers) - 1
    _, score = engine.assign(points[at:], centers[new:])
    nearer = score < value[at:]
    best[at:][nearer] = new
    value[at:][nearer] = score[nearer]
    linked = slot[at:] >= 0
    scores[slot[at:][linked], new] = score[linked]


def _move(engine: CpuEngine, centers: Array, labels: Index) -> tuple[Array, Index, float]:
    """Remove empty clusters and move the others to their means; return also the distortion."""
    used = np.bincount(labels, minlength=len(centers)) > 0
    labels = (np.cumsum(used) - 1)[labels]
    centers, distortion = _means(engine, labels, int(used.sum()))
    return centers, labels, distortion


def _means(engine: CpuEngine, labels: Index, n_clusters: int) -> tuple[Array, float]:
    """Centres of a partition without empty clusters, and Σ D(x_i, μ_k)."""
    total, count = engine.sums(labels, n_clusters)
    centers = engine.family.centroid(total / count[:, None])
    if engine.family.root:
        return centers, float(engine.scores(centers)[np.arange(engine.n), labels].sum())
    # Σ_i φ(t_i) + c_k − ⟨t_i, θ_k⟩ needs only the sums.
    theta, c = engine.family.tangent(centers)
    affine = count @ c - np.einsum("ks,ks->", total, theta)
    return centers, max(float(engine.potential.sum() + affine), 0.0)


def place(
    engine: CpuEngine,
    centers: Array,
    known: Index,
    links: Links,
    link_weight: tuple[float, float],
    max_sweeps: int = 100,
) -> Index:
    """Label new points beside known ones: centres stand still, no cluster opens.

    Parameters
    ----------
    engine : CpuEngine
        Holds the m new points.
    centers : array of shape (K, s)
        Centres of the fit.
    known : array of shape (n,)
        Labels of the points of the fit, which stay.
    links : Links
        Links over n + m points, the known ones first.
    link_weight : (float, float)
        ξ_may and ξ_not.
    max_sweeps : int, default 100
        At most so many rounds over the new points, which may be linked to each other.

    Returns
    -------
    array of shape (m,)
    """
    from maylink.kernels.visit import visit

    new = known.size + np.arange(engine.n)
    labels = np.concatenate([known, np.full(engine.n, -1)])
    linked = links.degree[new] > 0
    slot = np.where(linked, np.cumsum(linked) - 1, -1)
    scores = np.empty((int(linked.sum()), len(centers)))
    best, value = engine.assign(np.arange(engine.n), centers, slot, scores)
    csr = links.csr
    pull, changed = np.zeros(len(centers)), np.zeros(1, np.int64)
    for _ in range(max_sweeps):
        changed[0] = 0
        reached = visit(
            0, new, best, value, slot, scores, len(centers), csr.indptr, csr.neighbour, csr.signed,
            *link_weight, np.inf, labels, pull, changed,
        )  # fmt: skip
        if reached < new.size:
            raise MaylinkError(f"X[{reached}] is infinitely far from every centre; rescale it")
        if changed[0] == 0:
            break
    return labels[known.size :]
