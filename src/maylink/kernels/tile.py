"""Rough scores of a group of points against all centres: a matrix product held in registers.

Points are stored in blocks of as many points as a register has lanes, feature by feature, so that
one load brings one feature of all points of a block. A *tile* is ``ROWS`` centres × ``VECTORS``
blocks: its sums stay in registers while the loop runs over the features, and each number that is
loaded is used several times (Goto & van de Geijn 2008: "Anatomy of high-performance matrix
multiplication"; their packed panels are our blocks).

The scores are rough: summed in the precision of the points, in an order that depends on the
processor. Who uses them must allow for their rounding, see :mod:`maylink.kernels.nearest`.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from maylink.kernels.compile import compiled, instructions
from maylink.kernels.vector import VECTORS, Vectors

ROWS = 4  # centres in a tile; 4 × 4 sums hide the latency of the multiplications


@instructions
def scores_of(typing, blocks, chosen, theta, c, out):
    """Write ``c − ⟨t, θ⟩`` of all points of ``VECTORS`` blocks against all centres.

    Parameters
    ----------
    blocks : in, (n_blocks, s, width)
    chosen : in, (VECTORS,) which blocks
    theta : in, (K / ROWS, s, ROWS), centres in groups
    c : in, (K,)
    out : out, (K, VECTORS · width), a row for each centre
    """

    def write(context, builder, signature, values):
        v, (points, numbers, slopes, starts, result), shape = opened(
            context, builder, signature, values
        )
        zero, n_centers = ir.Constant(ir.IntType(64), 0), shape(3, 0)
        with tiles(v, points, numbers, slopes, starts, shape(0, 1), zero, n_centers) as (k, sums):
            store_scores(v, k, sums, result)
        return context.get_dummy_value()

    return types.void(blocks, chosen, theta, c, out), write


@instructions
def two_nearest(typing, blocks, chosen, theta, c, first, last, least, second, winner):
    """Find the least and the second least score of each point, and the row of the least.

    Parameters
    ----------
    blocks, chosen, theta, c : in, as for :func:`scores_of`
    first, last : in, the rows to compare, from one group of ROWS to another
    least, second, winner : out, (VECTORS · width,)
    """

    def write(context, builder, signature, values):
        v, (points, numbers, slopes, starts, *out), shape = opened(
            context, builder, signature, values
        )
        begin, end = values[4], values[5]
        two_least = TwoLeast(v, begin)
        with tiles(v, points, numbers, slopes, starts, shape(0, 1), begin, end) as (k, sums):
            two_least.enter(k, sums)
        two_least.store(*out)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(blocks, chosen, theta, c, whole, whole, least, second, winner), write


@instructions
def scores_and_nearest(typing, blocks, chosen, theta, c, out, least, second, winner):
    """Do the work of :func:`scores_of` and of :func:`two_nearest` over all rows."""

    def write(context, builder, signature, values):
        v, (points, numbers, slopes, starts, result, *best), shape = opened(
            context, builder, signature, values
        )
        zero, n_centers = ir.Constant(ir.IntType(64), 0), shape(3, 0)
        two_least = TwoLeast(v, zero)
        with tiles(v, points, numbers, slopes, starts, shape(0, 1), zero, n_centers) as (k, sums):
            store_scores(v, k, sums, result)
            two_least.enter(k, sums)
        two_least.store(*best)
        return context.get_dummy_value()

    return types.void(blocks, chosen, theta, c, out, least, second, winner), write


class TwoLeast:
    """Variables: the least and the second least score of each point, and the row of the least."""

    def __init__(self, v, begin):
        self.v, self.w = v, v.whole()
        builder = v.builder
        self.best, self.after, self.row = [
            [kind.variable() for _ in range(VECTORS)] for kind in (v, v, self.w)
        ]
        for q in range(VECTORS):
            builder.store(v.constant(float("inf")), self.best[q])
            builder.store(v.constant(float("inf")), self.after[q])
            builder.store(self.w.splat(builder.trunc(begin, ir.IntType(32))), self.row[q])

    def enter(self, k, sums):
        """Let the rows of a tile, k and following, compete."""
        v, builder = self.v, self.v.builder
        for r in range(ROWS):
            this = self.w.splat(builder.trunc(v.plus(k, r), ir.IntType(32)))
            for q in range(VECTORS):
                value, old = builder.load(sums[r][q]), builder.load(self.best[q])
                nearer = v.less(value, old)
                builder.store(v.choose(nearer, value, old), self.best[q])
                builder.store(v.choose(nearer, this, builder.load(self.row[q])), self.row[q])
                loser = v.choose(nearer, old, value)
                builder.store(v.minimum(loser, builder.load(self.after[q])), self.after[q])

    def store(self, least, second, winner):
        """Write the results."""
        v, builder = self.v, self.v.builder
        for q in range(VECTORS):
            v.store(builder.load(self.best[q]), least, q * v.lanes)
            v.store(builder.load(self.after[q]), second, q * v.lanes)
            self.w.store(builder.load(self.row[q]), winner, q * v.lanes)


def store_scores(v, k, sums, result):
    """Write the scores of a tile to its rows."""
    for r in range(ROWS):
        for q in range(VECTORS):
            at = v.plus(v.times(v.plus(k, r), VECTORS * v.lanes), q * v.lanes)
            v.store(v.builder.load(sums[r][q]), result, at)


def opened(context, builder, signature, values):
    """Return the writer of vectors, the data of the array arguments, and their shapes."""
    arrays = [
        context.make_array(kind)(context, builder, value)
        for kind, value in zip(signature.args, values, strict=True)
        if isinstance(kind, types.Array)
    ]
    dtype = signature.args[0].dtype
    v = Vectors(builder, context.get_value_type(dtype), dtype.bitwidth // 8)

    def shape(array, axis):
        return builder.extract_value(arrays[array].shape, axis)

    return v, [array.data for array in arrays], shape


@contextmanager
def tiles(v, points, numbers, slopes, starts, n_features, begin, end):
    """Loop over tiles of centres; gives the first row and the variables with the scores."""
    builder = v.builder
    size = v.times(n_features, v.lanes)
    block = [v.at(points, v.times(v.scalar(numbers, q), size)) for q in range(VECTORS)]
    sums = [[v.variable() for _ in range(VECTORS)] for _ in range(ROWS)]
    with v.loop(end, ROWS, begin) as k:
        for r in range(ROWS):
            start = v.splat(v.scalar(starts, v.plus(k, r)))
            for q in range(VECTORS):
                builder.store(start, sums[r][q])
        group = v.at(slopes, v.times(k, n_features))
        with v.loop(n_features) as j:
            x = [v.load(block[q], v.times(j, v.lanes)) for q in range(VECTORS)]
            for r in range(ROWS):
                slope = v.splat(v.scalar(group, v.plus(v.times(j, ROWS), r)))
                for q in range(VECTORS):
                    old = builder.load(sums[r][q])
                    builder.store(v.fused_subtract(old, slope, x[q]), sums[r][q])
        yield k, sums


@compiled()
def pack_points(T, first, blocks, square, largest):
    """Write the rows of T (m, s) into the blocks from block ``first`` on, and measure them.

    Parameters
    ----------
    T : in, (m, s)
    first : in, int
    blocks : out, (n_blocks, s, width)
    square : in and out, (m,) zeros; the squares of each row are added
    largest : in and out, (s + 1,) the greatest magnitude in each column but the last
    """
    lanes = blocks.shape[2]
    for low in range(0, T.shape[0], lanes):
        block, size = first + low // lanes, min(lanes, T.shape[0] - low)
        for j in range(T.shape[1]):
            reach = largest[j]
            for lane in range(size):
                value = np.float64(T[low + lane, j])
                blocks[block, j, lane] = T[low + lane, j]
                square[low + lane] += value * value
                reach = max(reach, abs(value))
            largest[j] = reach


def pack_centers(theta: Any, c: Any, order: Any, dtype: Any) -> tuple[Any, Any]:
    """Return some centres as tiles take them, filled up with centres infinitely far away.

    Parameters
    ----------
    theta : array of shape (s, room)
        Centres by columns.
    c : array of shape (room,)
    order : array of int
        Which centres, in the order of the rows.
    dtype : type of the points
    """
    n_groups = -(-order.size // ROWS)
    packed = np.zeros((n_groups, theta.shape[0], ROWS), dtype)
    starts = np.full(n_groups * ROWS, np.inf, dtype)
    _fill(theta, c, order, packed, starts)
    return packed, starts


@compiled(allocates=False)
def _fill(theta, c, order, packed, starts):
    for row in range(order.size):
        k = order[row]
        starts[row] = c[k]
        for j in range(theta.shape[0]):
            packed[row // ROWS, j, row % ROWS] = theta[j, k]
