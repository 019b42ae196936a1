"""What sources share, drawn: a point of the grid of Beta priors of p, or of q, given the votes.

The evidence of a point is ``w_g ∏_s B(right_g + good_s, wrong_g + bad_s) / B(right_g, wrong_g)``
over the sources that share it (:mod:`maylink.model.source_prior`).
"""

from __future__ import annotations

from math import exp, lgamma, log
from typing import Any, NamedTuple

import numpy as np

from maylink.kernels.compile import compiled


class SourceArrays(NamedTuple):
    """The prior of p, and of q: of sources by themselves, and the grid that the others share."""

    own: tuple[float, float]
    shares: Any
    log_weight: Any
    right: Any
    wrong: Any


@compiled()
def draw_shared(rng, good, bad, sources):
    """Draw a point of the grid given the votes of all who share it; return its Beta prior."""
    if not sources.shares.any():
        return sources.own
    logs = _log_evidences(good, bad, sources)
    top = logs.max()
    total = 0.0
    for g in range(logs.size):
        logs[g] = exp(logs[g] - top)
        total += logs[g]
    left = rng.random() * total
    chosen = 0
    for g in range(logs.size):
        if logs[g] > 0.0:
            chosen = g
            left -= logs[g]
            if left < 0.0:
                break
    return sources.right[chosen], sources.wrong[chosen]


@compiled()
def shared_evidence(good, bad, sources):
    """Return the log probability of the votes of all who share the grid; 0 if nobody does."""
    if not sources.shares.any():
        return 0.0
    logs = _log_evidences(good, bad, sources)
    top = logs.max()
    total = 0.0
    for g in range(logs.size):
        total += exp(logs[g] - top)
    return top + log(total)


@compiled()
def _log_evidences(good, bad, sources):
    """Return the log weight and evidence of each point of the grid."""
    right, wrong = np.sort(good[sources.shares]), np.sort(bad[sources.shares])
    votes = np.sort((good + bad)[sources.shares])
    logs = sources.log_weight.copy()
    for g in range(logs.size):
        a, b = sources.right[g], sources.wrong[g]
        logs[g] += _rise(a, right) + _rise(b, wrong) - _rise(a + b, votes)
    return logs


@compiled()
def _rise(start, votes):
    """Return Σ_s [log Γ(start + votes_s) − log Γ(start)]; votes in order: equal ones count once."""
    before, total, at = lgamma(start), 0.0, 0
    while at < votes.size:
        end = at
        while end < votes.size and votes[end] == votes[at]:
            end += 1
        if votes[at] > 0.0:
            total += (end - at) * (lgamma(start + votes[at]) - before)
        at = end
    return total
