"""What a solver asks of an engine, wherever the points are.

An engine holds the points of one data set under one family and keeps partitions of them in a form
of its own (``Labels``), which solvers only hand back. Its promise is about results: a sweep leaves
the labels that the plain loop of Algorithm 1 leaves in the order of visits, label for label.
:class:`~maylink.engines.cpu.CpuEngine` keeps that promise on the threads of this process,
:class:`~maylink.engines.dask.DaskEngine` on the workers of a Dask cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from maylink.arrays import Array
from maylink.families.base import Family
from maylink.links import Links

if TYPE_CHECKING:
    from maylink.arrays import Index
    from maylink.engines.totals import Swept, Totals
    from maylink.model.reliability import ClusterVotes

Labels = Any
"""A partition in the form of its engine."""


class Engine(Protocol):
    """Points of one data set, wherever they are."""

    n: int
    family: Family
    links: Links

    # ------------------------------------------------------------------ partitions

    def together(self) -> Labels:
        """Return the partition into one cluster."""

    def stored(self, labels: Any) -> Labels:
        """Return a partition from labels of shape (n,), −1 for none."""

    def numbered(self, labels: Labels, root: Index | None = None) -> tuple[Any, Index]:
        """Return labels by first appearance, shape (n,), and the old number of each cluster.

        ``root`` holds, for each cluster, the cluster that it is part of.
        """

    def given(self, labels: Labels) -> Any:
        """Return labels in the order of the points, shape (n,)."""

    # ------------------------------------------------------------------ scores and sums

    @property
    def whole(self) -> Totals:
        """The sums of all points as one cluster."""

    @property
    def scale(self) -> float:
        """The greatest |φ| of a point, by which rounding is judged."""

    def totals(self, labels: Labels, n_clusters: int) -> Totals:
        """Return the sums of a partition."""

    def means(self, totals: Totals) -> Array:
        """Return the centres of a partition without empty clusters, shape (K, s)."""

    def distortion(self, labels: Labels, totals: Totals, centers: Array) -> float:
        """Return Σ_i D(x_i, μ_k) of a partition."""

    def votes(self, labels: Labels) -> Array:
        """Count links by class and by whether their points share a cluster."""

    def between(self, labels: Labels, n_clusters: int) -> ClusterVotes:
        """Return the votes for and against between clusters, by source."""

    def furthest_first(self, length: int, least: float) -> list[float]:
        """Return the divergences of the furthest points, round by round, as long as above least."""

    def heaviest(self, penalty: float) -> float:
        """Return the link weight at which growth ends."""

    # ------------------------------------------------------------------ sweeps

    def sweep(
        self,
        labels: Labels,
        totals: Totals,
        centers: Array,
        order: Index,
        weights: tuple[float, float],
        penalty: float,
    ) -> Swept:
        """Let every point choose its cluster, once, in this order, while the centres stand."""

    def weigh_sources(self, shares: Array | None) -> None:
        """Let votes of each kind and source weigh a share of ξ; None for all of it."""

    def forget(self) -> None:
        """Give back the memory of what sweeps have learnt."""
