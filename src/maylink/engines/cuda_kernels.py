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
DOUBT = tl.constexpr(-2)


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
    rank,
    opened,
    counts,
    n,
    n_padded,
    penalty,
    slope,
    floor,
    STRIDE: tl.constexpr,
    WIDE: tl.constexpr,
    REST: tl.constexpr,
    ROWS: tl.constexpr,
    CENTERS: tl.constexpr,
    SURE: tl.constexpr,
    NEW: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Give every point without links the number of its nearest centre.

    Parameters
    ----------
    points : in, (n, STRIDE)
    theta, minus_c : in, (n_padded, WIDE + REST) and (n_padded,), filled up by centres far away
    phi, norm, linked : in, (n,) φ, ‖t‖, and whether a point has links; these keep their labels
    before, after : in and out, (n,) labels; OPENER where all centres are λ away, DOUBT where
        rounding might decide
    rank, opened : in, as in :class:`maylink.kernels.nearest.SweepContext`
    counts : out, (tiles, 4) labels changed, openers, doubts
    slope, floor : in, a choice is sure that wins by slope · ‖t‖ + floor
    """
    tile = tl.program_id(0)
    rows = tile * ROWS + tl.arange(0, ROWS)
    there = rows < n
    at = rows.to(tl.int64)[:, None] * STRIDE
    wide = tl.arange(0, WIDE)
    t = tl.load(
        points + at + wide[None, :], mask=there[:, None] & (wide < STRIDE)[None, :], other=0.0
    )
    if REST > 0:
        rest = WIDE + tl.arange(0, REST)
        u = tl.load(
            points + at + rest[None, :], mask=there[:, None] & (rest < STRIDE)[None, :], other=0.0
        )
    best = tl.full([ROWS, CENTERS], FAR, tl.float32)
    second = tl.full([ROWS, CENTERS], FAR, tl.float32)
    first_of = tl.zeros([ROWS, CENTERS], tl.int32)
    if NEW:
        turn = tl.load(rank + rows, mask=there, other=0)
    for start in range(0, n_padded, CENTERS):
        k = start + tl.arange(0, CENTERS)
        begin = theta + k[None, :] * (WIDE + REST)
        g = tl.broadcast_to(tl.load(minus_c + k)[None, :], [ROWS, CENTERS])
        g = tl.dot(t, tl.load(begin + wide[:, None]), g, input_precision=PRECISION)
        if REST > 0:
            g = tl.dot(u, tl.load(begin + rest[:, None]), g, input_precision=PRECISION)
        if NEW:
            g = tl.where(tl.load(opened + k)[None, :] < turn[:, None], g, FAR)
        if SURE:
            second = tl.maximum(second, tl.minimum(g, best))
        first_of = tl.where(g > best, start, first_of)
        best = tl.maximum(g, best)
    top = tl.max(best, axis=1)
    number = first_of + tl.arange(0, CENTERS)[None, :]
    winner = tl.min(tl.where(best == top[:, None], number, 2147483647), axis=1)
    away = tl.load(phi + rows, mask=there, other=0.0) - top - penalty
    label = tl.where(away < 0.0, winner, OPENER)
    if SURE:
        others = tl.where(number == winner[:, None], second, best)
        runner = tl.max(others, axis=1)
        room = slope * tl.load(norm + rows, mask=there, other=0.0) + floor
        is_sure = (away > room) | ((top - runner > room) & (away < -room))
        label = tl.where(is_sure, label, DOUBT)
    old = tl.load(before + rows, mask=there, other=0)
    fixed = (tl.load(linked + rows, mask=there, other=1) != 0) | (rows >= n)
    label = tl.where(fixed, old, label)
    tl.store(after + rows, label, mask=there)
    into = counts + tile * 4
    tl.store(into, tl.sum((label != old).to(tl.int32), axis=0))
    tl.store(into + 1, tl.sum(((label == OPENER) & ~fixed).to(tl.int32), axis=0))
    tl.store(into + 2, tl.sum(((label == DOUBT) & ~fixed).to(tl.int32), axis=0))


@triton.jit
def listed(
    before,
    after,
    linked,
    offsets,
    out,
    n,
    WANTED: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Write the rows whose label is WANTED, or has changed where WANTED is 0, one after the other.

    ``offsets`` (tiles,) says where those of each tile begin.
    """
    tile = tl.program_id(0)
    rows = tile * ROWS + tl.arange(0, ROWS)
    there = rows < n
    label = tl.load(after + rows, mask=there, other=0)
    if WANTED == 0:
        chosen = label != tl.load(before + rows, mask=there, other=0)
    else:
        chosen = label == WANTED
    chosen = chosen & there & (tl.load(linked + rows, mask=there, other=1) == 0)
    place = tl.load(offsets + tile) + tl.cumsum(chosen.to(tl.int32), axis=0) - 1
    tl.store(out + place, rows, mask=chosen)


