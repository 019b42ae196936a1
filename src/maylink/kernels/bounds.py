"""Bounds of a block of points, in vectors: whose choice is sure, and what its bounds are then.

Each kernel looks at one block, the points ``low`` … ``low + lanes − 1``, and returns a number whose
bits tell in which lanes the choice is not sure. A choice must win by ``slope · ‖t‖ + floor``.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types

from maylink.kernels.compile import instructions
from maylink.kernels.tile import opened


@instructions
def wear(typing, norm, upper, lower, cost, low, at, drift, shift, slope, floor):
    """Take from the bounds what the moves of the centres can have cost.

    Parameters
    ----------
    norm : in, (n_slots,)
    upper, lower : in and out, (n_slots,) upper and lower bounds
    cost : in, (size,) what the moves of the own centres can have cost; the block begins at ``at``
    low, at : in, int
    drift, shift : in, the greatest ‖Δθ‖ and |Δc| of the other centres
    slope, floor : in
    """

    def write(context, builder, signature, values):
        v, (norms, uppers, lowers, costs), _ = opened(context, builder, signature, values)
        begin, here, moved, shifted, steep, least = values[4:]
        length = v.load(norms, begin)
        upper = v.add(v.load(uppers, begin), v.load(costs, here))
        upper = outward(v, upper, 1)
        reach = v.fused_add(v.splat(shifted), v.splat(moved), length)
        lower = outward(v, v.minus(v.load(lowers, begin), reach), -1)
        v.store(upper, uppers, begin)
        v.store(lower, lowers, begin)
        room = v.fused_add(v.splat(least), v.splat(steep), length)
        return v.bits(builder.not_(v.less(room, v.minus(lower, upper))))

    real = norm.dtype
    return (
        types.int64(norm, upper, lower, cost, types.int64, types.int64, real, real, real, real),
        write,
    )


@instructions
def renew(
    typing, norm, upper, lower, near, rival, other, cap, labels, winner, low, at, slope, floor
):
    """Judge points that have been scored, and write their new bounds.

    Parameters
    ----------
    norm : in, (n_slots,)
    upper, lower : out, (n_slots,)
    near, rival, other : in, (size,) scores of the nearest centre, of the next, and of the nearest
        of those that the bound is about; the block begins at ``at``
    cap : in, (n_slots,) the score from which on a cluster opens
    labels : in, (n_slots,) the old clusters
    winner : in, (size,) the nearest ones
    low, at : in, int
    slope, floor : in

    Returns
    -------
    int
        In the lower 32 bits who is not sure, in the higher ones whose nearest cluster is another.
    """

    def write(context, builder, signature, values):
        v, arrays, _ = opened(context, builder, signature, values)
        norms, uppers, lowers, nears, rivals, bounds, caps, clusters, winners = arrays
        begin, here, steep, least = values[9:]
        room = v.fused_add(v.splat(least), v.splat(steep), v.load(norms, begin))
        half = builder.fmul(room, v.constant(0.5))
        nearest, limit = v.load(nears, here), v.load(caps, begin)
        v.store(outward(v, v.add(nearest, half), 1), uppers, begin)
        bound = v.minus(v.minimum(v.load(bounds, here), limit), half)
        v.store(outward(v, bound, -1), lowers, begin)
        gap = v.minus(v.minimum(v.load(rivals, here), limit), nearest)
        w = v.whole()
        moved = builder.icmp_signed("!=", w.load(clusters, begin), w.load(winners, here))
        return two_masks(v, builder.not_(v.less(room, gap)), moved)

    real, whole = norm.dtype, types.int64
    arrays = (norm, upper, lower, near, rival, other, cap, labels, winner)
    return types.int64(*arrays, whole, whole, real, real), write


@instructions
def renew_fast(
    typing, norm, upper, lower, least, second, winner, mine, low, at, n_fast, slope, floor
):
    """Judge points whose fast centres have been scored, after :func:`wear`.

    Parameters
    ----------
    norm, lower : in, (n_slots,)
    upper : in and out, (n_slots,)
    least, second, winner : in, (size,) what :func:`maylink.kernels.tile.two_nearest` found
    mine : in, (size,) the row of the own centre, which is fast below ``n_fast``
    low, at, n_fast : in, int
    slope, floor : in

    Returns
    -------
    int
        In the lower 32 bits who is not sure, in the higher ones who has moved.
    """

    def write(context, builder, signature, values):
        v, arrays, _ = opened(context, builder, signature, values)
        norms, uppers, lowers, leasts, seconds, winners, rows = arrays
        begin, here, number, steep, floor_ = values[7:]
        w = v.whole()
        row = w.load(rows, here)
        limit = w.splat(builder.trunc(number, w.type.element))
        among = builder.icmp_signed("<", row, limit)
        nearest = v.load(leasts, here)
        upper = v.choose(among, nearest, v.load(uppers, begin))
        rival = v.choose(among, v.load(seconds, here), nearest)
        v.store(outward(v, upper, 1), uppers, begin)
        gap = v.minus(v.minimum(rival, v.load(lowers, begin)), upper)
        room = v.fused_add(v.splat(floor_), v.splat(steep), v.load(norms, begin))
        unsure = builder.not_(v.less(room, gap))
        moved = builder.and_(among, builder.icmp_signed("!=", row, w.load(winners, here)))
        return two_masks(v, unsure, moved)

    real, whole = norm.dtype, types.int64
    return (
        types.int64(
            norm, upper, lower, least, second, winner, mine, whole, whole, whole, real, real
        ),
        write,
    )


def two_masks(v, low, high):
    """Return two masks as one whole number, 32 bits for each."""
    shift = ir.Constant(ir.IntType(64), 32)
    return v.builder.or_(v.bits(low), v.builder.shl(v.bits(high), shift))


def outward(v, value, sign):
    """Move a bound away from the value by more than its rounding."""
    unit = 2.4e-7 if v.size == 4 else 4.5e-16
    return v.fused_add(value, v.absolute(value), v.constant(sign * unit))
