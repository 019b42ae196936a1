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
from maylink.questions.merging import Mergers

IN_DOUBT = 0.02  # pairs whose probability is nearer to 0 or 1 are not asked about
CONSIDERED = 1_000  # pairs from which a batch is chosen: those whose answers tell most


class DoubtfulPairs(NamedTuple):
    """Pairs of pieces, and what is worth knowing about them, whoever answers.

    Parameters
    ----------
    a, b : array of int of shape (m,)
        The pieces.
    together : array of shape (m,)
        The probability that they are one cluster.
    covariance : array of shape (m,)
        ½ Σ over pairs of rows of Cov², see above.
    """

    a: Index
    b: Index
    together: Array
    covariance: Array

    def numbered(self, at: Index) -> DoubtfulPairs:
        """Return the pairs with other numbers of the pieces."""
        return self._replace(a=at[self.a], b=at[self.b])

    def gains(self, p: float, q: float) -> PairGains:
        """Return what an answer of a source would put right, the best pair first.

        Parameters
        ----------
        p, q : float
            Reliability of who answers.
        """
        return PairGains(self.a, self.b, self.together, self._gain(p, q)).best_first()

    def best_gain(self, p: float, q: float) -> float:
        """Return what the best answer of a source would put right."""
        return float(self._gain(p, q).max(initial=0.0))

    def _gain(self, p: float, q: float) -> Array:
        may = chance_of_may(self.together, p, q)
        gain: Array = (p + q - 1.0) ** 2 * self.covariance / np.maximum(may * (1.0 - may), 1e-12)
        return gain


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

    def numbered(self, at: Index) -> PairGains:
        """Return the pairs with other numbers of the pieces."""
        return self._replace(a=at[self.a], b=at[self.b])

    def best_first(self) -> PairGains:
        """Return the pairs in the order of their gains."""
        return self.some(np.argsort(-self.gain, kind="stable"))

    def then(self, other: PairGains) -> PairGains:
        """Return these pairs, and others after them."""
        return PairGains(*(np.concatenate(both) for both in zip(self, other, strict=True)))


