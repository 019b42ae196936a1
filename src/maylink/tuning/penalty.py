"""The cluster penalty λ: from a hint of k by furthest-first, or from the data alone.

**Furthest-first** (Kulis & Jordan 2012): start from the mean, repeatedly take the point that is
furthest from all taken so far; λ is just above its divergence in round k, so that this point does
not open a cluster any more.

**From the data alone**: those divergences are a ladder of penalties from one cluster to many. Each
rung is run, and the partition with the highest exact probability ``log p(x, E, z)`` wins. That is
sound because the score is that of the very model whose limit RDP-means is; it integrates all
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
from maylink.problem import Problem
from maylink.runtime.progress import SILENT, Progress
from maylink.solvers import rdpmeans

RUNGS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
SAMPLE = 5000  # points that a choice from the data looks at
ROUNDING = 1e-12  # divergences below this share of the potential are rounding
ABOVE = 1.0 + 1e-9  # a point at exactly λ opens a cluster; the ladder's own points must not


class Rung(NamedTuple):
    """One penalty that was tried."""

    hint: int
    penalty: float
    n_clusters: int
    log_joint: float


class Choice(NamedTuple):
    """The penalty that was chosen and how."""

    penalty: float
    rungs: list[Rung]
    kept: rdpmeans.Kept | None  # the best run, where it was a run on all points
    labels: NDArray[np.int64] | None  # its partition, in the order of the points


def from_hint(engine: Engine, n_clusters: int) -> float:
    """Return λ by furthest-first for about this many clusters."""
    return float(ladder(engine, n_clusters)[-1])


def from_data(
    problem: Problem,
    settings: rdpmeans.Settings,
    relative_weights: bool,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    progress: Progress = SILENT,
) -> Choice:
    """Choose the λ whose partition has the highest exact probability.

    Parameters
    ----------
    problem : Problem
        Data, links and family.
    settings : Settings
        How RDP-means runs; its penalty is not used.
    relative_weights : bool
        Whether the first link weights are multiples of λ.
    rng : Generator
        Draws the sample and the order of visits.
    n_jobs : int, optional
        Threads.
    progress : Progress, optional
        Told about every run.
    """
    n, problem = problem.n, sampled(problem, rng)
    engine = CpuEngine(problem.X, problem.family, n_jobs, problem.links)
    settings = replace(settings, keep="probability")
    rungs: list[Rung] = []
    best: rdpmeans.Kept | None = None
    hints = list(RUNGS)
    while hints:
        penalties = ladder(engine, hints[-1])
        for hint in hints:
            penalty = float(penalties[hint - 1])
            if hint > problem.n or (rungs and penalty == rungs[-1].penalty):
                continue
            tried = with_penalty(settings, penalty, relative_weights)
            start = rdpmeans.init(problem, engine, tried, rng.permutation(problem.n))
            result, kept = rdpmeans.solve(problem, engine, tried, [start], progress)
            rungs.append(Rung(hint, penalty, result.n_clusters, kept.log_joint))
            if best is None or kept.log_joint > best.log_joint:
                best = kept
        # Climb on as long as the last rungs are the best ones.
        chosen = max(rungs, key=lambda rung: rung.log_joint)
        longer = chosen in rungs[-2:] and hints[-1] < problem.n
        hints = [3 * hints[-1] // 2, 2 * hints[-1]] if longer else []
    if problem.n < n or best is None:
        return Choice(chosen.penalty, rungs, None, None)
    return Choice(chosen.penalty, rungs, best, engine.given(best.state.labels))


def with_penalty(
    settings: rdpmeans.Settings, penalty: float, relative_weights: bool
) -> rdpmeans.Settings:
    """Return the settings with this penalty, link weights being multiples of it if relative."""
    unit = penalty if relative_weights else 1.0
    return replace(
        settings, penalty=penalty, xi_may=settings.xi_may * unit, xi_not=settings.xi_not * unit
    )


def sampled(problem: Problem, rng: np.random.Generator) -> Problem:
    """Return the points that a choice looks at, in memory: all, or of very many a sample."""
    if problem.n > SAMPLE:
        return problem.rows(sample_rows(problem, SAMPLE, rng))
    return problem.loaded()


def sample_rows(problem: Problem, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw rows of which up to half are both ends of a link: links between random rows are rare."""
    links = problem.links
    drawn = rng.permutation(links.n_links)[: size // 4]
    linked = np.unique(np.concatenate([links.i[drawn], links.j[drawn]])).astype(np.int64)
    others = np.setdiff1d(np.arange(problem.n), linked, assume_unique=True)
    rest = rng.choice(others, size - linked.size, replace=False)
    return np.sort(np.concatenate([linked, rest]))


def ladder(engine: Engine, length: int) -> Array:
    """Return penalties just above the furthest-first divergences of rounds 1 to ``length``.

    They never grow and are never 0: where fewer points differ, the last one above rounding is
    repeated; where all points are equal, any penalty gives one cluster.
    """
    scale = engine.scale
    rungs = [furthest * ABOVE for furthest in engine.furthest_first(length, ROUNDING * scale)]
    if not rungs:
        rungs = [scale or 1.0]
    return np.array(rungs + [rungs[-1]] * (length - len(rungs)))
