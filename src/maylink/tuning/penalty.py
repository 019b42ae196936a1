"""The cluster penalty λ: from a hint of k by furthest-first, or from the data alone.

**Furthest-first** (Kulis & Jordan 2012): start from the mean, repeatedly take the point that is
furthest from all taken so far; λ is just above its divergence in round k, so that this point does
not open a cluster any more.

**From the data alone**: those divergences are a path of penalties from one cluster to many. Each
penalty is run, and the partition with the highest exact probability ``log p(x, E, z)`` wins. That
is sound because the score is that of the very model whose limit RDP-means is; it integrates all
parameters out, so more clusters do not win by fitting alone; it sees both views, data and links;
and no labels and no k enter. It is as good as the family: clusters that the family cannot describe
are cut into pieces that it can. λ is compared with the divergence of single points, which does not
depend on how many points there are, so large data are judged by a sample.

**Where the mean is nearer than neighbours.** In many dimensions two points of one cluster may lie
further apart than either lies from the mean of all. Then the path hardly falls: just below it every
point opens a cluster of its own, above it none does, and no penalty finds clusters that begin at
the mean. There furthest-first takes points alone, and runs begin at the first k of them as centres,
with the penalty just above the furthest divergence that these leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from maylink.arrays import Array, Index
from maylink.engines.cpu import CpuEngine
from maylink.engines.protocol import Engine
from maylink.errors import MaylinkError
from maylink.problem import Problem
from maylink.runtime.progress import SILENT, Progress
from maylink.solvers import rdpmeans
from maylink.solvers.rdpmeans import ABOVE, RDPMeansSettings, RDPMeansSolver
from maylink.tuning.samples import sampled

PATH_HINTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
"""Numbers of clusters whose penalties are tried first."""

FLAT = 0.5  # share of its first penalty above which the end of a path says: the mean is near to all
ROUNDING = 1e-12  # divergences below this share of the potential are rounding


class PenaltyStep(NamedTuple):
    """One penalty that was tried."""

    hint: int
    penalty: float
    n_clusters: int
    log_joint: float


class PenaltyChoice(NamedTuple):
    """The penalty that was chosen and how."""

    penalty: float
    steps: list[PenaltyStep]
    run: rdpmeans.Run | None  # the best run, where it was a run on all points
    labels: Index | None  # its partition, in the order of the points
    start: Array | None = None  # centres to begin at, None for the mean of all


def check_resolution(engine: Engine, penalty: float) -> None:
    """Refuse a penalty so small that rounding alone would open clusters."""
    least = ROUNDING * engine.scale
    if penalty <= least:
        raise MaylinkError(
            f"cluster_penalty: {penalty!r} is lost in the rounding of the divergences of these "
            f"data; give more than {least:.1e}"
        )


def from_hint(engine: Engine, n_clusters: int) -> float:
    """Return λ by furthest-first for about this many clusters."""
    return float(penalty_path(engine, n_clusters)[-1])


def from_data(
    problem: Problem,
    settings: RDPMeansSettings,
    relative_weights: bool,
    rng: np.random.Generator,
    sample_size: int,
    n_jobs: int | None = None,
    progress: Progress = SILENT,
) -> PenaltyChoice:
    """Choose the λ whose partition has the highest exact probability.

    Parameters
    ----------
    problem : Problem
        Data, links and family.
    settings : RDPMeansSettings
        How RDP-means runs; its penalty is not used.
    relative_weights : bool
        Whether the first link weights are multiples of λ.
    rng : Generator
        Draws the sample and the order of visits.
    sample_size : int
        Points that the choice looks at.
    n_jobs : int, optional
        Threads.
    progress : Progress, optional
        Counts runs.
    """
    n, problem = problem.n, sampled(problem, sample_size, rng)
    engine = CpuEngine(problem.X, problem.family, n_jobs, problem.links)
    settings = replace(settings, keep="probability")
    steps: list[PenaltyStep] = []
    best: rdpmeans.Run | None = None
    start: Array | None = None
    hints = list(PATH_HINTS)

    def attempt(hint: int, penalty: float, centers: Array | None = None) -> None:
        nonlocal best, start
        candidate = with_penalty(settings, penalty, relative_weights)
        solver = RDPMeansSolver(problem, engine, candidate)
        run = rdpmeans.run(solver, solver.init(rng.permutation(problem.n), centers), progress)
        log_joint = rdpmeans.log_joint_of(run.state)
        n_clusters = rdpmeans.clustering(solver, run).state.n_clusters
        steps.append(PenaltyStep(hint, penalty, n_clusters, log_joint))
        if best is None or log_joint > rdpmeans.log_joint_of(best.state):
            best, start = run, centers

    for at in point_starts(engine, hints):
        if not progress.stopped:
            attempt(len(at.centers), at.penalty, at.centers)
    while hints:
        penalties = penalty_path(engine, hints[-1])
        for hint in hints:
            penalty = float(penalties[hint - 1])
            if hint > problem.n or (steps and penalty == steps[-1].penalty):
                continue
            attempt(hint, penalty)
            if progress.stopped:
                break
        # Go on as long as the last steps are the best ones.
        chosen = max(steps, key=lambda step: step.log_joint)
        longer = chosen in steps[-2:] and hints[-1] < problem.n and not progress.stopped
        hints = [3 * hints[-1] // 2, 2 * hints[-1]] if longer else []
    if problem.n < n or best is None or best.state.best is None:
        return PenaltyChoice(chosen.penalty, steps, None, None, start)
    labels = engine.given(best.state.best.state.labels)
    return PenaltyChoice(chosen.penalty, steps, best, labels, start)


def with_penalty(
    settings: RDPMeansSettings, penalty: float, relative_weights: bool
) -> RDPMeansSettings:
    """Return the settings with this penalty, link weights being multiples of it if relative."""
    unit = penalty if relative_weights else 1.0
    return replace(
        settings, penalty=penalty, xi_may=settings.xi_may * unit, xi_not=settings.xi_not * unit
    )


def penalty_path(engine: Engine, length: int) -> Array:
    """Return penalties just above the furthest-first divergences of rounds 1 to ``length``.

    They never grow and are never 0: where fewer points differ, the last one above rounding is
    repeated; where all points are equal, any penalty gives one cluster.
    """
    scale = engine.scale
    path = [furthest * ABOVE for furthest in engine.furthest_first(length, ROUNDING * scale)]
    if not path:
        path = [scale or 1.0]
    return np.array(path + [path[-1]] * (length - len(path)))


class PointStart(NamedTuple):
    """Points to begin at, and the penalty at which no other point opens a cluster at once."""

    penalty: float
    centers: Array


def point_starts(engine: CpuEngine, hints: Sequence[int]) -> list[PointStart]:
    """Return starts of some numbers of points, where the mean is nearer to points than neighbours.

    Parameters
    ----------
    engine : CpuEngine
        Holds the points.
    hints : sequence of int
        Numbers of clusters, in rising order; one cluster is what the mean is for.

    Returns
    -------
    list of PointStart
        The largest penalty first; empty where the furthest-first path falls, as it mostly does.
    """
    path = penalty_path(engine, hints[-1])
    if engine.n <= hints[-1] or path[-1] <= FLAT * path[0]:
        return []
    starts: list[PointStart] = []
    center = engine.point(int(engine.scores(engine.means(engine.whole))[:, 0].argmax()))
    centers, nearest = [center], np.full(engine.n, np.inf)
    for taken in range(1, hints[-1] + 1):
        nearest = np.minimum(nearest, engine.scores(centers[-1])[:, 0])
        furthest = int(nearest.argmax())
        if nearest[furthest] <= path[0]:  # from here on the path of the mean will do
            break
        penalty = float(nearest[furthest]) * ABOVE
        if taken in hints and taken > 1 and not (starts and penalty == starts[-1].penalty):
            starts.append(PointStart(penalty, np.vstack(centers)))
        centers.append(engine.point(furthest))
    return starts
