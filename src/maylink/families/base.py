"""What a family is: an exponential family, its Bregman divergence and its conjugate prior.

Three parts, and every family file has them in this order:

* **Domain.** Which values the data may take.
* **Divergence**, what RDP-means needs. Points are mapped to rows t (``points``), a cluster's centre
  is the mean of its rows (``centroid`` may bend it back into the domain), and::

      D(x, m) = φ(t) − φ(m) − ⟨t − m, ∇φ(m)⟩ = φ(t) + c − ⟨t, θ⟩,   θ = ∇φ(m),  c = ⟨m, θ⟩ − φ(m)

  so that scores of all points against all centres are one matrix product.
* **Likelihood and prior**, what TVClust needs::

      log p(x | θ) = log h(x) + ⟨T(x), θ⟩ − A(θ)

  and a conjugate prior with a known normaliser Z, so that a cluster's data integrate to
  ``log Z(posterior) − log Z(prior) + Σ log h(x)``.

A prior is a named tuple of arrays. All arrays may carry a leading axis of length K, one entry for
each of K clusters, so that posteriors of all clusters are computed at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import IntEnum
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import digamma

from maylink.arrays import Array, Matrix
from maylink.errors import DomainError, MaylinkError

PRIOR_ROWS = 20_000  # rows that place a prior, at most
CHUNK = 1_000_000  # entries that are looked at together where a copy is made


class Statistics(NamedTuple):
    """Sufficient statistics of K clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families import Poisson
    >>> counts = np.array([[1.0], [3.0], [10.0]])
    >>> Poisson().cluster_statistics(counts, np.array([0, 0, 1]), 2).size
    array([2., 1.])
    """

    size: Array  # points in each cluster, shape (K,)
    total: Array  # sum of T(x), shape (K, s)
    log_base: Array  # sum of log h(x), shape (K,)


class Code(IntEnum):
    """The conjugate families that the collapsed sampler's kernel knows."""

    GAUSSIAN = 0
    DIAGONAL_GAUSSIAN = 1
    FULL_GAUSSIAN = 2
    MULTINOMIAL = 3
    POISSON = 4
    BERNOULLI = 5
    GAMMA = 6
    VON_MISES_FISHER = 7


class Block(NamedTuple):
    """A prior as plain arrays, for the kernel; what the rows mean depends on the code."""

    code: Code
    columns: Array  # two numbers for each column that the likelihood sees, shape (2, d)
    scalars: Array  # three numbers, shape (3,)
    factor: Array  # Cholesky factor of the prior scale, shape (d, d); empty but for full Gaussians


