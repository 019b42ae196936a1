"""Votes between clusters as a table, which a merger changes in the pairs of one cluster.

:class:`~maylink.model.reliability.ClusterVotes` hold the pairs of clusters that have votes, and
must be sorted anew after each merger. A table of all pairs is larger, and quicker where clusters
and sources are few.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index
from maylink.model.reliability import ClusterVotes, LinkCounts, PairVotes
from maylink.pairs import rank_pairs

MOST_ENTRIES = 2**17  # of a table; what has more stays as rows


class Merger(NamedTuple):
    """Which pairs of clusters change when one of K clusters becomes part of another, by rank."""

    a: int  # becomes larger
    b: int  # after a; becomes part of a, and those after b move up
    pair: int  # of the two themselves
    with_b: Index  # of b and each other cluster, in order
    kept: NDArray[np.bool_]  # which pairs are left: those without b
    with_a: Index  # of a and each other cluster, in order, among the pairs that are left

    @classmethod
    def of(cls, a: int, b: int, n_clusters: int) -> Merger:
        """Look for the pairs of two clusters, a < b."""
        left = np.arange(n_clusters - 2)
        left[a:] += 1  # all but a, as those after b have moved up
        other = np.where(left < b, left, left + 1)
        with_b = rank_pairs(np.minimum(other, b), np.maximum(other, b), n_clusters)
        with_a = rank_pairs(np.minimum(left, a), np.maximum(left, a), n_clusters - 1)
        pair = a * (2 * n_clusters - a - 3) // 2 + b - 1
        kept = np.ones(n_clusters * (n_clusters - 1) // 2, bool)
        kept[with_b] = kept[pair] = False
        return cls(a, b, pair, with_b, kept, with_a)


class VoteTable(NamedTuple):
    """Votes for and against between clusters, of each source."""

    pairs: NDArray[np.float64]  # may and may-not, shape (2, sources, pairs), as ranks count pairs
    inside: Array  # may and may-not inside clusters, shape (2, sources)
    total: Array  # may and may-not of all links, shape (2, sources)

    @classmethod
    def of(cls, votes: ClusterVotes) -> VoteTable:
        """Lay out votes as a table."""
        size, rows = votes.n_clusters, votes.between()
        table = np.zeros((2, votes.n_sources, size * (size - 1) // 2))
        table[0, rows.source, rows.pair] = rows.may
        table[1, rows.source, rows.pair] = rows.may_not
        counts = votes.counts()
        inside = np.array([counts.may_same, counts.not_same])
        return cls(table, inside, inside + [counts.may_different, counts.not_different])

    @property
    def n_sources(self) -> int:
        """How many sources there are."""
        return int(self.inside.shape[1])

    def joined(self, merger: Merger) -> VoteTable:
        """Return the votes after a merger."""
        table = self.pairs.compress(merger.kept, axis=2)
        table[:, :, merger.with_a] += self.pairs[:, :, merger.with_b]
        return VoteTable(table, self.inside + self.pairs[:, :, merger.pair], self.total)

    def between(self) -> PairVotes:
        """Return the pairs that have votes."""
        may, may_not = self.pairs
        if len(may) == 1:  # of one source
            pair = np.flatnonzero(may[0] + may_not[0])
            source = np.zeros(pair.size, np.int64)
            return PairVotes(source, pair, may[0, pair], may_not[0, pair])
        source, pair = np.nonzero(may + may_not)
        return PairVotes(source, pair, may[source, pair], may_not[source, pair])

    def counts(self) -> LinkCounts:
        """Return the votes by source, and by whether they lie inside a cluster."""
        may, may_not = self.total - self.inside
        return LinkCounts(self.inside[0], self.inside[1], may_not, may)


def table_or_rows(
    votes: ClusterVotes, most_entries: int = MOST_ENTRIES
) -> VoteTable | ClusterVotes:
    """Return a table of few clusters and sources, and the votes as they are of many.

    Parameters
    ----------
    votes : ClusterVotes
        The votes.
    most_entries : int
        Of a table.
    """
    n_pairs = votes.n_clusters * (votes.n_clusters - 1) // 2
    return VoteTable.of(votes) if votes.n_sources * n_pairs <= most_entries else votes
