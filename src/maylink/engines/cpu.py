"""The CPU engine: holds the points and makes sweeps over them, on threads of this process.

Centres stand still within a sweep, and links join only linked points. So points without links go to
their nearest centre in parallel (:mod:`maylink.kernels.nearest`), and linked points decide in
parallel and are then visited in order (:mod:`maylink.kernels.linked`), together with those that
want to open a cluster; when some have opened, the points without links look again, each at the
clusters that opened before its turn. The labels are those of the plain loop of Algorithm 1 in the
order of visits, whatever the number of threads and whatever the processor.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from maylink.arrays import Array, Index
from maylink.engines.points import PointStore
from maylink.engines.totals import Stored, Swept, Totals
from maylink.labels import first_appearance
from maylink.model.reliability import ClusterVotes, votes_between

if TYPE_CHECKING:
    from maylink.engines.sweep import Sweeper


class CpuEngine(PointStore):
    """A :class:`~maylink.engines.points.PointStore`, and sweeps over its points."""

    # ------------------------------------------------------------------ partitions

    def numbered(self, labels: Stored, root: Index | None = None) -> tuple[Index, Index]:
        """Return labels by first appearance, and the old number of each cluster."""
        by_point = self.given(labels)
        return first_appearance(by_point if root is None else root[by_point])

    def distortion(self, labels: Stored, totals: Totals, centers: Array) -> float:
        """Return Σ_i D(x_i, μ_k) of a partition, which mostly needs only its sums."""
        if self.family.root:
            clusters = self.given(labels)
            return float(self.scores(centers)[np.arange(self.n), clusters].sum())
        theta, c = self.tangent(centers)
        affine = totals.size @ c - np.einsum("ks,ks->", totals.points, theta)
        return max(float(totals.potential.sum() + affine), 0.0)

    def votes(self, labels: Stored) -> Array:
        """Count links by class and by whether their points share a cluster; see reliability."""
        votes = np.zeros(4 * len(self.links.sources))
        if votes.size:
            from maylink.kernels.linked import count_votes

            count_votes(*self._ends, self.links.classes, self.links.weight, labels, votes)
        return votes

    def between(self, labels: Stored, n_clusters: int) -> ClusterVotes:
        """Return the votes for and against between clusters, by source."""
        return votes_between(self.links, self.given(labels), n_clusters)

    @cached_property
    def _ends(self) -> tuple[Stored, Stored]:
        return self.layout.position[self.links.i], self.layout.position[self.links.j]

    def furthest_first(self, length: int, least: float) -> list[float]:
        """Start from the mean, take the furthest point round by round; return how far each was."""
        center = self.means(self.whole)
        nearest = np.full(self.n, np.inf)
        divergences: list[float] = []
        for _ in range(min(length, self.n)):
            nearest = np.minimum(nearest, self.scores(center)[:, 0])
            furthest = int(nearest.argmax())
            if nearest[furthest] <= least:
                break
            divergences.append(float(nearest[furthest]))
            center = self.point(furthest)
        return divergences

    # ------------------------------------------------------------------ sweeps

    def sweep(
        self,
        labels: Stored,
        totals: Totals,
        centers: Array,
        order: Index,
        weights: tuple[float, float],
        penalty: float,
    ) -> Swept:
        """Let every point choose its cluster, once.

        Parameters
        ----------
        labels, totals : the partition before the sweep and its sums
        centers : array of shape (K, s)
            Centres, which stand still.
        order : array of shape (n,)
            In which the points are visited.
        weights : (float, float)
            ξ_may and ξ_not.
        penalty : float
            λ.

        Returns
        -------
        Swept
            When nothing has changed, the very ``labels`` that were given.
        """
        return self.sweeper.sweep(self, labels, totals, centers, order, weights, penalty)

    def place(
        self,
        centers: Array,
        known_labels: Index,
        weights: tuple[float, float],
        max_sweeps: int = 100,
    ) -> Index:
        """Label the points while centres stand still and no cluster opens, shape (n,).

        Parameters
        ----------
        centers : array of shape (K, s)
            Centres.
        known_labels : array of shape (m,)
            Labels of the m points before these that links may lead to.
        weights : (float, float)
            ξ_may and ξ_not.
        max_sweeps : int, default 100
            At most so many rounds over points that are linked to each other.
        """
        from maylink.engines.sweep import place

        return place(self, centers, known_labels, weights, max_sweeps)

    @cached_property
    def sweeper(self) -> Sweeper:
        """What makes the sweeps and remembers what they learn."""
        from maylink.engines.sweep import Sweeper

        return Sweeper()

    def weigh_sources(self, shares: Array | None) -> None:
        """Let votes of each kind and source weigh a share of ξ in the sweeps that follow.

        Parameters
        ----------
        shares : array of shape (2 · sources,), optional
            Of may-not and may links of each source; None where all weigh ξ.
        """
        before = self._shares
        if shares is None or before is None:
            alike = shares is before
        else:
            alike = np.array_equal(shares, before)
        if not alike:
            self.forget()  # what sweeps have learnt holds while links only become heavier
            self._shares = shares

    def forget(self) -> None:
        """Give back the memory of what sweeps have learnt."""
        self.__dict__.pop("sweeper", None)
