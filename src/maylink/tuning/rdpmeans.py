"""What RDPMeans chooses by itself: the cluster penalty, and how far links are believed.

A run of RDP-means passes through many partitions, and runs at the penalties of a furthest-first
ladder, with link weights that stop growing at what their reliability is worth or grow without end,
pass through more. Which of them is best depends on how much the data count against the links: of
each data weight γ it is the one with the highest ``log p(x, E, z)`` where the data have power γ and
α is averaged out (clusters may be two or dozens), its clusters merged while that raises it. So data
weights are candidates. A score may be wrong at every data weight, as where clusters are too small
for the family; so runs by themselves are candidates, too, one for each penalty, and where they end
counts, not what the score says of them.

Held-out links choose (:mod:`maylink.tuning.race`): the best data weight, unless a run by itself
is better by more than one standard error. A data weight then takes the penalty and the link weights
that had the highest scores under it. Runs in a fold let weights grow faster and stop sooner than
those that come after.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Index
from maylink.engines.cpu import CpuEngine
from maylink.problem import Problem
from maylink.runtime.progress import SILENT, Progress
from maylink.solvers import rdpmeans
from maylink.tuning import penalty, race
from maylink.tuning.folds import Fold
from maylink.tuning.scores import partition_scores
from maylink.tuning.tvclust import WEIGHTS

logger = logging.getLogger("maylink")

HINTS = (1, 2, 4, 6, 8, 12, 16, 24, 32, 48)
FEWEST_STEPS = 8  # of the ladder
ALONE = 1.0  # the scale of runs that may win by themselves: a link is worth about a cluster
SCALES = (ALONE, 0.1, np.inf)
"""What a nat of log odds may weigh, in cluster penalties; at infinity weights never stop."""

MAX_SWEEPS = 30  # of a run in a fold
PATIENCE = 5  # sweeps without a change after which a run in a fold stops, while weights grow


class Run(NamedTuple):
    """A penalty, and what a nat of log odds weighs in units of it."""

    cluster_penalty: float
    link_scale: float


class Candidate(NamedTuple):
    """A data weight, under which the most probable partition of all runs is kept; or one run."""

    data_weight: float
    run: Run | None


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
    """Choose the data weight, the penalty, unless it is given, and the scale of the link weights.

    Parameters
    ----------
    problem : Problem
        Data, links and family, in memory.
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
    penalties = [given] if given is not None else _ladder(problem, n_jobs)
    quick = replace(
        settings,
        rate=settings.rate**2,
        max_sweeps=min(MAX_SWEEPS, settings.max_sweeps),
        patience=min(PATIENCE, settings.patience),
        alpha=None,
    )
    merge = given is None  # a penalty that is given says how fine clusters are to be
    last: list[Pool] = []

    def prepare(fold: Fold) -> race.Predictor:
        pool = Pool(replace(problem, links=fold.train), quick, penalties, merge, rng, n_jobs)
        last[:] = [pool]
        return lambda candidate: partition_scores(pool.labels(*candidate), fold.test, fold.train)

    candidates = [Candidate(weight, None) for weight in WEIGHTS]
    candidates += [Candidate(1.0, Run(value, ALONE)) for value in penalties]
    outcome = race.compete(
        candidates,
        problem.links,
        prepare,
        rng,
        progress,
        rank=lambda candidate: int(candidate.run is not None),
        kin=_penalty_of,
    )
    weight, run = outcome.chosen
    if run is None:
        run = last[0].first(weight)
        own = with_run(settings, run)
        own = replace(own, data_weight=weight, alpha=None, merge=merge)
    else:
        own = replace(with_run(settings, run), keep="objective")
    logger.info("held-out links chose data weight %g, λ = %g, link scale %g", weight, *run)
    return Choice(own, run.link_scale, [_told(row, run) for row in outcome.rows])


def _told(row: dict[str, Any], chosen: Run) -> dict[str, Any]:
    """Return a row of the table; of the data weights only the one that was chosen took a run."""
    alone = row.pop("run")
    run = alone or (chosen if row["chosen"] else Run(np.nan, np.nan))
    return {"by": "penalty" if alone else "probability", **row, **run._asdict()}


