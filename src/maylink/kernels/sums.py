"""Sums of the points of each cluster, exact enough not to depend on the order of adding.

Each number is cut into a high part, a multiple of a power of two so large that all n of them add up
without rounding, and a low part, cut off in the same way where the rest no longer matters (Demmel &
Nguyen 2013: "Fast reproducible floating-point summation"). So threads may add in any order, and
a point that is added and later taken away leaves no trace.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from maylink.kernels.compile import compiled, instructions
from maylink.kernels.tile import opened
from maylink.kernels.vector import width

MANTISSA = 52  # bits of a double behind the first


class ExactSums(NamedTuple):
    """Sums of the clusters: of the s coordinates of the points, then of φ, then of nothing.

    Rows are filled up with zeros to whole vectors, see :func:`padded`.
    """

    high: Any  # (K, padded(s + 1))
    low: Any
    size: Any  # (K,) how many points


def padded(size: int) -> int:
    """Return the next multiple of the numbers that a register holds."""
    lanes = width(np.float64)
    return -(-size // lanes) * lanes


def make_sums(n_clusters: int, n_columns: int) -> ExactSums:
    """Return sums of nothing, of points with so many coordinates."""
    shape = (n_clusters, padded(n_columns + 1))
    return ExactSums(np.zeros(shape), np.zeros(shape), np.zeros(n_clusters, np.int64))


def cutters(largest: Any, n: int) -> Any:
    """Return two numbers for each column that cut values up to ``largest`` when added to them.

    Adding and subtracting ``1.5 · 2^52 u`` rounds to a multiple of u; with
    ``n · largest ≤ 2^52 u`` sums of n multiples are exact.
    """
    _, top = np.frexp(np.maximum(largest, np.finfo(np.float64).tiny) * n)
    first = 1.5 * np.ldexp(1.0, np.minimum(top, 1022))
    _, rest = np.frexp(np.ldexp(1.0, top - MANTISSA) * n)
    second = 1.5 * np.ldexp(1.0, np.maximum(np.minimum(rest, 1022), -960))
    cut = np.ones((2, padded(largest.size)))
    cut[:, : largest.size] = first, second
    return cut


@instructions
def move(typing, point, cut, high, low, old, new):
    """Cut a point in two and take it out of row ``old`` of the sums, into ``new``; −1 is none.

    Parameters
    ----------
    point : in, (padded(s + 1),)
    cut : in, (2, padded(s + 1))
    high, low : in and out, (K, padded(s + 1))
    old, new : in, int
    """

    def write(context, builder, signature, values):
        v, (value, cutter, *sums), shape = opened(context, builder, signature, values)
        size = shape(0, 0)
        leaves, enters = (builder.icmp_signed(">=", row, row.type(0)) for row in values[4:])
        with v.loop(size, v.lanes) as j:
            rest = v.load(value, j)
            parts = []
            for first in (v.load(cutter, j), v.load(cutter, v.plus(size, j))):
                parts.append(v.minus(v.add(rest, first), first))
                rest = v.minus(rest, parts[-1])
            for asked, row, change in (
                (leaves, values[4], v.minus),
                (enters, values[5], v.add),
            ):
                with builder.if_then(asked):
                    at = v.plus(v.times(row, size), j)
                    for total, part in zip(sums, parts, strict=True):
                        v.store(change(v.load(total, at), part), total, at)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(point, cut, high, low, whole, whole), write


@compiled(inline="always")
def transfer_dense(blocks, phi, cut, slot, old, new, high, low, size, point):
    """Take a dense point out of cluster ``old`` and add it to ``new``; −1 is none.

    The last argument is scratch, made by :func:`scratch`. The arrays of points and sums come one by
    one, since this is done often: a kernel that hands on whole tuples counts references to all
    their arrays.
    """
    lanes, last = blocks.shape[2], blocks.shape[1]
    block, lane = slot // lanes, slot % lanes
    for j in range(last):
        point[j] = blocks[block, j, lane]
    point[last] = phi[slot]
    move(point, cut, high, low, old, new)
    if old >= 0:
        size[old] -= 1
    if new >= 0:
        size[new] += 1


@compiled(inline="always")
def scratch(cut):
    """Return a point at zero."""
    return np.zeros(cut.shape[1])


@compiled(allocates=False)
def transfer(points, cut, slot, old, new, sums, point):
    """As :func:`transfer_dense`, for dense or sparse points."""
    high, low, size = sums.high, sums.low, sums.size
    if points.blocks.shape[0] > 0:
        transfer_dense(points.blocks, points.phi, cut, slot, old, new, high, low, size, point)
        return
    last = points.n_columns
    for e in range(points.indptr[slot], points.indptr[slot + 1] + 1):
        stored = e < points.indptr[slot + 1]
        j = points.indices[e] if stored else last
        value = np.float64(points.data[e]) if stored else points.phi[slot]
        first = (value + cut[0, j]) - cut[0, j]
        second = ((value - first) + cut[1, j]) - cut[1, j]
        if old >= 0:
            high[old, j] -= first
            low[old, j] -= second
        if new >= 0:
            high[new, j] += first
            low[new, j] += second
    if old >= 0:
        size[old] -= 1
    if new >= 0:
        size[new] += 1


@compiled()
def transfer_all(points, cut, moved, first, last, sums):
    """Take the slots of ``moved`` (3, ·) from first to last − 1 out of old clusters into new ones.

    The slots stand in the first row, the clusters in the others.
    """
    point = scratch(cut)
    for at in range(first, last):
        slot, old, new = np.int64(moved[0, at]), np.int64(moved[1, at]), np.int64(moved[2, at])
        transfer(points, cut, slot, old, new, sums, point)


@compiled()
def add_all(points, cut, labels, first, last, sums):
    """Add the slots first … last − 1 to their clusters; those with label −1 to none."""
    point = scratch(cut)
    for slot in range(first, last):
        if labels[slot] >= 0:
            transfer(points, cut, slot, np.int64(-1), np.int64(labels[slot]), sums, point)
