"""A sweep of the GPU engine under way: linked points in turn, all others at once on the GPU.

The steps are those of :class:`maylink.engines.round.Round`. Where it would look at the points
without links, the GPU does (:mod:`maylink.engines.cuda_points`). While no cluster opens, the GPU
finds the labels of the linked points, too (:mod:`maylink.engines.cuda_links`). Otherwise the first
openers come here as rows: there is room for them among the slots on this machine, so that they are
visited in turn with the linked points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Index
from maylink.engines.cuda_links import DeviceLinks
from maylink.engines.cuda_points import DevicePoints, Glance
from maylink.engines.cuda_sums import moved
from maylink.engines.memory import Memory, Moves
from maylink.engines.points import PointStore
from maylink.engines.round import Round
from maylink.engines.rules import Rule
from maylink.engines.sweep import Sweeper
from maylink.engines.totals import Stored, Swept, Totals
from maylink.engines.visits import NOBODY, VisitOrder

if TYPE_CHECKING:
    from maylink.engines.cuda import CudaEngine


class DeviceLabels(NamedTuple):
    """A partition: labels of all points on the GPU, and those of the linked points here."""

    all: Any  # tensor of shape (n,)
    linked: Stored  # in the slots of the engine here


class DeviceOrder(NamedTuple):
    """An order of visits."""

    rank: Any  # tensor of shape (n,)
    here: VisitOrder  # of the linked points


class CudaRound(Round):
    """The state of a sweep under way.

    Parameters
    ----------
    store : PointStore
        Holds the linked points, and room for openers before them.
    points : DevicePoints
        All points.
    links : DeviceLinks
        The linked points among them.
    before : DeviceLabels
        The labels of before the sweep.
    rank : tensor of shape (n,)
        The turns of the points.
    others
        As for :class:`maylink.engines.round.Round`, for the linked points.
    """

    def __init__(
        self,
        store: PointStore,
        points: DevicePoints,
        links: DeviceLinks,
        before: DeviceLabels,
        rank: Any,
        *others: Any,
    ) -> None:
        self.device_points, self.device_links = points, links
        self.before, self.device_rank = before, rank
        self.link_scores: Any = None  # of the linked points, by the centres of before the sweep
        super().__init__(store, *others)

    def begin(self, weights: tuple[float, float]) -> CudaRound:
        """Start, or start again: centres stand, link weights have changed."""
        super().begin(weights)
        self.glance: Glance | None = None
        self.rows_in_room: Any = None  # of the openers that are visited here
        self.founders: list[tuple[int, int]] = []
        self.linked_after: Any = None  # labels, where the GPU has found them
        return self

    def look(
        self, moves: Moves, fast: NDArray[np.int32] = NOBODY, *, linked_only: bool = False
    ) -> int:
        """Let the points on the GPU and the linked points choose; return how many openers."""
        if not linked_only:
            self.glance = self._look_on_device(moves)
        if self.n_clusters > self.n_old:
            super().look(moves, linked_only=True)
        return 0 if linked_only or self.glance is None else len(self.glance.openers)

    def rule(self) -> Rule:
        """Return the centres that there are now."""
        size = self.n_clusters
        return Rule(
            self.centers.theta[:, :size].T, self.centers.c[:size], self.opened[:size], self.n_old,
            self.penalty,
        )  # fmt: skip

    def _look_on_device(self, moves: Moves) -> Glance:
        import torch

        points = self.device_points
        rows, labels = (
            torch.tensor(column, dtype=kind, device=points.place)
            for column, kind in zip(
                zip(*self.founders, strict=True) if self.founders else ((), ()),
                (torch.int64, torch.int32),
                strict=True,
            )
        )
        known = moves if np.isfinite(moves.drift).all() else None
        return points.look(self.rule(), self.before.all, self.device_rank, (rows, labels), known)

    def visit(self, n_openers: int) -> None:
        """Visit linked points on the GPU where no cluster opens; else with the openers, in turn."""
        if n_openers == 0 and self._visit_on_device():
            return
        super().look(Moves.unknown(self.n_clusters), linked_only=True)
        super().visit(n_openers)

    def _visit_on_device(self) -> bool:
        """Let the GPU find the labels of the linked points; say whether it has."""
        links = self.device_links
        if links.size == 0:
            return True
        if not links.has_room(self.n_clusters):
            return False
        if self.link_scores is None:
            self.link_scores = links.scores(self.device_points.centers(self.rule()))
        found = links.visit(
            self.link_scores, self.before.all, self.device_rank, self.weights, self.penalty
        )
        if found is None:
            return False
        self.linked_after = found
        self.work[self.store.layout.first_linked :][: links.size] = found.cpu().numpy()
        self.n_unsettled = links.size
        return True

    def _openers(self, n_openers: int) -> Stored:
        """Put the first openers into the room for them; return their slots."""
        import torch

        if n_openers == 0 or self.glance is None:
            return NOBODY
        store, points = self.store, self.device_points
        most = min(store.layout.n_unlinked, 16 * max(self.spare, self.n_clusters))
        openers = self.glance.openers.to(torch.int64)
        ranks, order = torch.sort(self.device_rank[openers])
        rows = openers[order[:most]]
        values, phi = points.rows(rows)
        slots = np.arange(len(rows), dtype=np.int32)
        store.points.blocks[slots // store.lanes, :, slots % store.lanes] = values
        store.potential[slots] = phi
        self.visits.rank[slots] = ranks[:most].cpu().numpy()
        self.work[slots] = -1
        self.rows_in_room = rows.cpu().numpy()
        return slots

    def _open(self, slot: int) -> None:
        """Open a cluster at a point, and remember it where the point is one of the GPU's."""
        if slot < self.store.layout.first_linked:
            self.founders.append((int(self.rows_in_room[slot]), self.n_clusters))
        super()._open(slot)

    def _transfer(self, moved: NDArray[np.int32], n_moved: int) -> None:
        """Count what linked points have changed; the GPU counts for all others."""
        here = moved[:, :n_moved]
        here = np.ascontiguousarray(here[:, here[0] >= self.store.layout.first_linked])
        super()._transfer(here, here.shape[1])

    def count_changes(self, labels: Stored) -> int:
        """Return how many labels differ from those of before the sweep, here and on the GPU."""
        first = self.store.layout.first_linked
        self.n_changed = int(np.count_nonzero(self.work[first:] != labels[first:]))
        if self.glance is not None:
            self.n_changed += len(self.glance.movers)
        return self.n_changed

    def finish(self, totals: Totals) -> tuple[Swept, Memory]:
        """Add up the sums, leave out empty clusters; return that and what the sweep has learnt."""
        size = self.n_clusters
        new = self.store.trimmed(self.sums).only(slice(size))
        after, rows = self._after()
        there = moved(self.device_points, rows, self.before.all, after, size, self.store.cut)
        for part in (totals, there):
            count = len(part.size)
            new.high[:count] += part.high
            new.low[:count] += part.low
            new.size[:count] += part.size
        used = new.size > 0
        self.work[: self.store.layout.first_linked] = -1  # openers, which are points of the GPU
        memory = self.learnt(used)
        new = new if used.all() else new.only(used)
        return Swept(self._labels(after, used, memory.labels), new, self.n_changed), memory

    def _after(self) -> tuple[Any, Any]:
        """Return the labels on the GPU, and the rows that it has changed."""
        import torch

        if self.glance is None:
            after, rows = self.before.all.clone(), self.before.all[:0]
        else:
            after, rows = self.glance.after, self.glance.movers
        if self.linked_after is not None:
            linked = self.device_links.rows
            changed = linked[self.linked_after != self.before.all[linked]]
            after[linked] = self.linked_after
            rows = torch.cat([rows.to(torch.int64), changed])
        return after, rows

    def _labels(self, after: Any, used: NDArray[np.bool_], linked: Stored) -> DeviceLabels:
        """Number the labels on the GPU without unused clusters, and take in the linked points'."""
        import torch

        place = self.device_points.place
        if not used.all():
            number = torch.as_tensor(np.cumsum(used) - 1, device=place).to(torch.int32)
            after = number[after]
        rows, slots = self.visits.points, self.visits.linked
        if slots.size and self.linked_after is None:
            labels = torch.as_tensor(linked[slots], device=place)
            after[torch.as_tensor(rows, device=place)] = labels
        return DeviceLabels(after, linked)


class CudaSweeper(Sweeper):
    """Makes sweeps over the points of a GPU engine and remembers what the last one learnt."""

    def _store(self, engine: CudaEngine) -> PointStore:
        store: PointStore = engine.local
        return store

    def _stored(self, labels: Any) -> Stored:
        stored: Stored = labels.linked
        return stored

    def _visit_order(self, engine: CudaEngine, order: Index) -> VisitOrder:
        return engine.visits(order).here

    def _round(
        self,
        engine: CudaEngine,
        labels: Any,
        memory: Memory,
        visits: VisitOrder,
        *centers_and_costs: Any,
    ) -> Round:
        rank = engine.visits(visits.order).rank
        return CudaRound(
            engine.local, engine.points, engine.device_links, labels, rank, memory, visits,
            *centers_and_costs,
        )  # fmt: skip

    def _first_look(self, current: Round, moves: Moves) -> int:
        return current.look(moves)
