"""Correlation clustering: the partition that goes against the fewest votes on pairs.

``Σ_{pairs in one cluster with votes < 0} |votes| + Σ_{pairs in two clusters with votes > 0} votes``

A vote is positive for may and negative for may-not; the similarity of two points is one, too. To go
against the fewest votes is to have the largest sum of votes inside clusters.

Bansal, Blum, Chawla, 2004.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.cluster import hierarchy
from scipy.sparse import csgraph

from maylink.arrays import Array, Index
from maylink.baselines.base import BaselineRun


class VotedPairs(NamedTuple):
    """Pairs of n points, each once, and the votes on them."""

    n: int
    first: Index
    second: Index
    votes: Array

    def inside(self, labels: Index) -> NDArray[np.bool_]:
        """Return which pairs share a cluster."""
        return np.asarray(labels[self.first] == labels[self.second])

    def against(self, labels: Index) -> float:
        """Return the votes that a partition goes against."""
        return float(np.abs(self.votes[self.inside(labels) != (self.votes > 0)]).sum())

    def take(self, which: NDArray[Any]) -> VotedPairs:
        """Return some of the pairs, in the order of ``which``."""
        return VotedPairs(self.n, self.first[which], self.second[which], self.votes[which])

    def graph(self) -> Any:
        """Return the votes as a symmetric matrix."""
        ends = (np.r_[self.first, self.second], np.r_[self.second, self.first])
        votes = np.r_[self.votes, self.votes]
        return sparse.coo_array((votes, ends), shape=(self.n, self.n)).tocsr()


def by_mean_votes(pairs: VotedPairs) -> Index:
    """Join clusters while their mean vote is positive, the largest first (average linkage).

    Contraction goes by the sum of the votes. Where all pairs have some, a large cluster then wins
    over the right one, and may swallow its neighbour; by the mean it does not.

    Parameters
    ----------
    pairs : VotedPairs
        All pairs of the points, at least one, in the order of ``np.triu_indices``.

    Returns
    -------
    array of shape (n,)
        Clusters, 0 … n − 1.
    """
    top = float(pairs.votes.max())
    tree = hierarchy.linkage(top - pairs.votes, "average")
    return np.asarray(hierarchy.fcluster(tree, top, "distance"), np.int64) - 1


def net_votes(n: int, first: Any, second: Any, signed: Array) -> VotedPairs:
    """Add up the votes on each pair; pairs of a point with itself are left out."""
    a, b = np.minimum(first, second).astype(np.int64), np.maximum(first, second).astype(np.int64)
    apart = a != b
    key, place = np.unique(a[apart] * n + b[apart], return_inverse=True)
    votes = np.bincount(place, signed[apart], minlength=key.size).astype(np.float64)
    volume = np.bincount(place, np.abs(signed[apart]), minlength=key.size)
    counts = np.abs(votes) > 1e-12 * volume  # votes that cancel may leave a rounding error
    key = key[counts]
    return VotedPairs(n, key // max(n, 1), key % max(n, 1), votes[counts])


def descend(
    pairs: VotedPairs, rng: np.random.Generator, max_sweeps: int, start: Index | None = None
) -> BaselineRun:
    """Contract, move points, then split and join clusters, until none of that helps.

    Parameters
    ----------
    pairs : VotedPairs
        What to cluster by.
    rng : Generator
        Decides about the order of visits, and between equal votes.
    max_sweeps : int
        Sweeps over the points after which to stop in any case.
    start : array of shape (n,), optional
        Clusters to begin with, 0 … n − 1, in place of those that contraction makes.

    Returns
    -------
    BaselineRun
        With the votes that it goes against as its path, which never rises.
    """
    from maylink.baselines.kernels.correlation import move_points
    from maylink.kernels.edge_contraction import contract_edges

    n, graph = pairs.n, pairs.graph()
    indptr, neighbour = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
    shuffled = pairs.take(rng.permutation(pairs.votes.size))  # decides between equal votes
    if start is None:
        labels: Index = contract_edges(n, shuffled.first, shuffled.second, shuffled.votes)
    else:
        labels = start.astype(np.int64)
    path: list[float] = []
    converged = False
    while not converged and len(path) < max_sweeps:
        size = np.bincount(labels, minlength=n)
        empty = np.flatnonzero(size == 0)
        free = np.r_[empty.size, empty, np.zeros(n - empty.size, np.int64)]
        order = rng.permutation(n)
        if not move_points(indptr, neighbour, graph.data, order, labels, size, free):
            # Parts of a cluster that no may votes hold together need not be in one cluster.
            held = pairs.take(pairs.inside(labels) & (pairs.votes > 0)).graph()
            n_parts, parts = csgraph.connected_components(held, directed=False)
            between = net_votes(n_parts, parts[pairs.first], parts[pairs.second], pairs.votes)
            root = contract_edges(n_parts, between.first, between.second, between.votes)
            no_part_moved = np.array_equal(root, np.arange(n_parts))
            converged = n_parts == n - empty.size and no_part_moved
            labels = root[parts]
        path.append(pairs.against(labels))
    return BaselineRun(labels, np.array(path), converged)
