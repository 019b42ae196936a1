"""The cluster penalty λ: from a hint of k by furthest-first, or from the data alone.

**Furthest-first** (Kulis & Jordan 2012): start from the mean, repeatedly take the point that is
furthest from all taken so far; its divergence in round k is λ.

**From the data alone**: those divergences are a ladder of penalties from few to many clusters. Each
rung is run, and the partition with the highest exact probability ``log p(x, E, z)`` wins. That is
sound because the score is that of the very model whose limit RDP-means is; it integrates all
parameters out, so more clusters do not win by fitting alone; it sees both views, data and links;
and no labels and no k enter. It is as good as the family: clusters that the family cannot describe
are cut into pieces that it can. λ is compared with the divergence of single points, which does not
depend on how many points there are, so large data are judged by a random sample.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from maylink.engines.cpu import CpuEngine
from maylink.families.base import Array
from maylink.joint import joint_of
from maylink.problem import Problem
from maylink.solvers import rdpmeans

RUNGS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
SAMPLE = 5000  # points that a choice from the data looks at
ROUNDING = 1e-12  # divergences below this share of the potential are rounding, not distance


class Rung(NamedTuple):
    """One penalty that was tried."""

    hint: int
    penalty: float
    n_clusters: int
    log_joint: float


def from_hint(engine: CpuEngine, n_clusters: int) -> float:
    """Return λ by furthest-first for about this many clusters."""
    return float(ladder(engine, n_clusters)[-1])


def from_data(
    problem: Problem,
    settings: rdpmeans.Settings,
    relative_weights: bool,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> tuple[float, list[Rung]]:
    """Return the λ whose partition has the highest exact probability, and all that were tried.

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
    """
    if problem.n > SAMPLE:
        problem = problem.rows(np.sort(rng.choice(problem.n, SAMPLE, replace=False)))
    engine = CpuEngine(problem.X, problem.family, n_jobs)
    prior = problem.family.default_prior(problem.X)
    penalties = ladder(engine, min(problem.n, RUNGS[-1]))
    rungs: list[Rung] = []
    for hint in (rung for rung in RUNGS if rung <= len(penalties)):
        # Rung 0 lies above every divergence: one cluster, unless links tear it apart.
        penalty = float(penalties[hint - 1] if hint else 2.0 * penalties[0])
        if rungs and penalty == rungs[-1].penalty:
            continue
        tried = with_penalty(settings, penalty, relative_weights)
        start = rdpmeans.init(problem, engine, tried, rng.permutation(problem.n))
        result = rdpmeans.solve(problem, engine, tried, [start])
        score = joint_of(problem, result.labels, prior)
        rungs.append(Rung(hint, penalty, result.n_clusters, score))
    return max(rungs, key=lambda rung: rung.log_joint).penalty, rungs


def with_penalty(
    settings: rdpmeans.Settings, penalty: float, relative_weights: bool
) -> rdpmeans.Settings:
    """Return the settings with this penalty, link weights being multiples of it if relative."""
    unit = penalty if relative_weights else 1.0
    return replace(
        settings, penalty=penalty, xi_may=settings.xi_may * unit, xi_not=settings.xi_not * unit
    )


def ladder(engine: CpuEngine, length: int) -> Array:
    """Return the divergence of the furthest point in rounds 1 to ``length``; it never grows.

    Never 0: where fewer points differ, the last distance above rounding is repeated; where all
    points are equal, any penalty gives one cluster.
    """
    every = np.arange(engine.n)
    total, count = engine.sums(np.zeros(engine.n, np.int64), 1)
    center = engine.family.centroid(total / count[:, None])
    distance = np.full(engine.n, np.inf)
    scale = float(np.abs(engine.potential).max())
    rungs: list[float] = []
    for _ in range(min(length, engine.n)):
        distance = np.minimum(distance, engine.assign(every, center)[1])
        furthest = int(distance.argmax())
        if distance[furthest] <= ROUNDING * scale:
            break
        rungs.append(float(distance[furthest]))
        center = engine.point(furthest)
    if not rungs:
        rungs = [scale or 1.0]
    return np.array(rungs + [rungs[-1]] * (length - len(rungs)))
