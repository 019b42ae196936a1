"""What is believed of one part of the data: trees, the posterior over their cuts, and draws."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from maylink.arrays import Array, Index
from maylink.questions.belief import Belief, DoubtfulPairs
from maylink.questions.cut_posterior import CutPosterior
from maylink.questions.experts import Experts
from maylink.questions.parts import Part
from maylink.questions.trees import Linkage

N_DRAWS = 128


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
        seed: list[int],
    ) -> None:
        self.part, self._n_rows, self._seed = part, n_rows, seed
        self._weights = experts.weights
        across = a != b
        a, b = a[across], b[across]
        strengths = odds[:, across] if len(a) else odds[:1, across]  # without answers all are alike
        cuts = experts.usual_cuts
        self._posteriors: list[list[CutPosterior]] = [[] for _ in opinions]
        for level, strength in enumerate(strengths):
            votes = np.zeros((part.count, part.count))
            np.add.at(votes, (a, b), strength)
            votes += votes.T
            for k, linkage in enumerate(opinions):
                tree = linkage.tree(part, votes, *cuts[k][level])
                shape = experts.centers[k], experts.widths
                self._posteriors[k].append(CutPosterior(tree, *shape, a, b, strength))
        if len(strengths) < len(odds):
            self._posteriors = [one * len(odds) for one in self._posteriors]

    def predictions(self, a: Index, b: Index) -> list[Array]:
        """Return the probability that pairs are together, of every expert and linkage."""
        return [
            np.stack([one.predictions(a, b) for one in several], axis=2)
            for several in self._posteriors
        ]

    def together(self, experts: Experts, a: Index, b: Index) -> Array:
        """Return the probability that two pieces are one cluster, of every pair."""
        found = np.zeros(len(a))
        for weights, several in zip(experts.weights, self._posteriors, strict=True):
            for level, one in enumerate(several):
                found += one.mean(weights[..., level], a, b)
        return np.clip(found, 0.0, 1.0)

    @cached_property
    def belief(self) -> Belief:
        """Draws of the partition."""
        return Belief(self._draw(np.random.default_rng(self._seed)), self._n_rows)

    def certain(self, experts: Experts) -> DoubtfulPairs:
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
        for some in (self.belief.doubtful, self.certain(experts)):
            pairs = some.gains(p, q)
            found[pairs.a, pairs.b] = found[pairs.b, pairs.a] = pairs.gain
        return found

    def _draw(self, rng: np.random.Generator) -> Index:
        weights = self._weights
        counts = rng.multinomial(N_DRAWS, (weights / weights.sum()).ravel()).reshape(weights.shape)
        found = [
            labels
            for count, several in zip(counts, self._posteriors, strict=True)
            for level, one in enumerate(several)
            for labels in one.draws(count[..., level], rng)
        ]
        return np.concatenate(found)
