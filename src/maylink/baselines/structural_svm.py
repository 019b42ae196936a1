"""Large-margin learning of a pair similarity w·ψ, with a partition as what is predicted.

``min ½ ‖w‖² + C ξ  such that  w·Ψ(links) ≥ w·Ψ(y) + Δ(y) − ξ  for every partition y``

``Ψ(y) = Σ_e v_e y_e ψ_e`` adds up the features of the judged pairs that y has together, and
``Ψ(links)`` those of the pairs of may links. v are votes, as shares of all votes. ``Δ(y)`` is the
share of the votes that y goes against. The conditions are as many as there are partitions. So the
one that is violated most is found and added, again and again, until the next one would be violated
by the tolerance at most. To find it is correlation clustering, with votes ``v_e w·ψ_e`` on a pair,
less those of its may links, and those of its may-not links added.

Tsochantaridis, Joachims, Hofmann, Altun, 2005.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from maylink.arrays import Array, Index
from maylink.links import MAY, MAY_NOT

EXACT = 0.01  # of the tolerance of learning is the tolerance of the quadratic program
MAX_STEPS = 10_000  # of one quadratic program, which takes some tens
RIDGE = 1e-13  # of all norms, added to each: conditions may say the same thing
LARGEST_C = 1e9  # for features of 1 at most; above it the sum of all α would be lost to rounding
ROUNDING = 1e-16  # of C: less is no gain
TINY = 1e-300

Partition = Callable[[Array], Array]
"""Finds how much each pair is together, from 0 to 1, for the largest Σ votes · together."""


class JudgedPairs(NamedTuple):
    """Pairs of points that links judge, each once."""

    first: Index
    """One point of each, the smaller number."""
    second: Index
    """The other."""
    may: Array
    """The votes of its may links, as a share of all votes."""
    may_not: Array
    """The votes of its may-not links, as a share of all votes."""


class Learned(NamedTuple):
    """What was learned."""

    weights: Array
    """w."""
    path: Array
    """½ ‖w‖² + C ξ under the conditions so far, after each one was added."""
    converged: bool
    """Whether no condition is violated by more than the tolerance."""


def judged_pairs(n: int, i: Index, j: Index, kind: Index, weight: Array) -> JudgedPairs:
    """Return the pairs that links judge, at least one link; several on a pair add up."""
    low, high = np.minimum(i, j).astype(np.int64), np.maximum(i, j).astype(np.int64)
    keys, at = np.unique(low * n + high, return_inverse=True)
    share = weight / weight.max()  # a sum of huge votes would not be finite
    share = share / share.sum()
    may, may_not = (
        np.bincount(at, np.where(kind == sign, share, 0.0), keys.size).astype(np.float64)
        for sign in (MAY, MAY_NOT)
    )
    return JudgedPairs(keys // n, keys % n, may, may_not)


def learn(
    pairs: JudgedPairs,
    features: Array,
    partition: Partition,
    *,
    C: float,
    tol: float,
    max_sweeps: int,
) -> Learned:
    """Learn the weights of pair features from judged pairs.

    Parameters
    ----------
    pairs : JudgedPairs
        At least one.
    features : array of shape (m, p)
        ψ of each pair.
    partition : callable
        Finds the partition of most votes, well or best.
    C : float
        What a violated condition costs. With features of 1 at most, more than 10⁹ is taken as 10⁹,
        beside which ½ ‖w‖² is next to nothing.
    tol : float
        By how much a condition may stay violated: a share of all votes.
    max_sweeps : int
        Conditions after which to stop in any case.

    Returns
    -------
    Learned
    """
    unit = float(np.abs(features).max()) or 1.0  # with features of 1 at most, rounding is harmless
    features, budget = features / unit, min(max(C * unit * unit, TINY), LARGEST_C)
    votes = pairs.may + pairs.may_not
    wanted = pairs.may @ features
    # The first condition, of a partition that keeps all links, says that ξ is not negative.
    gaps, losses, alpha = np.zeros((1, wanted.size)), np.zeros(1), np.array([budget])
    weights, slack = np.zeros(wanted.size), 0.0
    path: list[float] = []
    while len(path) < max_sweeps:
        together = partition(votes * (features @ weights) + pairs.may_not - pairs.may)
        gap = wanted - (votes * together) @ features
        loss = float(pairs.may @ (1.0 - together) + pairs.may_not @ together)
        if loss - gap @ weights <= slack + tol:
            return Learned(weights / unit, np.array(path or [0.0]), True)
        gaps, losses = np.vstack([gaps, gap]), np.append(losses, loss)
        alpha = solve_dual(gaps, losses, np.append(alpha, 0.0), EXACT * tol)
        weights = alpha @ gaps
        slack = float((losses - gaps @ weights).max())
        path.append(0.5 * float((weights / unit) @ (weights / unit)) + C * slack)
    return Learned(weights / unit, np.array(path), False)


def solve_dual(gaps: Array, losses: Array, start: Array, tol: float) -> Array:
    """Solve ``max losses·α − ½ ‖α·gaps‖²`` over α ≥ 0 with the sum of the start.

    Two of the α change at a time, by what suits both best: the one with the largest slope, and the
    one of those above 0 that promises most (sequential minimal optimisation). After each such step
    all α above 0 go to their best together, and those that would fall below 0 stay there (an
    active set); without this the steps are very many where C is large.

    Parameters
    ----------
    gaps : array of shape (m, p)
        Ψ(links) − Ψ(y) of each condition.
    losses : array of shape (m,)
        Δ(y) of each.
    start : array of shape (m,)
        Where to start; its sum is kept.
    tol : float
        By how much slopes of α that are above 0 may differ from the largest.

    Returns
    -------
    array of shape (m,)
    """
    alpha, inner = start.copy(), gaps @ gaps.T
    norms = np.diag(inner)
    for _ in range(MAX_STEPS):
        slope = losses - inner @ alpha
        up, gives = int(slope.argmax()), np.flatnonzero(alpha)
        lead = slope[up] - slope[gives]
        if lead.max() <= tol:
            break
        bend = np.maximum(norms[up] + norms[gives] - 2.0 * inner[up, gives], TINY)
        step = np.minimum(lead / bend, alpha[gives])
        best = int((lead * step).argmax())
        if lead[best] * step[best] <= ROUNDING * start.sum():
            break
        alpha[gives[best]] -= step[best]
        alpha[up] += step[best]
        _go_to_best_of_active(alpha, inner, losses)
    return alpha


def _go_to_best_of_active(alpha: Array, inner: Array, losses: Array) -> None:
    """Move the α above 0 to the best point with their sum; those that meet 0 on the way stay."""
    while True:
        active = np.flatnonzero(alpha)
        k = active.size
        system = np.ones((k + 1, k + 1))
        system[:k, :k] = inner[np.ix_(active, active)]
        system[range(k), range(k)] += RIDGE * (np.trace(system[:k, :k]) + TINY)
        system[k, k] = 0.0
        best = np.linalg.solve(system, np.append(losses[active], alpha.sum()))[:k]
        now = alpha[active]
        falls = best <= 0.0
        if not falls.any():
            alpha[active] = best
            return
        way = now[falls] / (now[falls] - best[falls])  # until each of these meets 0
        alpha[active] = np.maximum(now + way.min() * (best - now), 0.0)
        alpha[active[np.flatnonzero(falls)[way.argmin()]]] = 0.0
