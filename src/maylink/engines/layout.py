"""Where the points lie: points without links first, then those with links, each in its slot.

Dense points are cut into blocks of as many points as a register of the processor has lanes, feature
by feature (see :mod:`maylink.kernels.tile`); sparse points stay rows of a CSR matrix. The mapped
points t are the only copy of the data: they are made and laid out a chunk at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.arrays import Array, Matrix
from maylink.families.base import Family
from maylink.families.rows import row_sums


class SlotLayout(NamedTuple):
    """Points in slots; see :class:`maylink.kernels.exact.Points`."""

    points: Any
    norm: NDArray[Any]  # ‖t‖ of each slot, rounded up, in the precision of the points
    largest: Array  # greatest |t| of each column and, last, greatest |φ|
    position: NDArray[np.int32]  # slot of each point
    n_unlinked: int  # they fill the slots before
    first_linked: int  # the others begin here


def lay_out(X: Matrix, family: Family, linked: NDArray[np.bool_], chunk: int) -> SlotLayout:
    """Map all points and lay them out.

    Parameters
    ----------
    X : matrix of shape (n, d)
        The data.
    family : Family
        Maps them.
    linked : array of shape (n,)
        Which points have links.
    chunk : int
        Numbers to map at a time.
    """
    if sparse.issparse(X):
        mapped = family.points(X)
        if sparse.issparse(mapped):
            return _rows(mapped, family, linked)
        return _blocks(mapped, family, linked, chunk, lambda rows: rows)
    return _blocks(X, family, linked, chunk, family.points)


def _rows(T: Any, family: Family, linked: NDArray[np.bool_]) -> SlotLayout:
    from maylink.kernels.exact import Points

    order = _order(linked)
    if linked.any():
        T = T[order]
    T = sparse.csr_array(T)
    phi = np.ascontiguousarray(family.potential(T), np.float64)
    position = np.empty(len(linked), np.int32)
    position[order] = np.arange(len(linked), dtype=np.int32)
    largest = np.append(np.abs(T).max(axis=0).toarray().ravel(), np.abs(phi).max())
    points = Points(
        np.empty((0, 0, 1), T.dtype),
        T.indptr.astype(np.int64),
        T.indices.astype(np.int32),
        T.data if T.data.flags.writeable else T.data.copy(),
        phi,
        T.shape[1],
    )
    n_unlinked = int(linked.size - linked.sum())
    norm = _rounded_up(np.sqrt(row_sums(T, np.square)), T.dtype)
    return SlotLayout(points, norm, largest, position, n_unlinked, n_unlinked)


def _blocks(
    X: Any, family: Family, linked: NDArray[np.bool_], chunk: int, mapping: Any
) -> SlotLayout:
    from maylink.kernels.exact import Points
    from maylink.kernels.tile import pack_points
    from maylink.kernels.vector import width

    lanes = width(X.dtype)
    order = _order(linked)
    n_linked = int(linked.sum())
    n_unlinked = linked.size - n_linked
    first_linked = multiple_above(n_unlinked, lanes)
    n_slots = first_linked + multiple_above(n_linked, lanes)
    position = np.empty(linked.size, np.int32)

    n_columns = mapping(X[:1]).shape[1]
    blocks = np.zeros((n_slots // lanes, n_columns, lanes), X.dtype)
    phi, norm = np.zeros(n_slots), np.zeros(n_slots, X.dtype)
    largest = np.zeros(n_columns + 1)
    step = max(lanes, chunk // max(1, n_columns) // lanes * lanes)
    for begin, end, first in ((0, n_unlinked, 0), (n_unlinked, linked.size, first_linked)):
        for low in range(begin, end, step):
            rows = order[low : min(low + step, end)]
            at = slice(first + low - begin, first + low - begin + rows.size)
            position[rows] = np.arange(at.start, at.stop)
            together = rows[-1] - rows[0] == rows.size - 1
            T = mapping(X[rows[0] : rows[-1] + 1] if together else X[rows])
            rows_in_order = np.ascontiguousarray(T).view()
            rows_in_order.setflags(write=False)  # kernels are compiled for one kind of array
            square = np.zeros(len(T))
            pack_points(rows_in_order, at.start // lanes, blocks, square, largest)
            phi[at] = family.potential(T)
            norm[at] = _rounded_up(np.sqrt(square), X.dtype)
    largest[-1] = np.abs(phi).max()
    nothing = np.empty(0, np.int64)
    points = Points(blocks, nothing, nothing.astype(np.int32), np.empty(0, X.dtype), phi, n_columns)
    return SlotLayout(points, norm, largest, position, n_unlinked, first_linked)


def _order(linked: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the points without links, then those with."""
    order, n_unlinked = np.empty(linked.size, np.int32), int(linked.size - linked.sum())
    order[:n_unlinked] = np.flatnonzero(~linked)
    order[n_unlinked:] = np.flatnonzero(linked)
    return order


def _rounded_up(norm: Array, dtype: Any) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        return np.asarray((norm * (1.0 + 1e-6)).astype(dtype))


def multiple_above(size: int, unit: int) -> int:
    """Return the least multiple of a unit that holds a size."""
    return -(-size // unit) * unit
