"""Clusters for neighbourhoods that may-not links keep apart: the colouring of a graph.

Neighbourhoods are the nodes, a may-not link between two makes them adjacent, clusters are the
colours. An assignment that keeps all links exists if no neighbourhood is torn and the graph can be
coloured with K colours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from maylink.arrays import Array, Index
from maylink.baselines.neighbourhoods import Neighbourhoods

PROOF_STEPS = 20_000  # for one attempt to make a proof smaller
PROOF_STEPS_IN_ALL = 2_000_000  # for all attempts


class ApartGraph(NamedTuple):
    """Which neighbourhoods are apart, as CSR: those of v stand at ``indptr[v]:indptr[v + 1]``."""

    indptr: Index
    neighbour: Index

    @classmethod
    def of(cls, blocks: Neighbourhoods) -> ApartGraph:
        """Return the graph of neighbourhoods."""
        one, two = blocks.apart.T
        return cls._from_pairs(
            np.concatenate([one, two]), np.concatenate([two, one]), blocks.size.size
        )

    @classmethod
    def _from_pairs(cls, row: Index, column: Index, m: int) -> ApartGraph:
        order = np.argsort(row, kind="stable")
        ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=m))])
        return cls(ends.astype(np.int64), column[order])

    @property
    def size(self) -> int:
        """Number of nodes."""
        return self.indptr.size - 1

    def inside(self, nodes: Index) -> ApartGraph:
        """Return the graph that some nodes make among themselves, renumbered."""
        number = np.full(self.size, -1)
        number[nodes] = np.arange(nodes.size)
        row = number[np.repeat(np.arange(self.size), np.diff(self.indptr))]
        column = number[self.neighbour]
        keep = (row >= 0) & (column >= 0)
        return self._from_pairs(row[keep], column[keep], nodes.size)

    def parts(self) -> tuple[Index, Index]:
        """Return the nodes, those that are connected side by side, and where each part begins."""
        one = np.ones(self.neighbour.size, np.int8)
        matrix = sparse.csr_array((one, self.neighbour, self.indptr), shape=(self.size,) * 2)
        _, part = csgraph.connected_components(matrix, directed=False)
        starts = np.concatenate([[0], np.cumsum(np.bincount(part))])
        return np.argsort(part, kind="stable"), starts.astype(np.int64)


class Colouring(NamedTuple):
    """The answer of a search."""

    labels: Index | None
    """The cluster of each neighbourhood, or None."""
    impossible: Index
    """Neighbourhoods that K clusters cannot hold; none where there are labels, or no steps left."""


def find_colouring(graph: ApartGraph, cost: Array, max_steps: int) -> Colouring:
    """Search for an assignment that keeps all may-not links, cheap clusters first.

    Exact: within ``max_steps`` it finds one or proves that there is none.

    Parameters
    ----------
    graph : ApartGraph
        Which neighbourhoods are apart.
    cost : array of shape (m, K)
        What it costs to put each neighbourhood into each cluster.
    max_steps : int
        How many times the search may give a neighbourhood a cluster.

    Returns
    -------
    Colouring
    """
    from maylink.baselines.kernels.colouring import (
        IMPOSSIBLE,
        OUT_OF_STEPS,
        peel,
        place_in_order,
        search,
    )

    peeled = peel(graph.indptr, graph.neighbour, cost.shape[1])
    core = np.setdiff1d(np.arange(graph.size), peeled)
    labels = np.full(graph.size, -1)
    max_steps = min(max_steps, np.iinfo(np.int64).max)
    if core.size:
        inner = graph.inside(core)
        members, starts = inner.parts()
        prefer = np.argsort(cost[core], axis=1, kind="stable")
        core_labels = np.empty(core.size, np.int64)
        status, part, _ = search(members, starts, prefer, *inner, max_steps, core_labels)
        if status == OUT_OF_STEPS:
            return Colouring(None, core[:0])
        if status == IMPOSSIBLE:
            return Colouring(None, core[np.sort(members[starts[part] : starts[part + 1]])])
        labels[core] = core_labels
    place_in_order(np.ascontiguousarray(peeled[::-1]), cost, *graph, labels)
    return Colouring(labels, core[:0])


def smaller_proof(graph: ApartGraph, nodes: Index, n_clusters: int) -> Index:
    """Leave out nodes as long as K clusters still cannot hold the rest.

    Parameters
    ----------
    graph : ApartGraph
        Which neighbourhoods are apart.
    nodes : array
        Neighbourhoods that K clusters cannot hold.
    n_clusters : int
        K.

    Returns
    -------
    array
        Some of the nodes, which K clusters cannot hold either. Unless the work became too much,
        none of them can be left out: two nodes for K = 1, a ring of odd length for K = 2.
    """
    from maylink.baselines.kernels.colouring import IMPOSSIBLE, search

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