class SharedPairs(NamedTuple):
    """Pairs of rows, each counted twice, of a partition beside draws of it.

    Parameters
    ----------
    both : array of shape (D,)
        Together in the partition and in each draw.
    drawn : array of shape (D,)
        Together in each draw.
    own : float
        Together in the partition.
    """

    both: Array
    drawn: Array
    own: float

    def with_those_of(self, other: SharedPairs) -> SharedPairs:
        """Return the counts of both."""
        both, drawn = self.both + other.both, self.drawn + other.drawn
        return SharedPairs(both, drawn, self.own + other.own)

    def expected_f(self, surprise: float = 0.0) -> float:
        """Return the pairwise F of the partition, on average over all draws.

        Parameters
        ----------
        surprise : float, default 0
            Share of pairs about which no draw knows anything: of those that the partition has
            together, half are.
        """
        either, some = self.own + self.drawn, self.own + self.drawn > 0.0
        both = surprise * self.own / 2.0 + (1.0 - surprise) * self.both
        f = np.where(some, 2.0 * both / np.where(some, either, 1.0), 1.0)
        return float(f.mean())


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

    @cached_property
    def best(self) -> Index:
        """The partition with the highest expected adjusted Rand index that was found.

        It is a draw, or comes of merging while the pairs of two groups are together with more than
        some probability on average. With E expected pairs together, of T, merging raises the index
        r if that probability is above E/T + r (½ − E/T): the better the index the nearer to ½.
        References: Fritsch and Ickstadt (2009); Dinkelbach (1967).
        """
        own = np.diag(self._shared)
        both = self._shared.mean(axis=0)
        indices = [self._index(*pairs) for pairs in zip(both, own, strict=True)]
        best: Index = self.draws[int(np.argmax(indices))]
        index = max(indices)
        mergers, share = Mergers.by_average(self.together, self.n_rows), self._share
        while True:
            labels = mergers.groups(share + index * (0.5 - share))
            same = labels[:, None] == labels
            pairs = np.outer(self.n_rows, self.n_rows) * same
            found = self._index(float((self.together * pairs).sum()), float(pairs.sum()))
            if found <= index + 1e-12:
                return best
            best, index = labels, found

    @property
    def _share(self) -> float:
        """The expected share of pairs of rows that are together."""
        n = self.n_rows.sum()
        return float((np.diag(self._shared).mean() - n) / max(n * n - n, 1.0))

    def _index(self, both: float, own: float) -> float:
        """Return the adjusted Rand index of a partition, expected pairs in place of drawn ones.

        Parameters
        ----------
        both : float
            Expected number of its ordered pairs that are together, rows with themselves too.
        own : float
            Ordered pairs that it has together, rows with themselves too.
        """
        n, share = self.n_rows.sum(), self._share
        drawn, by_chance = share * (n * n - n), share * (own - n)
        most = (own - n + drawn) / 2.0 - by_chance
        return float((both - n - by_chance) / most) if most > 1e-9 else 1.0

    @cached_property
    def pairs_of_best(self) -> SharedPairs:
        """The pairs of the best partition beside those of each draw."""
        own, total, best = np.diag(self._shared), self.n_rows.sum(), self.best
        several = best.max() + 1
        both = [np.bincount(draw * several + best, self.n_rows) for draw in self.draws]
        shared = np.array([(one**2).sum() for one in both])
        alone = (np.bincount(best, self.n_rows) ** 2).sum()
        return SharedPairs(shared - total, own - total, float(alone - total))

    @cached_property
    def together(self) -> Array:
        """The probability that two pieces are one cluster, shape (M, M)."""
        n_draws, n = self.draws.shape
        found: Array = np.zeros((n, n))
        for draw in self.draws:
            found += draw[:, None] == draw
        found /= n_draws
        return found

    @cached_property
    def doubtful(self) -> DoubtfulPairs:
        """The pairs about which some draws differ."""
        a, b = np.triu_indices(self.draws.shape[1], 1)
        together = self.together[a, b]
        keep = (together > IN_DOUBT) & (together < 1.0 - IN_DOUBT)
        a, b, together = a[keep], b[keep], together[keep]
        return DoubtfulPairs(a, b, together, self._quadratic(self._centred(a, b, together)))

    def batch(self, n: int, found: PairGains, p: float, q: float) -> PairGains:
        """Choose pairs whose answers tell different things.

        After each choice the draws are taken as if its answer were known, as far as a linear rule
        tells: what the next answer would tell again does not count.
        """
        found = found.some(slice(CONSIDERED))
        n, together = min(n, len(found.a)), found.together
        original = centred = self._centred(found.a, found.b, together)
        said = chance_of_may(together, p, q)
        variance, slope = said * (1.0 - said), (p + q - 1.0) ** 2
        quadratic, overlaps = self._quadratic(centred), self._centred_overlaps
        left = np.ones(len(together), np.bool_)
        order: list[int] = []
        gains: list[float] = []
        for _ in range(n):
            gain = np.where(left, slope * np.maximum(quadratic, 0.0) / variance, -1.0)
            k = int(np.argmax(gain))
            order.append(k)
            gains.append(max(float(gain[k]), 0.0))
            left[k] = False
            alike = original.T @ centred[:, k] / len(centred)
            step = slope / variance[k]
            variance = np.maximum(variance - slope * step * alike**2, 0.05 * variance)
            share, known = step * alike, centred[:, k]
            about = overlaps @ known  # what is left of the quadratic form, without making it anew
            change = share * (share * (known @ about) - 2.0 * (about @ centred))
            quadratic = quadratic + 0.5 * change / len(centred) ** 2
            centred = centred - np.outer(known, share)
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


def chance_of_may(together: Array, p: float, q: float) -> Array:
    """Return the probability of the answer "may"."""
    return together * p + (1.0 - together) * (1.0 - q)
