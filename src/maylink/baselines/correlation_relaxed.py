"""Correlation clustering relaxed: a linear program over how much each pair is together.

``max Σ_e votes_e y_e,  0 ≤ y ≤ 1,  1 − y_e ≤ Σ_{f in path} (1 − y_f)``

for every pair e and every path of other pairs that joins its two points. A partition has y = 1 for
pairs inside clusters and 0 for the others, and keeps all of these inequalities: points that a path
of pairs joins are together. So the value is an upper bound, and where all y are whole numbers they
are a best partition. There are too many paths to write down. Those that a solution violates are
found as shortest paths and added, until none is left. Where all pairs have votes, paths of two
pairs are the triangle inequalities, and the others follow from them.

Chopra, Rao: The Partition Problem, 1993, for the inequalities of cycles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse import csgraph

from maylink.arrays import Array, Index
from maylink.errors import MaylinkError

TOLERANCE = 1e-6  # by how much an inequality must be violated to be added, and y whole
STEP = 1e-8  # that each pair lengthens a path by: of equal ones the path of fewest pairs is found


class RelaxedPartition(NamedTuple):
    """A solution of the linear program."""

    together: Array
    """How much each pair is together, from 0 to 1."""
    value: float
    """Σ votes · together."""

    @property
    def is_whole(self) -> bool:
        """Whether it is a partition."""
        return bool(np.minimum(self.together, 1.0 - self.together).max(initial=0.0) <= TOLERANCE)


class Relaxation:
    """The linear program of some pairs of n points.

    Inequalities that were added stay: votes may change from call to call.

    Parameters
    ----------
    n : int
        Number of points.
    first, second : arrays of shape (m,)
        The points of each pair, first the smaller; each pair once.
    """

    def __init__(self, n: int, first: Index, second: Index) -> None:
        self.n, self.first, self.second = n, first, second
        self.order = np.argsort(first * n + second)
        self.keys = (first * n + second)[self.order]
        self.added: sparse.csr_array = sparse.csr_array((0, first.size))

    def maximise(self, votes: Array) -> RelaxedPartition:
        """Return the best solution for these votes, shape (m,)."""
        if not votes.size:
            return RelaxedPartition(votes, 0.0)
        scale = float(np.abs(votes).max()) or 1.0
        while True:
            apart = self._solve(votes / scale)
            more = self._violated(apart)
            if more is None:
                together = 1.0 - apart
                return RelaxedPartition(together, float(votes @ together))
            self.added = sparse.vstack([self.added, more], format="csr")

    def _solve(self, votes: Array) -> Array:
        rows = self.added if self.added.shape[0] else None
        zeros = np.zeros(self.added.shape[0]) if rows is not None else None
        found = linprog(votes, A_ub=rows, b_ub=zeros, bounds=(0.0, 1.0), method="highs")
        if found.x is None:
            raise MaylinkError(
                f"inference: the linear program was not solved ({found.message}); use "
                "inference='greedy', or fewer points"
            )
        return np.clip(np.asarray(found.x, np.float64), 0.0, 1.0)

    def _violated(self, apart: Array) -> sparse.csr_array | None:
        """Return a row for each pair that is further apart than the shortest path between it."""
        ends = (self.first, self.second)
        graph = sparse.coo_array((apart + STEP, ends), shape=(self.n, self.n)).tocsr()
        starts, at = np.unique(self.first, return_inverse=True)
        length, before = csgraph.dijkstra(
            graph, directed=False, indices=starts, return_predecessors=True
        )
        pairs = np.flatnonzero(length[at, self.second] < apart - TOLERANCE)
        if not pairs.size:
            return None
        columns, rows, values = [], [], []
        for row, pair in enumerate(pairs.tolist()):
            path = self._path(before[at[pair]], int(self.first[pair]), int(self.second[pair]))
            columns.append(np.r_[pair, path])
            rows.append(np.full(path.size + 1, row))
            values.append(np.r_[1.0, np.full(path.size, -1.0)])
        where = (np.concatenate(rows), np.concatenate(columns))
        shape = (pairs.size, self.first.size)
        return sparse.coo_array((np.concatenate(values), where), shape=shape).tocsr()

    def _path(self, before: Index, start: int, end: int) -> Index:
        """Return the pairs along the shortest path from start to end."""
        keys, point = [], end
        while point != start:
            other = int(before[point])
            keys.append(min(point, other) * self.n + max(point, other))
            point = other
        return self.order[np.searchsorted(self.keys, keys)]
