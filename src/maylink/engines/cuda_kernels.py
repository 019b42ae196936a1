"""Triton kernels of the GPU engine: scores, nearest centres, sums; arrays in, arrays out.

A score is written as ``g = ⟨t, θ⟩ − c``, so that the nearest centre has the greatest g and the
divergence is ``φ − g``. Every kernel gives the same bits in every run: what threads add in no fixed
order are whole numbers, or parts of points that are cut so that no addition rounds
(:mod:`maylink.kernels.sums`).
"""

from __future__ import annotations

import triton
import triton.language as tl

FAR = tl.constexpr(-1e37)  # below every score
OPENER = tl.constexpr(-1)


@triton.jit
def _append(rows, chosen, rows_of, counter):
    """Write the chosen rows behind those that are in a list; what is made of it knows no order."""
    many = chosen.to(tl.int32)
    size = tl.sum(many, axis=0)
    if size > 0:
        start = tl.atomic_add(counter, size, sem="relaxed")
        tl.store(rows_of + start + tl.cumsum(many, axis=0) - 1, rows, mask=chosen)


@triton.jit
def wear(
    gap,
    norm,
    linked,
    before,
    after,
    drift,
    shift,
    most_drift,
    most_shift,
    rows_of,
    counter,
    n,
    ROWS: tl.constexpr,
):
    """Take from what choices were won by what the moves of centres can have cost; list the rest.

    Parameters
    ----------
    gap : in and out, (n,) by how much each choice was won
    norm, linked, before : in, (n,)
    after : out, (n,) a copy of ``before``
    drift, shift : in, (K,) ‖Δθ‖ and |Δc| of each centre, and the greatest of all
    rows_of, counter : out, the points that must choose again
    """
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    there = rows < n
    label = tl.load(before + rows, mask=there, other=-1)
    known = there & (label >= 0)
    own = tl.load(drift + label, mask=known, other=0.0) + most_drift
    cost = tl.load(norm + rows, mask=there, other=0.0) * own
    cost += tl.load(shift + label, mask=known, other=0.0) + most_shift
    won = tl.load(gap + rows, mask=there, other=0.0)
    left = won - tl.abs(won) * 2.4e-7 - cost * 1.00001
    tl.store(gap + rows, left, mask=there)
    tl.store(after + rows, label, mask=there)
    free = tl.load(linked + rows, mask=there, other=1) == 0
    _append(rows, free & ~(known & (left > 0.0)), rows_of, counter)


