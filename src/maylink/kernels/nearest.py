"""Points without links: each goes to the nearest centre, in parallel; most need not be scored.

Three tricks, all exact:

* **Rough, then sure.** Rough scores (:mod:`maylink.kernels.tile`) are off by at most
  ``(s + 4) u (‖t‖ max‖θ‖ + max|c|)`` with u the unit of rounding (Higham 2002, §3.1). A choice that
  wins by several times as much is the choice of the exact scores; any other is made by them.
* **Bounds.** A point remembers an upper bound of its divergence from its own centre and a lower
  bound of those from the others. When centres move, a divergence changes by at most
  ``‖t‖ ‖Δθ‖ + |Δc|``; while the bounds stay apart, the choice stands (Hamerly 2010 has this for
  distances; written for scores it holds for every family).
* **Fast centres.** Mostly few centres move far, and one is enough to use up all bounds. So the
  lower bound is about the slow centres only, and the fast ones are scored in every sweep.

A block of points is scored in full when the choice of one of them is in doubt. A cluster that
opened during the sweep is open to the points that come later in the order only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maylink.kernels.bounds import renew, renew_fast, wear
from maylink.kernels.compile import compiled
from maylink.kernels.exact import score
from maylink.kernels.sums import scratch, transfer, transfer_dense
from maylink.kernels.tile import scores_of, two_nearest
from maylink.kernels.vector import VECTORS

OUTWARD = 2.4e-7  # more than the rounding to single precision
FAR = 1e37  # near the end of single precision


class SweepContext(NamedTuple):
    """What holds for all points of a sweep."""

    penalty: Any  # λ
    rank: Any  # (n_slots,) place of each slot in the order of visits
    opened: Any  # (room,) rank of the point that opened a cluster, −1 for those of before the sweep
    n_old: Any  # clusters of before the sweep
    n_clusters: Any
    decided: Any  # rank up to which openers have been dealt with


class Slack(NamedTuple):
    """Bounds, and how sure a choice must be; numbers in the precision of the points."""

    norm: Any  # (n_slots,) ‖t‖, rounded up
    cap: Any  # (n_unlinked slots,) λ − φ, rounded down
    upper: Any  # (n_unlinked slots,) D − φ from the own centre, or more; inf for openers
    lower: Any  # (n_unlinked slots,) D − φ from the other slow centres, and cap, or less
    drift: Any  # (K,) ‖Δθ‖ of each centre
    shift: Any  # (K,) |Δc|
    slow_drift: Any  # the greatest ‖Δθ‖ and |Δc| of the slow centres
    slow_shift: Any
    slope: Any  # a choice must win by slope · ‖t‖ + floor
    floor: Any


class Rough(NamedTuple):
    """The centres as the tiles of :mod:`maylink.kernels.tile` take them, fast ones first."""

    theta: Any
    c: Any
    n_fast: Any  # a multiple of the centres in a tile
    cluster_of: Any  # (K,) the cluster of each row
    row_of: Any  # (K,) the row of each cluster


@compiled()
def nearest_rough(points, centers, rough, cut, context, slack, n_points, first, last, labels, sums):
    """Give the points of the blocks first … last − 1 their labels, by rough scores where possible.

    Long because its scratch and the fields of its tuples are shared by all steps, and each call
    that hands them on costs more than the step on a few points.

    Parameters
    ----------
    points, centers, rough, cut : in
    context : in
    slack : in, and its bounds out
    n_points : in, int; slots from there on hold no points without links
    first, last : in, blocks
    labels : in and out, (n_slots,)
    sums : in and out, changed by the points that change their label

    Returns
    -------
    (int, int, int)
        How many labels changed, how many openers there are (points that want to open a cluster),
        how many blocks have been scored in full.
    """
    blocks, phi, theta, c = points.blocks, points.phi, rough.theta, rough.c
    norm, cap, upper, lower = slack.norm, slack.cap, slack.upper, slack.lower
    drift, shift, slope, floor = slack.drift, slack.shift, slack.slope, slack.floor
    high, low_sums, sizes = sums.high, sums.low, sums.size
    row_of, cluster_of, n_fast = rough.row_of, rough.cluster_of, rough.n_fast
    lanes, dtype = blocks.shape[2], blocks.dtype
    size = VECTORS * lanes
    is_new = context.n_clusters > context.n_old  # then no centre counts as fast
    newest = np.max(context.opened)
    bounded = slack.slow_drift < np.inf
    buffer = np.empty((c.size if is_new else 0, size), dtype)
    cost, mine, winner = np.empty(size, dtype), np.empty(size, np.int32), np.empty(size, np.int32)
    least, second, rest = np.empty(size, dtype), np.empty(size, dtype), np.empty(size, np.int32)
    near, rival, other = np.empty(size, dtype), np.empty(size, dtype), np.empty(size, dtype)
    group, doubtful = np.empty(VECTORS, np.int64), np.empty(2 * VECTORS, np.int64)
    row = np.empty(context.n_clusters)
    point = scratch(cut)
    n_doubtful, n_changed, n_openers, n_scored = 0, 0, 0, 0
    for start in range(first, last, VECTORS):
        n_blocks = min(VECTORS, last - start)
        low = start * lanes
        for q in range(0 if bounded else n_blocks):
            doubtful[n_doubtful] = start + q
            n_doubtful += 1
        if bounded:
            for at in range(n_blocks * lanes):
                k = labels[low + at]
                cost[at] = norm[low + at] * drift[k] + shift[k]
        if bounded and n_fast > 0:  # score the fast centres
            for q in range(VECTORS):
                group[q] = min(start + q, last - 1)
            two_nearest(blocks, group, theta, c, 0, n_fast, least, second, winner)
            for at in range(n_blocks * lanes):
                mine[at] = row_of[labels[low + at]]
        for q in range(n_blocks if bounded else 0):
            begin = low + q * lanes
            unsure = wear(
                norm, upper, lower, cost, begin, q * lanes, slack.slow_drift, slack.slow_shift,
                slope, floor,
            )  # fmt: skip
            if n_fast > 0:
                verdict = renew_fast(
                    norm, upper, lower, least, second, winner, mine, begin, q * lanes, n_fast,
                    slope, floor,
                )  # fmt: skip
                unsure, moved = verdict & 0xFFFFFFFF, verdict >> 32
                if unsure == 0 and moved != 0:
                    for lane in range(lanes):
                        slot = begin + lane
                        if (moved >> lane) & 1 and slot < n_points:
                            k = cluster_of[winner[q * lanes + lane]]
                            give(blocks, phi, cut, slot, k, labels, high, low_sums, sizes, point)
                            n_changed += 1
            if unsure != 0:
                doubtful[n_doubtful] = start + q
                n_doubtful += 1
        while n_doubtful >= VECTORS or (n_doubtful > 0 and start + n_blocks == last):
            for q in range(VECTORS):
                group[q] = doubtful[q if q < n_doubtful else 0]
            n_scored += min(VECTORS, n_doubtful)
            if is_new and not all_later(context.rank, newest, group, lanes):
                scores_of(blocks, group, theta, c, buffer)
                two_least(buffer, context.n_old, near, rival, winner)
                open_to(buffer, context, group, lanes, near, rival, other, winner)
            else:
                two_nearest(blocks, group, theta, c, n_fast, c.size, near, rival, winner)
                for at in range(size):
                    other[at] = rival[at]
                if n_fast > 0:
                    two_nearest(blocks, group, theta, c, 0, n_fast, least, second, rest)
                    merge(least, second, rest, near, rival, other, winner)
                    for at in range(size):
                        winner[at] = cluster_of[winner[at]]
            for q in range(min(VECTORS, n_doubtful)):
                begin = group[q] * lanes
                verdict = renew(
                    norm, upper, lower, near, rival, other, cap, labels, winner, begin, q * lanes,
                    slope, floor,
                )  # fmt: skip
                unsure, moved = verdict & 0xFFFFFFFF, verdict >> 32
                if unsure | moved == 0:
                    continue
                for lane in range(lanes):
                    slot, at = begin + lane, q * lanes + lane
                    if not ((unsure | moved) >> lane) & 1 or slot >= n_points:
                        continue
                    k = winner[at]
                    if (unsure >> lane) & 1:
                        k = decide(points, centers, context, slack, slot, near[at], row)
                    if k < 0:
                        n_openers += context.rank[slot] > context.decided
                    elif labels[slot] != k:
                        give(blocks, phi, cut, slot, k, labels, high, low_sums, sizes, point)
                        n_changed += 1
            for q in range(VECTORS, n_doubtful):
                doubtful[q - VECTORS] = doubtful[q]
            n_doubtful = max(n_doubtful - VECTORS, 0)
    return n_changed, n_openers, n_scored


@compiled()
def nearest_exact(points, centers, cut, context, slack, first, last, labels, sums):
    """As :func:`nearest_rough` for the slots first … last − 1, by exact scores alone."""
    norm, upper, lower = slack.norm, slack.upper, slack.lower
    drift, shift = slack.drift, slack.shift
    row = np.empty(context.n_clusters)
    point = scratch(cut)
    n_changed, n_openers = 0, 0
    for slot in range(first, last):
        k = labels[slot]
        upper[slot] = up(upper[slot] + norm[slot] * drift[k] + shift[k])
        reach = norm[slot] * slack.slow_drift + slack.slow_shift
        lower[slot] = down(lower[slot] - reach)
        if lower[slot] - upper[slot] > slack.slope * norm[slot] + slack.floor:
            continue
        k = settle(points, centers, context, slack, slot, row)
        if k < 0:
            n_openers += context.rank[slot] > context.decided
        elif labels[slot] != k:
            transfer(points, cut, slot, np.int64(labels[slot]), np.int64(k), sums, point)
            labels[slot] = k
            n_changed += 1
    return n_changed, n_openers, 0


@compiled(inline="always")
def give(blocks, phi, cut, slot, k, labels, high, low, size, point):
    """Give a dense point its new label, and the sums along with it."""
    old, new = np.int64(labels[slot]), np.int64(k)
    transfer_dense(blocks, phi, cut, slot, old, new, high, low, size, point)
    labels[slot] = k


@compiled(inline="always")
def all_later(rank, newest, group, lanes):
    """Whether the turns of all points of a group come after the last cluster opened."""
    first = rank[group[0] * lanes]
    for q in range(VECTORS):
        for lane in range(lanes):
            first = min(first, rank[group[q] * lanes + lane])
    return first > newest


@compiled(inline="always")
def merge(least, second, rest, near, rival, other, winner):
    """Let fast centres (least, second, rest) compete with slow ones (near, rival, winner)."""
    for at in range(near.size):
        if least[at] < near[at]:
            other[at] = near[at]
            rival[at] = min(second[at], near[at])
            near[at] = least[at]
            winner[at] = rest[at]
        else:
            rival[at] = min(rival[at], least[at])


@compiled(inline="always")
def open_to(buffer, context, group, lanes, near, rival, other, winner):
    """Let clusters that opened in this sweep compete for the points that come later."""
    for at in range(near.size):
        slot = group[at // lanes] * lanes + at % lanes
        other[at] = rival[at]
        for new in range(context.n_old, context.n_clusters):
            value = buffer[new, at]
            if context.opened[new] > context.rank[slot]:
                other[at] = min(other[at], value)
            elif value < near[at]:
                other[at] = min(other[at], near[at])
                rival[at] = near[at]
                near[at] = value
                winner[at] = new
            else:
                other[at] = min(other[at], value)
                rival[at] = min(rival[at], value)


@compiled(inline="always")
def two_least(buffer, n_rows, least, second, winner):
    """Find the least and the second least of each column, and the first row with the least."""
    for at in range(least.size):
        least[at] = np.inf
        second[at] = np.inf
        winner[at] = 0
    for k in range(n_rows):
        for at in range(least.size):
            value, old = buffer[k, at], least[at]
            nearer = value < old
            winner[at] = np.int32(k) if nearer else winner[at]
            least[at] = value if nearer else old
            loser = old if nearer else value
            second[at] = loser if loser < second[at] else second[at]


@compiled(allocates=False, inner=True)
def decide(points, centers, context, slack, slot, near, row):
    """Return the cluster of a point by exact scores, −1 if all centres are λ away or more."""
    excess = points.phi[slot] + near - context.penalty
    if excess > slack.slope * slack.norm[slot] + slack.floor:
        slack.upper[slot] = np.inf
        return np.int32(-1)
    return settle(points, centers, context, slack, slot, row)


@compiled(allocates=False, inner=True)
def settle(points, centers, context, slack, slot, row):
    """Return the nearest of the centres open to a point by exact scores, −1 if all are too far."""
    score(points, centers, slot, context.n_clusters, row)
    least = np.inf
    nearest = -1
    for k in range(context.n_clusters):
        if row[k] < least and context.opened[k] < context.rank[slot]:
            least = row[k]
            nearest = k
    if not least < context.penalty:
        slack.upper[slot] = np.inf
        return np.int32(-1)
    second = np.inf
    for k in range(context.n_clusters):
        if k != nearest and row[k] < second:
            second = row[k]
    bound = min(second - points.phi[slot], np.float64(slack.cap[slot]))
    slack.upper[slot] = min(up(least - points.phi[slot]), FAR)  # infinity means something else
    slack.lower[slot] = down(bound) if slack.upper[slot] < FAR else -np.inf
    return np.int32(nearest)


@compiled(inline="always")
def up(value):
    """Move a bound up by more than its rounding."""
    return value + OUTWARD * abs(value)


@compiled(inline="always")
def down(value):
    """Move a bound down by more than its rounding."""
    return value - OUTWARD * abs(value)


@compiled()
def openers_in_order(order, position, upper, n_points, start, most):
    """Return the slots of the first openers from place ``start`` of the order on."""
    slots = np.empty(most, np.int32)
    size = 0
    for at in range(start, order.size):
        slot = position[order[at]]
        if slot < n_points and upper[slot] == np.inf:
            slots[size] = slot
            size += 1
            if size == most:
                break
    return slots[:size]
