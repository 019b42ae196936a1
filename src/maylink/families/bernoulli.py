"""Binary features, independent: logistic loss.

Divergence: with y = (x + s)/(1 + 2s) for a smoothing s, φ(x) = Σ_j y log y + (1 − y) log(1 − y),
so that D(x, m) sums over features the Kullback–Leibler divergence between coins y(x) and y(m).

Likelihood: x_j ~ Bernoulli(π_j), θ_j = log(π_j/(1 − π_j)). Prior: π_j ~ Beta(a_j, b_j).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, digamma, expit, logit, xlogy

from maylink.arrays import Array, Matrix
from maylink.errors import DomainError
from maylink.families.base import Family, Statistics
from maylink.families.columns import column_means
from maylink.families.rows import check_proportions, row_sums
from maylink.kernels.codes import Block, Code


class Betas(NamedTuple):
    """Independent Beta priors, one for each feature."""

    a: Array
    b: Array


@dataclass(frozen=True)
class Bernoulli(Family):
    """Clusters of binary vectors with a probability for each feature.

    Parameters
    ----------
    smoothing : float, default 0.3
        Added to ones and to zeros in the divergence, so that one surprising bit is not infinitely
        surprising.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families import Bernoulli
    >>> Bernoulli().divergence(np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.5, 0.5]])).round(4)
    array([[0.    , 0.4211]])
    """

    name: ClassVar[str] = "bernoulli"
    also_called: ClassVar[tuple[str, ...]] = ("binary",)
    kind: ClassVar[str] = "bits"
    needs: ClassVar[str] = "zeros and ones"
    auto_rank: ClassVar[int | None] = 50
    gaps: ClassVar[str | None] = "cells"
    in_chunks: ClassVar[bool] = True
    constant_base: ClassVar[bool] = True
    code: ClassVar[Code] = Code.BERNOULLI
    records: ClassVar[tuple[type, ...]] = (Betas,)

    smoothing: float = 0.3

    # ------------------------------------------------------------------ domain

    def allows(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Only 0 and 1."""
        return np.asarray((values == 0) | (values == 1))

    def check(self, X: Matrix) -> None:
        """Refuse values other than 0 and 1."""
        if self.smoothing < 0:
            raise DomainError(f"smoothing: {self.smoothing} is negative")
        super().check(X)

    def check_centers(self, centers: Array) -> None:
        """Refuse centres that are no probabilities."""
        check_proportions(centers)

    # ------------------------------------------------------------------ divergence

    def points(self, X: Matrix) -> Matrix:
        """Return the bits."""
        return X

    def potential(self, T: Matrix) -> Array:
        """Return the sum of y log y + (1 − y) log(1 − y)."""

        def negative_entropy(x: Array) -> Array:
            y = self._smooth(x)
            return np.asarray(xlogy(y, y) + xlogy(1.0 - y, 1.0 - y))

        return row_sums(T, negative_entropy)

    def gradient(self, centers: Array) -> Array:
        """Return log(y/(1 − y)) by the chain rule."""
        tiny = np.finfo(np.float64).eps
        share = np.clip(self._smooth(centers), tiny, 1.0 - tiny)
        return np.asarray(logit(share) / (1.0 + 2.0 * self.smoothing))

    def _smooth(self, x: Array) -> Array:
        return (x + self.smoothing) / (1.0 + 2.0 * self.smoothing)

    def summed(self, total: Array, potential: Array) -> Array:
        """Return the sums of the bits."""
        return total

    # ------------------------------------------------------------------ likelihood

    def statistics(self, X: Matrix) -> Matrix:
        """Return the bits."""
        return X

    def log_base(self, X: Matrix) -> Array:
        """Return 0."""
        return np.zeros(X.shape[0])

    def log_partition(self, theta: Array) -> Array:
        """Return Σ_j log(1 + exp θ_j)."""
        return np.asarray(np.logaddexp(0.0, theta).sum(axis=1))

    def mean(self, theta: Array) -> Array:
        """Return the probabilities."""
        return np.asarray(expit(theta))

    def sample(self, theta: Array, size: int, rng: np.random.Generator) -> Array:
        """Draw bits."""
        return np.asarray((rng.random((size, theta.size)) < expit(theta)).astype(np.float64))

    # ------------------------------------------------------------------ conjugate prior

    def default_prior(self, X: Matrix) -> Betas:
        """Jeffreys' mass of 1, shared between 1 and 0 as in all data."""
        n = X.shape[0]
        share = (n * column_means(X) + 0.5) / (n + 1.0)
        return Betas(share, 1.0 - share)

    def unit_prior(self, n_features: int) -> Betas:
        """Jeffreys' prior."""
        return Betas(np.full(n_features, 0.5), np.full(n_features, 0.5))

    def posterior(self, prior: Betas, statistics: Statistics) -> Betas:
        """Add ones and zeros."""
        zeros = statistics.size[:, None] - statistics.total
        return Betas(prior.a + statistics.total, prior.b + zeros)

    def log_normalizer(self, prior: Betas) -> Array:
        """Return Σ_j log B(a_j, b_j)."""
        return np.asarray(betaln(prior.a, prior.b).sum(axis=-1))

    def sample_parameters(self, prior: Betas, rng: np.random.Generator) -> Array:
        """Draw probabilities, return their log odds."""
        tiny = np.finfo(np.float64).eps
        return np.asarray(logit(np.clip(rng.beta(prior.a, prior.b), tiny, 1.0 - tiny)))

    def expected_parameters(self, prior: Betas) -> tuple[Array, Array]:
        """E log π_j/(1 − π_j) = ψ(a_j) − ψ(b_j), E −log(1 − π_j) = ψ(a_j + b_j) − ψ(b_j)."""
        partition = (digamma(prior.a + prior.b) - digamma(prior.b)).sum(axis=1)
        return digamma(prior.a) - digamma(prior.b), partition

    def scales(self, prior: Betas) -> int:
        """One: the mass of the prior."""
        return 1

    def rescale(self, prior: Betas, factors: Array) -> Betas:
        """Multiply the mass."""
        return Betas(prior.a * factors[0], prior.b * factors[0])

    def blocks(self, prior: Betas) -> list[Block]:
        """Return the masses of 1 and of 0."""
        columns = np.stack([prior.a, prior.b])
        return [Block(self.code, columns, np.zeros(3), np.empty((0, 0)))]
