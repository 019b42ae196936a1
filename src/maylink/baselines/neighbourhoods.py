"""Neighbourhoods: points that may links join, directly or through others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from maylink.arrays import Array, Index
from maylink.baselines.centers import membership
from maylink.labels import first_appearance
from maylink.links import Links


class Neighbourhoods(NamedTuple):
    """The connected components of the may links.

    A point that no may link touches is a neighbourhood by itself.
    """

    of_point: Index
    """The neighbourhood of each point, 0 to m − 1, by first appearance."""
    size: Index
    """How many points each one has."""
    apart: Index
    """Pairs of neighbourhoods, shape (l, 2), first the smaller number, that may-not links keep
    apart; each pair once."""
    torn: Index
    """Neighbourhoods that a may-not link runs inside of: links contradict each other there."""

    def means(self, X: Array) -> Array:
        """Return the mean of the points of each neighbourhood, shape (m, d)."""
        return np.asarray(membership(self.of_point, self.size.size) @ X) / self.size[:, None]


def neighbourhoods(links: Links) -> Neighbourhoods:
    """Return the transitive closure of the may links, and which parts may-not links keep apart."""
    i, j = np.asarray(links.may, np.int64).T
    graph = sparse.coo_array((np.ones(i.size, np.int8), (i, j)), shape=links.shape)
    _, component = csgraph.connected_components(graph, directed=False)
    of_point, _ = first_appearance(component.astype(np.int64))
    ends = np.sort(of_point[np.asarray(links.may_not, np.int64)], axis=1).reshape(-1, 2)
    inside = ends[:, 0] == ends[:, 1]
    apart = np.unique(ends[~inside], axis=0)
    return Neighbourhoods(of_point, np.bincount(of_point), apart, np.unique(ends[inside, 0]))


def contradiction(links: Links) -> str:
    """Say which links cannot be kept together, where a neighbourhood is torn."""
    table = links.conflicts(limit=1)
    chain = " – ".join(map(str, table["chain"][0]))
    others = table.attrs["total"] - 1
    more = f", and there are {others} more such contradictions" if others else ""
    return (
        f"links: no assignment keeps all links: may links join {chain}, and a may-not link keeps "
        f"{table['i'][0]} and {table['j'][0]} apart{more}; drop one of these links (see "
        "links.conflicts()), or use a method that weighs links, such as RDPMeans"
    )
