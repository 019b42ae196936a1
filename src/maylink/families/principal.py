"""The principal directions of data: those in which points lie furthest apart."""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from maylink.arrays import Array, Matrix
from maylink.families.columns import column_range

SMALL = 512  # columns up to which all directions are worked out
SPARE = 10  # directions of the search beyond those that are asked for
ITERATIONS = 8  # of the search
ROUNDING = 1e-14  # deviation that may be rounding, relative to the largest value
NEGLIGIBLE = 1e-10  # variance of a direction that counts as none, relative to the largest


def principal_directions(X: Matrix, center: Array, count: int) -> Array:
    """Return orthonormal principal directions, the longest first, shape (r, d).

    Directions in which points do not differ are left out, so there may be fewer than ``count``.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        The data; sparse data stay sparse.
    center : array of shape (d,)
        What they are counted from, mostly their mean.
    count : int
        How many directions, at most.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families.principal import principal_directions
    >>> X = np.array([[0.0, 0.0], [3.0, 0.1], [6.0, 0.0]])
    >>> np.round(np.abs(principal_directions(X, X.mean(axis=0), 1)), 2)
    array([[1., 0.]])
    """
    n, d = X.shape
    if d <= SMALL:
        variances, columns = linalg.eigh(_second_moments(X, center))
        variances, directions = variances[::-1], columns.T[::-1]
    else:
        variances, directions = _of_many_columns(X, center, min(count, n, d))
    variances, directions = variances[:count], directions[:count]
    rounding = n * d * (ROUNDING * float(np.max(np.abs(column_range(X))))) ** 2
    return np.asarray(directions[variances > max(NEGLIGIBLE * float(variances[0]), rounding)])


def _second_moments(X: Matrix, center: Array) -> Array:
    """Return Σ (x − c)(x − c)ᵀ, a few rows at a time, and a few columns of these."""
    d, step, width = X.shape[1], 4096, 64
    out = np.zeros((d, d))
    for start in range(0, X.shape[0], step):
        rows = X[start : start + step]
        rows = (rows.toarray() if sparse.issparse(rows) else rows) - center
        for low in range(0, d, width):
            out[low : low + width] += rows[:, low : low + width].T.astype(np.float64) @ rows
    return out


def _of_many_columns(X: Matrix, center: Array, count: int) -> tuple[Array, Array]:
    """Return variances and directions by subspace iteration from a random start, the same always.

    Halko, Martinsson and Tropp: Finding structure with randomness, 2011, algorithm 4.4.
    """
    n, d = X.shape

    def times(v: Array) -> Array:
        return np.asarray(X @ v - (center @ v))

    def times_transposed(u: Array) -> Array:
        return np.asarray(X.T @ u - np.multiply.outer(center, u.sum(axis=0)))

    size = min(count + SPARE, n, d)
    columns = np.random.default_rng(0).standard_normal((d, size))
    for _ in range(ITERATIONS):
        rows = linalg.qr(times(columns), mode="economic")[0]
        columns = linalg.qr(times_transposed(rows), mode="economic")[0]
    _, values, turn = linalg.svd(times(columns), full_matrices=False)
    return values**2, turn @ columns.T
