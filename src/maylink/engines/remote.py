"""What engines share whose points are elsewhere, and whose linked points are here, too."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from maylink.arrays import Array, Index
from maylink.engines.cpu import CpuEngine
from maylink.engines.points import HEAVIEST
from maylink.engines.totals import Swept, Totals
from maylink.model.reliability import ClusterVotes


class RemoteEngine:
    """An engine that leaves to an engine on this machine what asks for no points."""

    local: CpuEngine
    """Holds the linked points, and has room for points that want to open a cluster."""
    largest: Array
    """The greatest |t| of each column over all points and, last, the greatest |φ|."""
    sweeper: Any

    def together(self) -> Any:
        """Return the partition into one cluster."""
        raise NotImplementedError

    def totals(self, labels: Any, n_clusters: int) -> Totals:
        """Return the sums of a partition."""
        raise NotImplementedError

    def tangent(self, centers: Array) -> tuple[Array, Array]:
        """Return θ and c of centres."""
        return self.local.tangent(centers)

    def means(self, totals: Totals) -> Array:
        """Return the centres of a partition without empty clusters, shape (K, s)."""
        return self.local.means(totals)

    @cached_property
    def whole(self) -> Totals:
        """The sums of all points as one cluster."""
        return self.totals(self.together(), 1)

    @property
    def scale(self) -> float:
        """The greatest |φ| of a point."""
        return float(self.largest[-1])

    @cached_property
    def reach(self) -> float:
        """The greatest divergence of a point from the mean of all."""
        raise NotImplementedError

    def heaviest(self, penalty: float) -> float:
        """Return the link weight at which growth ends."""
        return HEAVIEST * (self.reach + penalty)

    def sweep(
        self,
        labels: Any,
        totals: Totals,
        centers: Array,
        order: Index,
        weights: tuple[float, float],
        penalty: float,
    ) -> Swept:
        """Let every point choose its cluster, once; see :meth:`CpuEngine.sweep`."""
        self.local.reach = self.reach
        swept: Swept = self.sweeper.sweep(self, labels, totals, centers, order, weights, penalty)
        return swept

    def distortion(self, labels: Any, totals: Totals, centers: Array) -> float:
        """Return Σ_i D(x_i, μ_k) of a partition from its sums."""
        return self.local.distortion(labels.linked, totals, centers)

    def votes(self, labels: Any) -> Array:
        """Count links by class and by whether their points share a cluster."""
        return self.local.votes(labels.linked)

    def between(self, labels: Any, n_clusters: int) -> ClusterVotes:
        """Return the votes for and against between clusters, by source."""
        return self.local.between(labels.linked, n_clusters)
