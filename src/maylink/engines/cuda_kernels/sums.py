"""Sums of the points of each cluster, cut so that no addition rounds."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def add_pieces(
    points,
    phi,
    cut,
    rows_of,
    piece_cluster,
    piece_first,
    first_of,
    sign,
    high,
    low,
    n_clusters,
    STRIDE: tl.constexpr,
    COLUMNS: tl.constexpr,
    BLOCK: tl.constexpr,
    ROWS: tl.constexpr,
    SIZE: tl.constexpr,
):
    """Add points to the sums of their clusters; a program adds up a piece of one cluster.

    Additions of cut points do not round, so that their order does not matter.

    Parameters
    ----------
    points, phi : in, (n, STRIDE) and (n,)
    cut : in, (2, COLUMNS + 1)
    rows_of : in, points in order of their clusters
    piece_cluster, piece_first : in, (pieces,) the cluster of each piece, or K for none, and where
        its points begin
    first_of : in, (K + 1,) where the points of each cluster begin
    sign : in, 1.0 to add, −1.0 to take away
    high, low : in and out, (K, COLUMNS + 1)
    SIZE : the most points of a piece
    """
    piece = tl.program_id(0)
    cluster = tl.load(piece_cluster + piece)
    if cluster < n_clusters:
        begin = tl.load(piece_first + piece)
        end = tl.minimum(begin + SIZE, tl.load(first_of + cluster + 1))
        j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        cutter = tl.load(cut + j, mask=j < COLUMNS, other=1.0)[None, :]
        second = tl.load(cut + COLUMNS + 1 + j, mask=j < COLUMNS, other=1.0)[None, :]
        high_here = tl.zeros([ROWS, BLOCK], tl.float64)
        low_here = tl.zeros([ROWS, BLOCK], tl.float64)
        for step in tl.range(begin, end, ROWS, loop_unroll_factor=4):
            place = step + tl.arange(0, ROWS)
            there = place < end
            rows = tl.load(rows_of + place, mask=there, other=0).to(tl.int64)
            at = rows[:, None] * STRIDE + j[None, :]
            t = tl.load(points + at, mask=there[:, None] & (j < COLUMNS)[None, :], other=0.0)
            first_part, second_part = _cut(t.to(tl.float64), cutter, second)
            high_here += first_part
            low_here += second_part
        into = cluster.to(tl.int64) * (COLUMNS + 1) + j
        real = j < COLUMNS
        tl.atomic_add(high + into, sign * tl.sum(high_here, 0), mask=real, sem="relaxed")
        tl.atomic_add(low + into, sign * tl.sum(low_here, 0), mask=real, sem="relaxed")
        if tl.program_id(1) == 0:
            column = cluster.to(tl.int64) * (COLUMNS + 1) + COLUMNS
            cut_here = cut + COLUMNS
            _add_potential(
                phi, cut_here, rows_of, begin, end, sign, high + column, low + column, COLUMNS, SIZE
            )


@triton.jit
def _add_potential(
    phi, cut, rows_of, begin, end, sign, high, low, COLUMNS: tl.constexpr, SIZE: tl.constexpr
):
    """Add up φ of a piece."""
    place = begin + tl.arange(0, SIZE)
    there = place < end
    rows = tl.load(rows_of + place, mask=there, other=0)
    value = tl.load(phi + rows, mask=there, other=0.0)
    first, second = _cut(value, tl.load(cut), tl.load(cut + COLUMNS + 1))
    first = tl.where(there, first, 0.0)
    second = tl.where(there, second, 0.0)
    tl.atomic_add(high, sign * tl.sum(first, 0), sem="relaxed")
    tl.atomic_add(low, sign * tl.sum(second, 0), sem="relaxed")


@triton.jit
def _cut(value, cutter, second_cutter):
    """Cut numbers into two parts, each a multiple of a power of two."""
    high = (value + cutter) - cutter
    return high, ((value - high) + second_cutter) - second_cutter
