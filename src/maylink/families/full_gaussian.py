"""Gaussian with a full covariance: squared Mahalanobis distance.

Divergence: t = W(x − mean) with W whitening the data as a whole, φ(t) = ‖t‖², so that
D(x, m) = (x − m)ᵀ S⁻¹ (x − m) with S the covariance of the data. The small-variance limit needs one
fixed covariance; directions without variance are left out, judged after standardising, so that
units do not matter.

Likelihood: x ~ N(μ, Σ). Prior: Σ ~ inverse Wishart(dof, scale), μ ~ N(mean, Σ/strength).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse, stats
from scipy.special import digamma, gammaln

from maylink.arrays import Array, Matrix
from maylink.errors import DomainError
from maylink.families.base import Statistics
from maylink.families.columns import column_means, column_variances, without_outliers
from maylink.families.diagonal_gaussian import DiagonalGaussian
from maylink.families.gaussian import LOG_2PI, EuclideanFamily, updated_mean
from maylink.families.rows import in_deviations
from maylink.kernels.codes import Block, Code
from maylink.runtime.threads import one_thread, share

BLOCK = 500_000  # products of columns that are kept at a time

ROUNDING = 4.0 * np.finfo(np.float64).eps  # of a sum of squares, relative, for each feature

REDUNDANT = 1e-10  # variance of standardised data below which a direction is left out


class NormalInverseWishart(NamedTuple):
    """Prior of a mean and a covariance: Σ ~ IW(dof, scale), μ ~ N(mean, Σ/strength)."""

    mean: Array
    strength: Array
    dof: Array
    scale: Array


@dataclass(frozen=True)
class FullGaussian(EuclideanFamily):
    """Gaussian clusters with a full covariance each.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families import FullGaussian
    >>> X = np.random.default_rng(0).normal(size=(500, 3)) @ np.diag([1.0, 10.0, 100.0])
    >>> family = FullGaussian().adapt(X)
    >>> bool(np.allclose(np.cov(family.points(X).T, bias=True), np.eye(3)))
    True
    """

    name: ClassVar[str] = "full-gaussian"
    also_called: ClassVar[tuple[str, ...]] = ("full", "mahalanobis")
    accepts_sparse: ClassVar[bool] = False
    auto_rank: ClassVar[int | None] = 40
    covariance: ClassVar[str | None] = "full"
    code: ClassVar[Code] = Code.FULL_GAUSSIAN
    records: ClassVar[tuple[type, ...]] = (NormalInverseWishart,)
    sized_by: ClassVar[str] = "scale"

    scale: Array | None = field(default=None, repr=False, compare=False)
    """Standard deviation of each feature over the data; 1 where it is constant."""
    axes: Array | None = field(default=None, repr=False, compare=False)
    """Principal axes of the standardised data, each as long as its deviation, shape (r, d)."""
    basis: Array | None = field(default=None, repr=False, compare=False)
    """Their directions, where r < d: the likelihood sees only what varies."""

    # ------------------------------------------------------------------ domain

    def check(self, X: Matrix) -> None:
        """Refuse sparse data, which whitening would make dense."""
        if sparse.issparse(X):
            raise DomainError(
                "X is sparse, and the 'full-gaussian' family would make it dense; "
                "use family='gaussian' or 'diagonal-gaussian', or pass X.toarray()"
            )
        super().check(X)

    def adapt(self, X: Matrix) -> Self:
        """Take the offset, the scales and the principal axes from the data."""
        centred = super().adapt(X)
        deviation = np.sqrt(column_variances(X))
        scale = np.where(deviation > 0, deviation, 1.0)
        with one_thread():
            correlation = _covariance(centred.centred(X) / scale)
            variance, direction = linalg.eigh(correlation)
        keep = variance > REDUNDANT
        if not keep.any():  # all points are equal
            variance, direction, keep = np.ones(1), np.eye(X.shape[1], 1), np.ones(1, bool)
        basis = direction[:, keep].T
        axes = np.sqrt(variance[keep])[:, None] * basis
        full = len(basis) == X.shape[1]
        return replace(centred, scale=scale, axes=axes, basis=None if full else basis)

    # ------------------------------------------------------------------ divergence

    def points(self, X: Matrix) -> Matrix:
        """Return the whitened data."""
        return self._whiten(self.centred(X)).astype(X.dtype)

    def units(self, centers: Array) -> Array:
        """Return the centres with whitening and offset undone."""
        plain = centers if self.axes is None else centers @ self.axes * self._spread
        return np.asarray(plain + self.shift)

    def coordinates(self, centers: Array) -> Array:
        """Return the centres whitened."""
        return self._whiten(centers - self.shift)

    @property
    def _spread(self) -> Any:
        return 1.0 if self.scale is None else self.scale

    def _whiten(self, T: Array) -> Array:
        if self.axes is None:
            return T
        whitening = self.axes / np.square(self.axes).sum(axis=1, keepdims=True) / self._spread
        # Not by BLAS: a row must have the same digits alone and in company.
        return np.asarray(np.einsum("nd,rd->nr", T, whitening))

    # ------------------------------------------------------------------ likelihood

    def likelihood_rows(self, X: Matrix) -> Matrix:
        """Return the data as the likelihood sees them: centred, in the directions that vary."""
        T = self.centred(X)
        if self.basis is None:
            return T
        return np.einsum("nd,rd->nr", T, self.basis / self._spread)

    @property
    def origin(self) -> Any:
        """The offset as the likelihood sees it."""
        return self.shift if self.basis is None else self.basis @ (self.shift / self._spread)

    def from_likelihood_rows(self, T: Array) -> Array:
        """Undo :meth:`likelihood_rows`."""
        plain = T if self.basis is None else T @ self.basis * self._spread
        return np.asarray(plain + self.shift)

    def n_likelihood_columns(self, n_features: int) -> int:
        """Return how many directions the likelihood sees."""
        return n_features if self.basis is None else len(self.basis)

    @property
    def blur(self) -> Any:
        """Covariance that rounding hides, as the likelihood sees it; 0 for none."""
        if self.grain is None:
            return 0.0
        if self.basis is None:
            return np.diag(self.grain)
        return (self.basis * (self.grain / np.square(self._spread))) @ self.basis.T

    def statistics(self, X: Matrix) -> Matrix:
        """Return (x, x xᵀ), counted from the offset, the matrix laid out by rows."""
        T = np.asarray(self.likelihood_rows(X), np.float64)
        return np.hstack([T, np.einsum("ij,ik->ijk", T, T).reshape(len(T), -1)])

    def cluster_statistics(
        self, X: Matrix, labels: NDArray[Any], n_clusters: int, log_base: Array | None = None
    ) -> Statistics:
        """Sum the statistics cluster by cluster, without an n × d² matrix."""
        T = np.asarray(self.likelihood_rows(X), np.float64)
        count = np.bincount(labels, minlength=n_clusters)
        in_order, last = T[np.argsort(labels, kind="stable")], np.cumsum(count)
        total = np.empty((n_clusters, T.shape[1] * (T.shape[1] + 1)))
        for k in range(n_clusters):
            rows = in_order[last[k] - count[k] : last[k]]
            total[k, : T.shape[1]] = rows.sum(axis=0)
            total[k, T.shape[1] :] = (rows.T @ rows).ravel()
        return Statistics(count.astype(np.float64), total, count * -0.5 * T.shape[1] * LOG_2PI)

    def soft_statistics(self, X: Matrix, responsibilities: Array) -> Statistics:
        """Sum the statistics block by block: of a block of rows, all products of two columns."""
        from maylink.kernels.quadratic import pair_products

        T = np.ascontiguousarray(self.likelihood_rows(X), np.float64)
        size, d = responsibilities.sum(axis=0), T.shape[1]
        first, second = np.triu_indices(d)
        sums = np.zeros((responsibilities.shape[1], first.size))
        step = max(1, BLOCK // first.size)
        products = np.empty((step, first.size))
        for low in range(0, len(T), step):
            high = min(low + step, len(T))
            pair_products(T, low, high, products)
            sums += responsibilities[low:high].T @ products[: high - low]
        square = np.empty((len(sums), d, d))
        square[:, first, second] = square[:, second, first] = sums
        total = np.hstack([responsibilities.T @ T, square.reshape(len(sums), -1)])
        return Statistics(size, total, size * -0.5 * d * LOG_2PI)

    def n_statistics(self, n_features: int) -> int:
        """Return d + d²."""
        return self.n_likelihood_columns(n_features) * (self.n_likelihood_columns(n_features) + 1)

    def n_parameters(self, n_features: int) -> int:
        """Return d + d(d + 1)/2: a covariance is symmetric."""
        d = self.n_likelihood_columns(n_features)
        return d * (d + 3) // 2

    def locations(self, statistics: Statistics) -> Array:
        """Return the means, each in units of its deviation; d + d² statistics hold d of them."""
        d = round(np.sqrt(statistics.total.shape[1] + 0.25) - 0.5)
        return in_deviations(statistics.total[:, :d] / statistics.size[:, None])

    def log_partition(self, theta: Array) -> Array:
        """Return ½ μᵀ Σ⁻¹ μ + ½ log det Σ, and ½ tr Σ⁻¹ R where rounding hides R."""
        slope, precision = _split(theta)
        center = np.linalg.solve(precision, slope[..., None])[..., 0]
        square = np.einsum("kd,kd->k", slope, center) + (precision * self.blur).sum(axis=(1, 2))
        return np.asarray(0.5 * (square - np.linalg.slogdet(precision)[1]))

    def mean(self, theta: Array) -> Array:
        """Return (μ, μ μᵀ + Σ)."""
        slope, precision = _split(theta)
        covariance = np.linalg.inv(precision)
        center = np.einsum("kde,ke->kd", covariance, slope)
        second = covariance + np.einsum("kd,ke->kde", center, center)
        return np.hstack([center, second.reshape(len(theta), -1)])

    def sample(self, theta: Array, size: int, rng: np.random.Generator) -> Array:
        """Draw from N(μ, Σ)."""
        slope, precision = (part[0] for part in _split(theta[None]))
        covariance = np.linalg.inv(precision)
        return self.from_likelihood_rows(
            rng.multivariate_normal(covariance @ slope, covariance, size)
        )

    # ------------------------------------------------------------------ conjugate prior

    def usual_prior(self, X: Matrix) -> NormalInverseWishart:
        """Return the paper's prior: for standardised data mean 0, strength 1, dof d and scale I.

        The scale has no correlations: those of the data as a whole are mostly made by where the
        clusters lie, and a prior with them would call thin clusters along them likely.
        """
        T = self.likelihood_rows(without_outliers(X))
        variance = column_variances(T)
        return NormalInverseWishart(
            mean=column_means(T) + self.origin,
            strength=np.array(1.0),
            dof=np.array(float(T.shape[1])),
            scale=np.diag(np.where(variance > 0, variance, 1.0)),
        )

    def coarser(self) -> DiagonalGaussian:
        """Return the family without correlations: whitening hides where the clusters lie apart."""
        return DiagonalGaussian()

    def unit_prior(self, n_features: int) -> NormalInverseWishart:
        """Clusters of covariance about I with means about 5 apart."""
        d = n_features
        return NormalInverseWishart(np.zeros(d), np.array(0.04), np.array(d + 4.0), 3.0 * np.eye(d))

    def posterior(
        self, prior: NormalInverseWishart, statistics: Statistics
    ) -> NormalInverseWishart:
        """Add the points' count, mean and scatter about it."""
        d = prior.mean.shape[-1]
        strength, mean, _ = updated_mean(self, prior, statistics, statistics.total[:, :d])
        scale = (
            prior.scale
            + statistics.total[:, d:].reshape(-1, d, d)
            + _outer(prior.mean - self.origin, prior.strength)
            - _outer(mean - self.origin, strength)
            + statistics.size[:, None, None] * self.blur
        )
        # Far outliers leave the other points few digits: what rounding may have taken is added.
        diagonal = np.arange(d)
        squares = statistics.total[:, d:].reshape(-1, d, d)[:, diagonal, diagonal]
        squares = squares + prior.strength[..., None] * np.square(prior.mean - self.origin)
        scale[:, diagonal, diagonal] += ROUNDING * d * squares
        return NormalInverseWishart(mean, strength, prior.dof + statistics.size, scale)

    def log_normalizer(self, prior: NormalInverseWishart) -> Array:
        """Return νd/2 log 2 + log Γ_d(ν/2) − ν/2 log det Ψ + d/2 log(2π/κ)."""
        d = prior.mean.shape[-1]
        wishart = 0.5 * prior.dof * (d * np.log(2.0) - np.linalg.slogdet(prior.scale)[1])
        halves = 0.5 * prior.dof - 0.5 * np.arange(d).reshape(-1, *(1,) * np.ndim(prior.dof))
        gamma = 0.25 * d * (d - 1) * np.log(np.pi) + gammaln(halves).sum(axis=0)
        return np.asarray(wishart + gamma + 0.5 * d * (LOG_2PI - np.log(prior.strength)))

    def log_predictive(self, X: Matrix, prior: NormalInverseWishart) -> Array:
        """Return the density of the multivariate t that integrating N(μ, Σ) leaves.

        A rounded point widens the scale Ψ by R, which rounding hides, before it counts.
        """
        d = prior.mean.shape[-1]
        factor = _factor(prior.scale + self.blur)
        log_det = 2.0 * np.log(np.diag(factor)).sum()
        shrink = prior.strength / (prior.strength + 1.0)
        half = 0.5 * (prior.dof + 1.0)
        constant = gammaln(half) - gammaln(half - 0.5 * d) - 0.5 * log_det
        if self.grain is not None:
            constant -= 0.5 * prior.dof * (log_det - np.linalg.slogdet(prior.scale)[1])
        constant += 0.5 * d * np.log(shrink / np.pi)
        squares = self._squares(X, factor[None], prior.mean[None])[:, 0]
        return np.asarray(constant - half * np.log1p(shrink * squares))

    def sample_parameters(self, prior: NormalInverseWishart, rng: np.random.Generator) -> Array:
        """Draw Σ and μ, return (Σ⁻¹ μ, −½ Σ⁻¹)."""
        wishart = stats.invwishart(df=float(prior.dof), scale=prior.scale)
        covariance = np.atleast_2d(wishart.rvs(random_state=rng))
        center = rng.multivariate_normal(prior.mean, covariance / prior.strength)
        precision = np.linalg.inv(covariance)
        return np.append(precision @ (center - self.origin), -0.5 * precision.ravel())

    def expected_parameters(self, prior: NormalInverseWishart) -> tuple[Array, Array]:
        """E Σ⁻¹ = ν Ψ⁻¹, E log det Σ = log det Ψ − d log 2 − Σ_j ψ((ν + 1 − j)/2)."""
        center = prior.mean - self.origin
        d = center.shape[-1]
        precision = np.asarray(prior.dof)[..., None, None] * np.linalg.inv(prior.scale)
        slope = np.einsum("kde,ke->kd", precision, center)
        square = np.einsum("kd,kd->k", slope, center) + d / prior.strength
        square = square + (precision * self.blur).sum(axis=(1, 2))
        partition = 0.5 * (square + self._expected_log_det(prior))
        return np.hstack([slope, -0.5 * precision.reshape(len(slope), -1)]), partition

    def expected_log_likelihood(self, X: Matrix, prior: NormalInverseWishart) -> Array:
        """Return the same through Cholesky factors, without an n × d² matrix."""
        d = prior.mean.shape[-1]
        out = self._squares(X, _factor(prior.scale), prior.mean)
        if self.grain is not None:
            out += (np.linalg.inv(prior.scale) * self.blur).sum(axis=(1, 2))
        out *= -0.5 * prior.dof
        out += -0.5 * (d * LOG_2PI + d / prior.strength + self._expected_log_det(prior))
        return out

    def _squares(self, X: Matrix, factors: NDArray[Any], means: Array) -> Array:
        """Return (x − m)ᵀ (L Lᵀ)⁻¹ (x − m) for K factors L and means m, shape (n, K)."""
        from maylink.kernels.quadratic import distances, pack_factors

        T = np.ascontiguousarray(self.likelihood_rows(X), np.float64)
        rows = pack_factors(factors, means - self.origin)
        out = np.empty((len(T), len(means)))

        def part(low: int, high: int) -> None:
            distances(T, rows, len(means), low, high, out)

        share(part, len(T), rows.size // 2)
        return out

    def _expected_log_det(self, prior: NormalInverseWishart) -> Array:
        d = prior.mean.shape[-1]
        halves = 0.5 * (prior.dof[:, None] - np.arange(d))
        return np.asarray(
            np.linalg.slogdet(prior.scale)[1] - d * np.log(2.0) - digamma(halves).sum(axis=1)
        )

    def blocks(self, prior: NormalInverseWishart) -> list[Block]:
        """Return means; strength and degrees of freedom; the factor of the scale."""
        mean = prior.mean - self.origin
        scalars = np.array([prior.strength, prior.dof, 0.0], np.float64)
        factor = np.asarray(_factor(prior.scale), np.float64)
        return [Block(self.code, np.stack([mean, mean]), scalars, factor)]


def _covariance(X: Matrix) -> Array:
    return np.atleast_2d(np.cov(np.asarray(X, np.float64).T, bias=True))


def _factor(scale: Array) -> NDArray[Any]:
    """Return the Cholesky factor of a scale, over a leading axis where there is one."""
    try:
        return np.linalg.cholesky(scale)
    except np.linalg.LinAlgError:
        raise DomainError(
            "X: a full covariance of these values is beyond double precision; drop outliers, scale "
            "the columns, or give covariance='diagonal'"
        ) from None


def _outer(vector: Array, weight: Array) -> Array:
    """Return weight · v vᵀ, over a leading axis where there is one."""
    return np.asarray(weight)[..., None, None] * vector[..., :, None] * vector[..., None, :]


def _split(theta: Array) -> tuple[Array, Array]:
    """Return (Σ⁻¹ μ, Σ⁻¹), shapes (K, d) and (K, d, d)."""
    d = int((np.sqrt(1 + 4 * theta.shape[1]) - 1) / 2)
    return theta[:, :d], -2.0 * theta[:, d:].reshape(-1, d, d)
