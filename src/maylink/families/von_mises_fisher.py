"""Unit-norm directions (embeddings, profiles): cosine divergence.

Divergence: t = x/‖x‖, centres are unit vectors too, φ(t) = ‖t‖, so that D(x, m) = 1 − cos(x, m).
The mean of unit vectors is shorter than 1; the best centre is that mean made unit length again.

Likelihood: t ~ von Mises–Fisher(μ, κ), density C_d(κ) exp(κ ⟨t, μ⟩), θ = κμ, with κ known: only
then is there a conjugate prior with a known normaliser. Prior: μ ~ von Mises–Fisher, given as the
vector strength · direction; the zero vector is the uniform distribution.

A row of zeros has no direction and says nothing about clusters: t = 0, its density is that of the
uniform distribution, 1/area of the sphere, whatever the cluster, and D = 0 from every centre, the
limit of that density. Such a row never opens a cluster; its links and the sizes of clusters alone
decide where it goes. With D = 1 it would, at a penalty below 1, open a cluster in each sweep from
which it is as far as from all others, and the objective would rise.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, Self

import numpy as np
from scipy import stats
from scipy.special import gammaln, ive

from maylink.arrays import Array, Matrix
from maylink.errors import DomainError
from maylink.families.base import Family, Statistics
from maylink.families.columns import SAMPLE, Columns, sample_rows
from maylink.families.concentration import concentration_of
from maylink.families.rows import row_maxima, row_sums, unit_rows
from maylink.kernels.codes import Block, Code


class Direction(NamedTuple):
    """Prior of a direction: strength times the mean direction."""

    vector: Array


@dataclass(frozen=True)
class VonMisesFisher(Family):
    """Clusters of directions; rows are made unit length first.

    Parameters
    ----------
    concentration : float, optional
        κ, how narrow clusters are. By default taken from the data by
        :func:`~maylink.families.concentration.concentration_of`. Where there are no data it is 20.
        The divergence does without it.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families import VonMisesFisher
    >>> VonMisesFisher().divergence(np.array([[3.0, 4.0]]), np.array([[1.0, 0.0], [0.6, 0.8]]))
    array([[0.4, 0. ]])
    """

    name: ClassVar[str] = "von-mises-fisher"
    also_called: ClassVar[tuple[str, ...]] = ("cosine",)
    kind: ClassVar[str] = "directions"
    needs: ClassVar[str] = "rows of two features or more"
    auto_rank: ClassVar[int | None] = 45
    in_chunks: ClassVar[bool] = True
    adapts_likelihood: ClassVar[bool] = True
    code: ClassVar[Code] = Code.VON_MISES_FISHER
    records: ClassVar[tuple[type, ...]] = (Direction,)

    concentration: float | None = None

    ready: bool = field(default=False, repr=False, compare=False)
    """Whether data are as :meth:`prepared` returns them."""

    @property
    def kappa(self) -> float:
        """The concentration in use."""
        return 20.0 if self.concentration is None else self.concentration

    # ------------------------------------------------------------------ domain

    def check(self, X: Matrix) -> None:
        """Refuse single columns and a concentration of 0 or less."""
        if self.concentration is not None and not self.concentration > 0:
            raise DomainError(f"concentration: {self.concentration} is not above 0")
        if X.shape[1] < 2:
            raise DomainError(
                f"X has {X.shape[1]} feature; the {self.name!r} family needs {self.needs}"
            )

    def check_centers(self, centers: Array) -> None:
        """Refuse centres of zeros, which have no direction."""
        super().check_centers(centers)
        zero = ~np.any(centers, axis=1)
        if zero.any():
            raise DomainError(f"init: centre {int(np.argmax(zero))} is zero, without a direction")

    def adapt(self, X: Matrix) -> Self:
        """Take the concentration from the data where it is not given."""
        self.check(X)
        if self.concentration is not None:
            return self
        some = sample_rows(X.shape[0])
        rows = X if some.size == X.shape[0] else X[some]
        return replace(self, concentration=concentration_of(self.points(rows), X.shape[0]))

    def column_needs(self) -> frozenset[str]:
        """Some rows."""
        return frozenset([SAMPLE])

    def adapt_columns(self, columns: Columns) -> Self:
        """Take the concentration from the data where it is not given."""
        if self.concentration is not None:
            return self
        assert columns.sample is not None
        rows = self.points(columns.sample)
        return replace(self, concentration=concentration_of(rows, columns.n))

    def prepared(self, X: Matrix) -> tuple[Self, Matrix]:
        """Return the unit rows."""
        return replace(self, ready=True), self.points(X)

    def unprepared(self) -> Self:
        """Return the family for rows of any length."""
        return replace(self, ready=False)

    # ------------------------------------------------------------------ divergence

    def points(self, X: Matrix) -> Matrix:
        """Return the rows made unit length; rows of zeros stay zeros."""
        return X if self.ready else unit_rows(X)

    def potential(self, T: Matrix) -> Array:
        """Return ‖t‖."""
        return np.sqrt(row_sums(T, np.square))

    def gradient(self, centers: Array) -> Array:
        """Return m."""
        return centers

    def centroid(self, mean: Array) -> Array:
        """Make the mean unit length; where it is zero, every direction is as good as any other."""
        norm = np.linalg.norm(mean, axis=1, keepdims=True)
        any_direction = np.eye(1, mean.shape[1])
        return np.where(norm > 0, mean / np.where(norm > 0, norm, 1.0), any_direction)

    def tangent(self, centers: Array) -> tuple[Array, Array]:
        """Return m and 0: rounding of ‖m‖ would let rows of zeros prefer one centre to another."""
        return centers, np.zeros(len(centers))

    def summed(self, total: Array, potential: Array) -> Array:
        """Return the sums of the unit rows."""
        return total

    # ------------------------------------------------------------------ likelihood

    def statistics(self, X: Matrix) -> Matrix:
        """Return the unit rows."""
        return self.points(X)

    def log_base(self, X: Matrix) -> Array:
        """Return log C_d(κ), and log C_d(0) of rows of zeros."""
        kappa = np.where(row_maxima(self.points(X)) > 0, self.kappa, 0.0)
        values, place = np.unique(kappa, return_inverse=True)
        return np.asarray(log_constant(values, X.shape[1])[place])

    def log_partition(self, theta: Array) -> Array:
        """Return 0: with κ known the constant is part of h."""
        return np.zeros(len(theta))

    def mean(self, theta: Array) -> Array:
        """Return μ · I_{d/2}(κ)/I_{d/2−1}(κ)."""
        kappa = np.linalg.norm(theta, axis=1)
        order = theta.shape[1] / 2.0
        ratio = np.exp(log_bessel(order, kappa) - log_bessel(order - 1.0, kappa))
        return np.asarray(theta * (ratio / kappa)[:, None])

    def sample(self, theta: Array, size: int, rng: np.random.Generator) -> Array:
        """Draw unit vectors."""
        kappa = float(np.linalg.norm(theta))
        drawn = stats.vonmises_fisher(theta / kappa, kappa).rvs(size, random_state=rng)
        return np.asarray(drawn).reshape(size, theta.size)

    # ------------------------------------------------------------------ conjugate prior

    def default_prior(self, X: Matrix) -> Direction:
        """Every direction alike."""
        return self.unit_prior(X.shape[1])

    def unit_prior(self, n_features: int) -> Direction:
        """Every direction alike."""
        return Direction(np.zeros(n_features))

    def posterior(self, prior: Direction, statistics: Statistics) -> Direction:
        """Add κ times the sum of the points."""
        return Direction(prior.vector + self.kappa * statistics.total)

    def log_normalizer(self, prior: Direction) -> Array:
        """Return −log C_d(strength)."""
        strength = np.linalg.norm(prior.vector, axis=-1)
        return -log_constant(np.asarray(strength), prior.vector.shape[-1])

    def sample_parameters(self, prior: Direction, rng: np.random.Generator) -> Array:
        """Draw μ, return κμ."""
        strength = float(np.linalg.norm(prior.vector))
        if strength == 0.0:
            direction = rng.standard_normal(prior.vector.size)
            return self.kappa * direction / np.linalg.norm(direction)
        return np.asarray(self.kappa * self.sample(prior.vector, 1, rng)[0])

    def expected_parameters(self, prior: Direction) -> tuple[Array, Array]:
        """E μ = v/‖v‖ · I_{d/2}(‖v‖)/I_{d/2−1}(‖v‖), and 0 at v = 0."""
        strength = np.linalg.norm(prior.vector, axis=-1, keepdims=True)
        safe = np.where(strength > 0, prior.vector, np.eye(1, prior.vector.shape[-1]))
        mean = np.where(strength > 0, self.mean(safe), 0.0)
        return self.kappa * mean, np.zeros(len(mean))

    def blocks(self, prior: Direction) -> list[Block]:
        """Return the vector; κ."""
        columns = np.stack([prior.vector, prior.vector])
        scalars = np.array([self.kappa, 0.0, 0.0])
        return [Block(self.code, columns, scalars, np.empty((0, 0)))]


def log_constant(kappa: Array, d: int) -> Array:
    """Return log C_d(κ), which makes C_d(κ) exp(κ ⟨t, μ⟩) a density on the sphere."""
    order = d / 2.0 - 1.0
    return np.asarray(-0.5 * d * np.log(2.0 * np.pi) - _log_bessel_over_power(order, kappa))


def log_bessel(order: float, x: Array) -> Array:
    """Return log I_order(x) for x > 0, also where I itself would under- or overflow."""
    return _log_bessel_over_power(order, x) + order * np.log(x)


def _log_bessel_over_power(order: float, x: Array) -> Array:
    """Return log(I_order(x) / x^order), finite at 0; the power series or, beyond, I itself."""
    x = np.asarray(x, np.float64)
    small = x * x <= 4.0 * (order + 1.0)
    if not small.any():
        return np.asarray(_log_bessel_large(order, x) - order * np.log(x))
    at = np.where(small, x, 0.0)
    term = total = np.ones_like(x)
    for m in range(1, 25):  # the terms fall at least as fast as 1/m!
        term = term * (at * at / 4.0) / (m * (order + m))
        total = total + term
    series = np.log(total) - order * np.log(2.0) - gammaln(order + 1.0)
    large = np.where(small, 1.0, x)
    return np.where(small, series, _log_bessel_large(order, large) - order * np.log(large))


def _log_bessel_large(order: float, x: Array) -> Array:
    """Return log I_order(x): SciPy's scaled function, or an expansion where that fails."""
    far = (x > 500.0) & (x > 100.0 * order**2)
    if np.any(far):  # for large arguments (DLMF 10.40.1) with four terms
        mu, at = 4.0 * order**2, np.where(far, x, 1e3 + 100.0 * order**2)
        series = 1.0 - (mu - 1.0) / (8.0 * at) * (
            1.0 - (mu - 9.0) / (16.0 * at) * (1.0 - (mu - 25.0) / (24.0 * at))
        )
        beyond = at - 0.5 * np.log(2.0 * np.pi * at) + np.log(series)
        near = np.where(far, 1.0 + order, x)
        return np.where(far, beyond, _log_bessel_large(order, near))
    scaled = ive(order, x)
    direct = np.log(np.where(scaled > 0, scaled, 1.0)) + x
    if np.all(scaled > 0):
        return np.asarray(direct)
    # Uniform expansion for large order (DLMF 10.41.3) with three terms.
    z = x / order
    root = np.hypot(1.0, z)
    t = 1.0 / root
    u1 = (3 * t - 5 * t**3) / 24
    u2 = (81 * t**2 - 462 * t**4 + 385 * t**6) / 1152
    u3 = (30375 * t**3 - 369603 * t**5 + 765765 * t**7 - 425425 * t**9) / 414720
    eta = root + np.log(z / (1.0 + root))
    uniform = (
        order * eta
        - 0.5 * np.log(2.0 * np.pi * order * root)
        + np.log1p(u1 / order + u2 / order**2 + u3 / order**3)
    )
    return np.where(scaled > 0, direct, uniform)
