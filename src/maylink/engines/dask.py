"""The Dask engine: points stay in chunks on the workers, linked points come to the driver.

Points without links see centres only, so every chunk looks for itself
(:mod:`maylink.engines.piece`). Linked points see each other, so they are visited in turn, here, by
the kernels of the CPU engine; with them those points without links that want to open a cluster,
which are few and come as rows. Out go the centres, back come sums of size K × s, a count of changed
labels, and those few rows.

The steps of a sweep are those of :class:`maylink.engines.sweep.Round`, and so are its labels; the
proof stands in ``docs/scale.md``.
"""

from __future__ import annotations

import uuid
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index
from maylink.engines.cpu import HEAVIEST, CpuEngine, Stored, Swept, Totals
from maylink.engines.piece import Assignment, Found, Pass, Piece, Rule, merge
from maylink.engines.sweep import MANY, NOBODY, SPARE, Moves, Round, Turns, recall, remember
from maylink.errors import MaylinkError
from maylink.families.base import Family
from maylink.labels import CHUNK
from maylink.links import Links
from maylink.model.reliability import Votes
from maylink.runtime.dask import compute, persist, tree

ROOM = 16_384  # wishes to open a cluster that are dealt with at a time, at the most


class Ranks(NamedTuple):
    """An order of visits, cut like the data: a part for each chunk; none for that of the rows."""

    token: str
    parts: list[Any] | None

    def part(self, number: int) -> Any:
        """Return the ranks of a chunk."""
        return None if self.parts is None else self.parts[number]


class Partition(NamedTuple):
    """A partition: labels of the linked points, here, and a rule for all others."""

    linked: Stored
    others: Assignment
    ranks: Ranks  # the order of visits that the rule is about
    given: list[Any] | None = None  # labels by chunk where there is no rule

    def given_part(self, number: int) -> Any:
        """Return the given labels of a chunk."""
        return None if self.given is None else self.given[number]


