"""Questions whose answers are known beforehand: they tell how far a source can be believed.

The pairs that tell most about the clusters are those in doubt. Who asks about nothing else cannot
tell a wrong answer from a wrong cluster: if the true clusters are larger than those believed in,
nearly all pairs in doubt are together, and a source that is right eight times in ten looks like one
that says may of anything. So one answer in ten should be about a pair that is surely apart, and one
about a pair that is surely together. Answers about pairs that were in doubt count when they are so
no longer; in the end no such question is asked.
"""

from __future__ import annotations

import numpy as np

from maylink.arrays import Array, Index
from maylink.questions.belief import PairGains

SHARE = 0.1  # of the answers of a source that are about pairs of either kind
APART, TOGETHER = 0.05, 0.9  # probabilities of being together that are as good as sure


def n_missing(together: Array, n_more: int) -> tuple[int, int]:
    """Return how many of the next questions should be about sure pairs: apart, and together.

    Parameters
    ----------
    together : array of shape (m,)
        The probability that the pair of each answer of the source is together.
    n_more : int
        How many questions are to be asked.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.questions.controls import n_missing
    >>> n_missing(np.full(9, 0.5), 1), n_missing(np.full(8, 0.5), 1)
    ((1, 1), (0, 0))
    """
    wanted = SHARE * (len(together) + n_more)
    apart, alike = (together < APART).sum(), (together > TOGETHER).sum()
    return max(0, int(wanted - apart)), max(0, int(wanted - alike))


def controls(
    certain: PairGains, n_rows: Array, missing: tuple[int, int], rng: np.random.Generator
) -> PairGains:
    """Return sure pairs of pieces, drawn like pairs of rows: apart and together in turn.

    Parameters
    ----------
    certain : PairGains
        Pairs about which all draws agree.
    n_rows : array of shape (M,)
        Rows of each piece.
    missing : pair of int
        How many pairs that are apart, and together.
    rng : Generator
        Draws them.
    """
    sure = certain.together < APART, certain.together > TOGETHER
    chosen = [
        _drawn(np.flatnonzero(kind), n_rows[certain.a] * n_rows[certain.b], count, rng)
        for kind, count in zip(sure, missing, strict=True)
    ]
    order = np.argsort(np.concatenate([np.arange(len(one)) for one in chosen]), kind="stable")
    return certain.some(np.concatenate(chosen)[order])


def _drawn(among: Index, weight: Array, count: int, rng: np.random.Generator) -> Index:
    """Draw some of the pairs, none twice."""
    count = min(count, len(among))
    if not count:
        return among[:0]
    share = weight[among] / weight[among].sum()
    return rng.choice(among, count, replace=False, p=share)
