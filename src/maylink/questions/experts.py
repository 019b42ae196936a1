"""Experts: opinions about which tree of mergers to cut where, weighed by what answers showed.

An expert believes one linkage, cuts its tree at about exp(center) clusters, is more or less sure
of that (width), takes answers to be right with some accuracy, and knows nothing about some share of
the pairs (surprise): the truth is a cut of no tree, and pieces are not pure. Its tree is built with
all answers, each as strong as that accuracy makes it: who takes answers to be right bends the tree
to them, and is believed if the bent tree foretells what comes next. Given the answers, its
posterior over all cuts of the tree is exact (:mod:`maylink.kernels.tree_cuts`).

How far an expert is believed is decided by prediction: before an answer is taken in, every expert
says how probable it is, and its weight is multiplied by that. Answers that a tree was built with
cannot be scored by it any more: trees that follow every wrong answer would win.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit, logit, logsumexp

from maylink.arrays import Array

N_CENTERS = 12
WIDTHS = np.array([0.25, 0.7, 2.0])
OF_MANY = 0.25  # widths of hundreds of clusters, in those of a few: their number is better known
WITHIN = 3.0  # hundreds of clusters are within this factor of what is found without answers
ACCURACIES = np.array([0.6, 0.7, 0.8, 0.9, 0.97])
ACCURACY_PRIOR = np.array([0.3, 0.6, 1.0, 1.5, 1.0])  # mean .85
SURPRISES = np.array([0.05, 0.2, 0.5])  # share of pairs about which an expert knows nothing
SURPRISE_PRIOR = np.array([1.0, 1.0, 1.0]) / 3.0
OWN = 0.8  # prior weight of the expert that believes what the model finds without answers
NEAR_OWN = 0.7  # prior weights of the others fall by e for so much more or less in log clusters


class Experts:
    """A grid of experts: linkage × center × width × accuracy × surprise.

    Parameters
    ----------
    n_clusters : float
        Clusters that the model finds without answers.
    n_linkages : int
        Linkages; the first one is that of the model.
    most : int
        Clusters that there may be.
    many : bool, default False
        Whether there are hundreds of clusters.
    """

    def __init__(
        self, n_clusters: float, n_linkages: int, most: int, *, many: bool = False
    ) -> None:
        self._most, self._many = most, many
        self.widths = OF_MANY * WIDTHS if many else WIDTHS
        centers, near, own = self._around(n_clusters)
        self.centers: Array = np.tile(centers, (n_linkages, 1))
        prior = np.tile(near, (n_linkages, 1, 1)) * (1.0 - OWN) / n_linkages
        prior[0] += OWN * own
        by_accuracy = np.outer(ACCURACY_PRIOR / ACCURACY_PRIOR.sum(), SURPRISE_PRIOR)
        self._score = np.log(prior)[..., None, None] + np.log(by_accuracy)

    def _around(self, n_clusters: float) -> tuple[Array, Array, Array]:
        """Return centers about a number of clusters, their prior, and which one has that number."""
        usual = np.log(n_clusters + 0.5)
        centers = np.linspace(0.0, np.log(self._most) + 0.5, N_CENTERS)
        if self._many:
            centers = usual + np.log(WITHIN) * np.linspace(-1.0, 1.0, N_CENTERS)
        middle = int(np.argmin(np.abs(centers - usual)))
        centers[middle] = usual
        near, own = np.ones((N_CENTERS, len(WIDTHS))), np.zeros((N_CENTERS, len(WIDTHS)))
        if not self._many:
            near *= np.exp(-np.abs(centers - usual) / NEAR_OWN)[:, None]
        own[middle, 0] = 1.0
        return centers, near / near.sum(), own

    def welcome(self, n_clusters: float) -> None:
        """Take in one more linkage, as the first: that of a fit to the answers so far.

        Nobody knows how it would have foretold these answers. It is as probable as the others are
        on average, and expects of accuracy and surprise what they have learned.

        Parameters
        ----------
        n_clusters : float
            Clusters of the fit.
        """
        centers, near, own = self._around(n_clusters)
        share = np.log((1.0 - OWN) * near + OWN * own)[None, ..., None, None]
        learned = logsumexp(self._score, axis=(0, 1, 2)) - np.log(len(self._score))
        self.centers = np.concatenate([centers[None], self.centers])
        self._score = np.concatenate([share + learned, self._score])

    def renew(self, n_clusters: float) -> None:
        """Let the first linkage be that of a later fit.

        It is believed as the fits before it were, and at least as one that is new: fits get better
        with answers, so that what the first of them foretold badly must not count for ever.

        Parameters
        ----------
        n_clusters : float
            Clusters of the fit.
        """
        before = logsumexp(self._score[0])
        self._score, self.centers = self._score[1:], self.centers[1:]
        self.welcome(n_clusters)
        self._score[0] += max(0.0, before - logsumexp(self._score[0]))

    @property
    def weights(self) -> Array:
        """How far each expert is believed, shape (linkages, centers, widths, accuracies)."""
        weights: Array = self._weights.sum(axis=-1)
        return weights

    @property
    def _weights(self) -> Array:
        weights: Array = np.exp(self._score - logsumexp(self._score))
        return weights

    @property
    def surprise(self) -> float:
        """The share of pairs about which experts know nothing, as far as is known."""
        return float(self._weights.sum(axis=(0, 1, 2, 3)) @ SURPRISES)

    @property
    def accuracy(self) -> float:
        """The accuracy of answers that is expected."""
        return float(self.weights.sum(axis=(0, 1, 2)) @ ACCURACIES)

    @property
    def usual_cuts(self) -> list[list[tuple[float, float]]]:
        """Center and width that those hold on average who believe a linkage and an accuracy."""
        score = self._score
        weights = np.exp(score - score.max(axis=(1, 2, 4), keepdims=True)).sum(axis=-1)
        weights /= weights.sum(axis=(1, 2), keepdims=True)
        centers = np.einsum("lcwq,lc->lq", weights, self.centers)
        widths = np.exp(np.einsum("lcwq,w->lq", weights, np.log(self.widths)))
        both = np.stack([centers, widths], axis=-1).tolist()
        return [[(center, width) for center, width in one] for one in both]

    def score(
        self, together: Sequence[Array], p: Array, q: Array, may: Array, weight: Array
    ) -> None:
        """Weigh the experts by how probable they hold answers that they have not seen.

        Parameters
        ----------
        together : sequence of array of shape (centers, widths, accuracies, m)
            The probability that each pair is together, for every linkage.
        p, q : array of shape (Q, m)
            P(may | together) and P(may-not | apart) of each answer, for every accuracy.
        may : array of bool of shape (m,)
            What was said.
        weight : array of shape (m,)
            Votes of each answer.
        """
        for k, known in enumerate(together):
            for at, surprise in enumerate(SURPRISES):
                chance = surprise / 2.0 + (1.0 - surprise) * known
                said = np.where(may, p, 1.0 - p) * chance
                said += np.where(may, 1.0 - q, q) * (1.0 - chance)
                self._score[k, ..., at] += np.log(said) @ weight


def by_accuracy(shift: Array) -> Array:
    """Return each accuracy of the grid, shifted by log odds: shape (Q, m)."""
    shifted: Array = expit(logit(ACCURACIES)[:, None] + shift)
    return shifted
