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
from maylink.pairs import unrank_pair
from maylink.problem import Problem
from maylink.solvers.known_mergers import KnownMergers
from maylink.solvers.merger_gains import MergerGains
from maylink.solvers.merging_rounds import ENOUGH, ClusterRounds, data_gains
from maylink.solvers.score_settings import ScoreSettings
from maylink.solvers.vote_table import Merger, VoteTable, table_or_rows

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
    """The clusters that are left, with what every merger of two of them would gain.

    Pairs of clusters are counted row by row (:func:`maylink.pairs.rank_pairs`): (0, 1), (0, 2), …
    """

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
        a, b = np.triu_indices(size, 1)
        if known.table is None:
            known.table = data_gains(family, prior, self.statistics, self.marginal, a, b)
        self.gain = settings.data_weight * known.table  # of the data, of each pair
        sizes = self.statistics.size
        self.joint_sizes = settings.partition_prior.log_joint_sizes(sizes[a], sizes[b])

    def merge_best(self) -> float:
        """Merge the two that gain most and return what they gain; 0 where none gains."""
        if len(self.alive) < 2:
            return 0.0
        gains = MergerGains(self.votes, self.settings)
        if gains.is_shared and gains.n_entries > FEW_ENTRIES:
            rough = self._with_links(gains.pair, gains.rough())
            merger = self._merger(int(rough.argmax()))
            gain = self._exact_gain(merger)
            if gain > ENOUGH:
                self._join(merger)
                return gain
        total = self.total_gain(gains)
        best = int(total.argmax())
        if not total[best] > ENOUGH:
            return 0.0
        self._join(self._merger(best))
        return float(total[best])

    def total_gain(self, gains: MergerGains | None = None) -> Array:
        """Return by how much merging each pair of clusters would raise the score."""
        return self._with_links(*(gains or MergerGains(self.votes, self.settings)).exact())

    def log_joint(self) -> float:
        """Return the exact score of the clusters that are left."""
        return self.settings.log_score(self.marginal, self.statistics.size, self.votes.counts())

    def _merger(self, pair: int) -> Merger:
        return Merger.of(*unrank_pair(pair, len(self.alive)), len(self.alive))

    def _with_links(self, pair: Index, links: Array) -> Array:
        """Return the gains of data and partition, with those of links of pairs added to them."""
        total = self.gain + self._partition_gain()
        np.add.at(total, pair, links)
        return np.asarray(total)

    def _exact_gain(self, merger: Merger) -> float:
        """Return by how much a merger would raise the score."""
        log_links = self.settings.log_links
        links = log_links(self._votes_after(merger).counts()) - log_links(self.votes.counts())
        pair = merger.pair
        return float(self.gain[pair] + self._partition_gain()[pair] + links)

    def _votes_after(self, merger: Merger) -> VoteTable | ClusterVotes:
        if isinstance(self.votes, VoteTable):
            return self.votes.joined(merger)
        return self.votes.joined(merger.a, merger.b)

    def _join(self, merger: Merger) -> None:
        """Make b part of a < b, and forget b."""
        a, b = merger.a, merger.b
        self.root[self.root == self.alive[b]] = self.alive[a]
        left = _all_but(b, len(self.alive))
        for part in self.statistics:
            part[a] += part[b]
        self.statistics = Statistics(*(part.take(left, axis=0) for part in self.statistics))
        self.votes = self._votes_after(merger)
        self.alive, self.marginal = self.alive[left], self.marginal[left]
        # All mergers with a, and in the place of a itself the cluster that it has become.
        both = Statistics(*(part + part[a] for part in self.statistics))
        for joint, part in zip(both, self.statistics, strict=True):
            joint[a] = part[a]
        marginal = self.family.log_marginal(both, self.prior)
        self.marginal[a] = marginal[a]
        gain = self.settings.data_weight * (marginal - self.marginal - marginal[a])
        others = _all_but(a, len(self.alive))
        self.gain = self.gain.compress(merger.kept)
        self.gain[merger.with_a] = gain[others]
        sizes, prior = self.statistics.size, self.settings.partition_prior
        low, high = sizes[np.minimum(others, a)], sizes[np.maximum(others, a)]
        self.joint_sizes = self.joint_sizes.compress(merger.kept, axis=1)
        self.joint_sizes[:, merger.with_a] = prior.log_joint_sizes(low, high)

    def _partition_gain(self) -> Array:
        """Return what merging each pair does to the prior of the partition."""
        prior, sizes = self.settings.partition_prior, self.statistics.size
        return prior.merger_gains_of(self.joint_sizes, sizes, self.settings.alpha)


def _all_but(one: int, size: int) -> Index:
    """Return 0 … size − 1 without one of them."""
    left = np.arange(size - 1)
    left[one:] += 1
    return left
