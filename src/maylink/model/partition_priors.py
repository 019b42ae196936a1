"""Priors of the partition: how probable clusters of some sizes are before anything is seen.

All are of one form. Of K clusters of n_1 … n_K points, n in all, given what the prior is set to::

    log P(z) = Σ_{k=1}^{K−1} log(α + k·d) − Σ_{i=1}^{n−1} log(α + i) + Σ_k f(n_k) − log u_n

* Dirichlet process: d = 0, f(m) = log Γ(m), u_n = 1.
* Pitman–Yor process: f(m) = log Γ(m − d) − log Γ(1 − d), u_n = 1.
* Microclustering: α = d = 1, which makes the first two sums log K! − log n!, and
  f(m) = log m! + log μ(m), where μ is the distribution of the size of a cluster and u_n the
  probability that sizes drawn one after the other add up to n at some time.
* Uniform: α = 1, d = 0, f(m) = −c, the same for all sizes, and ``n! u_n = Σ_K S(n, K) e^(−cK)``,
  where the Stirling number S(n, K) is how many partitions into K clusters there are.

So the weight of opening a cluster beside K others is ``e^f(1) · (α + K·d)``, and that of joining
one of m points ``e^(f(m+1) − f(m))``. A prior may average over several settings of f, each alike:
its *components*. Functions return one row for each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln, logsumexp

from maylink.arrays import Array
from maylink.errors import MaylinkError, not_one_of
from maylink.model.partition_sums import log_all_partitions, log_renewal, negative_binomial

FEW_SIZES = 50  # clusters; of more, sizes that occur several times are looked at once
N_ALPHAS = 50  # values of α that an average is taken over
MOST_COST = 50.0  # nats for a cluster


@dataclass(frozen=True)
class PartitionPrior(ABC):
    """A distribution of partitions, of the form above."""

    name: ClassVar[str]
    """The word by which estimators know the prior."""

    uses_alpha: ClassVar[bool] = True
    """Whether α is a setting of the prior, known or learned; if not, it is 1 in the formula."""

    small_clusters: ClassVar[bool] = False
    """Whether clusters stay small however many points there are: the microclustering property."""

    sizes_matter: ClassVar[bool] = True
    """Whether partitions of different sizes of clusters differ in probability."""

    @property
    @abstractmethod
    def discount(self) -> float:
        """d: what each cluster adds to the weight of opening another."""

    @abstractmethod
    def log_size(self, sizes: Array) -> Array:
        """Return f of each size, shape (components, …)."""

    @abstractmethod
    def log_join(self, sizes: Array) -> Array:
        """Return f(m + 1) − f(m) of each size m above 0, shape (components, …)."""

    def log_constant(self, n: int) -> Array:
        """Return −log u_n, shape (components,)."""
        return np.zeros(1)

    def log_number(self, n_clusters: int, n: int, alpha: float | None) -> float:
        """Return what the number of clusters adds to the log probability of a partition.

        Where α is not given, it is the mean over α from 0.1 to n, all orders of magnitude alike.
        """
        return _log_number(n_clusters, n, alpha if self.uses_alpha else 1.0, self.discount)

    def log_probability(self, sizes: Array, alpha: float | None) -> float:
        """Return the log probability of a partition into clusters of these sizes, all 1 or more."""
        n, components = round(float(sizes.sum())), self.log_components(sizes)
        average = components[0]
        if len(components) > 1:
            average = logsumexp(components) - np.log(len(components))
        return float(average + self.log_number(len(sizes), n, alpha))

    def log_components(self, sizes: Array) -> Array:
        """Return Σ_k f(n_k) − log u_n, shape (components,)."""
        if len(sizes) > FEW_SIZES:
            sizes, count = np.unique(sizes, return_counts=True)
            total = self.log_size(sizes) @ count
            return np.asarray(total + self.log_constant(round(float(sizes @ count))))
        total = self.log_size(sizes).sum(axis=1)
        return np.asarray(total + self.log_constant(round(float(sizes.sum()))))

    def merger_gains(self, sizes: Array, a: Array, b: Array, alpha: float | None) -> Array:
        """Return by how much merging two clusters would raise the log probability.

        Parameters
        ----------
        sizes : array of shape (K,)
            Of all clusters.
        a, b : arrays of one shape
            Sizes of two of them, for each pair that might merge.
        alpha : float or None
            Concentration; None averages it out.
        """
        return self.merger_gains_of(self.log_joint_sizes(a, b), sizes, alpha)

    def log_joint_sizes(self, a: Array, b: Array) -> Array:
        """Return f(a + b) − f(a) − f(b) of two sizes, shape (components, …)."""
        return np.asarray(self.log_size(a + b) - self.log_size(a) - self.log_size(b))

    def merger_gains_of(self, joint: Array, sizes: Array, alpha: float | None) -> Array:
        """Return :meth:`merger_gains` where :meth:`log_joint_sizes` is known already."""
        n, n_clusters = round(float(sizes.sum())), len(sizes)
        fewer = self.log_number(n_clusters - 1, n, alpha) - self.log_number(n_clusters, n, alpha)
        return np.asarray(self.averaged(joint, sizes) + fewer)

    def log_weights(self, sizes: Array, alpha: float) -> Array:
        """Return log weights of a next point: of joining each cluster, then of opening one.

        Sizes may be fractions, as responsibilities add up to them. A factor that all weights share
        is left out.
        """
        n, n_clusters = round(float(sizes.sum())), len(sizes)
        alpha = alpha if self.uses_alpha else 1.0
        opening = self.log_size(np.ones(1)) + np.log(alpha + n_clusters * self.discount)
        logs = np.concatenate([self.log_join(sizes), opening], axis=1)
        longer = self.log_constant(n + 1) - self.log_constant(n)
        return self.averaged(logs + longer[:, None], sizes)

    def averaged(self, logs: Array, sizes: Array) -> Array:
        """Average factors over the components, by their probabilities given the sizes."""
        if len(logs) == 1:
            return np.asarray(logs[0])
        components = self.log_components(sizes)
        weights = components - logsumexp(components)
        return np.asarray(logsumexp(logs.T + weights, axis=-1).T)


@dataclass(frozen=True)
class DirichletProcess(PartitionPrior):
    """The Chinese restaurant process: few large clusters, about α log n of them.

    The concentration α is a setting of the model, as it may be learned.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink import DirichletProcess
    >>> float(np.exp(DirichletProcess().log_probability(np.array([2.0, 1.0]), 1.0)).round(6))
    0.166667
    """

    name: ClassVar[str] = "dirichlet-process"

    @property
    def discount(self) -> float:
        """0: how many clusters there are does not matter."""
        return 0.0

    def log_size(self, sizes: Array) -> Array:
        """Return log Γ(m)."""
        return np.asarray(gammaln(sizes))[None]

    def log_join(self, sizes: Array) -> Array:
        """Return log m."""
        return np.log(sizes)[None]


@dataclass(frozen=True)
class PitmanYor(PartitionPrior):
    """The Pitman–Yor process: many small clusters beside few large ones, about n^d of them.

    The concentration α is a setting of the model, as it may be learned.

    Parameters
    ----------
    discount : float, default 0.5
        d, at least 0 and below 1; 0 is the Dirichlet process.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink import PitmanYor
    >>> float(np.exp(PitmanYor(0.5).log_probability(np.array([2.0, 1.0]), 1.0)).round(6))
    0.125
    """

    name: ClassVar[str] = "pitman-yor"

    discount: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 <= self.discount < 1.0:
            raise MaylinkError(f"discount: {self.discount!r} is not at least 0 and below 1")

    def log_size(self, sizes: Array) -> Array:
        """Return log Γ(m − d) − log Γ(1 − d)."""
        return np.asarray(gammaln(sizes - self.discount) - gammaln(1.0 - self.discount))[None]

    def log_join(self, sizes: Array) -> Array:
        """Return log(m − d); of fractions below 1, log m(1 − d)."""
        return np.log(np.maximum(sizes - self.discount, sizes * (1.0 - self.discount)))[None]


@dataclass(frozen=True)
class Microclustering(PartitionPrior):
    """Sizes of clusters drawn one by one: clusters stay small however many points there are.

    The exchangeable sequence of clusters (Betancourt, Zanella & Steorts 2020): sizes come one after
    the other from a negative binomial distribution without 0, given that they add up to n at some
    time, and points are dealt out at random. Made for records of the same few things.

    Parameters
    ----------
    mean_size : float or tuple of float, default (1.2, 1.5, 2, 3, 5, 8)
        Mean size of a cluster, above 1. Several numbers are averaged over, each alike.
    shape : float or tuple of float, default (0.5, 2, 8)
        Shape r of the negative binomial: the larger, the more alike the sizes. Several numbers are
        averaged over, each alike.

    References
    ----------
    Betancourt, Zanella, Steorts: Random Partition Models for Microclustering Tasks, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink import DirichletProcess, Microclustering
    >>> pairs = np.full(500, 2.0)
    >>> small, large = Microclustering(), DirichletProcess()
    >>> small.log_probability(pairs, None) > large.log_probability(pairs, None)
    True
    """

    name: ClassVar[str] = "microclustering"
    uses_alpha: ClassVar[bool] = False
    small_clusters: ClassVar[bool] = True

    mean_size: float | tuple[float, ...] = (1.2, 1.5, 2.0, 3.0, 5.0, 8.0)
    shape: float | tuple[float, ...] = (0.5, 2.0, 8.0)

    def __post_init__(self) -> None:
        for name, least in (("mean_size", 1.0), ("shape", 0.0)):
            value = getattr(self, name)
            numbers = value if isinstance(value, (tuple, list)) else (value,)
            if not numbers or not all(least < one < np.inf for one in numbers):
                raise MaylinkError(f"{name}: {value!r}; give finite numbers above {least:g}")
            several = tuple(map(float, numbers))
            object.__setattr__(self, name, several if len(several) > 1 else several[0])

    @property
    def discount(self) -> float:
        """1: with α = 1 the numbers of clusters multiply to K!."""
        return 1.0

    @property
    def components(self) -> tuple[tuple[float, float], ...]:
        """Mean size and shape of each component."""
        means = self.mean_size if isinstance(self.mean_size, tuple) else (self.mean_size,)
        shapes = self.shape if isinstance(self.shape, tuple) else (self.shape,)
        return tuple((mean, shape) for mean in means for shape in shapes)

    def log_size(self, sizes: Array) -> Array:
        """Return log m! + log μ(m) = log Γ(m + r) + m log p + const."""
        shape, log_p, constant = self._columns(np.ndim(sizes))
        return np.asarray(gammaln(sizes + shape) + sizes * log_p + constant)

    def log_join(self, sizes: Array) -> Array:
        """Return log (m + r)p."""
        shape, log_p, _ = self._columns(np.ndim(sizes))
        return np.asarray(np.log(sizes + shape) + log_p)

    def log_constant(self, n: int) -> Array:
        """Return −log u_n, shape (components,)."""
        return np.array([-log_renewal(mean, shape, n) for mean, shape in self.components])

    def _columns(self, n_axes: int) -> tuple[Array, Array, Array]:
        """Return shape r, log p and the constant of f, each to be combined with sizes."""
        rows = np.array([negative_binomial(*one) for one in self.components])
        return tuple(column.reshape(-1, *[1] * n_axes) for column in rows.T)


@dataclass(frozen=True)
class UniformPartitions(PartitionPrior):
    """Partitions into equally many clusters are alike, whatever the sizes; each cluster costs c.

    Made for data of a weight below 1, with links. Under the other priors a point is in a given one
    of K clusters with probability about 1 / K. Data of weight 1 outweigh that. Where they count for
    a tenth, it would outweigh them and the links, too: answers about pairs do not pay log K for
    every point. There are so many fine partitions that this prior expects about n / (c + log n)
    clusters: of data of weight 1, more than there are.

    Parameters
    ----------
    cluster_cost : float, default 8
        c, by how many nats one cluster more is less probable: about log n of a few thousand points.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink import UniformPartitions
    >>> alike = UniformPartitions(cluster_cost=0)  # three points have five partitions
    >>> float(np.exp(alike.log_probability(np.array([2.0, 1.0]), None)).round(6))
    0.2
    """

    name: ClassVar[str] = "uniform"
    uses_alpha: ClassVar[bool] = False
    sizes_matter: ClassVar[bool] = False

    cluster_cost: float = 8.0

    def __post_init__(self) -> None:
        try:
            cost = float(self.cluster_cost)
        except (TypeError, ValueError):
            cost = -1.0
        if not 0.0 <= cost <= MOST_COST:
            raise MaylinkError(
                f"cluster_cost: {self.cluster_cost!r} is not a number from 0 to {MOST_COST:g}"
            )
        object.__setattr__(self, "cluster_cost", cost)

    @property
    def discount(self) -> float:
        """0: each cluster costs the same."""
        return 0.0

    def log_size(self, sizes: Array) -> Array:
        """Return −c."""
        return np.full((1, *np.shape(sizes)), -self.cluster_cost)

    def log_join(self, sizes: Array) -> Array:
        """Return 0; of fractions below 1, log m, so that nothing joins a cluster of no points."""
        return np.log(np.minimum(sizes, 1.0))[None]

    def log_constant(self, n: int) -> Array:
        """Return −log u_n, shape (1,)."""
        return np.array([gammaln(n + 1.0) - log_all_partitions(n, self.cluster_cost)])


DIRICHLET_PROCESS = DirichletProcess()
"""The prior of a model that says nothing else."""

PRIORS = (DirichletProcess, PitmanYor, Microclustering, UniformPartitions)


def as_partition_prior(value: Any) -> PartitionPrior:
    """Return the prior, or that of a word with its defaults."""
    if isinstance(value, PartitionPrior):
        return value
    by_name = {prior.name: prior for prior in PRIORS}
    if not isinstance(value, str) or value not in by_name:
        words = tuple(by_name)
        raise MaylinkError(
            f"partition_prior: {not_one_of(value, words)}, or give an object of "
            "maylink.DirichletProcess, maylink.PitmanYor, maylink.Microclustering or "
            "maylink.UniformPartitions"
        )
    return by_name[value]()


@lru_cache(maxsize=4096)
def _log_number(n_clusters: int, n: int, alpha: float | None, discount: float) -> float:
    """Return Σ_{k<K} log(α + k·d) − Σ_{i<n} log(α + i), averaged over α where it is None."""
    alphas = np.geomspace(0.1, n, N_ALPHAS) if alpha is None else np.array([alpha])
    if discount == 0.0:
        opened = (n_clusters - 1) * np.log(alphas)
    else:
        steps = discount * np.arange(1, n_clusters)
        opened = np.log(alphas[:, None] + steps).sum(axis=1)
    values = opened + gammaln(alphas + 1.0) - gammaln(alphas + n)
    if alpha is not None:
        return float(values[0])
    return float(logsumexp(values) - np.log(len(values)))
