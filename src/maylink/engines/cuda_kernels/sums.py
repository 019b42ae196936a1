"""Sums of the points of each cluster, cut so that no addition rounds."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n_clusters", "n_parts"])
def add_clusters(
    points,
    phi,
    cut,
    rows_of,
    first_of,
    high,
    low,
    n_clusters,
    n_parts,
    STRIDE: tl.constexpr,
    COLUMNS: tl.constexpr,
    BLOCK: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Add points to the sums of clusters; a program adds up a part of the points of one cluster.

    Additions of cut points do not round, so that their order does not matter.

    Parameters
    ----------
    points, phi : in, (n, STRIDE) and (n,)
    cut : in, (2, COLUMNS + 1)
    rows_of : in, points in order of their clusters: those that enter 0 … K − 1, then those that
        leave 0 … K − 1
    first_of : in, (2 K + 1,) where the points of each begin
    high, low : in and out, (K, COLUMNS + 1)
    n_parts : in, how many programs share a cluster
    """
    number = tl.program_id(0) // n_parts
    part = tl.program_id(0) % n_parts
    begin = tl.load(first_of + number)
    last = tl.load(first_of + number + 1)
    size = tl.cdiv(last - begin, n_parts)
    begin += part * size
    end = tl.minimum(begin + size, last)
    if begin < end:
        j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        real = j < COLUMNS
        cutter = tl.load(cut + j, mask=real, other=1.0)[None, :]
        second = tl.load(cut + COLUMNS + 1 + j, mask=real, other=1.0)[None, :]
        high_here = tl.zeros([ROWS, BLOCK], tl.float64)
        low_here = tl.zeros([ROWS, BLOCK], tl.float64)
        for step in tl.range(begin, end, ROWS, loop_unroll_factor=4):
            place = step + tl.arange(0, ROWS)
            there = place < end
            rows = tl.load(rows_of + place, mask=there, other=0).to(tl.int64)
            at = rows[:, None] * STRIDE + j[None, :]
            t = tl.load(points + at, mask=there[:, None] & real[None, :], other=0.0)
            first_part, second_part = _cut(t.to(tl.float64), cutter, second)
            high_here += first_part
            low_here += second_part
        sign = tl.where(number < n_clusters, 1.0, -1.0)
        into = (number % n_clusters).to(tl.int64) * (COLUMNS + 1)
        tl.atomic_add(high + into + j, sign * tl.sum(high_here, 0), mask=real, sem="relaxed")
        tl.atomic_add(low + into + j, sign * tl.sum(low_here, 0), mask=real, sem="relaxed")
        if tl.program_id(1) == 0:
            _add_potential(
                phi, cut + COLUMNS, rows_of, begin, end, sign, high + into + COLUMNS,
                low + into + COLUMNS, COLUMNS,
            )  # fmt: skip


@triton.jit(do_not_specialize=["n_clusters", "n_copies"])
def add_movers(
    points,
    phi,
    cut,
    rows_of,
    size_of,
    before,
    after,
    copies,
    n_clusters,
    n_copies,
    STRIDE: tl.constexpr,
    COLUMNS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Take points out of the sums of the clusters that they leave, into those that they enter.

    For a few points: each adds for itself, to one of several copies of the sums, since most of
    them enter or leave the same few clusters, and additions to one number wait for each other.
    Additions of cut points do not round.

    Parameters
    ----------
    points, phi : in, (n, STRIDE) and (n,)
    cut : in, (2, COLUMNS + 1)
    rows_of, size_of : in, which points, and how many
    before, after : in, (n,) labels; −1 counts nowhere
    copies : in and out, (n_copies, 2 K (COLUMNS + 1) + K): of each the first parts, the second
        ones, and how many points
    BLOCK : a power of two of at least COLUMNS + 1
    """
    j = tl.arange(0, BLOCK)
    real = j <= COLUMNS
    cutter = tl.load(cut + j, mask=real, other=1.0)
    second_cutter = tl.load(cut + COLUMNS + 1 + j, mask=real, other=1.0)
    numbers = n_clusters.to(tl.int64) * (COLUMNS + 1)
    high = copies + (tl.program_id(0) % n_copies) * (2 * numbers + n_clusters)
    low = high + numbers
    sizes = low + numbers
    for place in range(tl.program_id(0), tl.load(size_of), tl.num_programs(0)):
        row = tl.load(rows_of + place).to(tl.int64)
        t = tl.load(points + row * STRIDE + j, mask=j < COLUMNS, other=0.0).to(tl.float64)
        t = tl.where(j == COLUMNS, tl.load(phi + row), t)
        first, second = _cut(t, cutter, second_cutter)
        one = tl.full((), 1.0, tl.float64)
        _enter(high, low, sizes, tl.load(after + row), first, second, one, j, COLUMNS)
        _enter(high, low, sizes, tl.load(before + row), -first, -second, -one, j, COLUMNS)


@triton.jit(do_not_specialize=["size"])
def add_copies(copies, sums, size, COPIES: tl.constexpr, BLOCK: tl.constexpr):
    """Add all copies, (COPIES, size), to the sums, (size,); leave zeros in their place."""
    j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = j < size
    at = copies + tl.arange(0, COPIES)[:, None].to(tl.int64) * size + j[None, :]
    parts = tl.load(at, mask=there[None, :], other=0.0)
    total = tl.load(sums + j, mask=there, other=0.0) + tl.sum(parts, axis=0)
    tl.store(sums + j, total, mask=there)
    tl.store(at, tl.zeros([COPIES, BLOCK], tl.float64), mask=there[None, :])


@triton.jit
def _enter(high, low, sizes, label, first, second, one, j, COLUMNS: tl.constexpr):
    """Add the parts of a point to the sums of its cluster, where it has one."""
    if label >= 0:
        at = label.to(tl.int64) * (COLUMNS + 1) + j
        real = j <= COLUMNS
        tl.atomic_add(high + at, first, mask=real, sem="relaxed")
        tl.atomic_add(low + at, second, mask=real & (second != 0.0), sem="relaxed")
        tl.atomic_add(sizes + label, one, sem="relaxed")


@triton.jit
def _add_potential(phi, cut, rows_of, begin, end, sign, high, low, COLUMNS: tl.constexpr):
    """Add up φ of some points."""
    high_here = tl.zeros([128], tl.float64)
    low_here = tl.zeros([128], tl.float64)
    cutter, second_cutter = tl.load(cut), tl.load(cut + COLUMNS + 1)
    for step in range(begin, end, 128):
        place = step + tl.arange(0, 128)
        there = place < end
        rows = tl.load(rows_of + place, mask=there, other=0)
        value = tl.load(phi + rows, mask=there, other=0.0)
        first, second = _cut(value, cutter, second_cutter)
        high_here += tl.where(there, first, 0.0)
        low_here += tl.where(there, second, 0.0)
    tl.atomic_add(high, sign * tl.sum(high_here, 0), sem="relaxed")
    tl.atomic_add(low, sign * tl.sum(low_here, 0), sem="relaxed")


@triton.jit
def _cut(value, cutter, second_cutter):
    """Cut numbers into two parts, each a multiple of a power of two."""
    high = (value + cutter) - cutter
    return high, ((value - high) + second_cutter) - second_cutter
