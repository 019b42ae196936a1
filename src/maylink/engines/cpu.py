"""The CPU engine: holds the points and makes sweeps over them, on threads of this process.

Centres stand still within a sweep, and links join only linked points. So points without links go to
their nearest centre in parallel (:mod:`maylink.kernels.nearest`), and linked points decide in
parallel and are then visited in order (:mod:`maylink.kernels.linked`), together with those that
want to open a cluster; when some have opened, the points without links look again, each at the
clusters that opened before its turn. The labels are those of the plain loop of Algorithm 1 in the
order of visits, whatever the number of threads and whatever the processor.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index, Matrix
from maylink.engines.layout import lay_out
from maylink.families.base import Family
from maylink.labels import first_appearance
from maylink.links import Links
from maylink.model.reliability import Votes, votes_between
from maylink.runtime.threads import part_count, share, share_out, thread_count

HEAVIEST = 1e6  # link weight in units of data
Stored = NDArray[np.int32]  # labels in the order of the slots, −1 for none


class Totals(NamedTuple):
    """Sums of a partition; see :class:`maylink.kernels.sums.Sums`."""

    high: Array
    low: Array
    size: Index

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
        """Return the sums of the clusters 0, 1, … that these are parts of."""
        found = Totals(*(np.zeros((cluster.max() + 1, *one.shape[1:]), one.dtype) for one in self))
        for total, parts in zip(found, self, strict=True):
            np.add.at(total, cluster, parts)
        return found


class Swept(NamedTuple):
    """What a sweep leaves: a partition without empty clusters, its sums, and what has changed."""

    labels: Any
    totals: Totals
    n_changed: int


class CpuEngine:
    """Points of one data set under one family.

    Parameters
    ----------
    X : matrix of shape (n, d)
        Checked data.
    family : Family
        Adapted to the data it was fitted to.
    n_jobs : int, optional
        Threads; as many as there are processors by default.
    links : Links, optional
        Links between the points, or between m + n points of which these are the last n.
    """

    def __init__(
        self, X: Matrix, family: Family, n_jobs: int | None = None, links: Links | None = None
    ) -> None:
        from maylink.kernels.sums import cutters

        self.n = int(X.shape[0])
        self.family = family
        self.n_threads = thread_count(n_jobs)
        self.links = Links.empty(self.n) if links is None else links
        n_known = self.links.n - self.n
        self.layout = lay_out(X, family, self.links.touches()[n_known:])
        self.points = self.layout.points
        self.potential: Array = self.points.phi
        self.n_slots = self.potential.size
        self.n_columns = self.layout.largest.size - 1
        self.cut = cutters(self.layout.largest, self.n)
        self.memory: Any = None  # what the last sweep learnt; see maylink.engines.sweep
        self.turns: Any = None
        self._tangent: tuple[Array, tuple[Array, Array]] | None = None

    # ------------------------------------------------------------------ single points and scores

    def point(self, i: int) -> Array:
        """Return point i as a centre, shape (1, s)."""
        return self.center(int(self.layout.position[i]))

    def scores(self, centers: Array) -> Array:
        """Return the divergence of every point from every centre, shape (n, K)."""
        from maylink.kernels.exact import scores

        out = np.empty((self.n_slots, len(centers)))
        prepared = self.prepared(*self.tangent(centers), len(centers))

        def part(low: int, high: int) -> None:
            scores(self.points, prepared, low * self.lanes, high * self.lanes, out)

        n_blocks = self.n_slots // self.lanes
        share(part, n_blocks, self.lanes * centers.size, self.n_threads)
        return out[self.layout.position]

    # ------------------------------------------------------------------ labels

    def stored(self, labels: NDArray[Any]) -> Stored:
        """Return labels in the order of the slots."""
        out = np.full(self.n_slots, -1, np.int32)
        out[self.layout.position] = labels
        return out

    def given(self, stored: Stored) -> Index:
        """Return labels in the order of the points."""
        return np.take(stored, self.layout.position).astype(np.int64)

    def numbered(self, labels: Stored, root: Index | None = None) -> tuple[Index, Index]:
        """Return labels by first appearance, and the old number of each cluster."""
        given = self.given(labels)
        return first_appearance(given if root is None else root[given])

    def totals(self, labels: Stored, n_clusters: int) -> Totals:
        """Return the sums of a partition."""
        from maylink.kernels.sums import add_all, make_sums

        def part(low: int, high: int, sums: Any) -> None:
            add_all(self.points, self.cut, labels, low, high, sums)

        sums = make_sums(n_clusters, self.n_columns)
        self.add_up(part, self.n_slots, self.n_columns, sums, n_clusters)
        return self.trimmed(sums)

    def tangent(self, centers: Array) -> tuple[Array, Array]:
        """Return θ and c of centres; those of the last ones are remembered."""
        if self._tangent is None or self._tangent[0] is not centers:
            self._tangent = (centers, self.family.tangent(centers))
        theta, c = self._tangent[1]
        return theta, c

    def means(self, totals: Totals) -> Array:
        """Return the centres of a partition without empty clusters, shape (K, s)."""
        return self.family.centroid(totals.points / totals.size[:, None])

    def distortion(self, labels: Stored, totals: Totals, centers: Array) -> float:
        """Return Σ_i D(x_i, μ_k) of a partition, which mostly needs only its sums."""
        if self.family.root:
            own = self.given(labels)
            return float(self.scores(centers)[np.arange(self.n), own].sum())
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

    def between(self, labels: Stored, n_clusters: int) -> Votes:
        """Return the votes for and against between clusters, by source, each (sources, K, K)."""
        return votes_between(self.links, self.given(labels), n_clusters)

    @cached_property
    def _ends(self) -> tuple[Stored, Stored]:
        return self.layout.position[self.links.i], self.layout.position[self.links.j]

    @property
    def scale(self) -> float:
        """The greatest |φ| of a point."""
        return float(np.abs(self.potential).max())

    def furthest_first(self, length: int, least: float) -> list[float]:
        """Start from the mean, take the furthest point round by round; return how far each was."""
        center = self.means(self.whole)
        nearest = np.full(self.n, np.inf)
        found: list[float] = []
        for _ in range(min(length, self.n)):
            nearest = np.minimum(nearest, self.scores(center)[:, 0])
            furthest = int(nearest.argmax())
            if nearest[furthest] <= least:
                break
            found.append(float(nearest[furthest]))
            center = self.point(furthest)
        return found

    @cached_property
    def longest(self) -> float:
        """The greatest norm of a point."""
        return float(self.layout.norm.max(initial=0.0))

    @cached_property
    def reach(self) -> float:
        """The greatest divergence of a point from the mean of all."""
        return float(self.scores(self.means(self.whole)).max())

    def heaviest(self, penalty: float) -> float:
        """Return the link weight at which growth ends: beyond it only the rounding of D changes."""
        return HEAVIEST * (self.reach + penalty)

    @cached_property
    def whole(self) -> Totals:
        """The sums of all points as one cluster."""
        return self.totals(self.together(), 1)

    def together(self) -> Stored:
        """Return the partition into one cluster."""
        return self.stored(np.zeros(self.n, np.int32))

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
        from maylink.engines.sweep import sweep

        return sweep(self, labels, totals, centers, order, weights, penalty)

    def forget(self) -> None:
        """Give back the memory of what sweeps have learnt."""
        self.memory = self.turns = None

    def place(
        self, centers: Array, known: Index, weights: tuple[float, float], max_sweeps: int = 100
    ) -> Index:
        """Label the points while centres stand still and no cluster opens, shape (n,).

        Parameters
        ----------
        centers : array of shape (K, s)
            Centres.
        known : array of shape (m,)
            Labels of the m points before these that links may lead to.
        weights : (float, float)
            ξ_may and ξ_not.
        max_sweeps : int, default 100
            At most so many rounds over points that are linked to each other.
        """
        from maylink.engines.sweep import place

        return place(self, centers, known, weights, max_sweeps)

    # ------------------------------------------------------------------ for the sweeps

    def center(self, slot: int) -> Array:
        """Return the point of a slot as a centre, shape (1, s)."""
        points = self.points
        if points.blocks.shape[0] > 0:
            row = points.blocks[slot // self.lanes, :, slot % self.lanes]
            return np.ascontiguousarray(row, np.float64)[None]  # sums round by the layout
        row = np.zeros((1, self.n_columns))
        entries = slice(points.indptr[slot], points.indptr[slot + 1])
        row[0, points.indices[entries]] = points.data[entries]
        return row

    def link_table(self, xi_may: float, xi_not: float, blur: float) -> Any:
        """Return the links of the linked slots as the kernels take them."""
        from maylink.kernels.linked import LinkTable

        return LinkTable(
            self.layout.first_linked, *self._link_columns, float(xi_may), float(xi_not), float(blur)
        )

    @cached_property
    def _link_columns(self) -> tuple[Any, Any, Any]:
        linked = np.flatnonzero(self.links.touches())
        csr = self.links[linked].csr
        n_known = self.links.n - self.n
        known, own = linked[linked < n_known], linked[linked >= n_known] - n_known
        slots = np.concatenate([self.n_slots + known, self.layout.position[own]]).astype(np.int32)
        return csr.indptr[known.size :], slots[csr.neighbour], csr.signed

    @property
    def lanes(self) -> int:
        """How many slots a block has."""
        return int(self.points.blocks.shape[2])

    def prepared(self, theta: Array, c: Array, room: int) -> Any:
        """Return centres as the kernels take them, with room for so many in all."""
        from maylink.kernels.exact import Centers

        columns, starts = np.zeros((self.n_columns, room)), np.zeros(room)
        columns[:, : len(c)] = theta.T
        starts[: len(c)] = c
        return Centers(columns, starts, self.family.root)

    def add_up(
        self, part: Callable[[int, int, Any], Any], size: int, work: int, sums: Any, n_clusters: int
    ) -> list[Any]:
        """Run ``part(low, high, sums)`` on threads and return what the parts returned.

        The first thread adds to ``sums`` themselves, each other one to sums of its own, which are
        added in the end.
        """
        from maylink.kernels.sums import make_sums

        copied = 2 * n_clusters * (self.n_columns + 1)  # numbers to add up for another thread
        n_parts = min(part_count(size, work, self.n_threads), max(1, size * work // copied))
        # Made here: a thread that works in Python makes the others wait for the interpreter.
        own = [sums, *(make_sums(n_clusters, self.n_columns) for _ in range(n_parts - 1))]

        def one(low: int, high: int, thread: int) -> Any:
            return part(low, high, own[thread])

        found = share_out(one, size, n_parts, self.n_threads)
        for other in own[1:]:
            for column, added in zip(sums, other, strict=True):
                column[:n_clusters] += added
        return found

    def trimmed(self, sums: Any) -> Totals:
        """Return sums without what fills them up to whole vectors."""
        width = self.n_columns + 1
        return Totals(sums.high[:, :width], sums.low[:, :width], sums.size)

    @cached_property
    def sample(self) -> tuple[Index, Any, Array]:
        """Some unlinked slots, their points, and the norms of these."""
        blocks = np.unique(np.linspace(0, self.layout.n_unlinked // self.lanes, 10, dtype=int))
        blocks = blocks[(blocks + 1) * self.lanes <= self.layout.n_unlinked]
        slots = (blocks[:, None] * self.lanes + np.arange(self.lanes)).ravel()
        points = self.points._replace(blocks=self.points.blocks[blocks], phi=self.potential[slots])
        return slots, points, self.layout.norm[slots]
