"""The points of one data set in memory: their slots, their scores, and the sums of partitions.

Everything that a sweep asks of the points (:mod:`maylink.engines.round`) and that needs no sweep
itself. Scores and sums do not depend on the number of threads, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index, Matrix
from maylink.engines.layout import lay_out
from maylink.engines.settings import EngineSettings
from maylink.engines.totals import Stored, Totals
from maylink.families.base import Family
from maylink.links import Links
from maylink.runtime.threads import part_count, share, share_out, thread_count

HEAVIEST = 1e6  # link weight in units of data


class PointSample(NamedTuple):
    """Some points without links, whole blocks of them, by which costs are guessed."""

    slots: Index
    points: Any  # as the kernels take them
    norm: NDArray[Any]


class PointStore:
    """Points of one data set under one family, laid out in slots.

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
    settings : EngineSettings, optional
        When to use which way to the same labels.
    """

    def __init__(
        self,
        X: Matrix,
        family: Family,
        n_jobs: int | None = None,
        links: Links | None = None,
        settings: EngineSettings | None = None,
    ) -> None:
        from maylink.kernels.sums import cutters

        self.n = int(X.shape[0])
        self.family = family
        self.n_threads = thread_count(n_jobs)
        self.links = Links.empty(self.n) if links is None else links
        self.settings = EngineSettings() if settings is None else settings
        n_before = self.links.n - self.n
        linked = self.links.touches()[n_before:]
        self.layout = lay_out(X, family, linked, self.settings.chunk)
        self.points = self.layout.points
        self.potential: Array = self.points.phi
        self.n_slots = self.potential.size
        self.n_columns = self.layout.largest.size - 1
        self.cut = cutters(self.layout.largest, self.n)
        self._tangent: tuple[Array, tuple[Array, Array]] | None = None
        self._shares: Array | None = None  # of ξ that votes of each kind and source have

    @property
    def lanes(self) -> int:
        """How many slots a block has."""
        return int(self.points.blocks.shape[2])

    # ------------------------------------------------------------------ single points and scores

    def point(self, i: int) -> Array:
        """Return point i as a centre, shape (1, s)."""
        return self.center(int(self.layout.position[i]))

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

    def tangent(self, centers: Array) -> tuple[Array, Array]:
        """Return θ and c of centres; those of the last centres are remembered."""
        if self._tangent is None or self._tangent[0] is not centers:
            self._tangent = (centers, self.family.tangent(centers))
        theta, c = self._tangent[1]
        return theta, c

    def prepared(self, theta: Array, c: Array, room: int) -> Any:
        """Return centres as the kernels take them, with room for so many in all."""
        from maylink.kernels.exact import Centers

        columns, starts = np.zeros((self.n_columns, room)), np.zeros(room)
        columns[:, : len(c)] = theta.T
        starts[: len(c)] = c
        return Centers(columns, starts, self.family.root)

    # ------------------------------------------------------------------ labels and sums

    def stored(self, labels: NDArray[Any]) -> Stored:
        """Return labels in the order of the slots."""
        out = np.full(self.n_slots, -1, np.int32)
        out[self.layout.position] = labels
        return out

    def given(self, stored: Stored) -> Index:
        """Return labels in the order of the points."""
        return np.take(stored, self.layout.position).astype(np.int64)

    def totals(self, labels: Stored, n_clusters: int) -> Totals:
        """Return the sums of a partition."""
        from maylink.kernels.sums import add_all, make_sums

        def part(low: int, high: int, sums: Any) -> None:
            add_all(self.points, self.cut, labels, low, high, sums)

        sums = make_sums(n_clusters, self.n_columns)
        self.add_up(part, self.n_slots, self.n_columns, sums, n_clusters)
        return self.trimmed(sums)

    def add_up(
        self, part: Callable[[int, int, Any], Any], size: int, work: int, sums: Any, n_clusters: int
    ) -> list[Any]:
        """Run ``part(low, high, sums)`` on threads and return what the parts returned.

        The first thread adds to ``sums`` itself. Every other thread has sums of its own, which are
        added in the end.
        """
        from maylink.kernels.sums import make_sums

        copied = 2 * n_clusters * (self.n_columns + 1)  # numbers to add up for another thread
        n_parts = min(part_count(size, work, self.n_threads), max(1, size * work // copied))
        # Made here: a thread that works in Python makes the others wait for the interpreter.
        by_thread = [sums, *(make_sums(n_clusters, self.n_columns) for _ in range(n_parts - 1))]

        def part_of_thread(low: int, high: int, thread: int) -> Any:
            return part(low, high, by_thread[thread])

        results = share_out(part_of_thread, size, n_parts, self.n_threads)
        for other in by_thread[1:]:
            for column, added in zip(sums, other, strict=True):
                column[:n_clusters] += added
        return results

    def trimmed(self, sums: Any) -> Totals:
        """Return sums without what fills them up to whole vectors."""
        width = self.n_columns + 1
        return Totals(sums.high[:, :width], sums.low[:, :width], sums.size)

    def means(self, totals: Totals) -> Array:
        """Return the centres of a partition without empty clusters, shape (K, s)."""
        return self.family.centroid(totals.points / totals.size[:, None])

    def together(self) -> Stored:
        """Return the partition into one cluster."""
        return self.stored(np.zeros(self.n, np.int32))

    @cached_property
    def whole(self) -> Totals:
        """The sums of all points as one cluster."""
        return self.totals(self.together(), 1)

    # ------------------------------------------------------------------ how far, how large

    @property
    def scale(self) -> float:
        """The greatest |φ| of a point."""
        return float(np.abs(self.potential).max())

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
    def sample(self) -> PointSample:
        """Some points without links, from all over the slots."""
        blocks = np.unique(np.linspace(0, self.layout.n_unlinked // self.lanes, 10, dtype=int))
        blocks = blocks[(blocks + 1) * self.lanes <= self.layout.n_unlinked]
        slots = (blocks[:, None] * self.lanes + np.arange(self.lanes)).ravel()
        points = self.points._replace(blocks=self.points.blocks[blocks], phi=self.potential[slots])
        return PointSample(slots, points, self.layout.norm[slots])

    # ------------------------------------------------------------------ links

    def slot_links(self, xi_may: float, xi_not: float, blur: float) -> Any:
        """Return the links of the linked slots as the kernels take them."""
        from maylink.kernels.linked import SlotLinks

        indptr, neighbour, signed, classes = self._link_columns
        if self._shares is not None:
            signed = signed * self._shares[classes]
        weights = (float(xi_may), float(xi_not), float(blur))
        return SlotLinks(self.layout.first_linked, indptr, neighbour, signed, *weights)

    @cached_property
    def _link_columns(self) -> tuple[Any, Any, Any, Any]:
        linked = np.flatnonzero(self.links.touches())
        inside = self.links[linked]
        csr = inside.csr
        n_before = self.links.n - self.n
        before, here = linked[linked < n_before], linked[linked >= n_before] - n_before
        slots = np.concatenate([self.n_slots + before, self.layout.position[here]]).astype(np.int32)
        indptr, neighbour = csr.indptr[before.size :], slots[csr.neighbour]
        return indptr, neighbour, csr.signed, inside.classes[csr.link]
