"""What RDPMeans chooses by itself: the cluster penalty, and how far links are believed.

Links decide: candidates are the penalties of a furthest-first ladder, each with link weights that
grow up to what their reliability is worth, at several scales; of each run the most probable
partition is kept. Those that predict held-out links clearly worse than the best drop out
(:mod:`maylink.selection.race`). Of those within one standard error of the best the one with the
largest penalty wins: hard partitions predict with much noise, and when in doubt fewer clusters are
better. Runs in a fold let weights grow faster and stop sooner than the run that comes after.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from maylink.engines.cpu import CpuEngine
from maylink.families.base import Array
from maylink.problem import Problem
from maylink.progress import SILENT, Progress
from maylink.selection import race
from maylink.selection.folds import Fold
from maylink.selection.scores import partition_scores
from maylink.solvers import penalty, rdpmeans

logger = logging.getLogger("maylink")

HINTS = (1, 2, 4, 6, 8, 12, 16, 24, 32, 48)
FEWEST_STEPS = 8  # of the ladder
SCALES = (1.0, 0.1, 0.01)
"""What a nat of log odds may weigh, in cluster penalties: λ is one to a hundred nats."""

MAX_SWEEPS = 30  # of a run in a fold
PATIENCE = 5  # sweeps without a change after which a run in a fold stops, while weights grow


class Candidate(NamedTuple):
    """A penalty, and what a nat of log odds weighs in units of it."""

    cluster_penalty: float
    link_scale: float


class Choice(NamedTuple):
    """What was chosen, and the candidates."""

    settings: rdpmeans.Settings
    link_scale: float
    rows: list[dict[str, Any]]


def choose(
    problem: Problem,
    settings: rdpmeans.Settings,
    given: float | None,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    progress: Progress = SILENT,
) -> Choice:
    """Choose the penalty, unless it is given, and the scale of the link weights.

    Parameters
    ----------
    problem : Problem
        Data, links and family.
    settings : Settings
        How RDP-means runs; the penalty in it is not used, and link weights are multiples of λ.
    given : float, optional
        The penalty.
    rng : Generator
        Deals out the links and orders visits.
    n_jobs : int, optional
        Threads.
    progress : Progress, optional
        Told about every fold.
    """
    if problem.n > penalty.SAMPLE:
        problem = problem.rows(penalty.sample_rows(problem, penalty.SAMPLE, rng))
    problem = problem.loaded()
    if given is None:
        engine = CpuEngine(problem.X, problem.family, n_jobs, problem.links)
        ladder = penalty.ladder(engine, max(HINTS))
        penalties = sorted({float(ladder[hint - 1]) for hint in HINTS}, reverse=True)
        while len(penalties) < FEWEST_STEPS:  # many points are equally far, as on a grid
            penalties.append(penalties[-1] / 2.0)
    else:
        penalties = [given]
    quick = replace(
        settings,
        rate=settings.rate**2,
        max_sweeps=min(MAX_SWEEPS, settings.max_sweeps),
        patience=min(PATIENCE, settings.patience),
    )
    candidates = [Candidate(value, scale) for value in penalties for scale in SCALES]

    def prepare(fold: Fold) -> race.Predictor:
        seen = replace(problem, links=fold.train)
        engine = CpuEngine(problem.X, problem.family, n_jobs, fold.train)

        def predict(candidate: Candidate) -> Array:
            own = with_candidate(quick, candidate)
            start = rdpmeans.init(seen, engine, own, rng.permutation(seen.n))
            result, _ = rdpmeans.solve(seen, engine, own, [start])
            return partition_scores(result.labels, fold.test, fold.train)

        return predict

    outcome = race.compete(
        candidates,
        problem.links,
        prepare,
        rng,
        progress,
        plainest=True,
        ladder=lambda candidate: candidate.link_scale,
        kin=lambda candidate: candidate.cluster_penalty,
    )
    logger.info("held-out links chose λ = %g, link scale %g", *outcome.chosen)
    own = with_candidate(settings, outcome.chosen)
    return Choice(own, outcome.chosen.link_scale, outcome.rows)


def with_candidate(settings: rdpmeans.Settings, candidate: Candidate) -> rdpmeans.Settings:
    """Return the settings of a candidate, its first link weights being multiples of λ."""
    value, scale = candidate
    return replace(
        penalty.with_penalty(settings, value, relative_weights=True),
        scale=scale * value,
    )
