"""Gaussian with one variance for all features: squared Euclidean distance, the K-means divergence.

Divergence: φ(t) = ‖t‖², D(x, m) = ‖x − m‖², where t is x less the mean of the data (rounding).

Likelihood: x ~ N(μ, σ² I). Prior: 1/σ² ~ Gamma(shape, rate), μ ~ N(mean, σ²/strength I).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import digamma, gammaln

from maylink.arrays import Array, Matrix
from maylink.errors import DomainError
from maylink.families.base import Family, Statistics
from maylink.families.columns import (
    Columns,
    column_means,
    column_range,
    column_scales,
    column_variances,
    expected_clusters,
    in_one_unit,
    without_outliers,
)
from maylink.families.rounding import rounding_variances
from maylink.families.rows import row_sums
from maylink.families.tails import Tails
from maylink.kernels.codes import Block, Code

LOG_2PI = float(np.log(2 * np.pi))
STRENGTH = 0.01  # the prior mean counts as a hundredth of a point (Fraley & Raftery 2007)
LARGEST, SMALLEST = 1e150, 1e-150  # squares of these still are ordinary doubles


class NormalGamma(NamedTuple):
    """Prior of a mean and one precision: τ ~ Gamma(shape, rate), μ ~ N(mean, 1/(strength τ))."""

    mean: Array
    strength: Array
    shape: Array
    rate: Array


@dataclass(frozen=True)
class EuclideanFamily(Family):
    """What the Gaussians share: the squared Euclidean distance between mapped points."""

    kind: ClassVar[str] = "real"
    needs: ClassVar[str] = "finite real numbers"
    constant_base: ClassVar[bool] = True
    sized_by: ClassVar[str] = "rate"
    """The part of the prior that holds the size of the variances."""

    offset: Array | None = field(default=None, repr=False, compare=False)
    """The mean of the data: points are counted from there, which saves digits."""
    varying: NDArray[np.int64] | None = field(default=None, repr=False, compare=False)
    """The features that are not constant, where some are: the others have no variance to learn."""
    spread: float = field(default=1.0, repr=False, kw_only=True)
    """Variance that the prior expects inside clusters, in units of the usual one."""
    tails: Tails | None = field(default=None, repr=False, compare=False, kw_only=True)
    """Clusters that points are drawn in towards, where clusters have heavy tails."""
    rounded: bool = field(default=False, repr=False, kw_only=True)
    """Whether values that many rows share are taken for rounded ones, known to within a width."""
    grain: Array | None = field(default=None, repr=False, compare=False, kw_only=True)
    """Variance of the numbers that are recorded as one value, for each column, where rounded."""

    # ------------------------------------------------------------------ domain

    def check(self, X: Matrix) -> None:
        """Refuse values whose squares overflow."""
        super().check(X)
        reach = float(np.max(np.abs(column_range(X))))
        if reach > LARGEST:
            raise DomainError(
                f"X reaches {reach:.3g}, and the squares of such values overflow; "
                "divide X by a constant"
            )

    def adapt(self, X: Matrix) -> Self:
        """Return this family counted from the mean of the data."""
        self.check(X)
        largest, smallest = column_range(X)
        constant = largest == smallest
        offset = np.zeros(X.shape[1])
        if sparse.issparse(X):
            _check_sparse_columns(X, constant)
        else:  # constant features become zeros, not noise; in the precision of X, as in centred()
            offset = np.where(constant, X[0], column_means(X).astype(X.dtype)).astype(np.float64)
        grain = rounding_variances(X) if self.rounded else None
        return replace(self._counted_from(offset, largest, smallest), grain=grain)

    def adapt_columns(self, columns: Columns) -> Self:
        """Return this family counted from the mean of the data."""
        constant = columns.largest == columns.smallest
        means = columns.means.astype(columns.dtype)
        offset = np.where(constant, columns.first, means).astype(np.float64)
        return replace(self, grain=None)._counted_from(offset, columns.largest, columns.smallest)

    def _counted_from(self, offset: Array, largest: NDArray[Any], smallest: NDArray[Any]) -> Self:
        _check_spread(float(np.max(np.maximum(largest - offset, offset - smallest))))
        constant = largest == smallest
        varying = np.flatnonzero(~constant) if constant.any() and not constant.all() else None
        return replace(self, offset=offset, varying=varying)

    def overlooked(self, X: Matrix) -> int | None:
        """Return the first column that was constant in the data of the fit and is not here."""
        if self.varying is None:
            return None
        constant = np.setdiff1d(np.arange(X.shape[1]), self.varying)
        largest, smallest = column_range(X[:, constant])
        other = np.maximum(largest - self.shift[constant], self.shift[constant] - smallest) > 0
        return int(constant[np.argmax(other)]) if other.any() else None

    def centred(self, X: Matrix) -> Matrix:
        """Return X less the offset, in the precision of X; with no offset sparse data stay so."""
        X = self.drawn_in(X)
        if self.offset is None or not self.offset.any():
            return X
        dense = X.toarray() if sparse.issparse(X) else X
        return np.subtract(dense, self.offset, dtype=X.dtype, casting="same_kind")

    def drawn_in(self, X: Matrix) -> Matrix:
        """Return X with points far out drawn in, where clusters have heavy tails."""
        return X if self.tails is None else self.tails.drawn_in(X)

    def prepared(self, X: Matrix) -> tuple[Self, Matrix]:
        """Return the points drawn in, and the family that takes them as they are."""
        return (self, X) if self.tails is None else (replace(self, tails=None), self.drawn_in(X))

    @property
    def shift(self) -> Any:
        """The offset, or 0 before the family has seen data."""
        return 0.0 if self.offset is None else self.offset

    # ------------------------------------------------------------------ divergence

    def potential(self, T: Matrix) -> Array:
        """Return ‖t‖²."""
        return row_sums(T, np.square)

    def gradient(self, centers: Array) -> Array:
        """Return 2m."""
        return 2.0 * centers

    def tangent(self, centers: Array) -> tuple[Array, Array]:
        """Return θ = 2m and c = ‖m‖²; squares are added by halves, an order that GPUs can keep."""
        width = 1 << max(0, centers.shape[1] - 1).bit_length()
        half = np.zeros((len(centers), width))
        half[:, : centers.shape[1]] = np.square(centers)
        while width > 1:
            width //= 2
            half = half[:, :width] + half[:, width:]
        return self.gradient(centers), half[:, 0]

    def neighbour_rows(self, X: Matrix, scales: Any = None) -> Matrix:
        """Return the data, in deviations where the columns are not in one unit."""
        return in_one_unit(self.drawn_in(X), scales)

    def neighbour_scales(self, X: Matrix) -> Any:
        """Return means and deviations of the columns."""
        return column_scales(self.drawn_in(X))

    # ------------------------------------------------------------------ likelihood

    def likelihood_rows(self, X: Matrix) -> Matrix:
        """Return the data as the likelihood sees them: centred, without constant features."""
        T = self.centred(X)
        return T if self.varying is None else T[:, self.varying]

    @property
    def origin(self) -> Any:
        """The offset as the likelihood sees it."""
        return self.shift if self.varying is None else self.shift[self.varying]

    def from_likelihood_rows(self, T: Array) -> Array:
        """Undo :meth:`likelihood_rows`."""
        if self.varying is None:
            return np.asarray(T + self.shift)
        X = np.tile(self.shift, (len(T), 1))
        X[:, self.varying] += T
        return X

    def n_likelihood_columns(self, n_features: int) -> int:
        """Return how many features the likelihood sees."""
        return n_features if self.varying is None else self.varying.size

    def log_base(self, X: Matrix) -> Array:
        """Return −d/2 log 2π."""
        return np.full(X.shape[0], -0.5 * self.n_likelihood_columns(X.shape[1]) * LOG_2PI)

    @property
    def blur(self) -> Any:
        """Variance that rounding hides, in each feature as the likelihood sees it; 0 for none."""
        if self.grain is None:
            return 0.0
        return self.grain if self.varying is None else self.grain[self.varying]

    def dithered(self, X: Matrix, rng: np.random.Generator) -> Matrix:
        """Return X with each rounded value moved to where it may have been."""
        return X if self.grain is None else X + self._noise(X.shape[0], self.grain, rng)

    def _noise(self, n: int, grain: Array, rng: np.random.Generator) -> Array:
        return np.asarray(rng.uniform(-0.5, 0.5, (n, grain.size)) * np.sqrt(12.0 * grain))

    # ------------------------------------------------------------------ conjugate prior

    def default_prior(self, X: Matrix) -> Any:
        """Place the prior by the data; it expects clusters as wide as ``spread`` says."""
        prior = self.usual_prior(X)
        return prior if self.spread == 1.0 else self.rescale(prior, np.array([1.0, self.spread]))

    def usual_prior(self, X: Matrix) -> Any:
        """Return the prior of spread 1."""
        raise NotImplementedError

    def prior_of_columns(self, columns: Columns, rows: NDArray[Any]) -> Any:
        """Place the prior by some rows; expect clusters for as many points as there are in all."""
        prior = self.default_prior(rows)
        if len(rows) == columns.n:
            return prior
        fewer = expected_clusters(len(rows)) / expected_clusters(columns.n)
        return prior._replace(rate=prior.rate * fewer ** (2.0 / prior.mean.size))

    def scales(self, prior: Any) -> int:
        """Two: the strength of the mean, and the size of the variances."""
        return 2

    def rescale(self, prior: Any, factors: Array) -> Any:
        """Multiply the strength, and what holds the size of the variances."""
        sized = {self.sized_by: getattr(prior, self.sized_by) * factors[1]}
        return prior._replace(strength=prior.strength * factors[0], **sized)


@dataclass(frozen=True)
class Gaussian(EuclideanFamily):
    """Gaussian clusters with one variance for all features.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families import Gaussian
    >>> Gaussian().divergence(np.array([[0.0, 3.0]]), np.array([[4.0, 0.0], [0.0, 3.0]]))
    array([[25.,  0.]])
    """

    name: ClassVar[str] = "gaussian"
    also_called: ClassVar[tuple[str, ...]] = ("euclidean", "normal", "spherical")
    usual: ClassVar[bool] = True
    auto_rank: ClassVar[int | None] = 10
    covariance: ClassVar[str | None] = "spherical"
    in_chunks: ClassVar[bool] = True
    code: ClassVar[Code] = Code.GAUSSIAN
    records: ClassVar[tuple[type, ...]] = (NormalGamma,)

    # ------------------------------------------------------------------ divergence

    def points(self, X: Matrix) -> Matrix:
        """Return the data, counted from their mean."""
        return self.centred(X)

    def units(self, centers: Array) -> Array:
        """Return the centres with the offset added again."""
        return np.asarray(centers + self.shift)

    def coordinates(self, centers: Array) -> Array:
        """Return the centres less the offset."""
        return np.asarray(centers - self.shift)

    def summed(self, total: Array, potential: Array) -> Array | None:
        """Return (Σ t, Σ ‖t‖²)."""
        if self.varying is None:
            return np.column_stack([total, potential])
        if np.delete(total, self.varying, axis=1).any():  # constants of sparse data, not centred
            return None
        return np.column_stack([total[:, self.varying], potential])

    # ------------------------------------------------------------------ likelihood

    def statistics(self, X: Matrix) -> Matrix:
        """Return (x, ‖x‖²), counted from the offset."""
        T = self.likelihood_rows(X)
        square = self.potential(T)[:, None]
        return sparse.hstack([T, square]).tocsr() if sparse.issparse(T) else np.hstack([T, square])

    def n_statistics(self, n_features: int) -> int:
        """Return d + 1."""
        return self.n_likelihood_columns(n_features) + 1

    def locations(self, statistics: Statistics) -> Array:
        """Return the means: all features have one variance."""
        return np.asarray(statistics.total[:, :-1] / statistics.size[:, None])

    def log_partition(self, theta: Array) -> Array:
        """Return ‖μ‖²/(2σ²) + d log σ, and 1/(2σ²) times what rounding hides."""
        slope, precision = theta[:, :-1], -2.0 * theta[:, -1]
        quadratic = np.square(slope).sum(axis=1) / precision + precision * np.sum(self.blur)
        return np.asarray(0.5 * (quadratic - slope.shape[1] * np.log(precision)))

    def mean(self, theta: Array) -> Array:
        """Return (μ, ‖μ‖² + d σ²)."""
        variance = -0.5 / theta[:, -1]
        center = theta[:, :-1] * variance[:, None]
        square = np.square(center).sum(axis=1) + center.shape[1] * variance
        return np.column_stack([center, square])

    def sample(self, theta: Array, size: int, rng: np.random.Generator) -> Array:
        """Draw from N(μ, σ² I)."""
        variance = -0.5 / theta[-1]
        noise = rng.standard_normal((size, theta.size - 1))
        return self.from_likelihood_rows(theta[:-1] * variance + np.sqrt(variance) * noise)

    # ------------------------------------------------------------------ conjugate prior

    def usual_prior(self, X: Matrix) -> NormalGamma:
        """Centre on the data; expect clusters of the data's variance shared out among log n."""
        T = self.likelihood_rows(without_outliers(X))
        n, d = X.shape[0], T.shape[1]
        variance = float(column_variances(T).mean()) or 1.0
        return NormalGamma(
            mean=column_means(T) + self.origin,
            strength=np.array(STRENGTH),
            shape=np.array(2.0),  # the smallest whole number for which the variance has a mean
            rate=np.array(variance / expected_clusters(n) ** (2.0 / d)),
        )

    def unit_prior(self, n_features: int) -> NormalGamma:
        """Clusters of variance about 1 with means about 5 apart."""
        return NormalGamma(np.zeros(n_features), np.array(0.04), np.array(3.0), np.array(2.0))

    def posterior(self, prior: NormalGamma, statistics: Statistics) -> NormalGamma:
        """Add the points' count, mean and scatter about it."""
        strength, mean, scatter = updated_mean(self, prior, statistics, statistics.total[:, :-1])
        around = np.maximum(statistics.total[:, -1] - scatter.sum(axis=1), 0.0)
        rate = prior.rate + 0.5 * (around + statistics.size * np.sum(self.blur))
        shape = prior.shape + 0.5 * mean.shape[1] * statistics.size
        return NormalGamma(mean, strength, shape, rate)

    def log_normalizer(self, prior: NormalGamma) -> Array:
        """Return log Γ(a) − a log b + d/2 log(2π/κ)."""
        gamma = gammaln(prior.shape) - prior.shape * np.log(prior.rate)
        return np.asarray(gamma + 0.5 * prior.mean.shape[-1] * (LOG_2PI - np.log(prior.strength)))

    def sample_parameters(self, prior: NormalGamma, rng: np.random.Generator) -> Array:
        """Draw 1/σ² and μ, return (μ/σ², −1/(2σ²))."""
        precision = rng.gamma(prior.shape, 1.0 / prior.rate)
        center = rng.normal(prior.mean, 1.0 / np.sqrt(prior.strength * precision))
        return np.append((center - self.origin) * precision, -0.5 * precision)

    def expected_parameters(self, prior: NormalGamma) -> tuple[Array, Array]:
        """E τ = a/b, E log τ = ψ(a) − log b, E τ‖μ‖² = a/b ‖m‖² + d/κ."""
        center = prior.mean - self.origin
        d = center.shape[-1]
        precision = prior.shape / prior.rate
        square = precision * (np.square(center).sum(axis=-1) + np.sum(self.blur))
        square = square + d / prior.strength
        partition = 0.5 * (square - d * (digamma(prior.shape) - np.log(prior.rate)))
        return np.column_stack([center * precision[:, None], -0.5 * precision]), partition

    def blocks(self, prior: NormalGamma) -> list[Block]:
        """Return means; strength, shape and rate."""
        mean = prior.mean - self.origin
        scalars = np.array([prior.strength, prior.shape, prior.rate], np.float64)
        return [Block(self.code, np.stack([mean, mean]), scalars, np.empty((0, 0)))]


