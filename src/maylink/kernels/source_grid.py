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
    votes: Any  # (3, sources) scratch
    logs: Any  # as many as the grid has points, scratch


@compiled(allocates=False, inner=True)
def draw_shared(rng, good, bad, sources):
    """Draw a point of the grid given the votes of all who share it; return its Beta prior."""
    n_sharing = _count(sources.shares)
    if n_sharing == 0:
        return sources.own
    logs, total = sources.logs, 0.0
    top = _log_evidences(good, bad, sources, n_sharing)
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


@compiled(allocates=False, inner=True)
def shared_evidence(good, bad, sources):
    """Return the log probability of the votes of all who share the grid; 0 if nobody does."""
    n_sharing = _count(sources.shares)
    if n_sharing == 0:
        return 0.0
    logs, total = sources.logs, 0.0
    top = _log_evidences(good, bad, sources, n_sharing)
    for g in range(logs.size):
        total += exp(logs[g] - top)
    return top + log(total)


@compiled(allocates=False, inner=True)
def _count(flags):
    """Return how many flags are set."""
    count = 0
    for s in range(flags.size):
        count += flags[s]
    return count


@compiled(allocates=False, inner=True)
def _log_evidences(good, bad, sources, n_sharing):
    """Write the log weight and evidence of each point of the grid; return the largest."""
    votes, logs, at = sources.votes, sources.logs, 0
    for s in range(good.size):
        if sources.shares[s]:
            votes[0, at], votes[1, at], votes[2, at] = good[s], bad[s], good[s] + bad[s]
            at += 1
    for row in range(3):
        _sort(votes[row], n_sharing)
    top = -np.inf
    for g in range(logs.size):
        a, b = sources.right[g], sources.wrong[g]
        rise = _rise(a, votes[0], n_sharing) + _rise(b, votes[1], n_sharing)
        logs[g] = sources.log_weight[g] + (rise - _rise(a + b, votes[2], n_sharing))
        if logs[g] > top:
            top = logs[g]
    return top


@compiled(allocates=False, inner=True)
def _sort(values, size):
    """Sort the first ``size`` values (Shell 1959)."""
    gap = size // 2
    while gap > 0:
        for last in range(gap, size):
            value, at = values[last], last
            while at >= gap and values[at - gap] > value:
                values[at] = values[at - gap]
                at -= gap
            values[at] = value
        gap //= 2


@compiled(allocates=False, inner=True)
def _rise(start, votes, size):
    """Return Σ_s [log Γ(start + votes_s) − log Γ(start)]; votes in order: equal ones count once."""
    before, total, at = lgamma(start), 0.0, 0
    while at < size:
        end = at
        while end < size and votes[end] == votes[at]:
            end += 1
        if votes[at] > 0.0:
            total += (end - at) * (lgamma(start + votes[at]) - before)
        at = end
    return total
