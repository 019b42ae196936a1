"""Gaussian of many features: one covariance within clusters, one between them, few directions.

Of hundreds of features a cluster cannot learn a covariance of its own, and most directions tell
nothing. So data are looked at in few principal directions, mostly 32, of columns in one unit;
within clusters they have one covariance W, and the centres of clusters have one covariance Φ
between them. This is probabilistic linear discriminant analysis (Prince & Elder 2007; Ioffe 2006).
A direction in which centres hardly differ counts for little, however long it is.

Divergence: t = the principal directions after whitening W, turned to where Φ is diagonal,
φ(t) = ‖t‖², so that D(x, m) = (x − m)ᵀ W⁻¹ (x − m) in these directions.

Likelihood: t ~ N(μ, I). Prior: μ ~ N(mean, 1/precision) in each direction; the default has mean 0
and the variances of Φ. Directions that are left out have one Gaussian for all clusters: they change
no partition.

At first W is half the scatter of differences between near neighbours, and Φ is what the covariance
of all data has beyond W. :meth:`PLDA.learned` takes both from a partition.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import linalg, sparse

from maylink.arrays import Array, Matrix
from maylink.errors import DomainError
from maylink.families.base import Family, Statistics
from maylink.families.columns import column_means, column_range, column_units, scale_columns
from maylink.families.gaussian import LOG_2PI, EuclideanFamily
from maylink.families.principal import principal_directions
from maylink.families.rounding import rounding_variances
from maylink.families.rows import CHUNK
from maylink.families.shared_gaussian import ROWS, within_clusters
from maylink.families.whitened import WhitenedFamily
from maylink.kernels.codes import Block, Code
from maylink.runtime.threads import one_thread

DIRECTIONS, SEVERAL = 32, (8, 16, 32, 64)  # the usual number, and those that may be chosen
POINTS_A_DIRECTION = 12  # at least, where clusters hold a few points each
NEIGHBOURS = 15  # enough to tell a covariance of 32 directions from some hundred points
LEAST_BETWEEN = 1e-3  # least variance between clusters, in units of that within
UNKNOWN_BETWEEN = 0.04  # precision of centres before data were seen: about 5 deviations apart


class KnownVariance(NamedTuple):
    """Prior of a mean where the variance is 1: μ ~ N(mean, 1/precision), by direction."""

    mean: Array
    precision: Array


@dataclass(frozen=True)
class PLDA(WhitenedFamily):
    """Gaussian clusters of many features: a covariance within and one between clusters, learned.

    Before it has seen data it is the Gaussian of variance 1.

    Parameters
    ----------
    directions : int, optional
        Principal directions that are looked at, at most. By default 32, fewer where the covariance
        of so many would hold more numbers than there are points, or what links choose of 8, 16, 32
        and 64 (:mod:`maylink.tuning.pieces`).
    neighbours : int, optional
        Nearest neighbours of each point that the first W is taken from. By default 15, or 1 where
        the data choose so: clusters then hold a few points each.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families import PLDA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 200)) + 2.0 * np.repeat([[0], [1], [2]], 100, axis=0)
    >>> family = PLDA().adapt(X)
    >>> family.points(X).shape
    (300, 24)
    """

    name: ClassVar[str] = "plda"
    also_called: ClassVar[tuple[str, ...]] = ("lda", "two-covariance")
    accepts_sparse: ClassVar[bool] = True
    auto_rank: ClassVar[int | None] = 35
    covariance: ClassVar[str | None] = "plda"
    code: ClassVar[Code] = Code.KNOWN_VARIANCE
    records: ClassVar[tuple[type, ...]] = (KnownVariance,)
    constant_base: ClassVar[bool] = False
    adapts_likelihood: ClassVar[bool] = True
    learns: ClassVar[bool] = True

    directions: int | None = None
    neighbours: int | None = None

    between: Array | None = field(default=None, repr=False, compare=False)
    """Variance of the centres in each direction, in units of that within, shape (r,)."""

    # ------------------------------------------------------------------ domain

    def check(self, X: Matrix) -> None:
        """Refuse less than one direction or neighbour, and values whose squares overflow."""
        for name in ("directions", "neighbours"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise DomainError(f"{name}: {value} is not 1 or more")
        EuclideanFamily.check(self, X)

    def adapt(self, X: Matrix) -> Self:
        """Take principal directions and both covariances from the data."""
        self.check(X)
        largest, smallest = column_range(X)
        center = np.where(largest == smallest, largest, column_means(X)).astype(np.float64)
        grain = rounding_variances(X) if self.rounded else None
        plain = replace(self, ready=False, varying=None, offset=center, grain=grain)
        with one_thread():
            unit = column_units(X)
            principal = principal_directions(
                X if unit is None else scale_columns(X, 1.0 / unit),
                center if unit is None else center / unit,
                self.directions or usual_directions(X.shape[0]),
            )
            back = principal if unit is None else principal * unit
            principal = principal if unit is None else principal / unit
            if not len(principal):  # all points are equal
                return replace(plain, axes=None, whitening=None, between=None)
            rows: Any = slice(None)
            if X.shape[0] > ROWS:
                drawn = np.random.default_rng(0).choice(X.shape[0], ROWS, replace=False)
                rows = np.sort(drawn)
            Z = replace(plain, whitening=principal, axes=back)._project(X[rows])
            scale = Z.std(axis=0)
            scale[scale == 0.0] = 1.0
            turned = principal / scale[:, None]
            blur = 0.0 if grain is None else (turned * grain) @ turned.T
            variance, direction = within_clusters(Z / scale, self.neighbours or NEIGHBOURS, blur)
            whitening = (direction / np.sqrt(variance)).T / scale
            axes = (direction * np.sqrt(variance)).T * scale
            Y = Z @ whitening.T
            everything = Y.T @ Y / len(Y)
            if grain is not None:
                white = whitening @ principal
                everything += (white * grain) @ white.T
            all_variances, turn = linalg.eigh(everything)
            between = np.maximum(all_variances - 1.0, LEAST_BETWEEN)
        return replace(
            plain,
            axes=turn.T @ axes @ back,
            whitening=turn.T @ whitening @ principal,
            between=between,
        )

    def variants(self, n_features: int) -> list[Family]:
        """Return this family with more and with fewer directions, where they are not given."""
        if self.directions is not None:
            return [self]
        several = [r for r in SEVERAL if r < n_features]
        more = [r for r in SEVERAL if r >= n_features][:1]
        return [replace(self, directions=r) for r in several + more] or [self]

    def finer(self) -> Family | None:
        """Return this family for clusters of a few points each, where neighbours are not given."""
        return replace(self, neighbours=1) if self.neighbours is None else None

    def widest(self, n: int) -> Family:
        """Return this family with most directions: hundreds of clusters differ in all of them."""
        if self.directions is not None:
            return self
        most = max(usual_directions(n), n // POINTS_A_DIRECTION)
        return replace(self, directions=min(SEVERAL[-1], most))

    def narrower(self) -> Family | None:
        """Return this family with half the variance within clusters, and that much more between."""
        if self.axes is None or self.whitening is None or self.between is None:
            return None
        return replace(
            self,
            axes=np.sqrt(0.5) * self.axes,
            whitening=np.sqrt(2.0) * self.whitening,
            between=2.0 * self.between + 1.0,
        )

    def learned(self, X: Matrix, responsibilities: Array) -> tuple[Self, Matrix]:
        """Take both covariances from a partition: one step of expectation maximisation.

        Few points, or few clusters, are not believed alone: what was believed before counts as
        r + 2 points, and as r + 2 clusters, of r directions.
        """
        if self.axes is None or self.whitening is None or self.between is None:
            return self, X
        Y = np.asarray(self.likelihood_rows(X), np.float64)
        r, size = Y.shape[1], responsibilities.sum(axis=0)
        used = size > 0.5
        size, total = size[used], responsibilities[:, used].T @ Y
        spread = 1.0 / (1.0 / self.between + size[:, None])
        mean = spread * total
        cross = mean.T @ total
        scatter = Y.T @ Y - cross - cross.T + (mean.T * size) @ mean
        scatter += np.diag((size[:, None] * spread).sum(axis=0))
        if self.grain is not None:
            scatter += len(Y) * (self.whitening * self.grain) @ self.whitening.T
        within = (scatter + (r + 2) * np.eye(r)) / (len(Y) + r + 2)
        centers = mean.T @ mean + np.diag(spread.sum(axis=0) + (r + 2) * self.between)
        between = centers / (len(size) + r + 2)
        root = linalg.cholesky(0.5 * (within + within.T), lower=True)
        inverse = linalg.solve_triangular(root, np.eye(r), lower=True)
        variances, turn = linalg.eigh(inverse @ between @ inverse.T)
        turn *= np.sign(turn[np.abs(turn).argmax(axis=0), np.arange(r)])  # none points backwards
        change = turn.T @ inverse
        learned = replace(
            self,
            axes=(root @ turn).T @ self.axes,
            whitening=change @ self.whitening,
            between=np.maximum(variances, LEAST_BETWEEN),
        )
        return learned, (Y @ change.T).astype(X.dtype) if self.ready else X

    # ------------------------------------------------------------------ divergence

    def centred(self, X: Matrix) -> Matrix:
        """Return the data in whitened principal directions, in the precision of X."""
        if self.ready:
            return X
        return self._project(self.drawn_in(X)).astype(X.dtype)

    def neighbour_rows(self, X: Matrix, scales: Any = None) -> Matrix:
        """Return the whitened directions, each weighed by √(between/(1 + between)).

        That is the share of its deviation which is between clusters: directions in which clusters
        do not differ bring no point near another.
        """
        T = self.centred(X)
        if self.between is None:
            return T
        return scale_columns(T, np.sqrt(self.between / (1.0 + self.between)))

    def dithered(self, X: Matrix, rng: np.random.Generator) -> Matrix:
        """Return X: clusters of one covariance do not become narrower on rounded values."""
        return X

    def summed(self, total: Array, potential: Array) -> Array | None:
        """Return Σ t."""
        return total

    def _project(self, X: Matrix) -> Array:
        if self.whitening is None:
            dense = X.toarray() if sparse.issparse(X) else X
            return np.asarray(dense - self.shift, np.float64)
        if sparse.issparse(X):
            return np.asarray(X @ self.whitening.T - self.shift @ self.whitening.T)
        out, step = np.empty((X.shape[0], len(self.whitening))), max(1, CHUNK // X.shape[1])
        for low in range(0, X.shape[0], step):  # a copy of all in double precision is large
            rows = slice(low, low + step)
            out[rows] = self._whiten(np.asarray(X[rows] - self.shift))
        return out

    # ------------------------------------------------------------------ likelihood

    def locations(self, statistics: Statistics) -> Array:
        """Return the means, all of whose directions are in one unit."""
        return np.asarray(statistics.total / statistics.size[:, None])

    def statistics(self, X: Matrix) -> Matrix:
        """Return t."""
        return self.centred(X)

    def n_statistics(self, n_features: int) -> int:
        """Return how many directions there are."""
        return self.n_likelihood_columns(n_features)

    def log_base(self, X: Matrix) -> Array:
        """Return −r/2 log 2π − ½‖t‖² − ½ log det W, in the directions that are looked at."""
        T = self.centred(X)
        return np.asarray(-0.5 * (T.shape[1] * LOG_2PI + self.potential(T)) - self.log_volume)

    def log_partition(self, theta: Array) -> Array:
        """Return ½‖μ‖²."""
        return np.asarray(0.5 * np.square(theta).sum(axis=1))

    def mean(self, theta: Array) -> Array:
        """Return μ."""
        return theta

    def sample(self, theta: Array, size: int, rng: np.random.Generator) -> Array:
        """Draw from N(μ, W); nothing is added in the directions that are left out."""
        return self.from_likelihood_rows(theta + rng.standard_normal((size, theta.size)))

    # ------------------------------------------------------------------ conjugate prior

    def default_prior(self, X: Matrix) -> KnownVariance:
        """Return the prior of centres with the variances of Φ."""
        if self.between is None:
            return self.unit_prior(X.shape[1])
        return KnownVariance(np.zeros(self.between.size), 1.0 / self.between)

    def unit_prior(self, n_features: int) -> KnownVariance:
        """Return the prior of centres about 5 deviations apart."""
        return KnownVariance(np.zeros(n_features), np.full(n_features, UNKNOWN_BETWEEN))

    def posterior(self, prior: KnownVariance, statistics: Statistics) -> KnownVariance:
        """Add the points to the precision, and their sum to the mean."""
        precision = prior.precision + statistics.size[:, None]
        mean = (prior.precision * prior.mean + statistics.total) / precision
        return KnownVariance(mean, precision)

    def log_normalizer(self, prior: KnownVariance) -> Array:
        """Return Σ ½ log(2π/precision) + ½ precision · mean²."""
        square = prior.precision * np.square(prior.mean)
        return np.asarray(0.5 * (LOG_2PI - np.log(prior.precision) + square).sum(axis=-1))

    def sample_parameters(self, prior: KnownVariance, rng: np.random.Generator) -> Array:
        """Draw μ."""
        return np.asarray(rng.normal(prior.mean, 1.0 / np.sqrt(prior.precision)))

    def expected_parameters(self, prior: KnownVariance) -> tuple[Array, Array]:
        """E μ = mean, E ½‖μ‖² = ½ Σ (mean² + 1/precision)."""
        partition = 0.5 * (np.square(prior.mean) + 1.0 / prior.precision).sum(axis=-1)
        return prior.mean, np.asarray(partition)

    def scales(self, prior: KnownVariance) -> int:
        """One: the precision of the centres."""
        return 1

    def rescale(self, prior: KnownVariance, factors: Array) -> KnownVariance:
        """Multiply the precision."""
        return prior._replace(precision=prior.precision * factors[0])

    def blocks(self, prior: KnownVariance) -> list[Block]:
        """Return means and precisions."""
        columns = np.stack([prior.mean, prior.precision])
        return [Block(self.code, columns, np.zeros(3), np.empty((0, 0)))]


def usual_directions(n: int) -> int:
    """Return how many directions are looked at where nobody says, of n points.

    Examples
    --------
    >>> from maylink.families.plda import usual_directions
    >>> usual_directions(200), usual_directions(5000)
    (19, 32)
    """
    return int(max(1, min(DIRECTIONS, (np.sqrt(8.0 * n + 1.0) - 1.0) // 2)))
