"""What links may weigh in RDP-means: the log odds of their reliability, by source or of all as one.

A partition shows how reliable links are; a link then is worth ln(p/(1−q)) nats if it says may, and
ln(q/(1−p)) if it says may-not. A source that is wrong more often than right is worth nothing.
"""

from __future__ import annotations

import numpy as np

from maylink.arrays import Array
from maylink.model.reliability import LinkCounts, Prior, log_odds
from maylink.model.source_prior import PRIOR


def pooled_log_odds(counts: LinkCounts) -> tuple[float, float]:
    """Return ln(p/(1−q)) and ln(q/(1−p)) of all sources as one, never below 0."""
    pooled = LinkCounts(*(votes.sum(keepdims=True) for votes in counts))
    return greatest_log_odds(pooled)


def greatest_log_odds(counts: LinkCounts, prior: Prior = PRIOR) -> tuple[float, float]:
    """Return ln(p/(1−q)) and ln(q/(1−p)) of the sources where they are greatest; 0 of no source."""
    may, may_not = log_odds(counts, prior)
    return float(may.max(initial=0.0)), float(may_not.max(initial=0.0))


def source_shares(
    counts: LinkCounts, weights: tuple[float, float], scale: float, prior: Prior = PRIOR
) -> Array | None:
    """Return what votes of each kind and source weigh, in units of ξ; None where all weigh ξ.

    A source weighs no more than its own reliability is worth: min(ξ, scale · log odds).

    Returns
    -------
    array of shape (2 · sources,), optional
        May-not and may of the first source, of the second, and so on.
    """
    if len(counts.may_same) < 2:
        return None
    shares = np.ones((len(counts.may_same), 2))
    for column, odds, xi in zip((1, 0), log_odds(counts, prior), weights, strict=True):
        shares[:, column] = np.clip(scale * odds / max(xi, 1e-300), 0.0, 1.0)
    return shares.ravel()
