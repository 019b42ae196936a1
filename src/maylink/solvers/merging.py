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

from maylink.arrays import Array, Index
from maylink.families.base import Family, Statistics
from maylink.labels import first_appearance
from maylink.model.reliability import ClusterVotes, votes_between
from maylink.problem import Problem
from maylink.solvers.merger_gains import MergerGains
from maylink.solvers.merging_rounds import ENOUGH, ClusterRounds
from maylink.solvers.score_settings import ScoreSettings

FEW = 256  # clusters that are merged two by two: what it costs grows faster than their square
ENTRIES = 2**20  # numbers that statistics of pairs may hold at a time
FEW_ENTRIES = 20_000  # of the table behind the exact gains of links, which is small enough to make
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
    settings = settings.for_links(problem.links)
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
        self.votes = votes
        self.gain = np.full((size, size), -np.inf)  # of the data, upper triangle
        first, second = np.triu_indices(size, 1)
        step = max(1, ENTRIES // max(1, self.statistics.total[:1].size))  # pairs at a time
        for low in range(0, first.size, step):
            a, b = first[low : low + step], second[low : low + step]
            self.gain[a, b] = self._gain(a, b)

    def merge_best(self) -> float:
        """Merge the two that gain most and return what they gain; 0 where none gains."""
        if len(self.alive) < 2:
            return 0.0
        gains = MergerGains(self.votes, self.settings)
        if gains.is_shared and gains.n_entries > FEW_ENTRIES:
            a, b = _largest(self._rough_gain(gains))
            gain = self._exact_gain(a, b)
            if gain > ENOUGH:
                self._join(a, b)
                return gain
        total = self.total_gain(gains)
        a, b = _largest(total)
        if not total[a, b] > ENOUGH:
            return 0.0
        self._join(a, b)
        return float(total[a, b])

    def total_gain(self, gains: MergerGains | None = None) -> Array:
        """Return by how much merging two clusters would raise the score, upper triangle, (K, K)."""
        total = self.gain + self._partition_gain()
        a, b, links = (gains or MergerGains(self.votes, self.settings)).exact()
        total[a, b] += links
        return np.asarray(total)

    def _rough_gain(self, gains: MergerGains) -> Array:
        """Return :meth:`total_gain`, that of links at the likeliest point of what sources share."""
        total = np.asarray(self.gain + self._partition_gain())
        np.add.at(total, (gains.a, gains.b), gains.rough())
        return total

    def _exact_gain(self, a: int, b: int) -> float:
        """Return by how much merging these two would raise the score."""
        log_links = self.settings.log_links
        links = log_links(self._joined_votes(a, b).counts()) - log_links(self.votes.counts())
        return float(self.gain[a, b] + self._partition_gain()[a, b] + links)

    def _joined_votes(self, a: int, b: int) -> ClusterVotes:
        """Return the votes when b is part of a."""
        number = np.arange(len(self.alive))
        number[b] = a
        number[b + 1 :] -= 1
        return self.votes.renumbered(number, len(number) - 1)

    def _join(self, a: int, b: int) -> None:
        """Make b part of a, and forget b."""
        self.root[self.root == self.alive[b]] = self.alive[a]
        for part in self.statistics:
            part[a] += part[b]
        self.votes = self._joined_votes(a, b)
        left = _all_but(b, len(self.alive))
        self.alive, self.marginal = self.alive[left], self.marginal[left]
        self.statistics = Statistics(*(part[left] for part in self.statistics))
        square = np.ix_(left, left)
        self.gain = self.gain[square]
        self.marginal[a] = self.family.log_marginal(self._some(np.array([a])), self.prior)[0]
        others = _all_but(a, len(left))
        gain = self._gain(np.full(1, a), others)
        self.gain[np.minimum(a, others), np.maximum(a, others)] = gain

    def _gain(self, a: Index, others: Index) -> Array:
        """Return what merging a, one or as many, with each of the others does to the data."""
        other_statistics, statistics = self._some(others), self._some(a)
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


def _all_but(one: int, size: int) -> Index:
    """Return 0 … size − 1 without one of them."""
    left = np.arange(size - 1)
    left[one:] += 1
    return left


def _largest(total: Array) -> tuple[int, int]:
    a, b = np.unravel_index(int(total.argmax()), total.shape)
    return int(a), int(b)
