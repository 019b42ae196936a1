"""Fits of families that learn from a partition: covariances within and between clusters.

Such a family learns between fits: fit, learn from the responsibilities, merge clusters under what
was learned, fit again. It starts from partitions that are too fine, made once and without links:
points by themselves, merged while that raises the exact score, and what K-means makes of the data.
Where a family may look at data in several ways (:meth:`~maylink.families.Family.variants`), the
way whose pieces have the highest exact score is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maylink.arrays import Index
from maylink.families.rows import membership
from maylink.links import Links
from maylink.model.joint import joint_of
from maylink.model.reliability import votes_between
from maylink.problem import Problem
from maylink.solvers import loop, merging
from maylink.solvers.fit import Fit
from maylink.solvers.merging_rounds import ClusterRounds
from maylink.solvers.score_settings import ScoreSettings
from maylink.solvers.variational import VariationalSettings, VariationalSolver, VariationalState

FEWEST_PIECES = 32  # of few points; many points have a tenth as many
POINTS_A_PIECE = 10
POINTS_OF_A_START = 15  # in each cluster of the K-means that is the second start
CLUSTERS_OF_A_START = 30  # of the K-means that is the third
SWEEPS = 12  # between two times that the family learns
ROUNDS = 3  # of learning


@dataclass(frozen=True)
class PieceView:
    """Data as a family that learns sees them at first, and partitions to start from; no links.

    Parameters
    ----------
    problem : Problem
        The data, prepared for the family.
    starts : list of array of shape (n,)
        Partitions that are too fine, the finest first.
    """

    problem: Problem
    starts: list[Index]

    @classmethod
    def of(cls, problem: Problem, rng: np.random.Generator) -> PieceView:
        """Look at the data of a problem that is not prepared yet."""
        from sklearn.cluster import KMeans

        best: tuple[float, Problem, Index] | None = None
        for family in problem.family.variants():
            one = Problem(problem.X, Links.empty(problem.n), family.adapt(problem.X)).prepared()
            pieces = pieces_of(one)
            one = learned(one, membership(pieces, int(pieces.max()) + 1).T)
            score = joint_of(one, pieces, one.prior)
            if best is None or score > best[0]:
                best = score, one, pieces
        assert best is not None
        _, chosen, pieces = best
        rows, starts = chosen.X, [pieces]
        seed = int(rng.integers(2**31))
        for count in sorted({problem.n // POINTS_OF_A_START, CLUSTERS_OF_A_START}, reverse=True):
            if 1 < count < int(pieces.max()) + 1:
                means = KMeans(count, n_init=1, max_iter=30, random_state=seed)
                starts.append(means.fit_predict(rows).astype(np.int64))
        return cls(chosen, starts)


@dataclass(frozen=True)
class LearnedFit:
    """A fit, and the problem under the family that was learned on the way."""

    problem: Problem
    solver: VariationalSolver
    fit: Fit[VariationalState]

    @property
    def labels(self) -> Index:
        """The cluster of each point."""
        return self.solver.labels(self.fit.state)


def pieces_of(problem: Problem) -> Index:
    """Merge points by themselves into small pieces while that raises the score without links."""
    n, family = problem.n, problem.family
    points = np.arange(n)
    rounds = ClusterRounds(
        family,
        problem.prior,
        ScoreSettings(),
        family.cluster_statistics(problem.X, points, n),
        votes_between(problem.links, points, n),
    )
    fewest = max(FEWEST_PIECES, n // POINTS_A_PIECE)
    before = rounds.root
    while rounds.n_clusters > fewest and rounds.merge_round():
        if rounds.n_clusters < fewest:
            return before
        before = rounds.root
    return np.asarray(rounds.root, np.int64)


def learned(problem: Problem, responsibilities: Any) -> Problem:
    """Return a prepared problem under the family as a partition teaches it."""
    family, X = problem.family.learned(problem.X, responsibilities)
    return Problem(X, problem.links, family)


def learned_fit(
    view: PieceView,
    links: Links,
    settings: VariationalSettings,
    score: ScoreSettings,
    starts: Sequence[Index] = (),
) -> LearnedFit:
    """Start from the most probable of some partitions; fit, learn and merge in turn.

    Parameters
    ----------
    view : PieceView
        The data.
    links : Links
        All that the fit may see of links, those of neighbours too.
    settings : VariationalSettings
        How to run.
    score : ScoreSettings
        What the exact score depends on, of the same model.
    starts : sequence of arrays of shape (n,)
        More partitions to start from.
    """
    problem = Problem(view.problem.X, links, view.problem.family)

    def merged(labels: Index) -> Index:
        return merging.merge(problem, problem.prior, score, labels)

    candidates = [merged(labels) for labels in (*view.starts, *starts)]
    labels = max(candidates, key=lambda one: _score(problem, one, score))
    short = replace(settings, max_sweeps=min(SWEEPS, settings.max_sweeps))
    for number in range(ROUNDS):
        solver = VariationalSolver(problem, problem.prior, short)
        state = loop.run(solver, solver.init(labels)).state
        problem = learned(problem, state.responsibilities)
        before = solver.labels(state)
        labels = merged(before)
        if number and labels.max() == before.max():
            break
    solver = VariationalSolver(problem, problem.prior, settings)
    return LearnedFit(problem, solver, loop.run(solver, solver.init(labels)))


def _score(problem: Problem, labels: Index, score: ScoreSettings) -> float:
    return joint_of(
        problem,
        labels,
        problem.prior,
        score.alpha,
        score.data_weight,
        score.reliability_prior,
        score.reliability,
        score.partition_prior,
    )
