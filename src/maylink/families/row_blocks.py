"""Scores and sums of very many rows, block by block on threads, the same whatever their number.

What is made of a block, its statistics and scores, stays in the cache of the thread that makes it;
made of all rows at once it goes to memory and back. Blocks do not depend on the number of threads,
and their sums are added in order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from scipy import sparse

from maylink.arrays import Array, Matrix
from maylink.families.rows import COLUMNS
from maylink.runtime.threads import share

BLOCK = 8192  # rows of a block
ROWS = 512  # of a block whose copy in double precision stays in a fast memory
DENSE = 0.1  # of the entries of sparse rows that are there: an array multiplies them sooner
MOST_ENTRIES = 2**22  # of such an array

RowFunction = Callable[[Any], Any]  # of some rows


def affine_scores(
    statistics: RowFunction, log_base: RowFunction, X: Matrix, theta: Array, partition: Array
) -> Array:
    """Return ⟨T(x), θ⟩ − A + log h(x) for all rows and K parameters, shape (n, K)."""
    out = np.empty((X.shape[0], len(theta)))

    def part(rows: slice) -> None:
        some = X[rows]
        times(for_products(statistics(some)), theta.T, out[rows])
        out[rows] -= partition
        out[rows] += log_base(some)[:, None]

    in_blocks(part, X.shape[0], theta.size)
    return out


def weighted_sums(
    statistics: RowFunction, log_base: RowFunction, X: Matrix, responsibilities: Array
) -> tuple[Array, Array, Array]:
    """Return Σ_i φ_ik, Σ_i φ_ik T(x_i) and Σ_i φ_ik log h(x_i) of each cluster k."""

    def part(rows: slice) -> tuple[Array, Array, Array]:
        some, each = X[rows], responsibilities[rows]
        total = transposed_times(for_products(statistics(some)), each)
        return each.sum(axis=0), total, each.T @ log_base(some)

    parts = in_blocks(part, X.shape[0], responsibilities.shape[1] * X.shape[1])
    size, total, base = (reduce(np.add, each) for each in zip(*parts, strict=True))
    return size, total, base


def times(T: Matrix, theta: Array, out: Array) -> None:
    """Write T θ; of rows in single precision some at a time are copied to double precision."""
    if sparse.issparse(T) or T.dtype == np.float64:
        out[:] = T @ theta
        return
    for low in range(0, T.shape[0], ROWS):
        rows = slice(low, low + ROWS)
        np.matmul(T[rows].astype(np.float64), theta, out=out[rows])


def transposed_times(T: Matrix, responsibilities: Array) -> Array:
    """Return φᵀ T; of columns in single precision some at a time are copied to double precision."""
    if sparse.issparse(T) or T.dtype == np.float64:
        return np.asarray(responsibilities.T @ T)
    out = np.empty((responsibilities.shape[1], T.shape[1]))
    for low in range(0, T.shape[1], COLUMNS):
        columns = slice(low, low + COLUMNS)
        out[:, columns] = responsibilities.T @ T[:, columns].astype(np.float64)
    return out


def for_products(T: Matrix) -> Matrix:
    """Return rows as an array where that is not much larger and multiplies sooner."""
    if not sparse.issparse(T):
        return T
    size = T.shape[0] * T.shape[1]
    return T.toarray() if DENSE * size < T.nnz and size <= MOST_ENTRIES else T


def in_blocks(part: Callable[[slice], Any], n: int, work: int) -> list[Any]:
    """Run ``part(rows)`` over blocks of n rows; return what the parts returned, in order.

    Parameters
    ----------
    part : callable
        Does the work of some rows.
    n : int
        How many rows there are.
    work : int
        Multiplications for each row.
    """

    def several(low: int, high: int) -> list[Any]:
        return [part(slice(b * BLOCK, min((b + 1) * BLOCK, n))) for b in range(low, high)]

    n_blocks = max(1, -(-n // BLOCK))
    return [one for some in share(several, n_blocks, BLOCK * work) for one in some]
