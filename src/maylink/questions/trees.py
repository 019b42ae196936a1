"""Trees of mergers: several opinions about which pieces of the data go together.

No single measure of likeness suits all data. So there are several *linkages*, and each makes a tree
of its own; answers tell which of them to believe (:mod:`maylink.questions.experts`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from maylink.arrays import Array, Index
from maylink.kernels.merge_tree import (
    AVERAGE,
    ENERGY,
    MARGINAL,
    SINGLE,
    merge_tree,
)
from maylink.kernels.tree_cuts import meeting_nodes
from maylink.questions.best_cut import BestCut, best_cut
from maylink.questions.pieces import Pieces

NOTHING = np.empty(0)
A_FIT = 0.99  # weight of a fit's clusters beside the neighbour graph, in the tree of the fit


class TreeGroups(NamedTuple):
    """Groups that are merged, by slots 0 … M − 1; what :func:`merge_tree` changes."""

    size: Array
    total: Array
    near: Array
    votes: Array
    score: Array
    soon: Array
    alone: Array
    live: Array
    node: Index
    partner: Index


@dataclass(frozen=True)
class Tree:
    """A tree of mergers over pieces.

    Parameters
    ----------
    children : array of int of shape (2M − 1, 2)
        The two parts of each node; −1 of pieces, which are the nodes 0 … M − 1.
    heights : array of shape (2M − 1,)
        Height of each node: about the log of the number of clusters when it is merged.
    """

    children: Index
    heights: Array

    @property
    def n_pieces(self) -> int:
        """M."""
        return (len(self.children) + 1) // 2

    def meeting(self, a: Index, b: Index) -> Index:
        """Return the lowest node that holds both pieces, of every pair."""
        parents = np.full(len(self.children), -1)
        inner = np.arange(self.n_pieces, len(self.children))
        parents[self.children[inner]] = inner[:, None]
        nodes = np.empty(len(a), np.int64)
        meeting_nodes(parents, a, b, nodes)
        return nodes


class Linkage:
    """A measure of likeness of groups, and the heights of its scores.

    Parameters
    ----------
    name : str
        What it is called.
    rule : int
        ``MARGINAL``: how much log p(x) rises by merging, for each row of the smaller group.
        ``ENERGY``: how much log p(x) and the log odds of the neighbour graph rise. ``AVERAGE``:
        mean likeness of two rows. ``SINGLE``: likeness of the two pieces that are most alike.
    pieces : Pieces
        The pieces.
    near : array of shape (M, M)
        Likeness of pieces.
    """

    def __init__(self, name: str, rule: int, pieces: Pieces, near: Array) -> None:
        self.name, self._rule, self._pieces, self._near = name, rule, pieces, near
        self._known = self._heights = NOTHING
        _, scores = self._merge(np.zeros_like(near), 0.0, 1.0)
        rising = np.sort(scores)
        self.n_clusters: int | None = None
        """The most probable number of clusters without answers, where it is known."""
        self._known, first = np.unique(rising, return_index=True)
        self._heights = np.log(2.0 + first)

    @property
    def n_pieces(self) -> int:
        """M."""
        return self._pieces.count

    def tree(self, votes: Array, center: float, width: float) -> Tree:
        """Return the tree, given answers.

        Parameters
        ----------
        votes : array of shape (M, M)
            Log odds of the answers about each two pieces.
        center, width : float
            See :func:`maylink.kernels.merge_tree.merge_tree`.
        """
        children, scores = self._merge(votes, center, width)
        heights = np.zeros(len(children))
        if len(scores):
            heights[self._pieces.count :] = np.interp(scores, self._known, self._heights)
        return Tree(children, heights)

    def _merge(self, votes: Array, center: float, width: float) -> tuple[Index, Array]:
        n, pieces = self._pieces.count, self._pieces
        groups = TreeGroups(
            pieces.size.copy(), pieces.total.copy(), self._near.copy(), votes.copy(),
            np.zeros((n, n)), np.zeros((n, n)), np.zeros(n), np.ones(n, np.bool_),
            np.arange(n), np.zeros(n, np.int64),
        )  # fmt: skip
        children, scores = np.full((2 * n - 1, 2), -1), np.zeros(2 * n - 1)
        if n > 1:
            merge_tree(
                self._rule, groups, pieces.precision, self._known, self._heights, center, width,
                children, scores,
            )  # fmt: skip
        return children, scores[n:]


def linkages(pieces: Pieces, labels: Index | None = None) -> list[Linkage]:
    """Return all opinions: the one that is most believed before any answer is the first.

    Parameters
    ----------
    pieces : Pieces
        The pieces.
    labels : array of int of shape (n,), optional
        Clusters of a fit; they are an opinion of their own then, and the first.
    """
    pairs = np.outer(pieces.size, pieces.size)
    smaller = np.minimum.outer(pieces.size, pieces.size)
    far = pieces.far * pairs / 100.0
    nothing = np.zeros_like(pairs)
    found = [
        Linkage("data", MARGINAL, pieces, nothing),
        Linkage("many neighbours", AVERAGE, pieces, pieces.wide + far),
        Linkage("nearest neighbours", SINGLE, pieces, pieces.close / smaller + pieces.far),
        Linkage("close neighbours", AVERAGE, pieces, pieces.close + far),
    ]
    cut = max(best_cut(one.tree(nothing, 1.0, 1.0), pieces) for one in found)
    energy = _energy(pieces, cut)
    again = best_cut(energy.tree(nothing, 1.0, 1.0), pieces)
    if again > cut:
        cut, energy = again, _energy(pieces, again)
    energy.n_clusters = cut.n_clusters
    found.insert(0, energy)
    if labels is None:
        return found
    shares = np.zeros((pieces.count, int(labels.max()) + 1))
    np.add.at(shares, (pieces.of_row, labels), 1.0)
    together = (shares @ shares.T) / np.outer(pieces.n_rows, pieces.n_rows)
    near = pieces.wide / max(float(pieces.wide.max()), 1.0)
    alike = A_FIT * together * pairs + (1.0 - A_FIT) * (near + far)
    fit = Linkage("the fit", AVERAGE, pieces, alike)
    fit.n_clusters = len(np.unique(labels))
    return [fit, *found]


def _energy(pieces: Pieces, cut: BestCut) -> Linkage:
    """Return the linkage of data and graph, with clusters as wide as those of a cut."""
    wide = pieces.in_units_of(cut.variance)
    return Linkage("data and neighbours", ENERGY, wide, cut.odds(pieces))
