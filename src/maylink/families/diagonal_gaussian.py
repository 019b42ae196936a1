"""Gaussian with a variance for each feature: squared distance between standardised features.

Divergence: t = (x − mean)/deviation over all data, φ(t) = ‖t‖², D(x, m) = Σ_j (x_j − m_j)²/s_j².
The small-variance limit needs one fixed covariance; it is the one of the data as a whole.

Likelihood: x_j ~ N(μ_j, σ_j²).
Prior: 1/σ_j² ~ Gamma(shape, rate_j), μ_j ~ N(mean_j, σ_j²/strength).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import digamma, gammaln

from maylink.arrays import Array, Matrix
from maylink.families.base import Statistics
from maylink.families.columns import (
    VARIANCE,
    Columns,
    column_means,
    column_variances,
    expected_clusters,
    scale_columns,
    without_outliers,
)
from maylink.families.gaussian import LOG_2PI, STRENGTH, EuclideanFamily, NormalGamma, updated_mean
from maylink.families.rows import in_deviations
from maylink.kernels.codes import Block, Code


@dataclass(frozen=True)
class DiagonalGaussian(EuclideanFamily):
    """Gaussian clusters with a variance for each feature.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families import DiagonalGaussian
    >>> X = np.array([[0.0, 100.0], [2.0, 300.0]])
    >>> family = DiagonalGaussian().adapt(X)
    >>> family.divergence(X, family.points(X))
    array([[0., 8.],
           [8., 0.]])
    """

    name: ClassVar[str] = "diagonal-gaussian"
    also_called: ClassVar[tuple[str, ...]] = ("diagonal",)
    auto_rank: ClassVar[int | None] = 20
    covariance: ClassVar[str | None] = "diagonal"
    gaps: ClassVar[str | None] = "cells"
    in_chunks: ClassVar[bool] = True
    code: ClassVar[Code] = Code.DIAGONAL_GAUSSIAN
    records: ClassVar[tuple[type, ...]] = (NormalGamma,)

    scale: Array | None = field(default=None, repr=False, compare=False)
    """Standard deviation of each feature over the data; 1 where it is constant."""
    among: int | None = field(default=None, repr=False, kw_only=True)
    """How many columns tell clusters apart, where this is one part of them."""

    # ------------------------------------------------------------------ domain

    def adapt(self, X: Matrix) -> Self:
        """Take the offset and the scale of each feature from the data."""
        return super().adapt(X)._scaled_by(column_variances(X))

    def one_of(self, n_columns: int) -> Self:
        """Return this family for one column: clusters are those of all columns."""
        return replace(self, among=n_columns)

    def column_needs(self) -> frozenset[str]:
        """Variances."""
        return frozenset([VARIANCE])

    def adapt_columns(self, columns: Columns) -> Self:
        """Take the offset and the scale of each feature from the data."""
        assert columns.variances is not None
        return super().adapt_columns(columns)._scaled_by(columns.variances)

    def _scaled_by(self, variances: Array) -> Self:
        deviation = np.sqrt(variances)
        return replace(self, scale=np.where(deviation > 0, deviation, 1.0))

    # ------------------------------------------------------------------ divergence

    def points(self, X: Matrix) -> Matrix:
        """Return the standardised data; sparse data are scaled but not centred."""
        T = self.centred(X)
        return T if self.scale is None else scale_columns(T, 1.0 / self.scale)

    def neighbour_rows(self, X: Matrix, scales: Any = None) -> Matrix:
        """Return the standardised data."""
        return self.points(X)

    def units(self, centers: Array) -> Array:
        """Return the centres with scale and offset undone."""
        return np.asarray(centers * self._spread + self.shift)

    def coordinates(self, centers: Array) -> Array:
        """Return the centres standardised."""
        return np.asarray((centers - self.shift) / self._spread)

    @property
    def _spread(self) -> Any:
        return 1.0 if self.scale is None else self.scale

    # ------------------------------------------------------------------ likelihood

    def statistics(self, X: Matrix) -> Matrix:
        """Return (x, x²), counted from the offset."""
        T = self.likelihood_rows(X).astype(np.float64)
        if sparse.issparse(T):
            return sparse.hstack([T, T.power(2)]).tocsr()
        return np.hstack([T, np.square(T)])

    def n_statistics(self, n_features: int) -> int:
        """Return 2d."""
        return 2 * self.n_likelihood_columns(n_features)

    def locations(self, statistics: Statistics) -> Array:
        """Return the means, each in units of its deviation."""
        d = statistics.total.shape[1] // 2
        return in_deviations(statistics.total[:, :d] / statistics.size[:, None])

    def log_partition(self, theta: Array) -> Array:
        """Return Σ_j μ_j²/(2σ_j²) + log σ_j, and 1/(2σ_j²) times what rounding hides."""
        slope, precision = _split(theta)
        square = slope**2 / precision + precision * self.blur
        return np.asarray(0.5 * (square - np.log(precision)).sum(axis=1))

    def mean(self, theta: Array) -> Array:
        """Return (μ, μ² + σ²)."""
        slope, precision = _split(theta)
        center = slope / precision
        return np.hstack([center, center**2 + 1.0 / precision])

    def sample(self, theta: Array, size: int, rng: np.random.Generator) -> Array:
        """Draw each feature from N(μ_j, σ_j²)."""
        slope, precision = _split(theta[None])
        return self.from_likelihood_rows(
            rng.normal(slope / precision, precision**-0.5, (size, slope.shape[1]))
        )

    # ------------------------------------------------------------------ conjugate prior

    def usual_prior(self, X: Matrix) -> NormalGamma:
        """Centre on the data; expect clusters of the data's variances shared out among log n."""
        T = self.likelihood_rows(without_outliers(X))
        n, d = X.shape[0], T.shape[1]
        variance = column_variances(T)
        variance = np.where(variance > 0, variance, 1.0)
        return NormalGamma(
            mean=column_means(T) + self.origin,
            strength=np.array(STRENGTH),
            shape=np.array(2.0),  # the smallest whole number for which the variance has a mean
            rate=variance / expected_clusters(n) ** (2.0 / (self.among or d)),
        )

    def unit_prior(self, n_features: int) -> NormalGamma:
        """Clusters of variance about 1 with means about 5 apart."""
        rate = np.full(n_features, 2.0)
        return NormalGamma(np.zeros(n_features), np.array(0.04), np.array(3.0), rate)

    def posterior(self, prior: NormalGamma, statistics: Statistics) -> NormalGamma:
        """Add the points' count, mean and scatter about it, feature by feature."""
        total, square = np.hsplit(statistics.total, 2)
        strength, mean, scatter = updated_mean(self, prior, statistics, total)
        shape = prior.shape + 0.5 * statistics.size
        around = np.maximum(square - scatter, 0.0) + statistics.size[:, None] * self.blur
        rate = prior.rate + 0.5 * around
        return NormalGamma(mean, strength, shape, rate)

    def log_normalizer(self, prior: NormalGamma) -> Array:
        """Return Σ_j log Γ(a) − a log b_j + ½ log(2π/κ)."""
        d = prior.mean.shape[-1]
        gamma = d * gammaln(prior.shape) - prior.shape * np.log(prior.rate).sum(axis=-1)
        return np.asarray(gamma + 0.5 * d * (LOG_2PI - np.log(prior.strength)))

    def sample_parameters(self, prior: NormalGamma, rng: np.random.Generator) -> Array:
        """Draw 1/σ² and μ, return (μ/σ², −1/(2σ²))."""
        precision = rng.gamma(prior.shape, 1.0 / prior.rate)
        center = rng.normal(prior.mean, 1.0 / np.sqrt(prior.strength * precision))
        return np.concatenate([(center - self.origin) * precision, -0.5 * precision])

    def expected_parameters(self, prior: NormalGamma) -> tuple[Array, Array]:
        """E τ_j = a/b_j, E log τ_j = ψ(a) − log b_j, E τ_j μ_j² = a/b_j m_j² + 1/κ."""
        center = prior.mean - self.origin
        precision = prior.shape[:, None] / prior.rate
        square = precision * (center**2 + self.blur) + 1.0 / prior.strength[:, None]
        log_precision = digamma(prior.shape)[:, None] - np.log(prior.rate)
        partition = 0.5 * (square - log_precision).sum(axis=1)
        return np.hstack([center * precision, -0.5 * precision]), partition

    def blocks(self, prior: NormalGamma) -> list[Block]:
        """Return means and rates; strength and shape."""
        scalars = np.array([prior.strength, prior.shape, 0.0], np.float64)
        columns = np.stack([prior.mean - self.origin, prior.rate])
        return [Block(self.code, columns, scalars, np.empty((0, 0)))]


def _split(theta: Array) -> tuple[Array, Array]:
    """Return (μ/σ², 1/σ²), both (K, d)."""
    slope, half = np.hsplit(theta, 2)
    return slope, -2.0 * half
