"""Experts: opinions about which tree of mergers to cut where, weighed by what answers showed.

An expert believes one linkage, cuts its tree at about exp(center) clusters, is more or less sure
of that (width), and takes answers to be right with some accuracy. Given the answers, its posterior
over all cuts of its tree is exact (:mod:`maylink.kernels.tree_cuts`).

How far an expert is believed is decided by prediction: before an answer is taken in, every expert
says how probable it is, and its weight is multiplied by that. Answers that a tree was built with
cannot be scored by it any more: trees that follow every wrong answer would win.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit, logit, logsumexp

from maylink.arrays import Array, Index
from maylink.kernels.tree_cuts import cut_grid, draw_cuts
from maylink.questions.trees import Linkage, Tree

N_CENTERS = 12
WIDTHS = np.array([0.25, 0.7, 2.0])
ACCURACIES = np.array([0.6, 0.7, 0.8, 0.9, 0.97])
ACCURACY_PRIOR = np.array([0.3, 0.6, 1.0, 1.5, 1.0])  # mean .85
OWN = 0.8  # prior weight of the expert that believes what the model finds without answers
SURPRISE = 0.2  # share of pairs about which an expert knows nothing, however sure it is
PURE = 0.97  # probability that two rows of one piece belong together


class Experts:
    """A grid of experts: linkage × center × width × accuracy.

    Parameters
    ----------
    n_clusters : float
        Clusters that the model finds without answers.
    n_linkages : int
        Linkages; the first one is that of the model.
    most : int
        Pieces that there may ever be.
    """

    def __init__(self, n_clusters: float, n_linkages: int, most: int) -> None:
        self.centers = np.linspace(0.0, np.log(most) + 0.5, N_CENTERS)
        own = int(np.argmin(np.abs(self.centers - np.log(n_clusters + 0.5))))
        self.centers[own] = np.log(n_clusters + 0.5)
        prior = np.full((n_linkages, N_CENTERS, len(WIDTHS)), 1.0)
        prior *= (1.0 - OWN) / prior.size
        prior[0, own, 0] += OWN
        self._score = np.log(prior)[..., None] + np.log(ACCURACY_PRIOR / ACCURACY_PRIOR.sum())
        self._trees: list[Tree] = []
        self._root: list[Array] = []
        self._merged: list[Array] = []

    @property
    def weights(self) -> Array:
        """How far each expert is believed, shape (linkages, centers, widths, accuracies)."""
        weights: Array = np.exp(self._score - logsumexp(self._score))
        return weights

    @property
    def accuracy(self) -> float:
        """The accuracy of answers that is expected."""
        return float(self.weights.sum(axis=(0, 1, 2)) @ ACCURACIES)

    def think(
        self, opinions: Sequence[Linkage], a: Index, b: Index, odds: Array, votes: Array
    ) -> None:
        """Take answers in: build the trees anew, and the posterior of every expert.

        Parameters
        ----------
        opinions : sequence of Linkage
            The linkages.
        a, b : array of int of shape (m,)
            The pieces of each answer.
        odds : array of shape (Q, m)
            Log odds that each answer speaks of one cluster, for every accuracy.
        votes : array of shape (m,)
            The same for the accuracy that is expected.
        """
        n = opinions[0].n_pieces
        between = np.zeros((n, n))
        across = a != b
        np.add.at(between, (a[across], b[across]), votes[across])
        between += between.T
        self._trees, self._root, self._merged = [], [], []
        for score, linkage in zip(self._score, opinions, strict=True):
            weights = np.exp(score - logsumexp(score))
            center = float(weights.sum(axis=(1, 2)) @ self.centers)
            width = float(np.exp(weights.sum(axis=(0, 2)) @ np.log(WIDTHS)))
            tree = linkage.tree(between, center, width)
            n_nodes = len(tree.children)
            at_node = np.zeros((len(ACCURACIES), n_nodes))
            nodes = tree.meeting(a, b)
            for level, one in zip(at_node, odds, strict=True):
                np.add.at(level, nodes[across], one[across])
            shape = (N_CENTERS, len(WIDTHS), len(ACCURACIES), n_nodes)
            root, merged = np.empty(shape), np.empty(shape)
            scratch = np.empty(n_nodes), np.empty(n_nodes)
            cut_grid(
                tree.children, tree.heights, self.centers, WIDTHS, at_node, root, merged, *scratch
            )
            self._trees.append(tree)
            self._root.append(root)
            self._merged.append(merged)

    def score(self, a: Index, b: Index, p: Array, q: Array, may: Array, weight: Array) -> None:
        """Weigh the experts by how probable they hold answers that they have not seen.

        Parameters
        ----------
        a, b : array of int of shape (m,)
            The pieces of each answer.
        p, q : array of shape (Q, m)
            P(may | together) and P(may-not | apart) of each answer, for every accuracy.
        may : array of bool of shape (m,)
            What was said.
        weight : array of shape (m,)
            Votes of each answer.
        """
        for k, (tree, merged) in enumerate(zip(self._trees, self._merged, strict=True)):
            nodes = tree.meeting(a, b)
            together = SURPRISE / 2.0 + (1.0 - SURPRISE) * merged[..., nodes]
            together[..., nodes < tree.n_pieces] = PURE
            said = np.where(may, p, 1.0 - p) * together + np.where(may, 1.0 - q, q) * (
                1.0 - together
            )
            self._score[k] += np.log(said) @ weight

    def together(self, a: Index, b: Index) -> Array:
        """Return the probability that two pieces are one cluster, of every pair."""
        found = np.zeros(len(a))
        for weights, tree, merged in zip(self.weights, self._trees, self._merged, strict=True):
            at_node = np.tensordot(weights, merged, 3)
            at_node[: tree.n_pieces] *= PURE
            found += at_node[tree.meeting(a, b)]
        return np.clip(found, 0.0, 1.0)

    def draw(self, n_draws: int, rng: np.random.Generator) -> Index:
        """Draw partitions of the pieces, each 0 … K − 1."""
        weights = self.weights
        counts = rng.multinomial(n_draws, (weights / weights.sum()).ravel())
        found = []
        for count, root, tree in zip(
            counts.reshape(weights.shape), self._root, self._trees, strict=True
        ):
            for at in zip(*np.nonzero(count), strict=True):
                labels = np.empty((int(count[at]), tree.n_pieces), np.int64)
                uniforms = rng.random((len(labels), len(tree.children)))
                scratch = np.empty(len(tree.children), np.int64)
                draw_cuts(tree.children, root[at], uniforms, scratch, labels)
                found.append(labels)
        return np.array([np.unique(one, return_inverse=True)[1] for one in np.concatenate(found)])


def by_accuracy(shift: Array) -> Array:
    """Return each accuracy of the grid, shifted by log odds: shape (Q, m)."""
    shifted: Array = expit(logit(ACCURACIES)[:, None] + shift)
    return shifted
