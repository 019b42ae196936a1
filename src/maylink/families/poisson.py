"""Poisson counts, independent by feature: the I-divergence (generalised Kullback–Leibler).

Divergence: with y = x + s for a small smoothing s, φ(x) = Σ_j y_j log y_j − y_j, so that
D(x, m) = Σ_j (x_j + s) log((x_j + s)/(m_j + s)) − x_j + m_j.

Likelihood: x_j ~ Poisson(r_j), θ_j = log r_j. Prior: r_j ~ Gamma(shape_j, rate_j).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, xlogy

from maylink.arrays import Array, Matrix
from maylink.errors import DomainError
from maylink.families.base import Family, Statistics
from maylink.families.columns import column_means
from maylink.families.rows import row_sums
from maylink.kernels.codes import Block, Code


class Gammas(NamedTuple):
    """Independent Gamma priors, one for each feature."""

    shape: Array
    rate: Array


class GammaFamily(Family):
    """What families with independent Gamma priors share."""

    records: ClassVar[tuple[type, ...]] = (Gammas,)

    def log_normalizer(self, prior: Gammas) -> Array:
        """Return Σ_j log Γ(a_j) − a_j log b_j."""
        return np.asarray((gammaln(prior.shape) - prior.shape * np.log(prior.rate)).sum(axis=-1))

    def scales(self, prior: Gammas) -> int:
        """One: the shape, with the rate along, so that the expected values stay."""
        return 1

    def rescale(self, prior: Gammas, factors: Array) -> Gammas:
        """Multiply shape and rate."""
        return Gammas(prior.shape * factors[0], prior.rate * factors[0])


@dataclass(frozen=True)
class Poisson(GammaFamily):
    """Clusters of counts with a rate for each feature.

    Parameters
    ----------
    smoothing : float, default 0.3
        Added to points and centres in the divergence, so that a count where a centre has none
        costs much but not infinitely much.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families import Poisson
    >>> family = Poisson(smoothing=0.0)
    >>> family.divergence(np.array([[2.0, 0.0]]), np.array([[1.0, 3.0]])).round(4)
    array([[3.3863]])
    """

    name: ClassVar[str] = "poisson"
    kind: ClassVar[str] = "counts"
    needs: ClassVar[str] = "counts, 0 or more"
    auto_rank: ClassVar[int | None] = 80
    auto_sparse: ClassVar[bool] = False  # but for the totals, the multinomial tells the same
    gaps: ClassVar[str | None] = "cells"
    in_chunks: ClassVar[bool] = True
    code: ClassVar[Code] = Code.POISSON

    smoothing: float = 0.3
    ready: bool = field(default=False, repr=False, compare=False)
    """Whether data are as :meth:`prepared` returns them."""

    # ------------------------------------------------------------------ domain

    def allows(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Counts are not negative; fractions are welcome."""
        return np.asarray(values >= 0)

    def check(self, X: Matrix) -> None:
        """Refuse negative counts."""
        if self.smoothing < 0:
            raise DomainError(f"smoothing: {self.smoothing} is negative")
        super().check(X)

    def prepared(self, X: Matrix) -> tuple[Self, Matrix]:
        """Return the counts as they are; factorials are left out."""
        return replace(self, ready=True), X

    # ------------------------------------------------------------------ divergence

    def points(self, X: Matrix) -> Matrix:
        """Return the counts."""
        return X

    def neighbour_rows(self, X: Matrix, scales: Any = None) -> Matrix:
        """Return square roots, whose variance hardly depends on the rate."""
        return np.sqrt(X)

    def potential(self, T: Matrix) -> Array:
        """Return Σ_j y_j log y_j − y_j with y = x + s."""
        return row_sums(T, lambda x: xlogy(x + self.smoothing, x + self.smoothing) - x)

    def gradient(self, centers: Array) -> Array:
        """Return log(m + s)."""
        return np.log(np.maximum(centers + self.smoothing, np.finfo(np.float64).tiny))

    def summed(self, total: Array, potential: Array) -> Array:
        """Return the sums of the counts."""
        return total

    # ------------------------------------------------------------------ likelihood

    def statistics(self, X: Matrix) -> Matrix:
        """Return the counts."""
        return X

    def log_base(self, X: Matrix) -> Array:
        """Return −Σ log x!, or 0 for prepared data."""
        if self.ready:
            return np.zeros(X.shape[0])
        return -row_sums(X, lambda x: gammaln(x + 1.0))

    def log_partition(self, theta: Array) -> Array:
        """Return Σ_j r_j."""
        return np.asarray(np.exp(theta).sum(axis=1))

    def mean(self, theta: Array) -> Array:
        """Return the rates."""
        return np.exp(theta)

    def sample(self, theta: Array, size: int, rng: np.random.Generator) -> Array:
        """Draw counts."""
        return rng.poisson(np.exp(theta), (size, theta.size)).astype(np.float64)

    # ------------------------------------------------------------------ conjugate prior

    def default_prior(self, X: Matrix) -> Gammas:
        """Rates about as large as the data's mean, and about as scattered."""
        mean = column_means(X) + 0.5 / X.shape[0]
        return Gammas(shape=np.ones_like(mean), rate=1.0 / mean)

    def unit_prior(self, n_features: int) -> Gammas:
        """Rates about 5, widely scattered."""
        return Gammas(np.ones(n_features), np.full(n_features, 0.2))

    def posterior(self, prior: Gammas, statistics: Statistics) -> Gammas:
        """Add the counts to the shape and the points to the rate."""
        return Gammas(prior.shape + statistics.total, prior.rate + statistics.size[:, None])

    def sample_parameters(self, prior: Gammas, rng: np.random.Generator) -> Array:
        """Draw rates, return their logarithms."""
        rate = rng.gamma(prior.shape, 1.0 / prior.rate)
        return np.log(np.maximum(rate, np.finfo(np.float64).tiny))

    def expected_parameters(self, prior: Gammas) -> tuple[Array, Array]:
        """E log r_j = ψ(a_j) − log b_j, E r_j = a_j/b_j."""
        return digamma(prior.shape) - np.log(prior.rate), (prior.shape / prior.rate).sum(axis=1)

    def blocks(self, prior: Gammas) -> list[Block]:
        """Return shapes and rates."""
        columns = np.stack([prior.shape, prior.rate])
        return [Block(self.code, columns, np.zeros(3), np.empty((0, 0)))]
