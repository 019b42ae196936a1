"""Votes between clusters as a table, which a merger changes in one row and one column.

:class:`~maylink.model.reliability.ClusterVotes` hold the pairs of clusters that have votes, and
must be sorted anew after each merger. A table of all pairs is larger, and quicker where clusters
and sources are few.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index
from maylink.model.reliability import ClusterVotes, LinkCounts

MOST_ENTRIES = 2**18  # of a table; what has more stays as rows


class VoteTable(NamedTuple):
    """Votes for and against between clusters, of each source."""

    between: NDArray[np.float64]  # may and may-not, shape (2, sources, K, K), symmetric, diagonal 0
    inside: Array  # may and may-not inside clusters, shape (2, sources)
    total: Array  # may and may-not of all links, shape (2, sources)

    @classmethod
    def of(cls, votes: ClusterVotes) -> VoteTable:
        """Lay out votes as a table."""
        size = votes.n_clusters
        table = np.zeros((2, votes.n_sources, size, size))
        source, a, b, *both = votes.rows_between()
        for kind, number in enumerate(both):
            table[kind, source, a, b] = table[kind, source, b, a] = number
        counts = votes.counts()
        inside = np.array([counts.may_same, counts.not_same])
        return cls(table, inside, inside + [counts.may_different, counts.not_different])

    @property
    def n_sources(self) -> int:
        """How many sources there are."""
        return int(self.inside.shape[1])

    def joined(self, a: int, b: int) -> VoteTable:
        """Return the votes when cluster b is part of cluster a < b; those after b move up."""
        left = np.delete(np.arange(self.between.shape[-1]), b)
        row = (self.between[:, :, a] + self.between[:, :, b])[:, :, left]
        row[:, :, a] = 0.0
        table = self.between.take(left, axis=2).take(left, axis=3)
        table[:, :, a], table[:, :, :, a] = row, row
        return VoteTable(table, self.inside + self.between[:, :, a, b], self.total)

    def rows_between(self) -> tuple[Index, Index, Index, Array, Array]:
        """Return source, a, b, may and may-not of the pairs a < b that have votes."""
        places = np.nonzero(self.between[0] + self.between[1])
        source, a, b = (place[places[1] < places[2]] for place in places)
        may, may_not = self.between[:, source, a, b]
        return source, a, b, may, may_not

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
    small = votes.n_sources * votes.n_clusters**2 <= most_entries
    return VoteTable.of(votes) if small else votes
