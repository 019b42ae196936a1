"""The partitions that runs of RDP-means pass through, of which each data weight prefers one."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Array, Index
from maylink.engines.cpu import CpuEngine
from maylink.problem import Problem
from maylink.solvers import loop
from maylink.solvers.partition_score import PartitionScore
from maylink.solvers.rdpmeans import (
    MostProbable,
    RDPMeansSettings,
    RDPMeansSolver,
    RDPMeansState,
)
from maylink.tuning import penalty

ALONE = 1.0  # the scale of runs that may win by themselves: a link is worth about a cluster
SCALES = (ALONE, 0.1, np.inf)
"""What a nat of log odds may weigh, in cluster penalties; at infinity weights never stop."""


class LinkedRun(NamedTuple):
    """A penalty, and what a nat of log odds weighs in units of it."""

    cluster_penalty: float
    link_scale: float


class RunPool:
    """The partitions that runs pass through, of which each data weight prefers one.

    Runs at every penalty have the first of the link scales; those with the others follow at the
    penalties that were the best for any data weight.

    Parameters
    ----------
    problem : Problem
        Data, the links that may be seen, and family.
    settings : RDPMeansSettings
        How RDP-means runs.
    penalties : list of float
        The penalty path.
    weights : tuple of float
        The data weights.
    merge : bool
        Whether clusters of the partition that a data weight prefers are merged.
    rng : Generator
        Orders visits.
    n_jobs : int, optional
        Threads.
    starts : dict, optional
        Centres at which the runs of some penalties begin; all others begin at the mean.
    """

    def __init__(
        self,
        problem: Problem,
        settings: RDPMeansSettings,
        penalties: list[float],
        weights: tuple[float, ...],
        merge: bool,
        rng: np.random.Generator,
        n_jobs: int | None,
        starts: dict[float, Array] | None = None,
    ) -> None:
        self.starts = starts or {}
        self.problem, self.settings, self.merge, self.rng = problem, settings, merge, rng
        self.penalties, self.weights = penalties, weights
        self.engine = CpuEngine(problem.X, problem.family, n_jobs, problem.links)
        self.best: dict[LinkedRun, dict[float, MostProbable]] = {}
        self.last: dict[LinkedRun, RDPMeansState] = {}

    @cached_property
    def runs(self) -> list[LinkedRun]:
        """The runs that data weights choose among, the largest penalty first."""
        first = [LinkedRun(value, ALONE) for value in self.penalties]
        good = {
            max(first, key=lambda run: self.score(run, weight)).cluster_penalty
            for weight in self.weights
        }
        return [
            LinkedRun(value, scale)
            for value in self.penalties
            for scale in SCALES
            if scale == ALONE or value in good
        ]

    def best_of(self, run: LinkedRun) -> dict[float, MostProbable]:
        """Return, of the partitions that a run passes through, the best at each data weight."""
        if run not in self.best:
            # The pool judges partitions itself, at every data weight.
            settings = replace(with_run(self.settings, run), keep="objective")
            solver = RDPMeansSolver(self.problem, self.engine, settings)
            score = PartitionScore(self.problem, self.engine, settings)
            best: dict[float, MostProbable] = {}

            def judge(state: RDPMeansState, rows: Any) -> None:
                if len(rows) > 1 and not rows[-1].n_changed:
                    return
                data, rest = score.parts(state)
                for weight in self.weights:
                    value = weight * data + rest
                    if weight not in best or value > best[weight].log_joint:
                        objective = rows[-1].objective
                        best[weight] = MostProbable(state, value, len(rows), objective)

            centers = self.starts.get(run.cluster_penalty)
            start = solver.init(self.rng.permutation(self.problem.n), centers)
            self.last[run] = loop.run(solver, start, after_step=judge).state
            self.best[run] = best
            self.engine.forget()
        return self.best[run]

    def score(self, run: LinkedRun, weight: float) -> float:
        """Return the highest score of the partitions of a run."""
        return self.best_of(run)[weight].log_joint

    def first(self, weight: float) -> LinkedRun:
        """Return the run with the highest score."""
        return max(self.runs, key=lambda run: self.score(run, weight))

    def labels(self, weight: float, run: LinkedRun | None) -> Index:
        """Return the partition of the highest score of all runs, merged, or the last of one run."""
        if run is not None:
            self.best_of(run)
            return self.engine.numbered(self.last[run].labels)[0]
        best = self.best_of(self.first(weight))[weight]
        if self.merge:
            settings = replace(self.settings, data_weight=weight)
            best = PartitionScore(self.problem, self.engine, settings).merged(best)
        return self.engine.numbered(best.state.labels, best.root)[0]


def with_run(settings: RDPMeansSettings, run: LinkedRun) -> RDPMeansSettings:
    """Return the settings of a run, its first link weights being multiples of λ."""
    value, scale = run
    return replace(
        penalty.with_penalty(settings, value, relative_weights=True),
        scale=scale * value if np.isfinite(scale) else None,
    )
