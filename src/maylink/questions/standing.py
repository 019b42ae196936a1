"""How far an interview has come, in figures and words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from maylink.arrays import Array
from maylink.errors import counted
from maylink.questions.belief import Belief, SharedPairs
from maylink.questions.words import Standing

SETTLED = 0.05  # share of a cluster's pairs that may be in doubt
NEXT = 20  # answers that are looked ahead
WORTH = 0.01  # share of all pairs together that they must put right
FEWEST_ANSWERS = 20  # below which nobody knows how good the answers are


def standing_of(
    beliefs: Sequence[Belief], n_answers: int, gain: float, surprise: float
) -> Standing:
    """Say how far an interview has come.

    Parameters
    ----------
    beliefs : sequence of Belief
        What is believed of each part of the data.
    n_answers : int
        Answers so far.
    gain : float
        Pairs that the best question is expected to put right.
    surprise : float
        Share of pairs about which the draws know nothing, as answers have shown.
    """
    n_clusters = sum(int(one.best.max()) + 1 for one in beliefs)
    n_settled = sum(int(settled(one).sum()) for one in beliefs)
    counts = all_pairs(beliefs)
    expected = counts.expected_f(surprise)
    more = NEXT * gain / max(counts.drawn.mean() / 2.0, 1.0)
    if n_answers < FEWEST_ANSWERS:
        why = f"fewer than {counted(FEWEST_ANSWERS, 'answer')}: too few to know how good they are"
        return Standing(n_answers, n_clusters, n_settled, expected, False, why)
    if more >= WORTH:
        why = (
            f"{NEXT} more answers may put right up to {min(more, 1.0):.0%} of the pairs; "
            f"{n_settled} of {counted(n_clusters, 'cluster')} are settled"
        )
        return Standing(n_answers, n_clusters, n_settled, expected, False, why)
    why = (
        f"{NEXT} more answers would put right less than {WORTH:.0%} of the pairs; "
        f"{n_settled} of {counted(n_clusters, 'cluster')} are settled, the expected F is "
        f"{expected:.2f}"
    )
    return Standing(n_answers, n_clusters, n_settled, expected, True, why)


def all_pairs(beliefs: Sequence[Belief]) -> SharedPairs:
    """Return the pairs of the best draws beside those of all draws, all parts together."""
    return reduce(SharedPairs.with_those_of, (one.pairs_of_best for one in beliefs))


def settled(belief: Belief) -> Array:
    """Return which clusters of the best draw hardly any draw changes.

    In a settled cluster at most 5% of the pairs are expected apart, and at most as many are
    expected with rows outside.
    """
    clusters = belief.best
    rows, n_clusters = belief.n_rows, int(clusters.max()) + 1
    member = np.zeros((n_clusters, len(rows)))
    member[clusters, np.arange(len(rows))] = rows
    pairs = member @ belief.together @ member.T
    inside, size = np.diag(pairs), member.sum(axis=1)
    outside = pairs.sum(axis=1) - inside
    sure: Array = (inside >= (1.0 - SETTLED) * size**2) & (outside <= SETTLED * size**2)
    return sure
