"""The spectral form of RDP-means: eigenvectors in place of sweeps.

With Y the normalised membership matrix, the objective is ``tr(K) − tr(Yᵀ (M − λ I) Y)``, where
``M = K + ξ_may E⁺ − ξ_not E⁻``, K holds the inner products of the points and E⁺, E⁻ the may and
may-not links. Note ``tr(Yᵀ E Y) = Σ_k (1/n_k) Σ_{i,j∈k} E_ij``: this form weighs links by the size
of the cluster, which the sweeps do not.

Let Y be any orthonormal matrix, and the best one is made of the eigenvectors of M with eigenvalue
above λ. Every true Y has the constant vector in its span; demanding that of the relaxed Y too makes
the relaxation tighter and independent of the origin. It means centring the points and projecting
the constant out of the links: K clusters then need K − 1 eigenvectors.

M is never built: products with it cost one pass over the points and one over the links.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse import linalg as sparse_linalg
from sklearn.cluster import KMeans

from maylink.families.base import Array, Matrix, column_means
from maylink.links import Links

DENSE = 64  # below this many points the Lanczos workspace would be larger than the matrix


@dataclass(frozen=True)
class Spectrum:
    """The leading eigenpairs of M, largest first."""

    values: Array  # (m,)
    vectors: Array  # (n, m)

    def embed(self, n_clusters: int) -> Array:
        """Return the coordinates whose inner products approximate M best in K − 1 dimensions."""
        leading = slice(0, n_clusters - 1)
        return self.vectors[:, leading] * np.sqrt(np.maximum(self.values[leading], 0.0))


def link_matrix(links: Links, xi_may: float, xi_not: float) -> sparse.csr_array:
    """Return ξ_may E⁺ − ξ_not E⁻ as a sparse matrix."""
    csr = links.csr
    weight = np.where(csr.signed > 0, xi_may, xi_not) * csr.signed
    return sparse.csr_array((weight, csr.neighbour, csr.indptr), shape=links.shape)


def view_operator(
    X: Matrix | None, E: sparse.csr_array | None, n: int
) -> sparse_linalg.LinearOperator:
    """Return the centred sum of the two views, either of which may be left out."""
    mean = None if X is None else column_means(X)

    def product(vector: Array) -> Array:
        vector = np.asarray(vector, np.float64)
        centred = vector - vector.mean(axis=0)
        out = np.zeros_like(centred)
        if X is not None and mean is not None:
            out = out + X @ (X.T @ centred - np.multiply.outer(mean, centred.sum(axis=0)))
        if E is not None:
            out = out + E @ centred
        return np.asarray(out - out.mean(axis=0))

    return sparse_linalg.LinearOperator(
        (n, n), matvec=product, rmatvec=product, matmat=product, dtype=np.float64
    )


def leading(
    operator: sparse_linalg.LinearOperator, count: int, rng: np.random.Generator
) -> Spectrum:
    """Return the ``count`` largest eigenvalues with their vectors."""
    n = operator.shape[0]
    count = min(count, n)
    if n <= DENSE or count >= n - 1:
        values, vectors = linalg.eigh(operator @ np.eye(n))
    else:
        start = rng.standard_normal(n)
        values, vectors = sparse_linalg.eigsh(operator, k=count, which="LA", v0=start)
    order = np.argsort(values)[::-1][:count]
    return Spectrum(values[order], vectors[:, order])


def above(
    operator: sparse_linalg.LinearOperator, penalty: float, rng: np.random.Generator
) -> Spectrum:
    """Return all eigenpairs with an eigenvalue above the penalty."""
    n, count = operator.shape[0], 8
    while True:
        spectrum = leading(operator, count, rng)
        keep = spectrum.values > penalty
        if not keep.all() or count >= n:
            return Spectrum(spectrum.values[keep], spectrum.vectors[:, keep])
        count *= 2


def largest(operator: sparse_linalg.LinearOperator, rng: np.random.Generator) -> float:
    """Return the largest eigenvalue."""
    return float(leading(operator, 1, rng).values[0])


def round_to_clusters(
    spectrum: Spectrum, n_clusters: int, rng: np.random.Generator, n_init: int = 10
) -> NDArray[np.int64]:
    """Turn the relaxed solution into a partition, by K-means on its coordinates."""
    if n_clusters == 1:
        return np.zeros(len(spectrum.vectors), np.int64)
    model = KMeans(n_clusters, n_init=n_init, random_state=int(rng.integers(2**31)))
    labels = model.fit_predict(spectrum.embed(n_clusters))
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
