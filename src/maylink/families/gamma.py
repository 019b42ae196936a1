"""Positive values (durations, powers, prices), independent by feature: Itakura–Saito divergence.

Divergence: φ(x) = −Σ_j log x_j, D(x, m) = Σ_j x_j/m_j − log(x_j/m_j) − 1; it ignores the unit.

Likelihood: x_j ~ Gamma(shape, rate r_j) with a known shape (1: exponential), θ_j = −r_j.
Prior: r_j ~ Gamma(shape_j, rate_j).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import digamma, gammaln

from maylink.arrays import Array, Matrix
from maylink.errors import DomainError
from maylink.families.base import Statistics
from maylink.families.columns import column_means
from maylink.families.poisson import GammaFamily, Gammas
from maylink.families.rows import row_sums
from maylink.kernels.codes import Block, Code


@dataclass(frozen=True)
class Gamma(GammaFamily):
    """Clusters of positive values with a scale for each feature.

    Parameters
    ----------
    shape : float, default 1
        Shape of the Gamma distribution; 1 is the exponential distribution. The divergence does
        without it.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families import Gamma
    >>> Gamma().divergence(np.array([[2.0, 5.0]]), np.array([[1.0, 5.0]])).round(4)
    array([[0.3069]])
    """

    name: ClassVar[str] = "gamma"
    also_called: ClassVar[tuple[str, ...]] = ("exponential",)
    kind: ClassVar[str] = "positive"
    needs: ClassVar[str] = "numbers above 0"
    accepts_sparse: ClassVar[bool] = False
    gaps: ClassVar[str | None] = "cells"
    in_chunks: ClassVar[bool] = True
    code: ClassVar[Code] = Code.GAMMA

    shape: float = 1.0

    # ------------------------------------------------------------------ domain

    def allows(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Only numbers above 0."""
        return np.asarray(values > 0)

    def check(self, X: Matrix) -> None:
        """Refuse values of 0 or less."""
        if not self.shape > 0:
            raise DomainError(f"shape: {self.shape} is not above 0")
        super().check(X)

    # ------------------------------------------------------------------ divergence

    def points(self, X: Matrix) -> Matrix:
        """Return the values; a sparse matrix without zeros is a dense one."""
        return X.toarray() if sparse.issparse(X) else X

    def neighbour_rows(self, X: Matrix, scales: Any = None) -> Matrix:
        """Return logarithms: what counts is the ratio of two values."""
        return np.log(self.points(X))

    def potential(self, T: Matrix) -> Array:
        """Return −Σ_j log x_j."""
        return row_sums(T, lambda x: -np.log(x))

    def gradient(self, centers: Array) -> Array:
        """Return −1/m."""
        return -1.0 / centers

    def summed(self, total: Array, potential: Array) -> Array:
        """Return the sums of the values."""
        return total

    # ------------------------------------------------------------------ likelihood

    def statistics(self, X: Matrix) -> Matrix:
        """Return the values."""
        return self.points(X)

    def log_base(self, X: Matrix) -> Array:
        """Return Σ_j (shape − 1) log x_j − log Γ(shape)."""
        logs = row_sums(self.points(X), np.log)
        return np.asarray((self.shape - 1.0) * logs - X.shape[1] * gammaln(self.shape))

    def log_partition(self, theta: Array) -> Array:
        """Return −shape Σ_j log r_j."""
        return np.asarray(-self.shape * np.log(-theta).sum(axis=1))

    def mean(self, theta: Array) -> Array:
        """Return shape/r."""
        return -self.shape / theta

    def sample(self, theta: Array, size: int, rng: np.random.Generator) -> Array:
        """Draw values."""
        drawn = rng.gamma(self.shape, -1.0 / theta, (size, theta.size))
        return np.maximum(drawn, np.finfo(np.float64).tiny)

    # ------------------------------------------------------------------ conjugate prior

    def default_prior(self, X: Matrix) -> Gammas:
        """Expect values like the data's mean, with the widest spread that has a mean."""
        mean = column_means(X)
        return Gammas(shape=np.full_like(mean, 2.0), rate=mean / self.shape)

    def unit_prior(self, n_features: int) -> Gammas:
        """Rates about 1, widely scattered."""
        return Gammas(np.full(n_features, 2.0), np.full(n_features, 2.0))

    def posterior(self, prior: Gammas, statistics: Statistics) -> Gammas:
        """Add the points to the shape and the values to the rate."""
        shape = prior.shape + self.shape * statistics.size[:, None]
        return Gammas(shape, prior.rate + statistics.total)

    def sample_parameters(self, prior: Gammas, rng: np.random.Generator) -> Array:
        """Draw rates, return them with a minus sign."""
        return -np.maximum(rng.gamma(prior.shape, 1.0 / prior.rate), np.finfo(np.float64).tiny)

    def expected_parameters(self, prior: Gammas) -> tuple[Array, Array]:
        """E r_j = a_j/b_j, E log r_j = ψ(a_j) − log b_j."""
        log_rate = digamma(prior.shape) - np.log(prior.rate)
        return -prior.shape / prior.rate, -self.shape * log_rate.sum(axis=1)

    def blocks(self, prior: Gammas) -> list[Block]:
        """Return shapes and rates; the known shape of the likelihood."""
        columns = np.stack([prior.shape, prior.rate])
        scalars = np.array([self.shape, 0.0, 0.0])
        return [Block(self.code, columns, scalars, np.empty((0, 0)))]
