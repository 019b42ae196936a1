"""Rows of dense and sparse matrices: sums, scales, lengths; what several families need."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.arrays import Array, Matrix
from maylink.errors import DomainError

if TYPE_CHECKING:
    from maylink.families.base import Family

CHUNK = 2**16  # entries that are looked at together where a copy is made: half a megabyte
COLUMNS = 64  # that are worked on together where all of them would take much memory
IN_ORDER = 200_000  # entries of which a copy in order costs less than a sparse matrix product


def row_sums(matrix: Matrix, function: Callable[[Array], Array]) -> Array:
    """Return Σ_j f(x_ij) for each row; of a sparse matrix the zeros count f(0) each."""
    if not sparse.issparse(matrix):
        out = np.empty(matrix.shape[0])
        step = max(1, CHUNK // max(1, matrix.shape[1]))
        for start in range(0, matrix.shape[0], step):  # a copy of all in double precision is large
            rows = np.asarray(matrix[start : start + step], np.float64)
            out[start : start + step] = function(rows).sum(axis=1)
        return out
    at_zero = float(function(np.zeros(1))[0])
    stored = matrix.astype(np.float64)
    stored.data = function(stored.data) - at_zero
    return np.asarray(np.asarray(stored.sum(axis=1)).ravel() + matrix.shape[1] * at_zero)


def row_maxima(X: Matrix) -> Array:
    """Return the largest magnitude in each row."""
    if not sparse.issparse(X):  # without a copy of all
        return np.asarray(np.maximum(X.max(axis=1), -X.min(axis=1)), np.float64)
    return np.asarray(abs(X).max(axis=1).toarray(), np.float64).ravel()


def unit_rows(X: Matrix) -> Matrix:
    """Return the rows made unit length; dividing by maxima first keeps squares from overflowing.

    Rows of zeros stay zeros.
    """
    largest = row_maxima(X)
    empty = largest == 0
    scaled = scale_rows(X, 1.0 / np.where(empty, 1.0, largest))
    factor = 1.0 / np.where(empty, 1.0, np.sqrt(row_sums(scaled, np.square)))
    if sparse.issparse(scaled):
        return scale_rows(scaled, factor)
    return np.multiply(scaled, factor[:, None], out=scaled, casting="same_kind")


def scale_rows(matrix: Matrix, factor: Array) -> Matrix:
    """Multiply each row by its factor, in the precision of the matrix."""
    if not sparse.issparse(matrix):
        return np.multiply(matrix, factor[:, None], dtype=matrix.dtype, casting="same_kind")
    scaled = matrix.copy()
    scaled.data = (matrix.data * np.repeat(factor, np.diff(matrix.indptr))).astype(matrix.dtype)
    return scaled


def membership(labels: NDArray[Any], n_clusters: int) -> sparse.csr_array:
    """Return the K × n matrix whose entry (k, i) is 1 when point i is in cluster k."""
    n = labels.size
    columns = sparse.csc_array((np.ones(n), labels, np.arange(n + 1)), shape=(n_clusters, n))
    return columns.tocsr()


def cluster_sums(
    rows: Matrix, labels: NDArray[Any], n_clusters: int, in_order: int = IN_ORDER
) -> Array:
    """Return the sum of the rows of each cluster, in double precision, shape (K, …).

    Parameters
    ----------
    rows : array or sparse matrix of shape (n, …)
        What is added up.
    labels : array of shape (n,)
        The cluster of each row, 0 … K − 1; clusters may be empty.
    n_clusters : int
        K.
    in_order : int
        Entries up to which rows are put in order first.
    """
    if sparse.issparse(rows):
        return np.asarray((membership(labels, n_clusters) @ rows).toarray(), np.float64)
    if rows.size > in_order and rows.ndim == 2:
        members, out = membership(labels, n_clusters), np.empty((n_clusters, rows.shape[1]))
        for low in range(0, rows.shape[1], COLUMNS):  # all in double precision would be a copy
            some = np.ascontiguousarray(rows[:, low : low + COLUMNS])
            out[:, low : low + COLUMNS] = members @ some
        return out
    if rows.size > in_order:
        return np.asarray(membership(labels, n_clusters) @ rows, np.float64)
    count = np.bincount(labels, minlength=n_clusters)
    first, some = np.cumsum(count) - count, count > 0
    by_cluster = rows[np.argsort(labels, kind="stable")]
    sums = np.zeros((n_clusters, *rows.shape[1:]))
    sums[some] = np.add.reduceat(by_cluster, first[some], axis=0, dtype=np.float64)
    return sums


def in_deviations(values: Array) -> Array:
    """Put each column in units of its standard deviation, in place; constant ones stay."""
    for low in range(0, values.shape[1], COLUMNS):  # squares of all would take as much again
        some = values[:, low : low + COLUMNS]
        deviation = some.std(axis=0)
        some /= np.where(deviation > 0, deviation, 1.0)
    return values


def first_cell(X: Matrix, bad: NDArray[np.bool_]) -> tuple[int, int, float]:
    """Row, column and value of the first bad entry; ``bad`` is laid out like the stored values."""
    if sparse.issparse(X):
        at = int(np.argmax(bad))
        row = int(np.searchsorted(X.indptr, at, side="right") - 1)
        return row, int(X.indices[at]), float(X.data[at])
    row, column = (int(v) for v in np.argwhere(bad)[0])
    return row, column, float(X[row, column])


def check_proportions(centers: Array) -> None:
    """Refuse centres that hold a value outside 0 to 1."""
    outside = (centers < 0) | (centers > 1)
    if outside.any():
        row, column, value = first_cell(centers, outside)
        raise DomainError(f"init[{row}, {column}] = {value:g} is not between 0 and 1")


def neighbour_rows_of(family: Family, X: Matrix, scales: Any) -> Matrix:
    """Return the rows by which a part of the data has neighbours among all of them.

    Parameters
    ----------
    family : Family
        The family.
    X : matrix of shape (n, d)
        Some or all of the data.
    scales
        What the family's ``neighbour_scales`` made of all data; None where it needs none.
    """
    return family.neighbour_rows(X) if scales is None else family.neighbour_rows(X, scales)
