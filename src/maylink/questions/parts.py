"""Parts of the data: pieces that may share a cluster.

Few pieces are one part. Where there are hundreds of clusters and thousands of pieces, most pairs of
pieces are far apart, and a tree over all of them would spend its time on these. So pieces are put
into parts: the nearest two are joined first, and so on, as long as a part has no more pieces
than it may have (Kruskal's algorithm with a limit). Clusters lie within parts, and given an expert
what is believed of one part does not depend on the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from maylink.arrays import Array, Index
from maylink.questions.pieces import Pieces

FAR = 1e-3  # likeness of pieces that no neighbours join, in neighbours; less with distance


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the pieces, and what is known of them without any answer.

    Parameters
    ----------
    at : array of int of shape (B,)
        Numbers of the pieces, rising.
    size, total, precision
        As in :class:`~maylink.questions.pieces.Pieces`.
    wide, close, random : array of shape (B, B)
        As in :class:`~maylink.questions.pieces.Pieces`.
    far : array of shape (B, B)
        A little likeness that every two pieces have, by their distance.
    """

    at: Index
    size: Array
    total: Array
    precision: Array
    wide: Array
    close: Array
    random: Array
    far: Array

    @classmethod
    def of(cls, pieces: Pieces, at: Index) -> Part:
        """Take some of the pieces out."""
        centers = pieces.centers[at]
        apart = ((centers[:, None] - centers) ** 2).sum(axis=2)
        wide, close, random = (
            one[at][:, at].toarray() for one in (pieces.wide, pieces.close, pieces.random)
        )
        far = FAR / (1.0 + apart)
        own = pieces.size[at], pieces.total[at], pieces.precision
        return cls(at, *own, wide, close, random, far)

    @property
    def count(self) -> int:
        """How many pieces there are."""
        return len(self.size)

    def in_units_of(self, variance: float) -> Part:
        """Return the part where clusters of this variance have variance 1."""
        total, precision = self.total / np.sqrt(variance), self.precision * variance
        return replace(self, total=total, precision=precision)


def parts_of(pieces: Pieces, most: int) -> list[Part]:
    """Return the pieces in parts of at most so many, or as one part where that holds them all.

    Parameters
    ----------
    pieces : Pieces
        The pieces.
    most : int
        Pieces of a part.
    """
    if pieces.count <= most:
        return [Part.of(pieces, np.arange(pieces.count))]
    of_piece = _part_numbers(pieces, most)
    order = np.argsort(of_piece, kind="stable")
    ends = np.cumsum(np.bincount(of_piece))[:-1]
    return [Part.of(pieces, at) for at in np.split(order, ends)]


def _part_numbers(pieces: Pieces, most: int) -> Index:
    """Return the part of each piece."""
    edges = pieces.wide.tocoo()
    a, b = edges.coords
    a, b = a[a < b], b[a < b]
    apart = ((pieces.centers[a] - pieces.centers[b]) ** 2).sum(axis=1)
    order = np.lexsort((b, a, apart))
    groups = LimitedGroups([1] * pieces.count, most)
    for one, other in zip(a[order].tolist(), b[order].tolist(), strict=True):
        groups.join(one, other)
    found = np.empty(pieces.count, np.int64)
    for k, members in enumerate(groups.members()):
        found[members] = k
    return found


class PartMap:
    """Parts, and where each piece is among them.

    Parameters
    ----------
    parts : sequence of Part
        Parts that hold every piece once.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = list(parts)
        n_pieces = sum(part.count for part in parts)
        self.of_piece = np.empty(n_pieces, np.int64)
        """The part of each piece."""
        self.within = np.empty(n_pieces, np.int64)
        """The number of each piece in its part."""
        for k, part in enumerate(parts):
            self.of_piece[part.at] = k
            self.within[part.at] = np.arange(part.count)

    def by_part(self, a: Index, b: Index) -> Iterator[tuple[int, Index]]:
        """Yield the parts that pairs of pieces lie in, and which; −1 for those across parts."""
        part = np.where(self.of_piece[a] == self.of_piece[b], self.of_piece[a], -1)
        for k in np.unique(part):
            yield int(k), np.flatnonzero(part == k)

    def unions(self, pairs: Sequence[tuple[int, int]], most: int) -> list[list[int]]:
        """Return groups of parts: those of two pieces are one group if it is not too large.

        Parameters
        ----------
        pairs : sequence of (int, int)
            Pieces.
        most : int
            Pieces of a group of parts.
        """
        groups = LimitedGroups([part.count for part in self.parts], most)
        for a, b in pairs:
            groups.join(int(self.of_piece[a]), int(self.of_piece[b]))
        return groups.members()


class LimitedGroups:
    """Groups that are joined as long as they are small.

    Parameters
    ----------
    size : list of int
        Size of each group at first.
    most : int
        Size that no two groups pass by being joined.

    Examples
    --------
    >>> from maylink.questions.parts import LimitedGroups
    >>> groups = LimitedGroups([1, 1, 1], most=2)
    >>> groups.join(0, 2)
    >>> groups.join(0, 1)
    >>> groups.members()
    [[0, 2], [1]]
    """

    def __init__(self, size: list[int], most: int) -> None:
        self._size, self._most, self._parent = list(size), most, list(range(len(size)))

    def join(self, one: int, other: int) -> None:
        """Join the groups of two members, unless that makes them too large."""
        first, second = self._top(one), self._top(other)
        if first != second and self._size[first] + self._size[second] <= self._most:
            self._parent[second] = first
            self._size[first] += self._size[second]

    def members(self) -> list[list[int]]:
        """Return the members of each group."""
        found: dict[int, list[int]] = {}
        for one in range(len(self._parent)):
            found.setdefault(self._top(one), []).append(one)
        return list(found.values())

    def _top(self, one: int) -> int:
        while self._parent[one] != one:
            self._parent[one] = self._parent[self._parent[one]]
            one = self._parent[one]
        return one
