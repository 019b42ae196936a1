"""Statistics of all rows, made once: many sweeps look at the same few rows.

A sweep over some hundred rows takes less time than making their statistics anew. Rows that are many
are looked at block by block instead (:mod:`maylink.families.row_blocks`), where what is made of a
block never leaves the cache. Both give the same digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.arrays import Array, Matrix
from maylink.families.base import Family, Statistics
from maylink.families.row_blocks import BLOCK
from maylink.families.rows import cluster_sums

MOST_ENTRIES = 2**16  # statistics of all rows, half a megabyte, that are held


class KnownRows(NamedTuple):
    """What a family makes of all rows."""

    family: Family
    statistics: Array  # T(x), in double precision
    log_base: Array  # log h(x)

    @classmethod
    def of(cls, family: Family, X: Matrix, log_base: Array) -> KnownRows | None:
        """Return the statistics of rows, or None where they are many or not what is multiplied."""
        n, d = X.shape
        if sparse.issparse(X) or n > BLOCK or not is_affine(family):
            return None
        if n * family.n_statistics(d) > MOST_ENTRIES:
            return None
        T = family.statistics(X)
        return None if sparse.issparse(T) else cls(family, np.asarray(T, np.float64), log_base)

    def expected_log_likelihood(self, posterior: object) -> Array:
        """Return the expectation of log p(x | θ) under K posteriors, shape (n, K)."""
        theta, partition = self.family.expected_parameters(posterior)
        scores = self.statistics @ theta.T
        scores -= partition
        scores += self.log_base[:, None]
        return np.asarray(scores)

    def soft_statistics(self, responsibilities: Array) -> Statistics:
        """Sum the statistics of each cluster, each row by its responsibility, (n, K) in all."""
        shares = responsibilities.T
        size = responsibilities.sum(axis=0)
        return Statistics(size, shares @ self.statistics, shares @ self.log_base)

    def cluster_statistics(self, labels: NDArray[np.int64], n_clusters: int) -> Statistics:
        """Sum the statistics of the rows of each cluster."""
        size = np.bincount(labels, minlength=n_clusters).astype(np.float64)
        total = cluster_sums(self.statistics, labels, n_clusters)
        base = np.bincount(labels, self.log_base, n_clusters)
        return Statistics(size, total, np.asarray(base, np.float64))


def is_affine(family: Family) -> bool:
    """Whether a family has the sums and scores that every exponential family has, and no others."""
    kind = type(family)
    names = ("expected_log_likelihood", "soft_statistics", "cluster_statistics")
    plain = all(getattr(kind, name) is getattr(Family, name) for name in names)
    return plain and not family.knows_gaps
