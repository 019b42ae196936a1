"""Gaussian with one covariance for all clusters, for many features: distance after whitening it.

A covariance for each cluster asks for more points than there are when features are many. One for
all asks for less, but the covariance of the data as a whole is not it: that one also holds where
the clusters lie. Points and their near neighbours mostly are of one cluster, so half the scatter of
their differences is the covariance *within* clusters, learned without labels. Few differences for
many features are shrunk towards one variance (Ledoit & Wolf 2004); neighbours are looked for again
after whitening with what was found, since the longest directions hide the clusters at first.

Divergence: t = W(x − mean) with W whitening that covariance S, φ(t) = ‖t‖², so that
D(x, m) = (x − m)ᵀ S⁻¹ (x − m).

Likelihood: t ~ N(μ, σ² I), the spherical Gaussian of whitened points, with its prior, which counts
from the mean in whitened units: a cluster has covariance σ² S.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg, sparse

from maylink.arrays import Array, Index, Matrix
from maylink.errors import DomainError
from maylink.families.columns import column_variances
from maylink.families.gaussian import Gaussian
from maylink.families.whitened import WhitenedFamily
from maylink.runtime.threads import one_thread

NEIGHBOURS = 5  # of each point
ROUNDS = 5  # of looking for them
ROWS = 2_000  # points that the covariance is learned from, at most
NARROWEST = 1e-6  # least variance of a direction, relative to the mean of all


@dataclass(frozen=True)
class SharedGaussian(WhitenedFamily, Gaussian):
    """Gaussian clusters of one shape, that of the differences between near neighbours.

    Before it has seen data it is the spherical Gaussian.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families import SharedGaussian
    >>> rng = np.random.default_rng(0)
    >>> long = np.where(np.arange(40) < 5, 30.0, 1.0)  # five long directions within clusters
    >>> X = rng.normal(size=(300, 40)) * long + 8.0 * np.repeat([[0], [1]], 150, axis=0)
    >>> family = SharedGaussian().adapt(X)
    >>> D = family.divergence(X, family.points(X)[:1])[1:, 0]
    >>> bool(np.median(D[149:]) > 2 * np.median(D[:149]))
    True
    """

    name: ClassVar[str] = "shared-gaussian"
    also_called: ClassVar[tuple[str, ...]] = ("shared", "tied")
    accepts_sparse: ClassVar[bool] = False
    auto_rank: ClassVar[int | None] = 30
    covariance: ClassVar[str | None] = "shared"
    adapts_likelihood: ClassVar[bool] = True

    # ------------------------------------------------------------------ domain

    def check(self, X: Matrix) -> None:
        """Refuse sparse data, which whitening would make dense."""
        if sparse.issparse(X):
            raise DomainError(
                f"X is sparse, and the {self.name!r} family would make it dense; "
                "use family='gaussian' or 'diagonal-gaussian', or pass X.toarray()"
            )
        super().check(X)

    def adapt(self, X: Matrix) -> Self:
        """Take the offset and the covariance within clusters from the data."""
        adapted = replace(super().adapt(X), axes=None, whitening=None)
        columns = np.arange(X.shape[1]) if adapted.varying is None else adapted.varying
        rows: Any = slice(None)
        if X.shape[0] > ROWS:
            drawn = np.random.default_rng(0).choice(X.shape[0], ROWS, replace=False)
            rows = np.sort(drawn)
        deviation = np.sqrt(column_variances(X))[columns]
        scale = np.where(deviation > 0, deviation, 1.0)
        Z = np.asarray(X[rows][:, columns] - adapted.shift[columns], np.float64) / scale
        with one_thread():
            variance, direction = within_clusters(Z, blur=np.diag(adapted.blur / scale**2))
        axes, whitening = np.zeros((2, columns.size, X.shape[1]))
        axes[:, columns] = np.sqrt(variance)[:, None] * direction.T * scale
        whitening[:, columns] = direction.T / np.sqrt(variance)[:, None] / scale
        return replace(adapted, axes=axes, whitening=whitening)

    # ------------------------------------------------------------------ divergence

    def summed(self, total: Array, potential: Array) -> Array | None:
        """Return (Σ t, Σ ‖t‖²)."""
        return np.column_stack([total, potential])

    # ------------------------------------------------------------------ likelihood

    def log_base(self, X: Matrix) -> Array:
        """Return −d/2 log 2π − ½ log det S."""
        return np.asarray(super().log_base(X) - self.log_volume)


def within_clusters(
    Z: Array, neighbours: int = NEIGHBOURS, blur: Array | float = 0.0
) -> tuple[Array, Array]:
    """Return variances and directions of the covariance within clusters of standardised data.

    Parameters
    ----------
    Z : array of shape (n, d)
        The data.
    neighbours : int
        Near points of each point whose differences are looked at.
    blur : array of shape (d, d) or float
        Covariance that rounding hides.
    """
    from sklearn.neighbors import NearestNeighbors

    n, d = Z.shape
    variance, direction = np.ones(d), np.eye(d)
    near = min(neighbours, n - 1)
    for _ in range(ROUNDS if near > 0 else 0):
        T = Z @ direction / np.sqrt(variance)
        search = NearestNeighbors(n_neighbors=near, algorithm="brute").fit(T)
        neighbour = search.kneighbors(return_distance=False)
        covariance = covariance_apart(Z, neighbour)
        within = 0.5 * covariance + blur
        if not within.any():  # all neighbours are equal
            break
        variance, direction = linalg.eigh(within)
        variance = np.maximum(variance, NARROWEST * variance.mean())
    return variance, direction


def covariance_apart(Z: Array, neighbour: Index) -> Array:
    """Return the covariance of z − z' about 0 over all points and their neighbours, shrunk.

    It is drawn towards a multiple of the identity as far as Ledoit and Wolf (2004) say. The
    differences themselves, as many as there are pairs, are never held all at once.

    Parameters
    ----------
    Z : array of shape (n, d)
        The points.
    neighbour : array of shape (n, k)
        The neighbours of each point.
    """
    d, size = Z.shape[1], neighbour.size
    products, fourth = np.zeros((d, d)), 0.0
    for number in neighbour.T:
        apart = Z - Z[number]
        products += apart.T @ apart
        fourth += float(np.square(np.square(apart).sum(axis=1)).sum())
    covariance = products / size
    mean = np.trace(covariance) / d
    unlike = float(np.square(covariance).sum()) - d * mean**2  # the identity, times d
    noise = (fourth / size - float(np.square(covariance).sum())) / size  # times d
    share = min(noise, unlike) / unlike if unlike > 0.0 else 0.0
    covariance *= 1.0 - share
    covariance[np.diag_indices(d)] += share * mean
    return covariance
