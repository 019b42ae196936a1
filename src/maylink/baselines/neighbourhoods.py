"""Neighbourhoods: points that may links join, directly or through others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from maylink.arrays import Array
from maylink.links import Links


class Neighbourhoods(NamedTuple):
    """The connected components of the may links.

    A point that no may link touches is a neighbourhood of its own.
    """

    of_point: NDArray[np.int64]
    """The neighbourhood of each point, 0 to m − 1, by first appearance."""
    size: NDArray[np.int64]
    """How many points each one has."""
    apart: NDArray[np.int64]
    """Pairs of neighbourhoods, shape (l, 2), first the smaller number, that may-not links keep
    apart; each pair once."""
    torn: NDArray[np.int64]
    """Neighbourhoods that a may-not link runs inside of: links contradict each other there."""

    def means(self, X: Array) -> Array:
        """Return the mean of the points of each neighbourhood, shape (m, d)."""
        join = sparse.csr_array(
            (np.ones(len(X)), (self.of_point, np.arange(len(X)))), shape=(self.size.size, len(X))
        )
        return np.asarray(join @ X) / self.size[:, None]


def neighbourhoods(links: Links) -> Neighbourhoods:
    """Return the transitive closure of the may links, and which parts may-not links keep apart."""
    i, j = np.asarray(links.may, np.int64).T
    graph = sparse.coo_array((np.ones(i.size, np.int8), (i, j)), shape=links.shape)
    _, component = csgraph.connected_components(graph, directed=False)
    _, first, of_point = np.unique(component, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    of_point = rank[of_point]
    ends = np.sort(of_point[np.asarray(links.may_not, np.int64)], axis=1).reshape(-1, 2)
    inside = ends[:, 0] == ends[:, 1]
    apart = np.unique(ends[~inside], axis=0)
    return Neighbourhoods(of_point, np.bincount(of_point), apart, np.unique(ends[inside, 0]))
