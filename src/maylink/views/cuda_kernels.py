"""Triton kernels that compare all pairs of points: the nearest of each, found in two passes.

Of a row x, a point y is as far as ``‖y‖² − 2⟨x, y⟩`` says, but for ‖x‖². Points lie in lanes, one
after the other. The first pass finds the nearest point of each lane: the k-th least of these is no
less than the distance of the k-th nearest point, and little more. The second pass lists the points
that are not farther than that.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _distances(
    row_of,
    columns_of,
    squares,
    x,
    start,
    there,
    STRIDE: tl.constexpr,
    WIDE: tl.constexpr,
    ROWS: tl.constexpr,
    LANES: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Return ‖y‖² − 2⟨x, y⟩ of a tile of rows and the points from ``start`` on.

    x holds the rows where they have WIDE columns; more columns are read WIDE by WIDE.
    """
    point = start + tl.arange(0, LANES)
    wide = tl.arange(0, WIDE)
    g = tl.broadcast_to(tl.load(squares + point)[None, :], [ROWS, LANES])
    begin = columns_of + point.to(tl.int64)[None, :] * STRIDE + wide[:, None]
    if STRIDE == WIDE:
        g = tl.dot(x, tl.load(begin), g, input_precision=PRECISION)
    else:
        for first in range(0, STRIDE, WIDE):
            t = tl.load(row_of + first + wide[None, :], mask=there[:, None], other=0.0) * -2.0
            y = tl.load(begin + first)
            g = tl.dot(t.to(y.dtype), y, g, input_precision=PRECISION)
    return g


@triton.jit
def lane_minima(
    points,
    squares,
    rows_of,
    n_rows,
    n_points,
    out,
    STRIDE: tl.constexpr,
    WIDE: tl.constexpr,
    ROWS: tl.constexpr,
    LANES: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Write the least of each lane for some rows.

    Parameters
    ----------
    points, squares : in, (n_points, STRIDE) and (n_points,); points that only fill up are
        infinitely far
    rows_of : in, (n_rows,) the rows
    out : out, (n_rows, LANES)
    WIDE : how many columns are multiplied together
    """
    place = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    there = place < n_rows
    row = tl.load(rows_of + place, mask=there, other=0).to(tl.int64)
    row_of = points + row[:, None] * STRIDE
    x = tl.load(row_of + tl.arange(0, WIDE)[None, :], mask=there[:, None], other=0.0)
    x = (x * -2.0).to(points.dtype.element_ty)
    least = tl.full([ROWS, LANES], float("inf"), tl.float32)
    for start in range(0, n_points, LANES):
        g = _distances(
            row_of, points, squares, x, start, there, STRIDE, WIDE, ROWS, LANES, PRECISION
        )
        least = tl.minimum(least, g)
    at = place.to(tl.int64)[:, None] * LANES + tl.arange(0, LANES)[None, :]
    tl.store(out + at, least, mask=there[:, None])


@triton.jit
def list_near(
    points,
    squares,
    rows_of,
    n_rows,
    n_points,
    limit,
    listed,
    counts,
    STRIDE: tl.constexpr,
    WIDE: tl.constexpr,
    ROWS: tl.constexpr,
    LANES: tl.constexpr,
    ROOM: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """List the points that are not farther than a limit from some rows, in no fixed order.

    Parameters
    ----------
    points, squares, rows_of : in, as in :func:`lane_minima`
    limit : in, (n_rows,)
    listed : out, (n_rows, ROOM)
    counts : in and out, (n_rows,) how many there are, those for which there is no room included
    """
    place = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    there = place < n_rows
    row = tl.load(rows_of + place, mask=there, other=0).to(tl.int64)
    row_of = points + row[:, None] * STRIDE
    x = tl.load(row_of + tl.arange(0, WIDE)[None, :], mask=there[:, None], other=0.0)
    x = (x * -2.0).to(points.dtype.element_ty)
    most = tl.load(limit + place, mask=there, other=float("-inf"))
    counter = tl.broadcast_to((counts + place)[:, None], [ROWS, LANES])
    into = tl.broadcast_to((listed + place.to(tl.int64) * ROOM)[:, None], [ROWS, LANES])
    for start in range(0, n_points, LANES):
        g = _distances(
            row_of, points, squares, x, start, there, STRIDE, WIDE, ROWS, LANES, PRECISION
        )
        near = g <= most[:, None]
        if tl.max(tl.max(near.to(tl.int32), axis=1), axis=0) > 0:
            number = tl.atomic_add(counter, 1, mask=near, sem="relaxed")
            point = tl.broadcast_to((start + tl.arange(0, LANES))[None, :], [ROWS, LANES])
            tl.store(into + number, point, mask=near & (number < ROOM))