@triton.jit
def exact(
    points,
    theta,
    c,
    phi,
    rank,
    opened,
    rows_of,
    size,
    least_of,
    after,
    n_clusters,
    room,
    penalty,
    STRIDE: tl.constexpr,
    COLUMNS: tl.constexpr,
    ROWS: tl.constexpr,
    CENTERS: tl.constexpr,
    NEW: tl.constexpr,
    ALL: tl.constexpr,
):
    """Find the nearest centre by scores in double precision, feature by feature, nothing fused.

    The scores are those of :func:`maylink.kernels.exact.score`, to the last bit.

    Parameters
    ----------
    points : in, (n, STRIDE)
    theta : in, (COLUMNS, room)
    c, phi : in, (room,) and (n,)
    rows_of : in, (size,) which points; not read where ALL says all
    least_of : out, (size,) the least divergence
    after : out, (n,) labels, OPENER where the least is λ or more
    penalty : in, (1,) λ
    """
    block = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    there = block < size
    rows = block if ALL else tl.load(rows_of + block, mask=there, other=0)
    at = rows.to(tl.int64) * STRIDE
    base = tl.load(phi + rows, mask=there, other=0.0)
    least = tl.full([ROWS], float("inf"), tl.float64)
    winner = tl.full([ROWS], OPENER, tl.int32)
    if NEW:
        turn = tl.load(rank + rows, mask=there, other=0)
    for start in range(0, n_clusters, CENTERS):
        k = start + tl.arange(0, CENTERS)
        used = k < n_clusters
        dot = tl.zeros([ROWS, CENTERS], tl.float64)
        for j in range(COLUMNS):
            t = tl.load(points + at + j, mask=there, other=0.0).to(tl.float64)
            slope = tl.load(theta + j * room + k, mask=used, other=0.0)
            dot += t[:, None] * slope[None, :]
        score = (base[:, None] + tl.load(c + k, mask=used, other=0.0)[None, :]) - dot
        score = tl.where(score > 0.0, score, 0.0)
        score = tl.where(used[None, :], score, float("inf"))
        if NEW:
            since = tl.load(opened + k, mask=used, other=0)
            score = tl.where(since[None, :] < turn[:, None], score, float("inf"))
        here = tl.min(score, axis=1)
        first = tl.min(tl.where(score == here[:, None], k[None, :], 2147483647), axis=1)
        winner = tl.where(here < least, first, winner)
        least = tl.minimum(here, least)
    winner = tl.where(least < tl.load(penalty), winner, OPENER)
    tl.store(least_of + block, least, mask=there)
    tl.store(after + rows, winner, mask=there)


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
    size,
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

    The sums of cut points are exact, so that their order does not matter.

    Parameters
    ----------
    points, phi : in, (n, STRIDE) and (n,)
    cut : in, (2, COLUMNS + 1)
    rows_of : in, (size,) which points
    before, after : in, (n,) labels, −1 for none
    high, low : in and out, (K, COLUMNS + 1)
    sizes : in and out, (K,)
    """
    block = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
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
