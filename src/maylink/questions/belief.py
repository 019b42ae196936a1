"""What is believed about the partition: draws from the posterior, and what an answer would change.

Let H(d) be the matrix that has 1 where two rows are together in draw d. Of an answer about the pair
(i, j) the expected squared distance between H and its mean falls by

    (p + q − 1)² / (P(may) P(may-not)) · Σ over pairs (k, l) of Cov(H_kl, H_ij)²

and that is exact, as an answer has two values. Half the squared distance is the number of pairs
that are expected to be put wrongly. Sums over all pairs of rows need only what two draws share
(:func:`~maylink.kernels.tree_cuts.overlaps`): no matrix of rows × rows is ever made.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Array, Index
from maylink.kernels.tree_cuts import overlaps

IN_DOUBT = 0.02  # pairs whose probability is nearer to 0 or 1 are not asked about
CONSIDERED = 1_000  # pairs from which a batch is chosen: those whose answers tell most


class PairGains(NamedTuple):
    """Pairs of pieces worth asking about, the best first.

    Parameters
    ----------
    a, b : array of int of shape (m,)
        The pieces.
    together : array of shape (m,)
        The probability that they are one cluster.
    gain : array of shape (m,)
        Pairs of rows that an answer is expected to put right, after those before it in the batch.
    """

    a: Index
    b: Index
    together: Array
    gain: Array

    def some(self, which: Any) -> PairGains:
        """Return some of the pairs."""
        return PairGains(self.a[which], self.b[which], self.together[which], self.gain[which])

    def then(self, other: PairGains) -> PairGains:
        """Return these pairs, and others after them."""
        return PairGains(*(np.concatenate(both) for both in zip(self, other, strict=True)))


class Belief:
    """Draws from the posterior over partitions of the pieces.

    Parameters
    ----------
    draws : array of int of shape (D, M)
        Partitions, each 0 … K − 1.
    n_rows : array of shape (M,)
        Rows of each piece.
    """

    def __init__(self, draws: Index, n_rows: Array) -> None:
        self.draws, self.n_rows = draws, n_rows
        n_draws, n = draws.shape
        self._shared = np.empty((n_draws, n_draws))
        overlaps(draws, n_rows, np.empty((n, n)), self._shared)

    @property
    def best(self) -> Index:
        """The draw that has the least expected distance to all others (Binder 1978)."""
        best: Index = self.draws[self._best_at]
        return best

    @cached_property
    def _best_at(self) -> int:
        own = np.diag(self._shared)
        distance = own[:, None] + own - 2.0 * self._shared
        return int(np.argmin(distance.mean(axis=1)))

    @cached_property
    def expected_f(self) -> float:
        """The pairwise F of the best draw, on average over all draws."""
        own, total = np.diag(self._shared), self.n_rows.sum()
        at = self._best_at
        both = 2.0 * (self._shared[at] - total)
        either = own[at] + own - 2.0 * total
        return float(np.where(either > 0.0, both / np.where(either > 0.0, either, 1.0), 1.0).mean())

    @cached_property
    def together(self) -> Array:
        """The probability that two pieces are one cluster, shape (M, M)."""
        n_draws, n = self.draws.shape
        found: Array = np.zeros((n, n))
        for draw in self.draws:
            found += draw[:, None] == draw
        found /= n_draws
        return found

    @property
    def n_pairs(self) -> float:
        """The expected number of pairs of rows that are together."""
        return float((np.diag(self._shared) - self.n_rows.sum()).mean() / 2.0)

    def gains(self, p: float, q: float) -> PairGains:
        """Return pairs of pieces and what an answer about each would put right, best first.

        Parameters
        ----------
        p, q : float
            Reliability of who answers.
        """
        a, b = np.triu_indices(self.draws.shape[1], 1)
        together = self.together[a, b]
        keep = (together > IN_DOUBT) & (together < 1.0 - IN_DOUBT)
        a, b, together = a[keep], b[keep], together[keep]
        centred = self._centred(a, b, together)
        gain = self._gain(centred, together, p, q)
        return PairGains(a, b, together, gain).some(np.argsort(-gain, kind="stable"))

    def batch(self, n: int, found: PairGains, p: float, q: float) -> PairGains:
        """Choose pairs whose answers tell different things.

        After each choice the draws are taken as if its answer were known, as far as a linear rule
        tells: what the next answer would tell again does not count.
        """
        in_doubt = (found.together > IN_DOUBT) & (found.together < 1.0 - IN_DOUBT)
        found = found.some(np.flatnonzero(in_doubt)[:CONSIDERED])
        n, together = min(n, len(found.a)), found.together
        original = centred = self._centred(found.a, found.b, together)
        said = chance_of_may(together, p, q)
        variance, slope = said * (1.0 - said), (p + q - 1.0) ** 2
        left = np.ones(len(together), np.bool_)
        order: list[int] = []
        gains: list[float] = []
        for _ in range(n):
            gain = np.where(left, slope * self._quadratic(centred) / variance, -1.0)
            k = int(np.argmax(gain))
            order.append(k)
            gains.append(max(float(gain[k]), 0.0))
            left[k] = False
            alike = original.T @ centred[:, k] / len(centred)
            step = slope / variance[k]
            variance = np.maximum(variance - slope * step * alike**2, 0.05 * variance)
            centred = centred - np.outer(centred[:, k], step * alike)
        return found.some(order)._replace(gain=np.array(gains))

    def _centred(self, a: Index, b: Index, together: Array) -> Array:
        """Return whether each draw has each pair together, less the probability: shape (D, m)."""
        return np.asarray((self.draws[:, a] == self.draws[:, b]) - together, np.float32)

    @cached_property
    def _centred_overlaps(self) -> Array:
        shared = self._shared
        row = shared.mean(axis=0)
        return np.asarray(shared - row - row[:, None] + shared.mean(), np.float32)

    def _quadratic(self, centred: Array) -> Array:
        """Return ½ Σ over pairs of rows of Cov², for every pair of pieces."""
        sums = ((self._centred_overlaps @ centred) * centred).sum(axis=0, dtype=np.float64)
        quadratic: Array = 0.5 * np.maximum(sums, 0.0) / len(centred) ** 2
        return quadratic

    def _gain(self, centred: Array, together: Array, p: float, q: float) -> Array:
        said = chance_of_may(together, p, q)
        return (p + q - 1.0) ** 2 * self._quadratic(centred) / (said * (1.0 - said))


def chance_of_may(together: Array, p: float, q: float) -> Array:
    """Return the probability of the answer "may"."""
    return together * p + (1.0 - together) * (1.0 - q)
