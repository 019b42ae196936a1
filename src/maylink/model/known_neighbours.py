"""What the neighbour graph says of new points: which clusters their nearest known points are in.

A fit with neighbours takes each point's k nearest ones for *may* links and as many random pairs for
*may-not* links, a source with reliability p and q. A new point gets the same: with f_c of its k
nearest known points in cluster c, which holds n_c of n points, its log odds of c rise by::

    f_c · ln(p/(1−q)) − k · n_c/n · ln(q/(1−p))

where random pairs count as often as they are expected to. So clusters that are long or bent, which
no family describes, are told from each other for new points as they were for those of the fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from maylink.arrays import Array, Index, Matrix
from maylink.families import Family
from maylink.families.rows import neighbour_rows_of


@dataclass(frozen=True)
class GraphSpace:
    """The rows between which points are neighbours.

    Parameters
    ----------
    family : Family
        Adapted to the data; its ``neighbour_rows`` are compared.
    scales
        What the rows take from all points of the fit.
    directions : array of shape (r, s), optional
        Directions in which these rows are looked at; all of them by default.
    shift : array of shape (r,), optional
        What is taken off in these directions.
    """

    family: Family
    scales: Any = None
    directions: Array | None = None
    shift: Array | None = None

    def rows(self, X: Matrix) -> Matrix:
        """Return the rows of data."""
        rows = neighbour_rows_of(self.family, X, self.scales)
        if self.directions is None:
            return rows
        return np.asarray(rows @ self.directions.T - self.shift)


@dataclass(frozen=True)
class KnownNeighbours:
    """The points of a fit, as neighbours of new ones.

    Parameters
    ----------
    space : GraphSpace
        Where neighbours are looked for.
    rows : matrix of shape (n, r)
        The points of the fit there.
    labels : array of shape (n,)
        Their clusters.
    count : int
        k.
    p, q : float
        The reliability of the graph.
    """

    space: GraphSpace
    rows: Matrix
    labels: Index
    count: int
    p: float
    q: float

    @cached_property
    def search(self) -> Any:
        """Finds the nearest of the known points."""
        from sklearn.neighbors import NearestNeighbors

        return NearestNeighbors(n_neighbors=min(self.count, self.labels.size)).fit(self.rows)

    def log_odds(self, X: Matrix) -> Array:
        """Return by how much neighbours raise the log odds of each cluster, shape (m, K)."""
        n, size = self.labels.size, np.bincount(self.labels)
        near = self.labels[self.search.kneighbors(self._alike(X), return_distance=False)]
        friends = np.zeros((len(near), size.size))
        np.add.at(friends, (np.arange(len(near))[:, None], near), 1.0)
        may, may_not = np.log(self.p / (1.0 - self.q)), np.log(self.q / (1.0 - self.p))
        return np.asarray(may * friends - may_not * self.count * size / n)

    def _alike(self, X: Matrix) -> Matrix:
        """Return new points as rows in the form and the precision of the known ones."""
        rows = self.space.rows(X)
        if sparse.issparse(self.rows):
            rows = sparse.csr_array(rows)
        elif sparse.issparse(rows):
            rows = rows.toarray()
        return rows.astype(self.rows.dtype, copy=False)
