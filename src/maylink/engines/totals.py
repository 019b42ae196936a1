"""What engines and solvers hand to each other: labels, sums of clusters, and the end of a sweep."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index

Stored = NDArray[np.int32]  # labels in the order of the slots, −1 for none


class Totals(NamedTuple):
    """Sums of the clusters of a partition; see :class:`maylink.kernels.sums.ExactSums`."""

    high: Array  # (K, s + 1)
    low: Array  # (K, s + 1)
    size: Index  # (K,)

    @property
    def points(self) -> Array:
        """The sum of the points of each cluster, shape (K, s)."""
        return self.high[:, :-1] + self.low[:, :-1]

    @property
    def potential(self) -> Array:
        """The sum of φ over each cluster, shape (K,)."""
        return self.high[:, -1] + self.low[:, -1]

    def only(self, clusters: Any) -> Totals:
        """Return the sums of some clusters."""
        return Totals(self.high[clusters], self.low[clusters], self.size[clusters])

    def joined(self, cluster: Index) -> Totals:
        """Return the sums of the clusters 0, 1, … that these clusters are parts of."""
        n_whole = int(cluster.max()) + 1
        whole = Totals(*(np.zeros((n_whole, *part.shape[1:]), part.dtype) for part in self))
        for total, parts in zip(whole, self, strict=True):
            np.add.at(total, cluster, parts)
        return whole


class Swept(NamedTuple):
    """What a sweep leaves: a partition without empty clusters, its sums, and how many moved."""

    labels: Any  # in the form of the engine
    totals: Totals
    n_changed: int
