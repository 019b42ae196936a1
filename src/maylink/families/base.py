"""What a family is: an exponential family, its Bregman divergence and its conjugate prior.

A family says itself what it is and what it can do, in class-level facts (``name``, ``kind``,
``accepts_sparse``, ``in_chunks``, …). Whoever needs to know asks them: no list of families stands
anywhere else. Below the facts are three parts, and every family file has them in this order:

* **Domain.** Which values the data may take, and what is taken from all of them at once.
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
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.arrays import Array, Matrix
from maylink.errors import DomainError, MaylinkError
from maylink.families.columns import Columns
from maylink.families.marginal_parts import MarginalPart
from maylink.families.row_blocks import affine_scores, weighted_sums
from maylink.families.rows import cluster_sums, first_cell, in_deviations
from maylink.kernels.codes import Block, Code


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


NOT_INHERITED = ("also_called", "auto_rank", "covariance", "gaps", "in_chunks", "usual")
"""Facts that a family which derives from another must state anew."""


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
    """The word by which estimators, files and commands know the family."""

    also_called: ClassVar[tuple[str, ...]] = ()
    """Other words that users may type; they are told the name."""

    by_name: ClassVar[bool] = True
    """Whether the name alone makes the family: all its settings have defaults."""

    kind: ClassVar[str]
    """What the data are, one of :data:`maylink.families.kinds.KINDS`."""

    needs: ClassVar[str]
    """The domain in words, for error messages."""

    accepts_sparse: ClassVar[bool] = True
    """Whether sparse data can stay sparse."""

    usual: ClassVar[bool] = False
    """Whether data of this kind are taken as this family where neither user nor links choose."""

    auto_rank: ClassVar[int | None] = None
    """When "auto" tries the family on data of its kind: the lowest rank first, None for never.

    The plainer family, or the one that has another as a case, comes first. Values tell of all
    kinds but mixed columns, whose families are never tried.
    """

    auto_sparse: ClassVar[bool] = True
    """Whether "auto" tries the family on sparse data too, if these can stay sparse."""

    covariance: ClassVar[str | None] = None
    """The word for the clusters' covariance by which users of Gaussian data may ask for it."""

    in_chunks: ClassVar[bool] = False
    """Whether the family can take what it needs from data in chunks.

    It can, with nothing more to write, where :meth:`adapt` is inherited and :meth:`default_prior`
    asks for the ``shape`` and the ``column_means`` of the data alone. Others say in
    :meth:`adapt_columns` and :meth:`prior_of_columns` how.
    """

    gaps: ClassVar[str | None] = None
    """What may be missing: "cells", as columns are independent; "rows" of all columns; None for
    nothing; "mixed" where the parts of a product say."""

    knows_gaps: ClassVar[bool] = False
    """Whether missing cells (NaN) are left out."""

    constant_base: ClassVar[bool] = False
    """Whether log h(x) is the same for all points."""

    adapts_likelihood: ClassVar[bool] = False
    """Whether the data set a constant of the likelihood, and not of its arithmetic only."""

    learns: ClassVar[bool] = False
    """Whether :meth:`learned` takes constants of the likelihood and the prior from a partition."""

    code: ClassVar[Code | None] = None
    """The formula of the collapsed sampler's kernel, None where it has none; see :meth:`blocks`."""

    records: ClassVar[tuple[type, ...]] = ()
    """The named tuples that priors are made of: files of saved models may hold them."""

    root: ClassVar[bool] = False
    """Whether RDP-means compares √D in place of D; no family of the library does."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Take facts that are true of one class alone back to their defaults."""
        super().__init_subclass__(**options)
        for fact in NOT_INHERITED:
            if fact not in vars(cls):
                setattr(cls, fact, getattr(Family, fact))

    # ------------------------------------------------------------------ domain

    def check(self, X: Matrix) -> None:
        """Raise :class:`~maylink.errors.DomainError` about the first value outside the domain.

        A family with settings checks these first, then calls ``super().check(X)``. Data in memory,
        every chunk and new points all come by here.
        """
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

    def column_needs(self) -> frozenset[str]:
        """Return what :meth:`adapt_columns` needs beside the plain columns.

        ``VARIANCE`` and ``SAMPLE`` of :mod:`maylink.families.columns` cost another look at the
        data.
        """
        return frozenset()

    def adapt_columns(self, columns: Columns) -> Family:
        """Return this family with the constants that it takes from data in chunks, checked before.

        It is what :meth:`adapt` returns of the same data in memory.
        """
        return self

    def one_of(self, n_columns: int) -> Family:
        """Return this family for one column of so many, each of which is a part of a product."""
        return self

    @property
    def word(self) -> str:
        """What the family is called where families compete: its name."""
        return self.name

    def parts_in_memory(self) -> list[Family]:
        """Return the parts that need all data in one place; none where chunks are enough."""
        return [] if self.in_chunks else [self]

    def prepared(self, X: Matrix) -> tuple[Family, Matrix]:
        """Return the family and the data with what they need to compute done once and for all.

        Partitions compare as before. Parts of log h(x) may be left out where no evidence is.
        """
        return self, X

    def variants(self, n_features: int) -> list[Family]:
        """Return this family in the ways in which it may look at data; mostly one."""
        return [self]

    def finer(self) -> Family | None:
        """Return this family for clusters of a few points each, or None where it is the same."""
        return None

    def widest(self, n: int) -> Family:
        """Return this family with all that it may look at of n points, where that is not given."""
        return self

    def narrower(self) -> Family | None:
        """Return this family with clusters of half the variance, or None where that is given."""
        return None

    def unprepared(self) -> Family:
        """Undo :meth:`prepared`: return the family for data as they came."""
        return self

    def learned(self, X: Matrix, responsibilities: Array) -> tuple[Family, Matrix]:
        """Return the family with what a partition tells of all clusters, and the data for it."""
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

    def neighbour_rows(self, X: Matrix, scales: Any = None) -> Matrix:
        """Return rows whose Euclidean distance says which points are neighbours, shape (n, r)."""
        return self.points(X)

    def neighbour_scales(self, X: Matrix) -> Any:
        """Return what :meth:`neighbour_rows` takes from all data, for parts of them; or None."""
        return None

    # ------------------------------------------------------------------ likelihood

    @abstractmethod
    def statistics(self, X: Matrix) -> Matrix:
        """Return T(x) for each point, shape (n, s)."""

    def n_statistics(self, n_features: int) -> int:
        """Return the length s of T(x); d unless a family says otherwise."""
        return n_features

    def n_parameters(self, n_features: int) -> int:
        """Return how many numbers describe a cluster; s unless some of T(x) are there twice."""
        return self.n_statistics(n_features)

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

    def prior_of_columns(self, columns: Columns, rows: NDArray[Any]) -> Any:
        """Return the default prior for data in chunks.

        Parameters
        ----------
        columns : Columns
            What all rows together are like.
        rows : array of shape (m, d)
            All rows of few, or the :func:`~maylink.families.columns.prior_rows` of many.
        """
        return self.default_prior(rows if len(rows) == columns.n else columns)

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
        return affine_scores(self.statistics, self.log_base, X, theta, partition)

    def scales(self, prior: Any) -> int:
        """Return how many free scales a prior has; :meth:`rescale` multiplies them."""
        return 0

    def rescale(self, prior: Any, factors: Array) -> Any:
        """Return the prior with its free scales multiplied by positive factors."""
        return prior

    def marginal_parts(self, statistics: Statistics, prior: Any) -> list[MarginalPart]:
        """Return the parts of the columns, in the order of the scales of their priors."""
        return [MarginalPart(self, 1.0, statistics, prior)]

    def blocks(self, prior: Any) -> list[Block]:
        """Return a prior as plain arrays, one block for each part of a product."""
        raise MaylinkError(
            f"family: the collapsed sampler has no kernel for {self.name!r}; "
            "use sampler='instantiated' or inference='variational'"
        )

    def likelihood_rows(self, X: Matrix) -> Matrix:
        """Return the rows that the sampler's kernel adds up, shape (n, d)."""
        return self.points(X)

    def dithered(self, X: Matrix, rng: np.random.Generator) -> Matrix:
        """Return the data for the sampler: rounded values, where the family knows of them, moved.

        The sampler's kernel adds points up one by one, so that it needs numbers, not what is
        expected of them.
        """
        return X

    def cluster_statistics(
        self, X: Matrix, labels: NDArray[Any], n_clusters: int, log_base: Array | None = None
    ) -> Statistics:
        """Sum the statistics of the points of each cluster; log h(x) may be known already."""
        base = self.log_base(X) if log_base is None else log_base
        return Statistics(
            size=np.bincount(labels, minlength=n_clusters).astype(np.float64),
            total=cluster_sums(self.statistics(X), labels, n_clusters),
            log_base=np.asarray(np.bincount(labels, base, minlength=n_clusters), np.float64),
        )

    def soft_statistics(self, X: Matrix, responsibilities: Array) -> Statistics:
        """Sum the statistics of each cluster, each point by its responsibility, (n, K) in all."""
        return Statistics(*weighted_sums(self.statistics, self.log_base, X, responsibilities))

    def locations(self, statistics: Statistics) -> Array:
        """Return where clusters lie, shape (K, …): near ones are looked for by Euclidean distance.

        The means of T(x), each in units of its deviation, unless a family says otherwise.
        """
        return in_deviations(statistics.total / statistics.size[:, None])

    def log_marginal(self, statistics: Statistics, prior: Any) -> Array:
        """Return the log probability of each cluster's data, parameters integrated out, (K,)."""
        return self.log_marginal_given(self.posterior(prior, statistics), statistics, prior)

    def log_marginal_given(self, posterior: Any, statistics: Statistics, prior: Any) -> Array:
        """Return :meth:`log_marginal` where the posterior is known already."""
        gain = self.log_normalizer(posterior) - self.log_normalizer(prior)
        return np.asarray(gain + statistics.log_base)

    def log_predictive(self, X: Matrix, prior: Any) -> Array:
        """Return log p(x) with the parameter integrated out over one prior or posterior, (n,)."""
        T = self.statistics(X)
        total = T.toarray() if sparse.issparse(T) else T
        return self.log_marginal(Statistics(np.ones(len(total)), total, self.log_base(X)), prior)
