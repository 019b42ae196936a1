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
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.engines.cpu import CpuEngine
from maylink.engines.protocol import Engine
from maylink.errors import MaylinkError
from maylink.problem import Problem
from maylink.runtime.progress import SILENT, Progress
from maylink.solvers import rdpmeans
from maylink.solvers.rdpmeans import ABOVE, RDPMeansSettings, RDPMeansSolver

PATH_HINTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
"""Numbers of clusters whose penalties are tried first."""

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
    labels: NDArray[np.int64] | None  # its partition, in the order of the points


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
    hints = list(PATH_HINTS)
    while hints:
        penalties = penalty_path(engine, hints[-1])
        for hint in hints:
            penalty = float(penalties[hint - 1])
            if hint > problem.n or (steps and penalty == steps[-1].penalty):
                continue
            candidate = with_penalty(settings, penalty, relative_weights)
            solver = RDPMeansSolver(problem, engine, candidate)
            run = rdpmeans.run(solver, solver.init(rng.permutation(problem.n)), progress)
            log_joint = rdpmeans.log_joint_of(run.state)
            n_clusters = rdpmeans.clustering(solver, run).state.n_clusters
            steps.append(PenaltyStep(hint, penalty, n_clusters, log_joint))
            if best is None or log_joint > rdpmeans.log_joint_of(best.state):
                best = run
            if progress.stopped:
                break
        # Go on as long as the last steps are the best ones.
        chosen = max(steps, key=lambda step: step.log_joint)
        longer = chosen in steps[-2:] and hints[-1] < problem.n and not progress.stopped
        hints = [3 * hints[-1] // 2, 2 * hints[-1]] if longer else []
    if problem.n < n or best is None or best.state.best is None:
        return PenaltyChoice(chosen.penalty, steps, None, None)
    return PenaltyChoice(chosen.penalty, steps, best, engine.given(best.state.best.state.labels))


def with_penalty(
    settings: RDPMeansSettings, penalty: float, relative_weights: bool
) -> RDPMeansSettings:
    """Return the settings with this penalty, link weights being multiples of it if relative."""
    unit = penalty if relative_weights else 1.0
    return replace(
        settings, penalty=penalty, xi_may=settings.xi_may * unit, xi_not=settings.xi_not * unit
    )


def sampled(problem: Problem, size: int, rng: np.random.Generator) -> Problem:
    """Return the points that a choice looks at, in memory: all, or of very many a sample."""
    if problem.n > size:
        return problem.rows(sample_rows(problem, size, rng))
    return problem.loaded()


def sample_rows(problem: Problem, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw rows of which up to half are both ends of a link: links between random rows are rare."""
    links = problem.links
    chosen = rng.permutation(links.n_links)[: size // 4]
    linked = np.unique(np.concatenate([links.i[chosen], links.j[chosen]])).astype(np.int64)
    others = np.setdiff1d(np.arange(problem.n), linked, assume_unique=True)
    rest = rng.choice(others, size - linked.size, replace=False)
    return np.sort(np.concatenate([linked, rest]))


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
