"""Sums of the points of each cluster, cut so that no addition rounds."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def add_sorted(
    points,
    phi,
    cut,
    rows_of,
    label_of,
    size,
    sign,
    high,
    low,
    STRIDE: tl.constexpr,
    COLUMNS: tl.constexpr,
    BLOCK: tl.constexpr,
    ROWS: tl.constexpr,
    STEPS: tl.constexpr,
):
    """Add points to the sums of their clusters, points of one cluster one after the other.

    Additions of cut points do not round, so that their order does not matter.

    Parameters
    ----------
    points, phi : in, (n, STRIDE) and (n,)
    cut : in, (2, COLUMNS + 1)
    rows_of, label_of : in, (size,) points and their clusters, in order of the clusters
    sign : in, 1.0 to add, −1.0 to take away
    high, low : in and out, (K, COLUMNS + 1)
    """
    begin = tl.program_id(0) * (ROWS * STEPS)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    exists = j <= COLUMNS
    cutter = tl.load(cut + j, mask=exists, other=1.0)[None, :]
    second = tl.load(cut + COLUMNS + 1 + j, mask=exists, other=1.0)[None, :]
    high_here = tl.zeros([ROWS, BLOCK], tl.float64)
    low_here = tl.zeros([ROWS, BLOCK], tl.float64)
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
            high_here += tl.where(mine, first_part, 0.0)
            low_here += tl.where(mine, second_part, 0.0)
            _add_row(high_here, high, cluster, j, sign, COLUMNS)
            _add_row(low_here, low, cluster, j, sign, COLUMNS)
            high_here = tl.zeros([ROWS, BLOCK], tl.float64)
            low_here = tl.zeros([ROWS, BLOCK], tl.float64)
            cluster = tl.min(tl.where(label > cluster, label, 2147483647), axis=0)
        mine = (label == cluster)[:, None]
        high_here += tl.where(mine, first_part, 0.0)
        low_here += tl.where(mine, second_part, 0.0)
    _add_row(high_here, high, cluster, j, sign, COLUMNS)
    _add_row(low_here, low, cluster, j, sign, COLUMNS)


@triton.jit
def _cut(value, cutter, second_cutter):
    """Cut numbers into two parts, each a multiple of a power of two."""
    high = (value + cutter) - cutter
    return high, ((value - high) + second_cutter) - second_cutter


@triton.jit
def _add_row(parts, sums, cluster, j, sign, COLUMNS: tl.constexpr):
    """Add up rows and add the result to the sums of a cluster."""
    into = sums + cluster.to(tl.int64) * (COLUMNS + 1) + j
    tl.atomic_add(into, sign * tl.sum(parts, axis=0), mask=j <= COLUMNS, sem="relaxed")