def _penalty_of(candidate: Candidate) -> float | None:
    return None if candidate.run is None else candidate.run.cluster_penalty


class Pool:
    """The partitions that runs pass through, of which each data weight prefers one.

    Runs at every penalty have the first of the link scales; those with the others follow at the
    penalties that were the best for any data weight.

    Parameters
    ----------
    problem : Problem
        Data, the links that may be seen, and family.
    settings : Settings
        How RDP-means runs.
    penalties : list of float
        The ladder.
    merge : bool
        Whether clusters of the partition that a data weight prefers are merged.
    rng : Generator
        Orders visits.
    n_jobs : int, optional
        Threads.
    """

    def __init__(
        self,
        problem: Problem,
        settings: rdpmeans.Settings,
        penalties: list[float],
        merge: bool,
        rng: np.random.Generator,
        n_jobs: int | None,
    ) -> None:
        self.problem, self.settings, self.merge, self.rng = problem, settings, merge, rng
        self.penalties = penalties
        self.engine = CpuEngine(problem.X, problem.family, n_jobs, problem.links)
        self.known: dict[Run, dict[float, rdpmeans.Kept]] = {}
        self.last: dict[Run, rdpmeans.State] = {}

    @cached_property
    def runs(self) -> list[Run]:
        """The runs that data weights choose among, the largest penalty first."""
        first = [Run(value, ALONE) for value in self.penalties]
        good = {
            max(first, key=lambda run: self.score(run, weight)).cluster_penalty
            for weight in WEIGHTS
        }
        return [
            Run(value, scale)
            for value in self.penalties
            for scale in SCALES
            if scale == ALONE or value in good
        ]

    def kept(self, run: Run) -> dict[float, rdpmeans.Kept]:
        """Return, of the partitions that a run passes through, the best at each data weight."""
        if run not in self.known:
            settings = with_run(self.settings, run)
            order = self.rng.permutation(self.problem.n)
            start = rdpmeans.init(self.problem, self.engine, settings, order)
            score = rdpmeans.Score(self.problem, self.engine, settings)
            best: dict[float, rdpmeans.Kept] = {}
            for state in rdpmeans.sweeps(self.problem, self.engine, settings, start):
                self.last[run] = state
                if len(state.sweeps) > 1 and not state.sweeps[-1].n_changed:
                    continue
                data, rest = score.parts(state)
                for weight in WEIGHTS:
                    value = weight * data + rest
                    if weight not in best or value > best[weight].log_joint:
                        best[weight] = rdpmeans.Kept(state, value, state)
            self.known[run] = best
            self.engine.forget()
        return self.known[run]

    def score(self, run: Run, weight: float) -> float:
        """Return the highest score of the partitions of a run."""
        return self.kept(run)[weight].log_joint

    def first(self, weight: float) -> Run:
        """Return the run with the highest score."""
        return max(self.runs, key=lambda run: self.score(run, weight))

    def labels(self, weight: float, run: Run | None) -> Index:
        """Return the partition of the highest score of all runs, merged, or the last of one run."""
        if run is not None:
            self.kept(run)
            return self.engine.numbered(self.last[run].labels)[0]
        kept = self.kept(self.first(weight))[weight]
        if self.merge:
            own = replace(self.settings, data_weight=weight)
            kept = rdpmeans.Score(self.problem, self.engine, own).merged(kept)
        return self.engine.numbered(kept.state.labels, kept.root)[0]


def with_run(settings: rdpmeans.Settings, run: Run) -> rdpmeans.Settings:
    """Return the settings of a run, its first link weights being multiples of λ."""
    value, scale = run
    return replace(
        penalty.with_penalty(settings, value, relative_weights=True),
        scale=scale * value if np.isfinite(scale) else None,
    )


def _ladder(problem: Problem, n_jobs: int | None) -> list[float]:
    engine = CpuEngine(problem.X, problem.family, n_jobs, problem.links)
    ladder = penalty.ladder(engine, max(HINTS))
    penalties = sorted({float(ladder[hint - 1]) for hint in HINTS}, reverse=True)
    while len(penalties) < FEWEST_STEPS:  # many points are equally far, as on a grid
        penalties.append(penalties[-1] / 2.0)
    return penalties
