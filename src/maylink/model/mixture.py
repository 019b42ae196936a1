"""The mixture that a fit leaves behind: what it says about new points.

Cluster k holds n_k points (fractions where partitions are uncertain), so a new point is in it with
probability ``∝ n_k · predictive_k(x)^γ``; a cluster of its own has ``α · predictive_0(x)^γ``. Other
priors of the partition than the Dirichlet process have other weights in place of n_k and α. Where
the fit had neighbours, these have a say (:mod:`maylink.model.known_neighbours`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from maylink.arrays import Array, Index, Matrix
from maylink.errors import DomainError
from maylink.families import Family
from maylink.families.base import Statistics
from maylink.links import Links
from maylink.model.known_neighbours import KnownNeighbours
from maylink.model.partition_priors import DIRICHLET_PROCESS, PartitionPrior
from maylink.model.reliability import link_pull

ROUNDS = 50  # at the most, over new points that are linked to each other
ENTRIES = 2_000_000  # responsibilities of a chunk that are worked on together
TOO_FAR = (
    "X: some points lie so far from those of the fit that their probabilities are beyond double "
    "precision; give them in the units of the fit, or drop them"
)


@dataclass(frozen=True)
class Mixture:
    """Clusters as the model sees them after a fit.

    Parameters
    ----------
    family : Family
        Adapted to the data of the fit.
    prior
        Prior of the clusters' parameters.
    posteriors : list
        Posterior of each cluster's parameter.
    sizes : array of shape (K,)
        Points in each cluster.
    alpha : float
        Concentration.
    data_weight : float
        γ.
    partition_prior : PartitionPrior
        Says what joining a cluster and opening one weigh.
    neighbours : KnownNeighbours, optional
        The points of the fit, where it had neighbours.
    """

    family: Family
    prior: Any
    posteriors: list[Any]
    sizes: Array
    alpha: float
    data_weight: float
    partition_prior: PartitionPrior = DIRICHLET_PROCESS
    neighbours: KnownNeighbours | None = None

    @classmethod
    def of_statistics(
        cls,
        family: Family,
        statistics: Statistics,
        prior: Any,
        alpha: float,
        data_weight: float,
        partition_prior: PartitionPrior = DIRICHLET_PROCESS,
        neighbours: KnownNeighbours | None = None,
    ) -> Mixture:
        """Build the clusters from their statistics."""
        posterior = family.posterior(prior, statistics)
        posteriors = [one_of(posterior, k) for k in range(len(statistics.size))]
        size = statistics.size
        return cls(family, prior, posteriors, size, alpha, data_weight, partition_prior, neighbours)

    @property
    def log_weights(self) -> Array:
        """Log weights of joining each cluster, then of opening one, shape (K + 1,)."""
        return self.partition_prior.log_weights(self.sizes, self.alpha)

    def only(self, columns: Index) -> Mixture:
        """Return the mixture of some of the clusters, as their families tell them."""
        posteriors = [self.posteriors[k] for k in columns]
        return replace(self, posteriors=posteriors, sizes=self.sizes[columns], neighbours=None)

    def log_predictive(self, X: Matrix) -> Array:
        """Return log predictive_k(x) of each point in each cluster, shape (n, K)."""
        with np.errstate(over="ignore", invalid="ignore"):
            columns = [self.family.log_predictive(X, posterior) for posterior in self.posteriors]
        values = np.column_stack(columns)
        if np.isnan(values).any() or not np.isfinite(values).any(axis=1).all():
            raise DomainError(TOO_FAR)
        return values

    def responsibilities(self, X: Matrix) -> Array:
        """Return the probability of each cluster for each point, shape (n, K)."""
        return np.asarray(softmax(self._scores(X), axis=1))

    def _scores(self, X: Matrix) -> Array:
        family, rows = self.family.prepared(X)
        data = replace(self, family=family).log_predictive(rows)
        scores = self.log_weights[:-1] + self.data_weight * data
        if self.neighbours is not None:
            scores += self.neighbours.log_odds(X)
        return np.asarray(scores)

    def linked_responsibilities(
        self, X: Matrix, known: Array, links: Links, log_odds: Callable[[Any], tuple[float, float]]
    ) -> Array:
        """Return :meth:`responsibilities` of new points that are linked, also to known points.

        Parameters
        ----------
        X : matrix of shape (m, d)
            New points.
        known : array of shape (n, K)
            Responsibilities of the known points.
        links : Links
            Over n + m points, the known ones first.
        log_odds : function
            From the name of a source to what its may and its may-not links weigh.
        """
        from maylink.kernels.softmax import lists_of, softmax_linked

        scores = self._scores(X)
        responsibilities = np.vstack([known, softmax(scores, axis=1)])
        new = len(known) + np.arange(len(scores))
        linked = links.degree[new] > 0
        csr = links.csr
        odds = np.array([log_odds(name) for name in links.sources]).reshape(-1, 2)
        pull = link_pull(links, *odds.T)
        counted = np.concatenate([np.ones(len(known), bool), ~linked])
        before, lists = responsibilities.copy(), lists_of(responsibilities, csr.neighbour.size)
        for _ in range(ROUNDS):
            softmax_linked(
                new[linked], scores[linked], csr.indptr, csr.neighbour, pull, counted,
                responsibilities, lists,
            )  # fmt: skip
            if np.abs(responsibilities - before).max() < 1e-9:
                break
            before = responsibilities.copy()
        return responsibilities[len(known) :]

    def log_density(self, X: Matrix) -> Array:
        """Return the log predictive density of each point under the whole mixture, (n,)."""
        known = self.log_predictive(X)
        terms = np.column_stack([known, self.family.log_predictive(X, self.prior)])
        weights = self.log_weights
        return np.asarray(logsumexp(terms + weights - logsumexp(weights), axis=1))


def responsibilities_of_rows(
    X: Matrix, family: Family, mixture: Mixture, n_jobs: int | None = None
) -> Array:
    """Return the probability of each cluster for each row, some rows at a time."""
    step = max(1, ENTRIES // len(mixture.sizes))
    parts = [mixture.responsibilities(X[low : low + step]) for low in range(0, X.shape[0], step)]
    return np.concatenate(parts)


def labels_of_rows(
    X: Matrix, family: Family, mixture: Mixture, n_jobs: int | None = None
) -> NDArray[np.int64]:
    """Return the most probable cluster of each row."""
    return np.asarray(responsibilities_of_rows(X, family, mixture).argmax(axis=1))


def one_of(posterior: Any, k: int) -> Any:
    """Return the k-th of K posteriors."""
    if isinstance(posterior, tuple):
        parts = [one_of(part, k) for part in posterior]
        return type(posterior)(*parts) if hasattr(posterior, "_fields") else tuple(parts)
    return np.asarray(posterior)[k] if np.ndim(posterior) else posterior


def one_hot(labels: NDArray[np.int64], n_clusters: int) -> Array:
    """Return the responsibilities of a sure partition: 1 for the cluster of a point, else 0."""
    responsibilities = np.zeros((labels.size, n_clusters))
    responsibilities[np.arange(labels.size), labels] = 1.0
    return responsibilities