@triton.jit
def nearest(
    points,
    theta,
    minus_c,
    phi,
    norm,
    linked,
    before,
    after,
    gap,
    rank,
    opened,
    rows_of,
    size_of,
    doubts,
    movers,
    openers,
    counts,
    doubt_counter,
    n,
    n_padded,
    penalty,
    slope,
    floor,
    scale,
    unit,
    STRIDE: tl.constexpr,
    WIDE: tl.constexpr,
    REST: tl.constexpr,
    ROWS: tl.constexpr,
    CENTERS: tl.constexpr,
    MASK: tl.constexpr,
    LISTED: tl.constexpr,
    CAST: tl.constexpr,
    SURE: tl.constexpr,
    NEW: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Give points without links the number of their nearest centre.

    Long because one look at a tile of points does all: scores, choice, bounds, lists.

    Parameters
    ----------
    points : in, (n, STRIDE)
    theta, minus_c : in, (n_padded, WIDE + REST) and (n_padded,), filled up by centres far away, in
        units of ``unit``
    phi, norm, linked : in, (n,) φ, ‖t‖, and whether a point has links; these keep their labels
    before, after : in and out, (n,) labels
    gap : out, (n,) by how much each choice is won, at the least
    rank, opened : in, as in :class:`maylink.kernels.nearest.SweepContext`
    rows_of, size_of : in, which points and how many, where LISTED
    doubts, movers, openers : out, lists of points: rounding might decide; the label has changed, or
        a cluster opens; all centres are λ away
    counts : in and out, their sizes, that of the doubts at ``doubt_counter``
    slope, floor : in, a choice is sure that wins by slope · ‖t‖ + floor
    scale : in, by what points are multiplied before they are made shorter, where CAST
    MASK : the digits of a score that hold the number of its group of centres
    """
    size = n
    if LISTED:
        size = tl.load(size_of)
    wide = tl.arange(0, WIDE)
    column = tl.arange(0, CENTERS)
    for tile in range(tl.program_id(0), tl.cdiv(size, ROWS), tl.num_programs(0)):
        rows = tile * ROWS + tl.arange(0, ROWS)
        there = rows < size
        if LISTED:
            rows = tl.load(rows_of + rows, mask=there, other=0)
        at = rows.to(tl.int64)[:, None] * STRIDE
        t = tl.load(
            points + at + wide[None, :], mask=there[:, None] & (wide < STRIDE)[None, :], other=0.0
        )
        if CAST:
            t = (t * scale).to(tl.float16)
        if REST > 0:
            rest = WIDE + tl.arange(0, REST)
            u = tl.load(
                points + at + rest[None, :],
                mask=there[:, None] & (rest < STRIDE)[None, :],
                other=0.0,
            )
            if CAST:
                u = (u * scale).to(tl.float16)
        if NEW:
            turn = tl.load(rank + rows, mask=there, other=0)
        best = tl.full([ROWS, CENTERS], FAR, tl.float32)
        second = tl.full([ROWS, CENTERS], FAR, tl.float32)
        for start in range(0, n_padded, CENTERS):
            k = start + column
            begin = theta + k[None, :] * (WIDE + REST)
            g = tl.broadcast_to(tl.load(minus_c + k)[None, :], [ROWS, CENTERS])
            g = tl.dot(t, tl.load(begin + wide[:, None]), g, input_precision=PRECISION)
            if REST > 0:
                g = tl.dot(u, tl.load(begin + rest[:, None]), g, input_precision=PRECISION)
            if NEW:
                g = tl.where(tl.load(opened + k)[None, :] < turn[:, None], g, FAR)
            bits = (g.to(tl.int32, bitcast=True) & ~MASK) | (start // CENTERS)
            g = bits.to(tl.float32, bitcast=True)
            second = tl.maximum(second, tl.minimum(g, best))
            best = tl.maximum(g, best)
        top = tl.max(best, axis=1)
        number = (best.to(tl.int32, bitcast=True) & MASK) * CENTERS + column[None, :]
        winner = tl.min(tl.where(best == top[:, None], number, 2147483647), axis=1)
        runner = tl.max(tl.where(number == winner[:, None], second, best), axis=1)
        away = tl.load(phi + rows, mask=there, other=0.0) - top * unit - penalty
        won = tl.minimum((top - runner) * unit, -away)
        label = tl.where(away < 0.0, winner, OPENER)
        free = there & (tl.load(linked + rows, mask=there, other=1) == 0)
        done = free
        if SURE:
            room = slope * tl.load(norm + rows, mask=there, other=0.0) + floor
            done = free & ((away > room) | (won > room))
            _append(rows, free & ~done, doubts, counts + doubt_counter)
            won -= 1.5 * room
        if NEW:
            won = tl.full([ROWS], FAR, tl.float32)  # other centres are open in the next sweep
        tl.store(gap + rows, won, mask=free)
        tl.store(after + rows, label, mask=done)
        old = tl.load(before + rows, mask=there, other=0)
        if not LISTED:
            tl.store(after + rows, old, mask=there & ~free)
        _append(rows, done & ((label != old) | (label == OPENER)), movers, counts + 1)
        _append(rows, done & (label == OPENER), openers, counts + 2)


@triton.jit
def exact(
    points,
    theta,
    c,
    phi,
    rank,
    opened,
    rows_of,
    size_of,
    least_of,
    before,
    after,
    gap,
    movers,
    openers,
    counts,
    n,
    n_clusters,
    penalty,
    STRIDE: tl.constexpr,
    COLUMNS: tl.constexpr,
    ROWS: tl.constexpr,
    CENTERS: tl.constexpr,
    NEW: tl.constexpr,
    LISTED: tl.constexpr,
):
    """Find the nearest centre by scores in double precision, feature by feature, nothing fused.

    The scores are those of :func:`maylink.kernels.exact.score`, to the last bit.

    Parameters
    ----------
    points : in, (n, STRIDE)
    theta, c : in, (COLUMNS, K) and (K,)
    phi : in, (n,)
    rows_of, size_of : in, which points, whose labels are decided where LISTED; else all
    least_of : out, (n,) the least divergence, where not LISTED
    before, after, gap, movers, openers, counts : as in :func:`nearest`, where LISTED
    penalty : in, (1,) λ
    """
    size = n
    if LISTED:
        size = tl.load(size_of)
    limit = tl.load(penalty)
    for tile in range(tl.program_id(0), tl.cdiv(size, ROWS), tl.num_programs(0)):
        rows = tile * ROWS + tl.arange(0, ROWS)
        there = rows < size
        if LISTED:
            rows = tl.load(rows_of + rows, mask=there, other=0)
        at = rows.to(tl.int64) * STRIDE
        base = tl.load(phi + rows, mask=there, other=0.0)
        least = tl.full([ROWS], float("inf"), tl.float64)
        second = tl.full([ROWS], float("inf"), tl.float64)
        winner = tl.full([ROWS], OPENER, tl.int32)
        if NEW:
            turn = tl.load(rank + rows, mask=there, other=0)
        for start in range(0, n_clusters, CENTERS):
            k = start + tl.arange(0, CENTERS)
            used = k < n_clusters
            dot = tl.zeros([ROWS, CENTERS], tl.float64)
            for j in range(COLUMNS):
                t = tl.load(points + at + j, mask=there, other=0.0).to(tl.float64)
                slope = tl.load(theta + j * n_clusters + k, mask=used, other=0.0)
                dot += t[:, None] * slope[None, :]
            score = (base[:, None] + tl.load(c + k, mask=used, other=0.0)[None, :]) - dot
            score = tl.where(score > 0.0, score, 0.0)
            score = tl.where(used[None, :], score, float("inf"))
            if NEW:
                since = tl.load(opened + k, mask=used, other=0)
                score = tl.where(since[None, :] < turn[:, None], score, float("inf"))
            here = tl.min(score, axis=1)
            first = tl.min(tl.where(score == here[:, None], k[None, :], 2147483647), axis=1)
            others = tl.where(first[:, None] == k[None, :], float("inf"), score)
            second = tl.minimum(tl.minimum(second, tl.min(others, axis=1)), tl.maximum(here, least))
            winner = tl.where(here < least, first, winner)
            least = tl.minimum(here, least)
        if LISTED:
            winner = tl.where(least < limit, winner, OPENER)
            won = (tl.minimum(second, limit) - least).to(tl.float32)
            won -= tl.abs(won) * 1e-5
            if NEW:
                won = tl.full([ROWS], FAR, tl.float32)
            tl.store(gap + rows, won, mask=there)
            tl.store(after + rows, winner, mask=there)
            old = tl.load(before + rows, mask=there, other=0)
            _append(rows, there & ((winner != old) | (winner == OPENER)), movers, counts + 1)
            _append(rows, there & (winner == OPENER), openers, counts + 2)
        else:
            tl.store(least_of + rows, least, mask=there)


@triton.jit
def _cut(value, cutter, second_cutter):
    """Cut numbers into two parts, each a multiple of a power of two."""
    high = (value + cutter) - cutter
    return high, ((value - high) + second_cutter) - second_cutter


@triton.jit
def transfer(
    points,
    phi,
    cut,
    rows_of,
    size_of,
    most,
    before,
    after,
    high,
    low,
    sizes,
    STRIDE: tl.constexpr,
    COLUMNS: tl.constexpr,
    BLOCK: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Take points out of the sums of their old clusters, into those of the new ones.

    Additions of cut points do not round, so that their order does not matter.

    Parameters
    ----------
    points, phi : in, (n, STRIDE) and (n,)
    cut : in, (2, COLUMNS + 1)
    rows_of, size_of : in, which points and how many; nothing is done if these are more than most
    before, after : in, (n,) labels, −1 for none
    high, low : in and out, (K, COLUMNS + 1)
    sizes : in and out, (K,)
    """
    size = tl.load(size_of)
    size = tl.where(size > most, 0, size)
    for tile in range(tl.program_id(0), tl.cdiv(size, ROWS), tl.num_programs(0)):
        block = tile * ROWS + tl.arange(0, ROWS)
        there = block < size
        rows = tl.load(rows_of + block, mask=there, other=0)
        old = tl.load(before + rows, mask=there, other=-1)
        new = tl.load(after + rows, mask=there, other=-1)
        leaves, enters = there & (old >= 0), there & (new >= 0)
        tl.atomic_add(sizes + old, -1, mask=leaves, sem="relaxed")
        tl.atomic_add(sizes + new, 1, mask=enters, sem="relaxed")
        at = rows.to(tl.int64)[:, None] * STRIDE
        for start in range(0, COLUMNS + 1, BLOCK):
            j = start + tl.arange(0, BLOCK)
            real = there[:, None] & (j < COLUMNS)[None, :]
            t = tl.load(points + at + j[None, :], mask=real, other=0.0).to(tl.float64)
            last = there[:, None] & (j == COLUMNS)[None, :]
            t += tl.load(phi + rows[:, None] + 0 * j[None, :], mask=last, other=0.0)
            exists = j <= COLUMNS
            cutter = tl.load(cut + j, mask=exists, other=1.0)[None, :]
            second = tl.load(cut + COLUMNS + 1 + j, mask=exists, other=1.0)[None, :]
            first_part, second_part = _cut(t, cutter, second)
            out = old.to(tl.int64)[:, None] * (COLUMNS + 1) + j[None, :]
            into = new.to(tl.int64)[:, None] * (COLUMNS + 1) + j[None, :]
            goes = leaves[:, None] & exists[None, :]
            comes = enters[:, None] & exists[None, :]
            tl.atomic_add(high + out, -first_part, mask=goes, sem="relaxed")
            tl.atomic_add(low + out, -second_part, mask=goes, sem="relaxed")
            tl.atomic_add(high + into, first_part, mask=comes, sem="relaxed")
            tl.atomic_add(low + into, second_part, mask=comes, sem="relaxed")


@triton.jit
def add_sorted(
    points,
    phi,
    cut,
    rows_of,
    label_of,
    size,
    high,
    low,
    STRIDE: tl.constexpr,
    COLUMNS: tl.constexpr,
    BLOCK: tl.constexpr,
    ROWS: tl.constexpr,
    STEPS: tl.constexpr,
):
    """Add points to the sums of their clusters, points of one cluster one after the other.

    Parameters
    ----------
    points, phi, cut : in, as in :func:`transfer`
    rows_of, label_of : in, (size,) points and their clusters, in order of the clusters
    high, low : in and out, (K, COLUMNS + 1)
    """
    begin = tl.program_id(0) * (ROWS * STEPS)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    exists = j <= COLUMNS
    cutter = tl.load(cut + j, mask=exists, other=1.0)[None, :]
    second = tl.load(cut + COLUMNS + 1 + j, mask=exists, other=1.0)[None, :]
    high_here = tl.zeros([BLOCK], tl.float64)
    low_here = tl.zeros([BLOCK], tl.float64)
    cluster = tl.load(label_of + tl.minimum(begin, size - 1))
    for step in range(STEPS):
        place = begin + step * ROWS + tl.arange(0, ROWS)
        there = place < size
        rows = tl.load(rows_of + place, mask=there, other=0)
        at = rows.to(tl.int64)[:, None] * STRIDE + j[None, :]
        t = tl.load(points + at, mask=there[:, None] & (j < COLUMNS)[None, :], other=0.0)
        last = there[:, None] & (j == COLUMNS)[None, :]
        t = t.to(tl.float64) + tl.load(phi + rows[:, None] + 0 * j[None, :], mask=last, other=0.0)
        first_part, second_part = _cut(t, cutter, second)
        label = tl.load(label_of + place, mask=there, other=-1)
        until = tl.max(label, axis=0)  # labels rise
        while cluster < until:
            mine = (label == cluster)[:, None]
            high_here += tl.sum(tl.where(mine, first_part, 0.0), axis=0)
            low_here += tl.sum(tl.where(mine, second_part, 0.0), axis=0)
            into = cluster.to(tl.int64) * (COLUMNS + 1) + j
            tl.atomic_add(high + into, high_here, mask=exists, sem="relaxed")
            tl.atomic_add(low + into, low_here, mask=exists, sem="relaxed")
            high_here = tl.zeros([BLOCK], tl.float64)
            low_here = tl.zeros([BLOCK], tl.float64)
            cluster = tl.min(tl.where(label > cluster, label, 2147483647), axis=0)
        mine = (label == cluster)[:, None]
        high_here += tl.sum(tl.where(mine, first_part, 0.0), axis=0)
        low_here += tl.sum(tl.where(mine, second_part, 0.0), axis=0)
    into = cluster.to(tl.int64) * (COLUMNS + 1) + j
    tl.atomic_add(high + into, high_here, mask=exists, sem="relaxed")
    tl.atomic_add(low + into, low_here, mask=exists, sem="relaxed")
