"""Eigenvectors of symmetric matrices: all at once where these are small, else by Lanczos steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import linalg as sparse_linalg

from maylink.arrays import Array
from maylink.errors import MaylinkError

DENSE = 500  # up to this size all eigenvectors are computed at once
SHIFT = 1e-6  # added to the diagonal of a Laplacian, which makes it invertible


def smoothest(
    matrix: Any, count: int, rng: np.random.Generator, dense: int = DENSE
) -> tuple[Array, Array]:
    """Return the least eigenvalues and their vectors of a matrix without negative eigenvalues.

    Lanczos steps are made on the inverse of the matrix plus ``SHIFT`` times the identity, which has
    the same vectors.
    """
    n = matrix.shape[0]
    count = min(count, n)
    if n <= dense or count >= n - 1:
        values, vectors = linalg.eigh(np.asarray(matrix.todense()))
        return values[:count], vectors[:, :count]
    inverse = sparse_linalg.splu((matrix + SHIFT * sparse.eye_array(n)).tocsc())
    operator = sparse_linalg.LinearOperator((n, n), matvec=inverse.solve, dtype=np.float64)
    inverted, vectors = lanczos(operator, count, rng.standard_normal(n))
    order = np.argsort(-inverted)
    return 1.0 / inverted[order] - SHIFT, vectors[:, order]


def greatest(
    matrix: sparse.csr_array, count: int, rng: np.random.Generator, dense: int = DENSE
) -> Array:
    """Return the ``count`` greatest eigenvalues, the greatest first; all if there are fewer."""
    n = matrix.shape[0]
    count = min(count, n)
    if matrix.nnz == 0:
        return np.zeros(count)
    if n <= dense or count >= n - 1:
        return np.asarray(linalg.eigvalsh(matrix.toarray()))[::-1][:count]
    return np.sort(lanczos(matrix, count, rng.standard_normal(n))[0])[::-1]


def lanczos(operator: Any, count: int, start: Array, **options: Any) -> tuple[Array, Array]:
    """Return the greatest eigenvalues and their vectors, in no order; with more room if need be."""
    n = operator.shape[0]
    for room in (2 * count + 20, 4 * count + 80, 1000):
        try:
            pairs: tuple[Array, Array] = sparse_linalg.eigsh(
                operator, k=count, which="LA", v0=start, ncv=min(n, max(room, count + 2)), **options
            )
            return pairs
        except sparse_linalg.ArpackError as error:
            failure = error
    raise MaylinkError(
        f"affinity: the eigensolver failed on this graph ({failure}); try more n_neighbors"
    ) from failure
