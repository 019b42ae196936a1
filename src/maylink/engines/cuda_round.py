"""A sweep of the GPU engine in which clusters open: linked points and openers in turn, here.

The steps are those of :class:`maylink.engines.round.Round`. Where it would look at the points
without links, the GPU does (:mod:`maylink.engines.cuda_block`). The first openers come here as
rows: there is room for them among the slots on this machine, so that they are visited in turn with
the linked points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.engines.cuda_block import Glance, PointBlock
from maylink.engines.cuda_links import DeviceLinks
from maylink.engines.cuda_sums import moved
from maylink.engines.memory import Memory, Moves
from maylink.engines.round import Round
from maylink.engines.rules import Rule
from maylink.engines.totals import Stored, Swept, Totals
from maylink.engines.visits import NOBODY, VisitOrder

if TYPE_CHECKING:
    from maylink.engines.cuda import CudaEngine


@dataclass(frozen=True)
class DeviceLabels:
    """A partition: labels of all points on the GPU."""

    all: Any  # tensor of shape (n,)
    links: DeviceLinks

    @cached_property
    def linked(self) -> Stored:
        """The labels of the linked points, in the slots of the engine here."""
        return self.links.here(self.all)


class DeviceOrder(NamedTuple):
    """An order of visits."""

    rank: Any  # tensor of shape (n,)
    linked: Any  # tensor of shape (m,), of the linked points
    here: VisitOrder  # of the linked points


class CudaRound(Round):
    """The state of a sweep under way.

    Parameters
    ----------
    engine : CudaEngine
        Holds the points.
    before : DeviceLabels
        The labels of before the sweep.
    others
        As for :class:`maylink.engines.round.Round`, for the linked points.
    """

    def __init__(self, engine: CudaEngine, before: DeviceLabels, *others: Any) -> None:
        self.device_points = engine.points
        self.device_links, self.before = engine.device_links, before
        super().__init__(engine.local, *others)
        self.device_rank = engine.visits(self.visits.order).rank
        self.glance: Glance | None = None  # of the last look at the points on the GPU
        self.rows_in_room: Any = None  # of the openers that are visited here
        self.founders: list[tuple[int, int]] = []

    def look(
        self, moves: Moves, fast: NDArray[np.int32] = NOBODY, *, linked_only: bool = False
    ) -> int:
        """Let the points on the GPU and the linked points choose; return how many openers."""
        self.glance = self._look_on_device()
        super().look(moves, linked_only=True)
        return len(self.glance.openers)

    def rule(self) -> Rule:
        """Return the centres that there are now."""
        size = self.n_clusters
        return Rule(
            self.centers.theta[:, :size].T, self.centers.c[:size], self.opened[:size], self.n_old,
            self.penalty,
        )  # fmt: skip

    def _look_on_device(self) -> Glance:
        import torch

        points = self.device_points
        task = points.look(points.centers(self.rule()), self.before.all, self.device_rank)
        if self.founders:  # no centre says their labels
            rows, labels = torch.tensor(self.founders, device=points.place).T
            task.after[rows] = labels.to(torch.int32)
        return points.glance(task)

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
        """Leave the sums alone: the GPU has all points."""

    def count_changes(self, labels: Stored) -> int:
        """Return how many labels differ from those of before the sweep, here and on the GPU."""
        assert self.glance is not None
        first = self.store.layout.first_linked
        here = int(np.count_nonzero(self.work[first:] != labels[first:]))
        self.n_changed = here + len(self.glance.movers)
        return self.n_changed

    def finish(self, totals: Totals) -> tuple[Swept, Memory]:
        """Add up the sums, leave out empty clusters; return that and what the sweep has learnt."""
        import torch

        assert self.glance is not None
        links, after, rows = self.device_links, self.glance.after, self.glance.movers
        if links.size:
            found = torch.as_tensor(self.work[links.slots], device=after.device)
            changed = links.rows[found != self.before.all[links.rows]]
            after[links.rows] = found
            rows = torch.cat([rows.to(torch.int64), changed])
        self.work[: self.store.layout.first_linked] = -1  # openers, which are points of the GPU
        swept = swept_of(
            self.device_points, links, rows, self.before, after, self.n_clusters, totals,
            self.store.cut,
        )  # fmt: skip
        return swept._replace(n_changed=self.n_changed), self.memory


def swept_of(
    points: PointBlock,
    links: DeviceLinks,
    rows: Any,
    before: DeviceLabels,
    after: Any,
    n_clusters: int,
    totals: Totals,
    cut: Any,
) -> Swept:
    """Return what a sweep leaves: labels and sums without empty clusters.

    Parameters
    ----------
    points, links : PointBlock and DeviceLinks
        All points, and those with links.
    rows : tensor
        The points that have changed their labels.
    before, after : DeviceLabels and tensor
        All labels.
    n_clusters : int
        How many clusters there are now.
    totals : Totals
        The sums of before.
    cut : array
        What cuts points for exact sums.
    """
    missing = n_clusters - len(totals.size)
    if missing:
        totals = Totals(
            *(np.concatenate([part, np.zeros((missing, *part.shape[1:]), part.dtype)])
              for part in totals)
        )  # fmt: skip
    new = moved(points, rows, before.all, after, totals, cut)
    return Swept(*without_empty(DeviceLabels(after, links), new), len(rows))


def without_empty(labels: DeviceLabels, totals: Totals) -> tuple[DeviceLabels, Totals]:
    """Return labels and sums without empty clusters."""
    import torch

    used = totals.size > 0
    if used.all():
        return labels, totals
    number = torch.as_tensor(np.cumsum(used) - 1, device=labels.all.device).to(torch.int32)
    return DeviceLabels(number[labels.all], labels.links), totals.only(used)
