"""The posterior over the cuts of one tree, of every expert who believes that tree."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from maylink.arrays import Array, Index
from maylink.kernels.tree_cuts import cut_grid, draw_cuts
from maylink.questions.trees import Tree

PURE = 0.97  # probability that two rows of one piece belong together


class CutPosterior:
    """A tree, and the posterior over its cuts for every center and width.

    Parameters
    ----------
    tree : Tree
        The tree.
    centers, widths : array
        Those of the experts who believe the tree.
    a, b : array of int of shape (m,)
        Pieces of each answer.
    odds : array of shape (m,)
        Log odds that each answer speaks of one cluster.
    """

    def __init__(
        self, tree: Tree, centers: Array, widths: Array, a: Index, b: Index, odds: Array
    ) -> None:
        self.tree = tree
        n_nodes = len(tree.children)
        votes = np.bincount(tree.meeting(a, b), odds, minlength=n_nodes).astype(np.float64)
        shape = len(centers), len(widths), n_nodes
        self._root, self._together = np.empty(shape), np.empty(shape)
        cut_grid(
            tree.children, tree.heights, centers, widths, votes, self._root, self._together,
            np.empty(n_nodes), np.empty(n_nodes),
        )  # fmt: skip
        self._together[..., : tree.n_pieces] = PURE

    def predictions(self, a: Index, b: Index) -> Array:
        """Return the probability that pairs are together, shape (centers, widths, m)."""
        return np.take(self._together, self.tree.meeting(a, b), axis=2)

    def mean(self, weights: Array, a: Index, b: Index) -> Array:
        """Return the sum over experts of weight and probability that pairs are together.

        Parameters
        ----------
        weights : array of shape (centers, widths)
            Of the experts.
        a, b : array of int of shape (m,)
            Pieces of each pair.
        """
        at_node = np.tensordot(weights, self._together, 2)
        found: Array = at_node[self.tree.meeting(a, b)]
        return found

    def draws(self, counts: Index, rng: np.random.Generator) -> Iterator[Index]:
        """Yield cuts, as the cluster of each piece, 0 … K − 1.

        Parameters
        ----------
        counts : array of int of shape (centers, widths)
            How many of each expert.
        rng : Generator
            Draws them.
        """
        n_nodes = len(self.tree.children)
        for at in zip(*np.nonzero(counts), strict=True):
            labels = np.empty((int(counts[at]), self.tree.n_pieces), np.int64)
            uniforms = rng.random((len(labels), n_nodes))
            scratch = np.empty(n_nodes, np.int64)
            draw_cuts(self.tree.children, self._root[at], uniforms, scratch, labels)
            yield labels
