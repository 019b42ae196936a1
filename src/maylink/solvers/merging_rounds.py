"""Merging thousands of clusters: many at once, round after round.

In a round each cluster finds its best partner among a few candidates: the clusters that may links
join it with, and those that lie nearest. Two that are each other's best and whose merger would
raise the exact score are the core of a group; clusters whose best partner is one of the two follow
them, the best first, as long as that seems to raise the score further. All groups merge at once.
What one merger gains depends a little on the others (how many clusters are left, how reliable the
links look), so the gain of all of them together is worked out exactly; if it is not above 0, cores
merge without followers, and of these the lesser half is left out until it is. The score never
falls.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index
from maylink.families.base import Family, Statistics
from maylink.model.reliability import ClusterVotes
from maylink.pairs import rank_pairs
from maylink.solvers.known_mergers import KnownMergers
from maylink.solvers.merger_gains import MergerGains
from maylink.solvers.score_settings import ScoreSettings
from maylink.views.nearest import nearest as nearest_rows

N_NEAREST = 10  # clusters that each one is compared with
MANY = 256  # locations beyond which an index, or tiles, find neighbours sooner than sorting
ENTRIES = 2**15  # numbers that are worked on together: few enough for a fast memory to hold
ENOUGH = 1e-9  # a merger must raise the score by this


class Groups(NamedTuple):
    """Clusters that may merge: a row for each that would become part of a first one."""

    group: Index  # of each row; the best group is 0, its rows come first
    first: Index  # the cluster that the row's cluster would become part of
    member: Index  # the row's cluster; the first row of a group is the other half of its core
    link_gain: Array  # of the row's cluster and its best partner

    def only(self, rows: Any) -> Groups:
        """Return some of the rows."""
        return Groups(*(column[rows] for column in self))


class Merged(NamedTuple):
    """Clusters after mergers."""

    number: Index  # of each cluster before, the one that it is part of
    statistics: Statistics
    marginal: Array
    votes: ClusterVotes


class ClusterRounds:
    """The clusters that are left, and rounds in which pairs of them merge.

    Parameters
    ----------
    family : Family
        What the data are.
    prior
        Prior of the clusters' parameters.
    settings : ScoreSettings
        What else the score depends on.
    statistics : Statistics
        Of the clusters.
    votes : ClusterVotes
        Of links between them.
    known : KnownMergers, optional
        What is known of mergers of these clusters.
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
        self.statistics, self.votes = statistics, votes
        self.known = KnownMergers() if known is None else known
        self.root = np.arange(len(statistics.size))  # of each cluster of the start, where it is now
        self.marginal = self._marginals(statistics)

    @property
    def n_clusters(self) -> int:
        """How many clusters are left."""
        return len(self.statistics.size)

    def merge_round(self) -> float:
        """Merge groups of clusters; return what that gains, 0 where no two clusters gain."""
        if self.n_clusters < 2:
            return 0.0
        groups = self._groups()
        groups = groups.only(self._worthwhile(groups)) if groups.group.size else groups
        while groups.group.size:
            merged, gain = self._merged(groups)
            if gain > ENOUGH:
                changed = np.zeros(self.n_clusters, bool)
                changed[groups.first] = changed[groups.member] = True
                self.known = self.known.after(merged.number, changed)
                self.statistics, self.marginal, self.votes = merged[1:]
                self.root = merged.number[self.root]
                return gain
            is_core = np.diff(groups.group, prepend=-1) > 0
            if is_core.all():
                groups = groups.only(groups.group < groups.group.size // 2)
            else:
                groups = groups.only(is_core)
        return 0.0

    def log_joint(self) -> float:
        """Return the exact score of the clusters that are left."""
        return self.settings.log_score(self.marginal, self.statistics.size, self.votes.counts())

    def _candidates(self) -> tuple[Index, Index]:
        """Return pairs a < b, each once, in ascending order."""
        if self.known.nearest is None:
            self.known.nearest = nearest(self.family.locations(self.statistics), N_NEAREST)
        near = self.known.nearest
        own = np.repeat(np.arange(self.n_clusters), near.shape[1])
        joined = (self.votes.may > 0) & (self.votes.a < self.votes.b)
        first = np.concatenate([np.minimum(own, near.ravel()), self.votes.a[joined]])
        second = np.concatenate([np.maximum(own, near.ravel()), self.votes.b[joined]])
        key = np.unique(first * self.n_clusters + second)
        return key // self.n_clusters, key % self.n_clusters

    def _groups(self) -> Groups:
        """Find clusters that are each other's best partners, and those that would follow them."""
        a, b = self._candidates()
        links, size, settings = self._link_gains(a, b), self.statistics.size, self.settings
        partition = settings.partition_prior.merger_gains(size, size[a], size[b], settings.alpha)
        gains = self._data_gains(a, b) + partition + links
        order = np.argsort(-gains, kind="stable")
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size)
        best = np.full(self.n_clusters, order.size)  # rank of each cluster's best pair
        np.minimum.at(best, a, rank)
        np.minimum.at(best, b, rank)
        pair = order[best]
        core = order[(best[a] == rank)[order] & (best[b] == rank)[order] & (gains > ENOUGH)[order]]
        group = np.full(self.n_clusters, -1)
        group[a[core]] = group[b[core]] = np.arange(core.size)
        every = np.arange(self.n_clusters)
        partner = np.where(a[pair] == every, b[pair], a[pair])
        follows = (group < 0) & (group[partner] >= 0) & (gains[pair] > ENOUGH)
        member = np.concatenate([b[core], every[follows]])
        into = np.concatenate([np.arange(core.size), group[partner[follows]]])
        rows = np.lexsort([best[member], into])
        return Groups(into[rows], a[core][into[rows]], member[rows], links[pair[member[rows]]])

    def _worthwhile(self, groups: Groups) -> NDArray[np.bool_]:
        """Say of each row whether its group seems best with it and all rows before it."""
        settings, size = self.settings, self.statistics.size
        starts = np.flatnonzero(np.diff(groups.group, prepend=-1))
        core = groups.first[starts]

        def so_far(values: Array) -> Array:
            """Add up values of clusters, from the first of the group to the row's."""
            total = np.cumsum(values[groups.member], axis=0)
            before = (total - values[groups.member])[starts] - values[core]
            return np.asarray(total - before[groups.group])

        joint = Statistics(*(so_far(part) for part in self.statistics))
        data = self._marginals(joint) - so_far(self.marginal)
        prior = settings.partition_prior
        parts = np.array([so_far(row) for row in prior.log_size(size)])
        sizes = prior.averaged(prior.log_size(joint.size) - parts, size)
        place = np.arange(groups.group.size) - starts[groups.group] + 1
        n, n_clusters = round(float(size.sum())), self.n_clusters
        numbers = [prior.log_number(k, n, settings.alpha) for k in (n_clusters, n_clusters - 1)]
        linked = np.cumsum(groups.link_gain)
        linked -= (linked - groups.link_gain)[starts][groups.group]
        gain = settings.data_weight * data + sizes + place * (numbers[1] - numbers[0]) + linked
        gain = np.where(np.isfinite(gain), gain, -np.inf)
        worthwhile = np.zeros(gain.size, bool)
        for low, high in pairwise([*starts.tolist(), gain.size]):
            worthwhile[low : low + int(gain[low:high].argmax()) + 1] = True
        return worthwhile

    def _data_gains(self, a: Index, b: Index) -> Array:
        """Return what merging each pair does to the log probability of the data, as weighed."""

        def work_out(pairs: Index) -> Array:
            clusters = self.statistics, self.marginal
            return data_gains(self.family, self.prior, *clusters, a[pairs], b[pairs])

        gains = self.known.gains(a * self.n_clusters + b, work_out)
        return np.asarray(self.settings.data_weight * gains)

    def _link_gains(self, a: Index, b: Index) -> Array:
        """Return what merging each pair does to the log probability of the links."""
        gains, of_links = np.zeros(a.size), MergerGains(self.votes, self.settings)
        pair = rank_pairs(a, b, self.n_clusters)
        place = np.minimum(np.searchsorted(pair, of_links.pair), pair.size - 1)
        known = pair[place] == of_links.pair
        np.add.at(gains, place[known], of_links.rough()[known])
        return gains

    def _merged(self, groups: Groups) -> tuple[Merged, float]:
        """Return the clusters after the mergers of all groups, and what these gain exactly."""
        into = np.arange(self.n_clusters)
        into[groups.member] = groups.first
        kept, number = np.unique(into, return_inverse=True)
        joint = [part[kept] for part in self.statistics]
        for part, before in zip(joint, self.statistics, strict=True):
            np.add.at(part, number[groups.member], before[groups.member])
        statistics = Statistics(*joint)
        changed = np.unique(number[groups.first])
        marginal = self.marginal[kept]
        marginal[changed] = self._marginals(Statistics(*(part[changed] for part in joint)))
        votes = self.votes.renumbered(number, kept.size)
        gone = self.marginal[kept[changed]].sum() + self.marginal[groups.member].sum()
        settings = self.settings
        prior, alpha = settings.partition_prior, settings.alpha
        gain = settings.data_weight * float(marginal[changed].sum() - gone)
        gain += prior.log_probability(statistics.size, alpha)
        gain -= prior.log_probability(self.statistics.size, alpha)
        gain += settings.log_links(votes.counts()) - settings.log_links(self.votes.counts())
        return Merged(number, statistics, marginal, votes), gain

    def _marginals(self, statistics: Statistics) -> Array:
        """Return the log probability of each cluster's data, some clusters at a time."""
        step = max(1, ENTRIES // max(1, statistics.total[:1].size))
        parts = [
            self.family.log_marginal(
                Statistics(*(part[low : low + step] for part in statistics)), self.prior
            )
            for low in range(0, len(statistics.size), step)
        ]
        return np.concatenate(parts) if len(parts) != 1 else np.asarray(parts[0])


def data_gains(
    family: Family, prior: Any, statistics: Statistics, marginal: Array, a: Index, b: Index
) -> Array:
    """Return what merging each pair of clusters does to the log probability of the data.

    Parameters
    ----------
    family, prior, statistics
        As for :class:`ClusterRounds`.
    marginal : array of shape (K,)
        The log probability of each cluster's data.
    a, b : arrays of shape (m,)
        The pairs.
    """
    step = max(1, ENTRIES // max(1, statistics.total[:1].size))  # pairs at a time
    parts = [np.empty(0)]
    for low in range(0, a.size, step):
        one, other = a[low : low + step], b[low : low + step]
        both = Statistics(*(part[one] + part[other] for part in statistics))
        joint = family.log_marginal(both, prior)
        parts.append(joint - marginal[one] - marginal[other])
    return np.concatenate(parts)


def nearest(locations: Array, count: int) -> Index:
    """Return the nearest others of each location, shape (K, count), in no order.

    Of many clusters the locations are overwritten.
    """
    size = len(locations)
    count = min(count, size - 1)
    if size > MANY:
        return nearest_rows(locations, count, n_jobs=1, overwrite=True)
    centred = locations - locations.mean(axis=0)
    square = np.einsum("ij,ij->i", centred, centred)
    apart = square - 2.0 * (centred @ centred.T)
    apart[np.arange(size), np.arange(size)] = np.inf
    return np.argpartition(apart, count - 1, axis=1)[:, :count].copy()  # not a view of all
