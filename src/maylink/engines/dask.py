"""The Dask engine: points stay in chunks on the workers, linked points come to this machine.

Points without links see centres only, so every chunk looks for itself
(:mod:`maylink.engines.piece`, or :mod:`maylink.engines.cuda_piece` where workers have GPUs). Linked
points see each other, so they are visited in turn, here, by the kernels of the CPU engine
(:mod:`maylink.engines.dask_round`); with them those points without links that want to open a
cluster, which are few and come as rows.

Labels are those of the CPU engine; the proof stands in ``docs/scale.md``.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index
from maylink.engines.cpu import CpuEngine
from maylink.engines.cuda_piece import CudaPiece
from maylink.engines.dask_round import DaskSweeper
from maylink.engines.numbering import by_first_appearance
from maylink.engines.piece import Piece
from maylink.engines.remote import RemoteEngine
from maylink.engines.rules import Assignment, ChunkRanks, Partition, new_token
from maylink.engines.settings import CudaSettings, EngineSettings
from maylink.engines.totals import Stored, Totals
from maylink.engines.visits import NOBODY, VisitOrder
from maylink.engines.workers import add_totals, asked, chunk_labels, chunk_totals, linked_rows
from maylink.errors import MaylinkError
from maylink.families.base import Family
from maylink.labels import CHUNK
from maylink.links import Links
from maylink.runtime.dask import compute, persist, tree


class DaskEngine(RemoteEngine):
    """Points of one data set under one family, on the workers of a Dask cluster.

    Parameters
    ----------
    chunks : list of Delayed
        Blocks of checked rows, in order.
    sizes : list of int
        How many rows each has.
    family : Family
        Adapted to all data.
    links : Links
        Links between the points.
    n_jobs : int, optional
        Threads for the linked points on this machine.
    settings : EngineSettings, optional
        When to use which way to the same labels.
    device : CudaSettings, optional
        How workers use a GPU, where each has one.
    """

    def __init__(
        self,
        chunks: list[Any],
        sizes: list[int],
        family: Family,
        links: Links,
        n_jobs: int | None = None,
        settings: EngineSettings | None = None,
        device: CudaSettings | None = None,
    ) -> None:
        from maylink.kernels.sums import cutters

        if family.root:
            raise MaylinkError(f"family: {family.name!r} compares √D, which Dask does not; use D")
        settings = EngineSettings() if settings is None else settings
        self.n = int(sum(sizes))
        self.family = family
        self.links = links
        self.device = device
        self.sizes = sizes
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        self.linked: NDArray[np.int64] = np.flatnonzero(links.touches())
        self.room = min(settings.room, self.n)
        self.pieces, local_rows, largest = self._distribute(chunks, settings)
        among = links[self.linked].moved(self.room, self.room + self.linked.size)
        self.local = CpuEngine(local_rows, family, n_jobs, among, settings)
        self.largest: Array = np.max([*largest, self.local.layout.largest], axis=0)
        self.cut = self.local.cut = cutters(self.largest, self.n)
        self.n_columns = self.local.n_columns
        self.by_row = ChunkRanks("rows", None)
        self.sweeper = DaskSweeper()
        self._order: tuple[Any, ChunkRanks, VisitOrder] | None = None

    def _distribute(
        self, chunks: list[Any], settings: EngineSettings
    ) -> tuple[list[Any], NDArray[Any], list[Array]]:
        """Make the pieces; return them, the rows to hold here, and how large values are by piece.

        The rows to hold here are room for openers, filled with some row, then the linked rows.
        """
        from dask import delayed

        cuts = np.searchsorted(self.linked, self.starts)
        linked_by_chunk = [
            self.linked[low:high] - start
            for low, high, start in zip(cuts[:-1], cuts[1:], self.starts[:-1], strict=True)
        ]
        family = delayed(self.family, traverse=False)
        kind, how = (Piece, settings) if self.device is None else (CudaPiece, self.device)
        pieces = [
            delayed(kind, pure=False)(chunk, int(start), family, linked, how)
            for chunk, start, linked in zip(chunks, self.starts[:-1], linked_by_chunk, strict=True)
        ]
        rows = [
            delayed(linked_rows, pure=False)(chunk, linked)
            for chunk, linked in zip(chunks, linked_by_chunk, strict=True)
        ]
        both = persist(pieces + rows)  # together: a chunk is read once
        pieces, rows = both[: len(chunks)], both[len(chunks) :]
        largest = [delayed(asked, pure=False)(piece, "largest") for piece in pieces]
        rows_by_chunk, largest_by_chunk = compute(rows, largest)
        any_row = next(part for part in rows_by_chunk if len(part))[:1]
        linked_parts = [
            part for part, linked in zip(rows_by_chunk, linked_by_chunk, strict=True) if linked.size
        ]
        local_rows = np.concatenate([np.repeat(any_row, self.room, axis=0), *linked_parts])
        return pieces, local_rows, [part for part in largest_by_chunk if part is not None]

    # ------------------------------------------------------------------ partitions

    def together(self) -> Partition:
        """Return the partition into one cluster."""
        return self._uniform(0)

    def stored(self, labels: Any) -> Partition:
        """Return a partition from labels of shape (n,), −1 for none."""
        if labels[0] == labels[-1] and np.all(np.asarray(labels) == labels[0]):
            return self._uniform(int(labels[0]))
        labels = np.asarray(labels, np.int32)
        linked, parts = self._placed(labels[self.linked]), self._cut_up(labels)
        return Partition(linked, Assignment(new_token()), self.by_row, parts)

    def _uniform(self, label: int) -> Partition:
        same = np.full(self.linked.size, label, np.int32)
        return Partition(self._placed(same), Assignment(new_token(), uniform=label), self.by_row)

    def _placed(self, linked: NDArray[Any]) -> Stored:
        """Return labels of linked points in the slots of the engine here."""
        stored = self.local.stored(np.full(self.local.n, -1))
        stored[self.local.layout.position[self.room :]] = linked
        return stored

    def _cut_up(self, column: NDArray[Any]) -> list[Any]:
        """Return a column cut like the data, on the workers."""
        from dask import delayed

        parts = [
            delayed(np.array, pure=False)(column[low:high])
            for low, high in zip(self.starts[:-1], self.starts[1:], strict=True)
        ]
        return persist(parts)

    def linked_labels(self, labels: Partition) -> Index:
        """Return the labels of the linked points, in order."""
        position = self.local.layout.position[self.room :]
        return labels.linked[position].astype(np.int64)

    def given(self, labels: Partition) -> list[Any]:
        """Return labels in the order of the points, a Delayed for each chunk."""
        from dask import delayed

        linked = self.linked_labels(labels)
        cuts = np.searchsorted(self.linked, self.starts)
        assignment = delayed(labels.others, traverse=False)
        cut = delayed(self.cut, traverse=False)
        return [
            delayed(chunk_labels, pure=False)(
                piece, assignment, labels.ranks.token, labels.ranks.part(at), labels.given_part(at),
                cut, linked[cuts[at] : cuts[at + 1]],
            )
            for at, piece in enumerate(self.pieces)
        ]  # fmt: skip

    def numbered(self, labels: Partition, root: Index | None = None) -> tuple[Any, Index]:
        """Return labels by first appearance as a dask array, and the old number of each cluster."""
        from dask import delayed

        parts = self.given(labels)
        if root is not None:
            parts = [delayed(np.take, pure=False)(root, part) for part in parts]
        return by_first_appearance(parts, self.sizes)

    # ------------------------------------------------------------------ scores and sums

    def totals(self, labels: Partition, n_clusters: int) -> Totals:
        """Return the sums of a partition."""
        from dask import delayed

        assignment, cut = delayed(labels.others, traverse=False), delayed(self.cut, traverse=False)
        parts = [
            delayed(chunk_totals, pure=False)(
                piece, assignment, labels.ranks.token, labels.ranks.part(at), labels.given_part(at),
                n_clusters, cut,
            )
            for at, piece in enumerate(self.pieces)
        ]  # fmt: skip
        here = self.local.totals(labels.linked, n_clusters)
        totals: Totals = add_totals([here, compute([tree(add_totals, parts)])[0][0]])
        return totals

    @cached_property
    def reach(self) -> float:
        """The greatest divergence of a point from the mean of all."""
        from dask import delayed

        center = self.means(self.whole)
        parts = [delayed(asked, pure=False)(piece, "reach", center) for piece in self.pieces]
        return float(max([*compute(parts)[0], self.local.scores(center).max()]))

    def furthest_first(self, length: int, least: float) -> list[float]:
        """Take the furthest point round by round; each is a light pass over the data."""
        from dask import delayed

        nearest = np.full(self.linked.size, np.inf)
        centers = self.means(self.whole)
        divergences: list[float] = []
        for _ in range(min(length, self.n)):
            shared = delayed(centers, traverse=False)
            parts = [delayed(asked, pure=False)(piece, "furthest", shared) for piece in self.pieces]
            furthest = [part for part in compute(parts)[0] if part is not None]
            if nearest.size:
                scores = self.local.scores(centers[-1:])[self.room :, 0]
                nearest = np.minimum(nearest, scores)
                at = int(nearest.argmax())
                point = self.local.point(self.room + at)
                furthest.append((float(nearest[at]), int(self.linked[at]), point))
            value, _, point = max(furthest, key=lambda entry: (entry[0], -entry[1]))
            if value <= least:
                break
            divergences.append(value)
            centers = np.vstack([centers, point])
        return divergences

    # ------------------------------------------------------------------ sweeps

    def ranked(self, labels: Partition, order: Index) -> Partition:
        """Return a partition whose rule is about this order of visits."""
        return labels._replace(ranks=self.visits(order)[0])

    def weigh_sources(self, shares: Array | None) -> None:
        """Refuse weights by source: on Dask all sources weigh alike."""
        if shares is not None:
            raise TypeError("weigh_sources: data in chunks have one weight for all sources")

    def forget(self) -> None:
        """Give back the memory of what sweeps have learnt."""
        self.sweeper.forget()
        self._order = None

    def visits(self, order: Index) -> tuple[ChunkRanks, VisitOrder]:
        """Return an order of visits, cut up by chunk, and as the kernels here take it."""
        if self._order is None or self._order[0] is not order:
            rank = np.empty(self.n, np.int32)
            rank[order] = np.arange(self.n, dtype=np.int32)
            by_row = bool(np.array_equal(rank[:CHUNK], np.arange(min(self.n, CHUNK))))
            by_row = by_row and bool(np.all(np.diff(rank) == 1))
            ranks = self.by_row if by_row else ChunkRanks(new_token(), self._cut_up(rank))
            here = np.full(self.local.n_slots, self.n, np.int32)
            slots = self.local.layout.position[self.room :]
            here[slots] = rank[self.linked]
            linked = slots[np.argsort(rank[self.linked])]
            self._order = order, ranks, VisitOrder(order, NOBODY, here, linked)
        return self._order[1:]
