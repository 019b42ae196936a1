"""Sums of the points of each cluster, exact enough not to depend on the order of adding.

Each number is cut into a high part, a multiple of a power of two so large that all n of them add up
without rounding, and a low part, cut off in the same way where the rest no longer matters (Demmel &
Nguyen 2013: "Fast reproducible floating-point summation"). So threads may add in any order, and
a point that is added and later taken away leaves no trace.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maylink.kernels.compile import compiled

MANTISSA = 52  # bits of a double behind the first


class Sums(NamedTuple):
    """Sums of the clusters: of the s coordinates of the points and, last, of φ."""

    high: Any  # (K, s + 1)
    low: Any  # (K, s + 1)
    size: Any  # (K,) how many points


def make_sums(n_clusters: int, width: int) -> Sums:
    """Return sums of nothing."""
    shape = (n_clusters, width)
    return Sums(np.zeros(shape), np.zeros(shape), np.zeros(n_clusters, np.int64))


def cutters(largest: Any, n: int) -> Any:
    """Return two numbers for each column that cut values up to ``largest`` when added to them.

    Adding and subtracting ``1.5 · 2^52 u`` rounds to a multiple of u; with
    ``n · largest ≤ 2^52 u`` sums of n multiples are exact.
    """
    _, top = np.frexp(np.maximum(largest, np.finfo(np.float64).tiny) * n)
    first = 1.5 * np.ldexp(1.0, np.minimum(top, 1022))
    _, rest = np.frexp(np.ldexp(1.0, top - MANTISSA) * n)
    second = 1.5 * np.ldexp(1.0, np.maximum(np.minimum(rest, 1022), -960))
    return np.stack([first, second])


@compiled(inline="always")
def transfer_dense(blocks, phi, cut, slot, old, new, high, low, size, part, rest):
    """Take a dense point out of cluster ``old`` and add it to ``new``; −1 is none.

    The last two arguments are scratch. The arrays of points and sums come one by one, since this is
    done often: a kernel that hands on whole tuples counts references to all their arrays.
    """
    lanes, last = blocks.shape[2], cut.shape[1] - 1
    block, lane = slot // lanes, slot % lanes
    for j in range(last):
        rest[j] = blocks[block, j, lane]
    rest[last] = phi[slot]
    for j in range(last + 1):
        part[j] = (rest[j] + cut[0, j]) - cut[0, j]
    for j in range(last + 1):
        rest[j] = ((rest[j] - part[j]) + cut[1, j]) - cut[1, j]
    if old >= 0:
        size[old] -= 1
        for j in range(last + 1):
            high[old, j] -= part[j]
        for j in range(last + 1):
            low[old, j] -= rest[j]
    if new >= 0:
        size[new] += 1
        for j in range(last + 1):
            high[new, j] += part[j]
        for j in range(last + 1):
            low[new, j] += rest[j]


@compiled()
def transfer(points, cut, slot, old, new, sums, part, rest):
    """As :func:`transfer_dense`, for dense or sparse points."""
    high, low, size = sums.high, sums.low, sums.size
    if points.blocks.shape[0] > 0:
        transfer_dense(points.blocks, points.phi, cut, slot, old, new, high, low, size, part, rest)
        return
    last = cut.shape[1] - 1
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
def add_all(points, cut, labels, first, last, sums):
    """Add the slots first … last − 1 to their clusters; those with label −1 to none."""
    part, rest = np.empty(cut.shape[1]), np.empty(cut.shape[1])
    for slot in range(first, last):
        if labels[slot] >= 0:
            transfer(points, cut, slot, np.int64(-1), np.int64(labels[slot]), sums, part, rest)
