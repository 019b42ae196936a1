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

from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Array, Index
from maylink.families.base import Family, Statistics
from maylink.labels import first_appearance
from maylink.model.reliability import ClusterVotes, votes_between
from maylink.problem import Problem
from maylink.solvers.known_mergers import KnownMergers
from maylink.solvers.merger_gains import MergerGains
from maylink.solvers.merging_rounds import ENOUGH, ClusterRounds, data_gains
from maylink.solvers.score_settings import ScoreSettings
from maylink.solvers.vote_table import table_or_rows

FEW = 256  # clusters that are merged two by two: what it costs grows faster than their square
FEW_ENTRIES = 20_000  # of the table behind the exact gains of links, which is small enough to make
MOST = 20_000  # clusters that are merged at all: each looks for its nearest among all others


class CoarserPartition(NamedTuple):
    """What is left of a partition after mergers."""

    labels: Index  # numbered by first appearance
    log_joint: float  # the exact score


def merge(
    problem: Problem,
    prior: Any,
    settings: ScoreSettings,
    labels: Index,
    few: int = FEW,
    known: KnownMergers | None = None,
) -> CoarserPartition:
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
        A partition, 0 … K − 1 and none of them empty, that is too fine.
    few : int, default 256
        Clusters that are merged two by two; more are merged in rounds until there are so few.
    known : KnownMergers, optional
        What is known of mergers of these clusters, under this family and this prior; what is found
        out is added to it.

    Returns
    -------
    CoarserPartition
    """
    size = int(labels.max()) + 1
    statistics = problem.cluster_statistics(labels, size)
    votes = votes_between(problem.links, labels, size)
    settings = settings.for_links(problem.links)
    merged = merge_clusters(problem.family, prior, settings, statistics, votes, few, known)
    return CoarserPartition(first_appearance(merged.root[labels])[0], merged.log_joint)


class MergedClusters(NamedTuple):
    """Where clusters are after mergers."""

    root: Index  # of each cluster, the first one that is part of the same cluster now
    gained: float  # by how much the score has risen
    log_joint: float  # the exact score


def merge_clusters(
    family: Family,
    prior: Any,
    settings: ScoreSettings,
    statistics: Statistics,
    votes: ClusterVotes,
    few: int = FEW,
    known: KnownMergers | None = None,
) -> MergedClusters:
    """Merge clusters, given their statistics and the votes between them."""
    root, gained = np.arange(len(statistics.size)), 0.0
    if root.size > few:
        rounds = ClusterRounds(family, prior, settings, statistics, votes, known)
        while rounds.n_clusters > few and (gain := rounds.merge_round()):
            gained += gain
        root, statistics, votes, known = rounds.root, rounds.statistics, rounds.votes, None
        if rounds.n_clusters > few:
            return MergedClusters(_named(root), gained, rounds.log_joint())
    clusters = MergingClusters(family, prior, settings, statistics, votes, known)
    while gain := clusters.merge_best():
        gained += gain
    return MergedClusters(_named(clusters.root[root]), gained, clusters.log_joint())


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
        known: KnownMergers | None = None,
    ) -> None:
        self.family, self.prior, self.settings = family, prior, settings
        size = len(statistics.size)
        self.root = np.arange(size)  # of each cluster of the start, the one that it is part of
        self.alive = np.arange(size)  # names of those that are left
        self.statistics = Statistics(*(part.copy() for part in statistics))
        self.marginal = family.log_marginal(self.statistics, prior)
        self.votes = table_or_rows(votes)
        known = KnownMergers() if known is None else known
        upper = np.triu_indices(size, 1)
        if known.table is None:
            clusters = self.statistics, self.marginal
            known.table = data_gains(family, prior, *clusters, *upper)
        self.gain = np.full((size, size), -np.inf)  # of the data, as weighed, upper triangle
        self.gain[upper] = settings.data_weight * known.table

    def merge_best(self) -> float:
        """Merge the two that gain most and return what they gain; 0 where none gains."""
        if len(self.alive) < 2:
            return 0.0
        gains = MergerGains(self.votes, self.settings)
        if gains.is_shared and gains.n_entries > FEW_ENTRIES:
            a, b = _largest(self._with_links(gains.a, gains.b, gains.rough()))
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
        return self._with_links(*(gains or MergerGains(self.votes, self.settings)).exact())

    def log_joint(self) -> float:
        """Return the exact score of the clusters that are left."""
        return self.settings.log_score(self.marginal, self.statistics.size, self.votes.counts())

    def _with_links(self, a: Index, b: Index, links: Array) -> Array:
        """Return the gains of data and partition, with those of links of pairs added to them."""
        total = self.gain + self._partition_gain()
        np.add.at(total, (a, b), links)
        return np.asarray(total)

    def _exact_gain(self, a: int, b: int) -> float:
        """Return by how much merging these two would raise the score."""
        log_links = self.settings.log_links
        links = log_links(self.votes.joined(a, b).counts()) - log_links(self.votes.counts())
        return float(self.gain[a, b] + self._partition_gain()[a, b] + links)

    def _join(self, a: int, b: int) -> None:
        """Make b part of a < b, and forget b."""
        self.root[self.root == self.alive[b]] = self.alive[a]
        left = _all_but(b, len(self.alive))
        for part in self.statistics:
            part[a] += part[b]
        self.statistics = Statistics(*(part[left] for part in self.statistics))
        self.votes = self.votes.joined(a, b)
        self.alive, self.marginal = self.alive[left], self.marginal[left]
        self.gain = self.gain.take(left, axis=0).take(left, axis=1)
        # All mergers with a, and in the place of a itself the cluster that it has become.
        both = Statistics(*(part + part[a] for part in self.statistics))
        for joint, part in zip(both, self.statistics, strict=True):
            joint[a] = part[a]
        marginal = self.family.log_marginal(both, self.prior)
        self.marginal[a] = marginal[a]
        gain = self.settings.data_weight * (marginal - self.marginal - marginal[a])
        self.gain[:a, a], self.gain[a, a + 1 :] = gain[:a], gain[a + 1 :]

    def _partition_gain(self) -> Array:
        """Return what merging two clusters does to the prior of the partition, (K, K)."""
        sizes, settings = self.statistics.size, self.settings
        different, place = np.unique(sizes, return_inverse=True)
        a, b = np.broadcast_arrays(different[:, None], different)
        gains = settings.partition_prior.merger_gains(sizes, a, b, settings.alpha)
        return gains.take(place, axis=0).take(place, axis=1)


def _all_but(one: int, size: int) -> Index:
    """Return 0 … size − 1 without one of them."""
    left = np.arange(size - 1)
    left[one:] += 1
    return left


def _largest(total: Array) -> tuple[int, int]:
    a, b = np.unravel_index(int(total.argmax()), total.shape)
    return int(a), int(b)
