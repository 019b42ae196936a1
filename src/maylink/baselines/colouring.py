"""Clusters for neighbourhoods that may-not links keep apart: the colouring of a graph.

Neighbourhoods are the nodes, a may-not link between two makes them neighbours, clusters are the
colours. An assignment that keeps all links exists if no neighbourhood is torn and the graph can be
coloured with K colours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from maylink.arrays import Array
from maylink.baselines.neighbourhoods import Neighbourhoods

Labels = NDArray[np.int64]

PROOF_STEPS = 20_000  # for one attempt to make a proof smaller
PROOF_STEPS_IN_ALL = 2_000_000


class Graph(NamedTuple):
    """Who is apart from whom, as CSR: the neighbours of v are in ``indptr[v]:indptr[v + 1]``."""

    indptr: NDArray[np.int64]
    neighbour: NDArray[np.int64]

    @classmethod
    def build(cls, blocks: Neighbourhoods) -> Graph:
        """Return the graph of neighbourhoods."""
        one, two = blocks.apart.T
        return cls._of(np.concatenate([one, two]), np.concatenate([two, one]), blocks.size.size)

    @classmethod
    def _of(cls, row: NDArray[np.int64], column: NDArray[np.int64], m: int) -> Graph:
        order = np.argsort(row, kind="stable")
        ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=m))])
        return cls(ends.astype(np.int64), column[order])

    @property
    def size(self) -> int:
        """Number of nodes."""
        return self.indptr.size - 1

    def inside(self, nodes: NDArray[np.int64]) -> Graph:
        """Return the graph that some nodes make among themselves, renumbered."""
        number = np.full(self.size, -1)
        number[nodes] = np.arange(nodes.size)
        row = number[np.repeat(np.arange(self.size), np.diff(self.indptr))]
        column = number[self.neighbour]
        keep = (row >= 0) & (column >= 0)
        return self._of(row[keep], column[keep], nodes.size)

    def parts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the nodes, those that are connected side by side, and where each part begins."""
        one = np.ones(self.neighbour.size, np.int8)
        matrix = sparse.csr_array((one, self.neighbour, self.indptr), shape=(self.size,) * 2)
        _, part = csgraph.connected_components(matrix, directed=False)
        starts = np.concatenate([[0], np.cumsum(np.bincount(part))])
        return np.argsort(part, kind="stable"), starts.astype(np.int64)


class Colouring(NamedTuple):
    """What a search found."""

    labels: Labels | None
    """The cluster of each neighbourhood, or None."""
    hopeless: NDArray[np.int64]
    """Neighbourhoods that K clusters cannot hold; none where labels were found or steps spent."""


def find_colouring(graph: Graph, cost: Array, max_steps: int) -> Colouring:
    """Search for an assignment that keeps who is apart apart, cheap clusters first.

    Exact: within ``max_steps`` it finds one or proves that there is none.

    Parameters
    ----------
    graph : Graph
        Who is apart.
    cost : array of shape (m, K)
        What it costs to put each neighbourhood into each cluster.
    max_steps : int
        How many times the search may give a neighbourhood a cluster.

    Returns
    -------
    Colouring
    """
    from maylink.kernels.hard_links import IMPOSSIBLE, SPENT, peel, place_in_order, search

    peeled = peel(graph.indptr, graph.neighbour, cost.shape[1])
    core = np.setdiff1d(np.arange(graph.size), peeled)
    labels = np.full(graph.size, -1)
    max_steps = min(max_steps, np.iinfo(np.int64).max)
    if core.size:
        inner = graph.inside(core)
        members, starts = inner.parts()
        prefer = np.argsort(cost[core], axis=1, kind="stable")
        found = np.empty(core.size, np.int64)
        status, part, _ = search(members, starts, prefer, *inner, max_steps, found)
        if status == SPENT:
            return Colouring(None, core[:0])
        if status == IMPOSSIBLE:
            return Colouring(None, core[np.sort(members[starts[part] : starts[part + 1]])])
        labels[core] = found
    place_in_order(np.ascontiguousarray(peeled[::-1]), cost, *graph, labels)
    return Colouring(labels, core[:0])


def smaller_proof(graph: Graph, nodes: NDArray[np.int64], n_clusters: int) -> NDArray[np.int64]:
    """Leave out nodes as long as K clusters still cannot hold the rest.

    Parameters
    ----------
    graph : Graph
        Who is apart.
    nodes : array
        Neighbourhoods that K clusters cannot hold.
    n_clusters : int
        K.

    Returns
    -------
    array
        Some of the nodes that K clusters cannot hold either. Unless the work became too much, none
        of them can be left out: two neighbours for K = 1, a ring of odd length for K = 2.
    """
    from maylink.kernels.hard_links import IMPOSSIBLE, search

    left = PROOF_STEPS_IN_ALL
    chunk = nodes.size // 2
    while chunk >= 1:
        at = 0
        while at < nodes.size and left > 0:
            fewer = np.concatenate([nodes[:at], nodes[at + chunk :]])
            inner = graph.inside(fewer)
            any_order = np.tile(np.arange(n_clusters), (fewer.size, 1))
            status, _, steps = search(
                *inner.parts(), any_order, *inner, PROOF_STEPS, np.empty(fewer.size, np.int64)
            )
            left -= steps + fewer.size
            if status == IMPOSSIBLE:
                nodes = fewer
            else:
                at += chunk
        chunk //= 2
    return nodes