class DaskEngine:
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
    """

    def __init__(
        self,
        chunks: list[Any],
        sizes: list[int],
        family: Family,
        links: Links,
        n_jobs: int | None = None,
    ) -> None:
        from dask import delayed

        from maylink.kernels.sums import cutters

        if family.root:
            raise MaylinkError(f"family: {family.name!r} compares √D, which Dask does not; use D")
        self.n = int(sum(sizes))
        self.family = family
        self.links = links
        self.sizes = sizes
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        self.linked: NDArray[np.int64] = np.flatnonzero(links.touches())
        cuts = np.searchsorted(self.linked, self.starts)
        cut_by_chunk = [
            self.linked[low:high] - start
            for low, high, start in zip(cuts[:-1], cuts[1:], self.starts[:-1], strict=True)
        ]
        shared = delayed(family, traverse=False)
        made = [
            delayed(Piece, pure=False)(chunk, int(start), shared, rows)
            for chunk, start, rows in zip(chunks, self.starts[:-1], cut_by_chunk, strict=True)
        ]
        rows = [
            delayed(_rows, pure=False)(chunk, own)
            for chunk, own in zip(chunks, cut_by_chunk, strict=True)
        ]
        made = persist(made + rows)  # together: a chunk is read once
        self.pieces, rows = made[: len(chunks)], made[len(chunks) :]
        largest = [delayed(Piece.largest, pure=False)(piece) for piece in self.pieces]
        linked_rows, found = compute(rows, largest)
        self.room = min(ROOM, self.n)
        filler = np.repeat(next(part for part in linked_rows if len(part))[:1], self.room, axis=0)
        own_rows = [part for part, own in zip(linked_rows, cut_by_chunk, strict=True) if own.size]
        local = np.concatenate([filler, *own_rows])
        among = links[self.linked].moved(self.room, self.room + self.linked.size)
        self.local = CpuEngine(local, family, n_jobs, among)
        known = [one for one in found if one is not None] + [self.local.layout.largest]
        self.largest: Array = np.max(known, axis=0)
        self.cut = self.local.cut = cutters(self.largest, self.n)
        self.n_columns = self.local.n_columns
        self.by_row = Ranks("rows", None)
        self._order: tuple[Any, Ranks, Turns] | None = None

    @property
    def scale(self) -> float:
        """The greatest |φ| of a point."""
        return float(self.largest[-1])

    # ------------------------------------------------------------------ partitions

    def together(self) -> Partition:
        """Return the partition into one cluster."""
        return self._uniform(0)

    def stored(self, labels: Any) -> Partition:
        """Return a partition from labels of shape (n,), −1 for none."""
        if labels[0] == labels[-1] and np.all(np.asarray(labels) == labels[0]):
            return self._uniform(int(labels[0]))
        labels = np.asarray(labels, np.int32)
        given = self._cut_up(labels)
        return Partition(
            self._placed(labels[self.linked]), Assignment(_token()), self.by_row, given
        )

    def _uniform(self, label: int) -> Partition:
        same = np.full(self.linked.size, label, np.int32)
        return Partition(self._placed(same), Assignment(_token(), uniform=label), self.by_row)

    def _placed(self, linked: NDArray[Any]) -> Stored:
        """Return labels of linked points in the slots of the engine here."""
        stored = self.local.stored(np.full(self.local.n, -1))
        stored[self.local.layout.position[self.room :]] = linked
        return stored

    def _cut_up(self, column: NDArray[Any]) -> list[Any]:
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
        wanted = delayed(labels.others, traverse=False)
        cut = delayed(self.cut, traverse=False)
        return [
            delayed(_chunk_labels, pure=False)(
                piece, wanted, labels.ranks.token, labels.ranks.part(at), labels.given_part(at),
                cut, linked[cuts[at] : cuts[at + 1]],
            )
            for at, piece in enumerate(self.pieces)
        ]  # fmt: skip

    def numbered(self, labels: Partition, root: Index | None = None) -> tuple[Any, Index]:
        """Return labels by first appearance as a dask array, and the old number of each cluster."""
        from dask import delayed

        given = self.given(labels)
        if root is not None:
            given = [delayed(np.take, pure=False)(root, part) for part in given]
        return by_first_appearance(given, self.sizes)

    # ------------------------------------------------------------------ scores and sums

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

    def totals(self, labels: Partition, n_clusters: int) -> Totals:
        """Return the sums of a partition."""
        from dask import delayed

        wanted, cut = delayed(labels.others, traverse=False), delayed(self.cut, traverse=False)
        parts = [
            delayed(_sums, pure=False)(
                piece, wanted, labels.ranks.token, labels.ranks.part(at), labels.given_part(at),
                n_clusters, cut,
            )
            for at, piece in enumerate(self.pieces)
        ]  # fmt: skip
        here = self.local.totals(labels.linked, n_clusters)
        totals: Totals = _add_totals([here, compute([tree(_add_totals, parts)])[0][0]])
        return totals

    def distortion(self, labels: Partition, totals: Totals, centers: Array) -> float:
        """Return Σ_i D(x_i, μ_k) of a partition from its sums."""
        return self.local.distortion(labels.linked, totals, centers)

    def votes(self, labels: Partition) -> Array:
        """Count links by class and by whether their points share a cluster."""
        return self.local.votes(labels.linked)

    def between(self, labels: Partition, n_clusters: int) -> Votes:
        """Return the votes for and against between clusters, by source, each (sources, K, K)."""
        return self.local.between(labels.linked, n_clusters)

    @cached_property
    def reach(self) -> float:
        """The greatest divergence of a point from the mean of all."""
        from dask import delayed

        center = self.means(self.whole)
        parts = [delayed(Piece.reach, pure=False)(piece, center) for piece in self.pieces]
        return float(max([*compute(parts)[0], self.local.scores(center).max()]))

    def heaviest(self, penalty: float) -> float:
        """Return the link weight at which growth ends."""
        return HEAVIEST * (self.reach + penalty)

    def furthest_first(self, length: int, least: float) -> list[float]:
        """Take the furthest point round by round; each is a light pass over the data."""
        from dask import delayed

        nearest = np.full(self.linked.size, np.inf)
        centers = self.means(self.whole)
        found: list[float] = []
        for _ in range(min(length, self.n)):
            shared = delayed(centers, traverse=False)
            parts = [delayed(Piece.furthest, pure=False)(piece, shared) for piece in self.pieces]
            best = [one for one in compute(parts)[0] if one is not None]
            if nearest.size:
                scores = self.local.scores(centers[-1:])[self.room :, 0]
                nearest = np.minimum(nearest, scores)
                at = int(nearest.argmax())
                point = self.local.point(self.room + at)
                best.append((float(nearest[at]), int(self.linked[at]), point))
            value, _, point = max(best, key=lambda one: (one[0], -one[1]))
            if value <= least:
                break
            found.append(value)
            centers = np.vstack([centers, point])
        return found

    # ------------------------------------------------------------------ sweeps

    def sweep(
        self,
        labels: Partition,
        totals: Totals,
        centers: Array,
        order: Index,
        weights: tuple[float, float],
        penalty: float,
    ) -> Swept:
        """Let every point choose its cluster, once; see :meth:`CpuEngine.sweep`."""
        local = self.local
        local.reach = self.reach
        theta, c = self.tangent(centers)
        ranks, turns = self._turns(order)
        memory, moves = recall(local, labels.linked, theta, c, penalty)
        going: Any = memory.last
        n_wishes = 0
        grown = going is not None and going.turns is turns and going.outweighed_by(weights)
        if going is None or not grown or moves.any():
            if not moves.any():
                moves = Moves.unknown(len(c))
            local.memory = None  # a sweep that is broken off leaves none
            going = DaskRound(self, labels, ranks, memory, turns, theta, c, weights, penalty)
            n_wishes = going.look(moves)
            going.memory = memory._replace(last=None)
        elif going.n_unsettled:
            local.memory = None
            many = going.n_unsettled > MANY
            going = going.begin(weights)
            if many:
                going.look(moves, linked_only=True)
        else:  # nothing has moved, and heavier links only bind the linked points more
            return Swept(labels, totals, 0)
        going.visit(n_wishes)
        n_changed = going.n_changed + (going.found.n_changed if going.found is not None else 0)
        if n_changed == 0:
            local.memory = going.memory._replace(
                work=going.work, theta=theta, c=c, n_changed=0, last=going
            )
            return Swept(labels, totals, 0)
        going.n_changed = n_changed
        swept: Swept = going.finish(totals)
        return swept

    def ranked(self, labels: Partition, order: Index) -> Partition:
        """Return a partition whose rule is about this order of visits."""
        return labels._replace(ranks=self._turns(order)[0])

    def forget(self) -> None:
        """Give back the memory of what sweeps have learnt."""
        self.local.forget()
        self._order = None

    def _turns(self, order: Index) -> tuple[Ranks, Turns]:
        """Return an order of visits, cut up by chunk, and as the kernels here take it."""
        if self._order is None or self._order[0] is not order:
            rank = np.empty(self.n, np.int32)
            rank[order] = np.arange(self.n, dtype=np.int32)
            by_row = bool(np.array_equal(rank[:CHUNK], np.arange(min(self.n, CHUNK))))
            by_row = by_row and bool(np.all(np.diff(rank) == 1))
            ranks = self.by_row if by_row else Ranks(_token(), self._cut_up(rank))
            here = np.full(self.local.n_slots, self.n, np.int32)
            slots = self.local.layout.position[self.room :]
            here[slots] = rank[self.linked]
            in_turn = slots[np.argsort(rank[self.linked])]
            self._order = order, ranks, Turns(order, NOBODY, here, in_turn)
        return self._order[1:]


class DaskRound(Round):
    """The state of a sweep under way: linked points here, all others on the workers.

    Parameters
    ----------
    whole : DaskEngine
        Holds the points.
    before : Partition
        The labels of before the sweep.
    ranks : Ranks
        The order of visits by chunk.
    others
        As for :class:`maylink.engines.sweep.Round`, for the linked points.
    """

    def __init__(self, whole: DaskEngine, before: Partition, ranks: Ranks, *others: Any) -> None:
        self.whole = whole
        self.before = before
        self.ranks = ranks
        super().__init__(whole.local, *others)

    def begin(self, weights: tuple[float, float]) -> DaskRound:
        """Start, or start again: centres stand, link weights have changed."""
        super().begin(weights)
        self.sweep = _token()
        self.found: Found | None = None
        return self

    def look(
        self, moves: Moves, restless: NDArray[np.int32] = NOBODY, *, linked_only: bool = False
    ) -> int:
        """Let the workers' points choose and the linked points lean; return the wishes."""
        if not linked_only:
            self.found = self._pass()
        super().look(moves, linked_only=True)
        return 0 if linked_only or self.found is None else self.found.n_wishes

    def rule(self) -> Rule:
        """Return the centres that there are now."""
        size = self.n_clusters
        return Rule(
            self.centers.theta[:, :size].T.copy(), self.centers.c[:size].copy(),
            self.opened[:size].copy(), self.n_old, self.penalty,
        )  # fmt: skip

    def _pass(self) -> Found:
        from dask import delayed

        whole, before = self.whole, self.before
        most = min(whole.room, 16 * max(SPARE, self.n_clusters))
        task = delayed(
            Pass(
                self.sweep, before.others, self.rule(), self.decided, self.ranks.token, whole.cut,
                most,
            ),
            traverse=False,
        )  # fmt: skip
        parts = [
            delayed(Piece.look, pure=False)(
                piece, task, self.ranks.part(at), before.given_part(at), before.ranks.token,
                before.ranks.part(at),
            )
            for at, piece in enumerate(whole.pieces)
        ]  # fmt: skip
        found: Found = compute([tree(partial(merge, most=most), parts)])[0][0]
        return found

    def _wishes(self, n_wishes: int) -> Stored:
        """Take the first points that want to open a cluster into the room left for them."""
        if n_wishes == 0 or self.found is None:
            return NOBODY
        found, local = self.found, self.engine
        slots = np.arange(found.rank.size, dtype=np.int32)
        local.points.blocks[slots // local.lanes, :, slots % local.lanes] = found.points
        local.potential[slots] = found.phi
        self.turns.rank[slots] = found.rank
        self.work[slots] = -1
        return slots

    def _transfer(self, moved: NDArray[np.int32], n_moved: int) -> None:
        """Count what linked points have changed; the workers count for all others."""
        here = moved[:, :n_moved]
        here = np.ascontiguousarray(here[:, here[0] >= self.engine.layout.first_linked])
        super()._transfer(here, here.shape[1])

    def finish(self, totals: Totals) -> Swept:
        """Add up the sums, leave out empty clusters and remember what the sweep has learnt."""
        new = self.engine.trimmed(self.sums).only(slice(self.n_clusters))
        for part in (totals, self.found):
            if part is not None:
                size = len(part.size)
                new.high[:size] += part.high
                new.low[:size] += part.low
                new.size[:size] += part.size
        used = new.size > 0
        before = self.before
        others, ranks, given = before.others, before.ranks, before.given
        if self.found is not None:
            others = Assignment(self.sweep, rule=self.rule(), used=used)
            ranks, given = self.ranks, None
        elif not used.all():
            others = others.without(used)
        self.work[: self.engine.layout.first_linked] = -1  # wishes of the workers' points
        labels = remember(self, used)
        partition = Partition(labels, others, ranks, given)
        return Swept(partition, new if used.all() else new.only(used), self.n_changed)


def by_first_appearance(labels: list[Any], sizes: list[int]) -> tuple[Any, Index]:
    """Number labels by first appearance, as a dask array; also return the old number of each.

    Parameters
    ----------
    labels : list of Delayed
        By chunk, each of 0 or more.
    sizes : list of int
        How many rows each chunk has.
    """
    import dask.array
    from dask import delayed

    parts = persist(labels)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    seen = [
        delayed(_first_seen, pure=False)(part, int(start))
        for part, start in zip(parts, starts[:-1], strict=True)
    ]
    first: dict[int, int] = {}
    for one in compute(seen)[0]:
        for label, row in one.items():
            first[label] = min(row, first.get(label, row))
    old = np.array(sorted(first, key=lambda label: first[label]), np.int64)
    number = np.full(int(old.max()) + 1, -1, np.int64)
    number[old] = np.arange(old.size)
    final = persist([delayed(np.take, pure=False)(number, part) for part in parts])
    columns = [
        dask.array.from_delayed(part, (size,), np.int64)
        for part, size in zip(final, sizes, strict=True)
    ]
    return dask.array.concatenate(columns), old


# ---------------------------------------------------------------------- what runs on the workers


def _rows(chunk: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    """Return the linked rows of a chunk; the first row of one that has none, to know the kind."""
    return chunk[rows] if rows.size else chunk[:1].copy()


def _chunk_labels(
    piece: Piece, wanted: Assignment, order: str, rank: Any, given: Any, cut: Array, linked: Index
) -> Index:
    """Return the labels of a chunk, those of its linked points included."""
    labels = np.empty(piece.size, np.int64)
    labels[piece.linked] = linked
    others = piece.labels(wanted, order, rank, given, cut)
    if others is not None:
        labels[piece.rows] = others[: piece.rows.size]
    return labels


def _sums(
    piece: Piece, wanted: Assignment, order: str, rank: Any, given: Any, n_clusters: int, cut: Array
) -> Totals | None:
    labels = piece.labels(wanted, order, rank, given, cut)
    return piece.sums(labels, n_clusters, cut)


def _first_seen(labels: Index, start: int) -> dict[int, int]:
    """Return the first row of each label."""
    found, first = np.unique(labels, return_index=True)
    return dict(zip(found.tolist(), (first + start).tolist(), strict=True))


def _add_totals(parts: list[Totals | None]) -> Any:
    """Add up sums; those of cut points are exact in any order."""
    known = [part for part in parts if part is not None]
    if not known:  # all points are linked
        return None
    return Totals(*(np.sum(column, axis=0) for column in zip(*known, strict=True)))


def _token() -> str:
    return uuid.uuid4().hex