class Family(ABC):
    """An exponential family with its Bregman divergence and its conjugate prior.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families import Gaussian
    >>> family = Gaussian()
    >>> family.name
    'gaussian'
    >>> family.divergence(np.array([[0.0, 0.0], [3.0, 4.0]]), np.zeros((1, 2)))
    array([[ 0.],
           [25.]])
    """

    name: ClassVar[str]
    """The word by which estimators know the family."""

    needs: ClassVar[str]
    """The domain in words, for error messages."""

    accepts_sparse: ClassVar[bool] = True
    """Whether sparse data can stay sparse."""

    root: ClassVar[bool] = False
    """Whether RDP-means compares √D in place of D; no family of the library does."""

    # ------------------------------------------------------------------ domain

    def check(self, X: Matrix) -> None:
        """Raise :class:`~maylink.errors.DomainError` about the first value outside the domain."""
        values = X.data if sparse.issparse(X) else X
        allowed = self.allows(values)
        if not np.all(allowed):
            row, column, value = first_cell(X, ~allowed)
            raise DomainError(
                f"X[{row}, {column}] = {value:g}: the {self.name!r} family needs {self.needs}"
            )
        if sparse.issparse(X) and X.nnz < X.shape[0] * X.shape[1] and not self.allows(np.zeros(1)):
            raise DomainError(
                f"X is sparse and so holds zeros: the {self.name!r} family needs {self.needs}"
            )

    def allows(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Say for each value whether it lies in the domain."""
        return np.ones(np.shape(values), bool)

    def check_centers(self, centers: Array) -> None:
        """Raise about centres that no points of the domain could have as their mean."""
        try:
            self.check(centers)
        except DomainError as error:
            raise DomainError(f"init: {error}") from None

    def overlooked(self, X: Matrix) -> int | None:
        """Return a column that the family left out as constant but that varies in these data."""
        return None

    def adapt(self, X: Matrix) -> Family:
        """Return this family with the constants that it takes from the data, checked against X."""
        self.check(X)
        return self

    def prepared(self, X: Matrix) -> tuple[Family, Matrix]:
        """Return the family and the data with what they need to compute done once and for all.

        Partitions compare as before; of log h(x), which no partition changes, parts may be left
        out where the family is never compared with another by its evidence.
        """
        return self, X

    # ------------------------------------------------------------------ divergence

    @abstractmethod
    def points(self, X: Matrix) -> Matrix:
        """Map data to the rows t that RDP-means averages, shape (n, s)."""

    @abstractmethod
    def potential(self, T: Matrix) -> Array:
        """Return φ(t) for each row, shape (n,)."""

    @abstractmethod
    def gradient(self, centers: Array) -> Array:
        """Return ∇φ at each centre, shape (K, s)."""

    def centroid(self, mean: Array) -> Array:
        """Bend the mean of rows into the best centre; the mean itself for Bregman divergences."""
        return mean

    def units(self, centers: Array) -> Array:
        """Express centres in the units of X, shape (K, d)."""
        return centers

    def coordinates(self, centers: Array) -> Array:
        """Map centres in the units of X to rows like ``points``; undoes :meth:`units`."""
        return self.centroid(centers)

    def tangent(self, centers: Array) -> tuple[Array, Array]:
        """Return θ (K, s) and c (K,) of the affine form D = φ(t) + c − ⟨t, θ⟩."""
        theta = self.gradient(centers)
        return theta, np.einsum("ks,ks->k", centers, theta) - self.potential(centers)

    def divergence(self, X: Matrix, centers: Array) -> Array:
        """Return D(x, m) of all points against all centres (rows like ``points``), shape (n, K)."""
        T = self.points(X)
        theta, c = self.tangent(centers)
        value = np.maximum(self.potential(T)[:, None] + c - T @ theta.T, 0.0)
        return np.asarray(np.sqrt(value) if self.root else value)

    def summed(self, total: Array, potential: Array) -> Array | None:
        """Return Σ T(x) of clusters from their Σ t and Σ φ(t), or None where these do not tell."""
        return None

    # ------------------------------------------------------------------ likelihood

    @abstractmethod
    def statistics(self, X: Matrix) -> Matrix:
        """Return T(x) for each point, shape (n, s)."""

    def n_statistics(self, n_features: int) -> int:
        """Return the length s of T(x); d unless a family says otherwise."""
        return n_features

    @abstractmethod
    def log_base(self, X: Matrix) -> Array:
        """Return log h(x) for each point, shape (n,)."""

    @abstractmethod
    def log_partition(self, theta: Array) -> Array:
        """Return A(θ) for each parameter, shape (K,)."""

    @abstractmethod
    def mean(self, theta: Array) -> Array:
        """Return the expectation of T(x) under each parameter, shape (K, s)."""

    @abstractmethod
    def sample(self, theta: Array, size: int, rng: np.random.Generator) -> Array:
        """Draw ``size`` points from one parameter θ of shape (s,), shape (size, d)."""

    def log_likelihood(self, X: Matrix, theta: Array) -> Array:
        """Return log p(x | θ) of all points under all parameters, shape (n, K)."""
        score = self.statistics(X) @ theta.T - self.log_partition(theta)
        return np.asarray(score + self.log_base(X)[:, None])

    # ------------------------------------------------------------------ conjugate prior

    def coarser(self) -> Family:
        """Return the family whose divergence finds this one's start; mostly itself."""
        return self

    @abstractmethod
    def default_prior(self, X: Matrix) -> Any:
        """Return a weak prior placed by the data as a whole, never by labels."""

    @abstractmethod
    def unit_prior(self, n_features: int) -> Any:
        """Return a weak prior for data of unit scale; what simulations draw clusters from."""

    @abstractmethod
    def posterior(self, prior: Any, statistics: Statistics) -> Any:
        """Return the prior updated by the statistics of K clusters."""

    @abstractmethod
    def log_normalizer(self, prior: Any) -> Array:
        """Return log Z of each prior, shape (K,) or ()."""

    @abstractmethod
    def sample_parameters(self, prior: Any, rng: np.random.Generator) -> Array:
        """Draw one parameter θ from a prior without a leading axis, shape (s,)."""

    @abstractmethod
    def expected_parameters(self, prior: Any) -> tuple[Array, Array]:
        """Return the expectations of θ (K, s) and of A(θ) (K,) under K priors."""

    def expected_log_likelihood(self, X: Matrix, prior: Any) -> Array:
        """Return the expectation of log p(x | θ) under K priors for all points, shape (n, K)."""
        theta, partition = self.expected_parameters(prior)
        return np.asarray(self.statistics(X) @ theta.T - partition + self.log_base(X)[:, None])

    def scales(self, prior: Any) -> int:
        """Return how many free scales a prior has; :meth:`rescale` multiplies them."""
        return 0

    def rescale(self, prior: Any, factors: Array) -> Any:
        """Return the prior with its free scales multiplied by positive factors."""
        return prior

    def blocks(self, prior: Any) -> list[Block]:
        """Return a prior as plain arrays, one block for each part of a product."""
        raise MaylinkError(
            f"family: the collapsed sampler has no kernel for {self.name!r}; "
            "use sampler='instantiated' or inference='variational'"
        )

    def seen(self, X: Matrix) -> Matrix:
        """Return the rows that the sampler's kernel adds up, shape (n, d)."""
        return self.points(X)

    def cluster_statistics(self, X: Matrix, labels: NDArray[Any], n_clusters: int) -> Statistics:
        """Sum the statistics of the points of each cluster."""
        member = membership(labels, n_clusters)
        total = member @ self.statistics(X)
        return Statistics(
            size=np.bincount(labels, minlength=n_clusters).astype(np.float64),
            total=total.toarray() if sparse.issparse(total) else np.asarray(total),
            log_base=member @ self.log_base(X),
        )

    def soft_statistics(self, X: Matrix, responsibilities: Array) -> Statistics:
        """Sum the statistics of each cluster, every point by its share in it, (n, K) in all."""
        total = responsibilities.T @ self.statistics(X)
        return Statistics(
            size=responsibilities.sum(axis=0),
            total=np.asarray(total),
            log_base=responsibilities.T @ self.log_base(X),
        )

    def log_marginal(self, statistics: Statistics, prior: Any) -> Array:
        """Return the log probability of each cluster's data, parameters integrated out, (K,)."""
        updated = self.posterior(prior, statistics)
        gain = self.log_normalizer(updated) - self.log_normalizer(prior)
        return np.asarray(gain + statistics.log_base)

    def log_predictive(self, X: Matrix, prior: Any) -> Array:
        """Return log p(x) with the parameter integrated out over one prior or posterior, (n,)."""
        T = self.statistics(X)
        single = Statistics(
            size=np.ones(X.shape[0]),
            total=T.toarray() if sparse.issparse(T) else T,
            log_base=self.log_base(X),
        )
        return self.log_marginal(single, prior)


# ---------------------------------------------------------------------- helpers for the families


def membership(labels: NDArray[Any], n_clusters: int) -> sparse.csr_array:
    """Return the K × n matrix whose entry (k, i) is 1 when point i is in cluster k."""
    n = labels.size
    columns = sparse.csc_array((np.ones(n), labels, np.arange(n + 1)), shape=(n_clusters, n))
    return columns.tocsr()


def row_sums(matrix: Matrix, function: Callable[[Array], Array]) -> Array:
    """Return Σ_j f(x_ij) for each row; of a sparse matrix the zeros count f(0) each."""
    if not sparse.issparse(matrix):
        out = np.empty(matrix.shape[0])
        step = max(1, CHUNK // max(1, matrix.shape[1]))
        for start in range(0, matrix.shape[0], step):  # a copy of all in double precision is large
            rows = np.asarray(matrix[start : start + step], np.float64)
            out[start : start + step] = function(rows).sum(axis=1)
        return out
    at_zero = float(function(np.zeros(1))[0])
    stored = matrix.astype(np.float64)
    stored.data = function(stored.data) - at_zero
    return np.asarray(np.asarray(stored.sum(axis=1)).ravel() + matrix.shape[1] * at_zero)


def scale_rows(matrix: Matrix, factor: Array) -> Matrix:
    """Multiply each row by its factor, in the precision of the matrix."""
    if not sparse.issparse(matrix):
        return np.multiply(matrix, factor[:, None], dtype=matrix.dtype, casting="same_kind")
    scaled = matrix.copy()
    scaled.data = (matrix.data * np.repeat(factor, np.diff(matrix.indptr))).astype(matrix.dtype)
    return scaled


def scale_columns(matrix: Matrix, factor: Array) -> Matrix:
    """Multiply each column by its factor, in the precision of the matrix."""
    if not sparse.issparse(matrix):
        return np.multiply(matrix, factor, dtype=matrix.dtype, casting="same_kind")
    scaled = matrix.copy()
    scaled.data = (matrix.data * factor[matrix.indices]).astype(matrix.dtype)
    return scaled


def column_means(X: Matrix) -> Array:
    """Return the mean of each column in double precision."""
    if sparse.issparse(X):
        return np.asarray(np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / X.shape[0])
    return np.asarray(X.mean(axis=0, dtype=np.float64))


def column_variances(X: Matrix) -> Array:
    """Return the variance of each column in double precision."""
    if not sparse.issparse(X):
        return np.where(constant_columns(X), 0.0, X.var(axis=0, dtype=np.float64))
    mean = column_means(X)
    apart = X.astype(np.float64)
    apart.data = np.square(apart.data - mean[apart.indices])
    stored = np.bincount(X.indices, minlength=X.shape[1])
    zeros = (X.shape[0] - stored) * mean**2
    variance = (np.asarray(apart.sum(axis=0)).ravel() + zeros) / X.shape[0]
    return np.where(constant_columns(X), 0.0, variance)


def constant_columns(X: Matrix) -> NDArray[np.bool_]:
    """Say for each column whether all its values are equal."""
    largest, smallest = column_range(X)
    return np.asarray(largest == smallest)


def column_range(X: Matrix) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the largest and the smallest value of each column."""
    if sparse.issparse(X):
        return X.max(axis=0).toarray().ravel(), X.min(axis=0).toarray().ravel()
    # NumPy is slow on short rows: look at several as one.
    together = max(1, min(512 // max(1, X.shape[1]), X.shape[0])) if X.flags.c_contiguous else 1
    whole = X.shape[0] // together * together
    wide = X[:whole].reshape(whole // together, together * X.shape[1])
    rest = X[whole:]
    found = []
    for extreme in (np.max, np.min):
        rows = extreme(wide, axis=0).reshape(together, -1)
        found.append(extreme(np.concatenate([rows, rest]), axis=0))
    return found[0], found[1]


def without_outliers(X: Matrix) -> Matrix:
    """Return rows that may place a prior: values beyond five deviations are pulled back to there.

    The deviation is 1.4826 times the median distance from the median, column by column. Columns in
    which more than half of the values are equal, and sparse data, stay as they are. Of many rows
    some thousand, drawn at random, are enough: they fix a weak prior to a percent, and a quarter of
    them the medians.
    """
    some = slice(None)
    if X.shape[0] > PRIOR_ROWS:
        drawn = np.random.default_rng(0).choice(X.shape[0], PRIOR_ROWS, replace=False)
        rows = X[np.sort(drawn)]
        if not np.any(constant_columns(rows) & ~constant_columns(X)):  # no feature was lost
            X, some = rows, slice(None, None, 4)
    if sparse.issparse(X):
        return X
    columns = np.ascontiguousarray(X[some].T)  # medians are quicker where columns lie together
    center = np.median(columns, axis=1)
    reach = 5.0 * 1.4826 * np.median(np.abs(columns - center[:, None]), axis=1)
    reach = np.where(reach > 0, reach, np.inf)
    return np.clip(X, center - reach, center + reach)


def expected_clusters(n: int) -> float:
    """Return how many clusters a Chinese restaurant process with α = 1 makes of n points."""
    return float(digamma(n + 1) + np.euler_gamma)


def first_cell(X: Matrix, bad: NDArray[np.bool_]) -> tuple[int, int, float]:
    """Row, column and value of the first bad entry; ``bad`` is laid out like the stored values."""
    if sparse.issparse(X):
        at = int(np.argmax(bad))
        row = int(np.searchsorted(X.indptr, at, side="right") - 1)
        return row, int(X.indices[at]), float(X.data[at])
    row, column = (int(v) for v in np.argwhere(bad)[0])
    return row, column, float(X[row, column])