def updated_mean(
    family: EuclideanFamily, prior: Any, statistics: Statistics, total: Array
) -> tuple[Array, Array, Array]:
    """Strength and mean of a posterior, and what to take from the sum of squares, by feature.

    With everything counted from the offset o, the scatter about the posterior mean m is
    ``Σ(x − o)² − [κ' (m' − o)² − κ (m − o)²]``; the square bracket is returned.
    """
    start = prior.mean - family.origin
    strength = prior.strength + statistics.size
    weight = np.asarray(prior.strength)[..., None]
    mean = (weight * start + total) / strength[:, None]
    return strength, mean + family.origin, strength[:, None] * mean**2 - weight * start**2


def _check_spread(spread: float) -> None:
    if 0.0 < spread < SMALLEST:
        raise DomainError(
            f"X spreads over {spread:.3g} only, and the squares of such values vanish; "
            "multiply X by a constant"
        )


def _check_sparse_columns(X: Matrix, constant: NDArray[np.bool_]) -> None:
    """Refuse features far from 0, whose spread the squares would round away: no offset helps."""
    far = ~constant & (column_variances(X) < 1e-12 * column_means(X) ** 2)
    if far.any():
        raise DomainError(
            f"column {int(np.argmax(far))} of X is sparse but lies far from 0 with little spread; "
            "subtract its mean, or pass X.toarray()"
        )
