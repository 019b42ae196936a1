"""Merging clusters by the exact score: from many small clusters to the partition that they make.

Start from a partition that is too fine, and merge the two clusters whose merger raises
``log p(x, E, z)`` most, until none does. All that a merger changes is known in closed form: the
marginal likelihood of the joint statistics, the prior of the partition, and the links that come to
lie inside. More than a few hundred clusters merge in rounds first
(:mod:`maylink.solvers.merging_rounds`). Cutting the clusters of a solution into small pieces and
merging these again is a split–merge move of all clusters at once: it leaves modes that no single
point can leave.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betaln

from maylink.arrays import Array, Index
from maylink.families.base import Family, Statistics
from maylink.labels import first_appearance
from maylink.model.reliability import ClusterVotes, votes_between
from maylink.problem import Problem
from maylink.solvers.merging_rounds import ENOUGH, ClusterRounds
from maylink.solvers.score_settings import ScoreSettings

FEW = 256  # clusters that are merged two by two: what it costs grows faster than their square
MOST = 20_000  # clusters that are merged at all: each looks for its nearest among all others


def merge(
    problem: Problem, prior: Any, settings: ScoreSettings, labels: Index, few: int = FEW
) -> Index:
    """Merge clusters while that raises the exact score.

    Parameters
    ----------
    problem : Problem
        Data, links and family.
    prior
        Prior of the clusters' parameters.
    settings : ScoreSettings
        What else the score depends on.
    labels : array of shape (n,)
        A partition, 0 … K − 1, that is too fine.
    few : int, default 256
        Clusters that are merged two by two; more are merged in rounds until there are so few.

    Returns
    -------
    array of shape (n,)
        The coarser partition, numbered by first appearance.
    """
    size = int(labels.max()) + 1
    statistics = problem.family.cluster_statistics(problem.X, labels, size)
    votes = votes_between(problem.links, labels, size)
    root, _ = merge_clusters(problem.family, prior, settings, statistics, votes, few)
    return first_appearance(root[labels])[0]


def merge_clusters(
    family: Family,
    prior: Any,
    settings: ScoreSettings,
    statistics: Statistics,
    votes: ClusterVotes,
    few: int = FEW,
) -> tuple[Index, float]:
    """Merge clusters, given their statistics and the votes between them.

    Returns
    -------
    array of shape (K,)
        Of each cluster the one that it is part of now.
    float
        By how much the score has risen.
    """
    rounds = ClusterRounds(family, prior, settings, statistics, votes)
    gained = 0.0
    while rounds.n_clusters > few:
        gain = rounds.merge_round()
        if not gain:
            return _named(rounds.root), gained
        gained += gain
    clusters = MergingClusters(family, prior, settings, rounds.statistics, rounds.votes)
    while gain := clusters.merge_best():
        gained += gain
    return _named(clusters.root[rounds.root]), gained


def _named(end: Index) -> Index:
    """Return, for each cluster, the first one that is in the same cluster at the end."""
    _, first, place = np.unique(end, return_index=True, return_inverse=True)
    return np.asarray(first[place], np.int64)


def cut(labels: Index, pieces: Index, least: float = 0.0) -> Index:
    """Return the partition into what lies in the same cluster and in the same piece.

    Parameters
    ----------
    labels, pieces : arrays of shape (n,)
        Two partitions.
    least : float, default 0
        Parts of fewer points than this stay together with the other small parts of their cluster.
    """
    n_pieces = int(pieces.max()) + 1
    _, part, size = np.unique(labels * n_pieces + pieces, return_inverse=True, return_counts=True)
    both = labels * (n_pieces + 1) + np.where(size[part] < least, n_pieces, pieces)
    return np.asarray(np.unique(both, return_inverse=True)[1], np.int64)


class MergingClusters:
    """The clusters that are left, with what every merger of two of them would gain."""

    def __init__(
        self,
        family: Family,
        prior: Any,
        settings: ScoreSettings,
        statistics: Statistics,
        votes: ClusterVotes,
    ) -> None:
        self.family, self.prior, self.settings = family, prior, settings
        size = len(statistics.size)
        self.root = np.arange(size)  # of each cluster of the start, the one that it is part of
        self.alive = np.arange(size)  # names of those that are left
        self.statistics = Statistics(*(part.copy() for part in statistics))
        self.marginal = family.log_marginal(self.statistics, prior)
        self.may, self.may_not = votes.dense()
        self.gain = np.full((size, size), -np.inf)  # of the data, upper triangle
        for k in range(size - 1):
            self.gain[k, k + 1 :] = self._gain(k, np.arange(k + 1, size))

    def merge_best(self) -> float:
        """Merge the two that gain most and return what they gain; 0 where none gains."""
        if len(self.alive) < 2:
            return 0.0
        total = self.total_gain()
        a, b = np.unravel_index(int(total.argmax()), total.shape)
        gain = float(total[a, b])
        if not gain > ENOUGH:
            return 0.0
        self._join(int(a), int(b))
        return gain

    def total_gain(self) -> Array:
        """Return by how much merging two clusters would raise the score, upper triangle, (K, K)."""
        return np.asarray(self.gain + self._partition_gain() + self._link_gain())

    def _join(self, a: int, b: int) -> None:
        """Make b part of a, and forget b."""
        self.root[self.root == self.alive[b]] = self.alive[a]
        for part in self.statistics:
            part[a] += part[b]
        for votes in (self.may, self.may_not):
            votes[:, a] += votes[:, b]
            votes[:, :, a] += votes[:, :, b]
        left = np.delete(np.arange(len(self.alive)), b)
        self.alive, self.marginal = self.alive[left], self.marginal[left]
        self.statistics = Statistics(*(part[left] for part in self.statistics))
        square = np.ix_(left, left)
        self.gain = self.gain[square]
        self.may, self.may_not = (votes[:, left][:, :, left] for votes in (self.may, self.may_not))
        self.marginal[a] = self.family.log_marginal(self._some(np.array([a])), self.prior)[0]
        others = np.delete(np.arange(len(left)), a)
        gain = self._gain(a, others)
        self.gain[np.minimum(a, others), np.maximum(a, others)] = gain

    def _gain(self, a: int, others: Index) -> Array:
        """Return what merging a with each of the others does to the data."""
        other_statistics, statistics = self._some(others), self._some(np.full(1, a))
        both = Statistics(*(x + y for x, y in zip(other_statistics, statistics, strict=True)))
        data = self.family.log_marginal(both, self.prior) - self.marginal[others] - self.marginal[a]
        return np.asarray(self.settings.data_weight * data)

    def _partition_gain(self) -> Array:
        """Return what merging two clusters does to the prior of the partition, (K, K)."""
        sizes, settings = self.statistics.size, self.settings
        different, place = np.unique(sizes, return_inverse=True)
        a, b = np.broadcast_arrays(different[:, None], different)
        gains = settings.partition_prior.merger_gains(sizes, a, b, settings.alpha)
        return gains[np.ix_(place, place)]

    def _some(self, which: Index) -> Statistics:
        return Statistics(*(part[which] for part in self.statistics))

    def _link_gain(self) -> Array | float:
        """Return what merging two clusters does to the evidence of the links, (K, K)."""
        settings = self.settings
        if settings.reliability is not None:
            p, q = settings.reliability
            may, may_not = np.log(p / (1.0 - q)), np.log(q / (1.0 - p))
            return np.asarray(may * self.may.sum(axis=0) - may_not * self.may_not.sum(axis=0))
        right, wrong = settings.reliability_prior
        out = np.zeros(self.gain.shape)
        for may, may_not in zip(self.may, self.may_not, strict=True):
            inside_may, inside_not = np.trace(may) / 2.0, np.trace(may_not) / 2.0
            apart_may = may.sum() / 2.0 - inside_may
            apart_not = may_not.sum() / 2.0 - inside_not
            inside = (right + inside_may, wrong + inside_not)
            between = (right + apart_not, wrong + apart_may)
            some = np.nonzero(np.triu(may + may_not, 1))
            moved, moved_not = may[some], may_not[some]
            out[some] += betaln(inside[0] + moved, inside[1] + moved_not) - betaln(*inside)
            out[some] += betaln(between[0] - moved_not, between[1] - moved) - betaln(*between)
        return out
