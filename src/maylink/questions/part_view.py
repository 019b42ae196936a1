"""What is believed of one part of the data: trees, the posterior over their cuts, and draws."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from maylink.arrays import Array, Index
from maylink.kernels.tree_cuts import cut_grid, draw_cuts
from maylink.questions.belief import Belief, DoubtfulPairs
from maylink.questions.experts import ACCURACIES, Experts
from maylink.questions.parts import Part
from maylink.questions.trees import Linkage, Tree

N_DRAWS = 128
PURE = 0.97  # probability that two rows of one piece belong together


class PartView:
    """The posterior of every expert over the clusters of a part, given the answers about it.

    Parameters
    ----------
    part : Part
        The pieces.
    n_rows : array of shape (B,)
        Rows of each piece.
    experts : Experts
        How far each expert is believed.
    opinions : sequence of Linkage
        The linkages.
    a, b : array of int of shape (m,)
        The pieces of each answer, numbered within the part.
    odds : array of shape (Q, m)
        Log odds that each answer speaks of one cluster, for every accuracy.
    votes : array of shape (m,)
        The same for the accuracy that is expected.
    seed : list of int
        Of the draws.
    """

    def __init__(
        self,
        part: Part,
        n_rows: Array,
        experts: Experts,
        opinions: Sequence[Linkage],
        a: Index,
        b: Index,
        odds: Array,
        votes: Array,
        seed: list[int],
    ) -> None:
        self.part, self._n_rows, self._seed = part, n_rows, seed
        self._weights = experts.weights
        between = np.zeros((part.count, part.count))
        across = a != b
        a, b, odds = a[across], b[across], odds[:, across]
        np.add.at(between, (a, b), votes[across])
        between += between.T
        self._trees: list[Tree] = []
        self._root: list[Array] = []
        self._merged: list[Array] = []
        for k, linkage in enumerate(opinions):
            tree = linkage.tree(part, between, *experts.usual_cut(k))
            n_nodes = len(tree.children)
            nodes = tree.meeting(a, b)
            levels = len(odds) if len(a) else 1  # without answers all accuracies say the same
            at_node = np.zeros((levels, n_nodes))
            for level, one in zip(at_node, odds, strict=False):
                np.add.at(level, nodes, one)
            shape = (len(experts.centers), len(experts.widths), levels, n_nodes)
            root, merged = np.empty(shape), np.empty(shape)
            scratch = np.empty(n_nodes), np.empty(n_nodes)
            cut_grid(
                tree.children, tree.heights, experts.centers, experts.widths, at_node, root, merged,
                *scratch,
            )  # fmt: skip
            self._trees.append(tree)
            self._root.append(root)
            whole = (*shape[:2], len(ACCURACIES), n_nodes)
            self._merged.append(np.broadcast_to(merged, whole))

    def predicted(self, a: Index, b: Index) -> list[Array]:
        """Return the probability that pairs are together, of every expert and linkage."""
        found = []
        for tree, merged in zip(self._trees, self._merged, strict=True):
            nodes = tree.meeting(a, b)
            together = merged[..., nodes]
            together[..., nodes < tree.n_pieces] = PURE
            found.append(together)
        return found

    def together(self, experts: Experts, a: Index, b: Index) -> Array:
        """Return the probability that two pieces are one cluster, of every pair."""
        found = np.zeros(len(a))
        for weights, tree, merged in zip(experts.weights, self._trees, self._merged, strict=True):
            at_node = np.tensordot(weights, merged, 3)
            at_node[: tree.n_pieces] *= PURE
            found += at_node[tree.meeting(a, b)]
        return np.clip(found, 0.0, 1.0)

    @cached_property
    def belief(self) -> Belief:
        """Draws of the partition."""
        return Belief(self._draw(np.random.default_rng(self._seed)), self._n_rows)

    def agreed(self, experts: Experts) -> DoubtfulPairs:
        """Return the pairs about which all draws agree.

        An answer about such a pair decides whether both clusters are one, or the cluster two.
        """
        rest = np.triu(np.ones((self.part.count, self.part.count), np.bool_), 1)
        found, clusters = self.belief.doubtful, self.belief.best
        rest[found.a, found.b] = False
        a, b = np.nonzero(rest)
        together = self.together(experts, a, b)
        rows = np.bincount(clusters, self._n_rows)
        one, other = rows[clusters[a]], rows[clusters[b]]
        pairs = np.where(clusters[a] == clusters[b], one * other / 4.0, one * other)
        return DoubtfulPairs(a, b, together, (together * (1.0 - together)) ** 2 * pairs)

    def gain_matrix(self, experts: Experts, p: float, q: float) -> Array:
        """Return what an answer of a source about each pair would put right, shape (B, B)."""
        found: Array = np.zeros((self.part.count, self.part.count))
        for some in (self.belief.doubtful, self.agreed(experts)):
            pairs = some.gains(p, q)
            found[pairs.a, pairs.b] = found[pairs.b, pairs.a] = pairs.gain
        return found

    def _draw(self, rng: np.random.Generator) -> Index:
        weights = self._weights
        counts = rng.multinomial(N_DRAWS, (weights / weights.sum()).ravel())
        found = []
        for count, root, tree in zip(
            counts.reshape(weights.shape), self._root, self._trees, strict=True
        ):
            for center, width, level in zip(*np.nonzero(count), strict=True):
                labels = np.empty((int(count[center, width, level]), tree.n_pieces), np.int64)
                uniforms = rng.random((len(labels), len(tree.children)))
                scratch = np.empty(len(tree.children), np.int64)
                own = root[center, width, level % root.shape[2]]
                draw_cuts(tree.children, own, uniforms, scratch, labels)
                found.append(labels)
        return np.array([np.unique(one, return_inverse=True)[1] for one in np.concatenate(found)])
