"""Scores of points against centres, ``D = φ(t) + c − ⟨t, θ⟩``, in double precision.

Products are rounded, then added feature by feature, nothing is fused or reordered: given φ, a score
is the same to the last bit wherever and in whatever company it is computed, on any processor, from
dense or from sparse points. What the rough scores of :mod:`maylink.kernels.tile` cannot decide is
decided by these.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from maylink.kernels.compile import compiled


class Points(NamedTuple):
    """The points t in slots: dense in blocks of lanes, or CSR with no blocks.

    Slot i is lane ``i % lanes`` of block ``i // lanes``; a block that is not full ends in zeros.
    """

    blocks: Any  # (n_blocks, s, lanes)
    indptr: Any  # (n_slots + 1,)
    indices: Any
    data: Any
    phi: Any  # (n_slots,)
    n_columns: Any  # s


class Centers(NamedTuple):
    """The centres' θ by columns and c, with room for more; whether √D is compared in place of D."""

    theta: Any  # (s, room)
    c: Any  # (room,)
    root: Any


@compiled(allocates=False)
def sizes(centers, n_clusters):
    """Return the greatest ‖θ‖ and the greatest |c| of the first centres."""
    theta, c = centers.theta, centers.c
    steepest, farthest = 0.0, 0.0
    for k in range(n_clusters):
        square = 0.0
        for j in range(theta.shape[0]):
            square += theta[j, k] * theta[j, k]
        if not square <= steepest:  # nor is it when it is not a number
            steepest = square
        if not abs(c[k]) <= farthest:
            farthest = abs(c[k])
    return sqrt(steepest), farthest


@compiled(allocates=False, inner=True)
def score(points, centers, slot, n_clusters, out):
    """Write the scores of one point against the first centres into ``out``."""
    blocks, indices, data, theta, c = (
        points.blocks, points.indices, points.data, centers.theta, centers.c,
    )  # fmt: skip
    for k in range(n_clusters):
        out[k] = 0.0
    if blocks.shape[0] > 0:
        lanes = blocks.shape[2]
        block, lane = slot // lanes, slot % lanes
        for j in range(blocks.shape[1]):
            t = np.float64(blocks[block, j, lane])
            for k in range(n_clusters):
                out[k] += t * theta[j, k]
    else:
        for e in range(points.indptr[slot], points.indptr[slot + 1]):
            t, j = np.float64(data[e]), indices[e]
            for k in range(n_clusters):
                out[k] += t * theta[j, k]
    phi = points.phi[slot]
    for k in range(n_clusters):
        value = phi + c[k] - out[k]
        out[k] = value if value > 0.0 else 0.0
    if centers.root:
        for k in range(n_clusters):
            out[k] = sqrt(out[k])


def scores(points: Any, centers: Any, first: int, last: int, out: Any) -> None:
    """Write the scores of the slots first … last − 1 against all centres into ``out`` (slots, K).

    For dense points ``first`` begins a block: the lanes of a block are scored together.
    """
    _scores(points, centers, first, last, np.empty(points.blocks.shape[2]), out)


@compiled(allocates=False)
def _scores(points, centers, first, last, dot, out):
    """Write scores as above; ``dot`` (lanes,) is scratch."""
    n_clusters = out.shape[1]
    if points.blocks.shape[0] == 0:
        for slot in range(first, last):
            score(points, centers, slot, n_clusters, out[slot])
        return
    blocks, phi, theta = points.blocks, points.phi, centers.theta
    lanes = blocks.shape[2]
    for block in range(first // lanes, (last + lanes - 1) // lanes):
        for k in range(n_clusters):
            for lane in range(lanes):
                dot[lane] = 0.0
            for j in range(blocks.shape[1]):
                slope = theta[j, k]
                for lane in range(lanes):
                    dot[lane] += np.float64(blocks[block, j, lane]) * slope
            for lane in range(min(lanes, last - block * lanes)):
                slot = block * lanes + lane
                value = phi[slot] + centers.c[k] - dot[lane]
                value = value if value > 0.0 else 0.0
                out[slot, k] = sqrt(value) if centers.root else value
