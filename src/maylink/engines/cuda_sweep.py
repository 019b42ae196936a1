"""Sweeps of the GPU engine, one after the other.

A sweep in which no cluster opens never leaves the GPU: one look at the points without links, rounds
of the linked points, sums of those that moved. Where a cluster opens, the sweep is made again by
:class:`maylink.engines.cuda_round.CudaRound`. A sweep that starts from the labels that the last one
left, with its penalty, looks only at points that bounds do not settle; where the centres, too, are
those of a sweep that changed nothing, at the linked points alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maylink.arrays import Array, Index
from maylink.engines.cuda_centers import DeviceCenters
from maylink.engines.cuda_links import LinkScores
from maylink.engines.cuda_round import CudaRound, DeviceLabels, swept_of
from maylink.engines.memory import Memory, Moves
from maylink.engines.points import PointStore
from maylink.engines.round import Round
from maylink.engines.rules import Rule
from maylink.engines.sweep import Sweeper
from maylink.engines.totals import Stored, Swept, Totals
from maylink.engines.visits import VisitOrder

if TYPE_CHECKING:
    from maylink.engines.cuda import CudaEngine


class KnownSweep(NamedTuple):
    """What is known from the sweep that left these labels."""

    labels: DeviceLabels
    centers: DeviceCenters  # those that the labels were chosen by
    means: Any  # the centres of this sweep as the caller had them, where nothing changed
    scores: LinkScores | None  # of the linked points, where nothing changed

    def is_about(self, labels: DeviceLabels, penalty: float) -> bool:
        """Whether bounds hold for these labels and this λ."""
        return self.labels is labels and self.centers.rule.penalty == penalty


class CudaSweeper(Sweeper):
    """Makes sweeps over the points of a GPU engine and remembers what the last one learnt."""

    def __init__(self) -> None:
        super().__init__()
        self.known: KnownSweep | None = None

    def sweep(
        self,
        engine: CudaEngine,
        labels: DeviceLabels,
        totals: Totals,
        centers: Array,
        order: Index,
        weights: tuple[float, float],
        penalty: float,
    ) -> Swept:
        """Let every point choose its cluster, once; see :meth:`CpuEngine.sweep`."""
        swept = self._on_device(engine, labels, totals, centers, order, weights, penalty)
        if swept is not None:
            return swept
        self.forget()
        swept = super().sweep(engine, labels, totals, centers, order, weights, penalty)
        self.forget()
        return swept

    def forget(self) -> None:
        """Give back the memory of what sweeps have learnt."""
        super().forget()
        self.known = None

    def _on_device(
        self,
        engine: CudaEngine,
        labels: DeviceLabels,
        totals: Totals,
        means: Array,
        order: Index,
        weights: tuple[float, float],
        penalty: float,
    ) -> Swept | None:
        """Make a sweep on the GPU; None where a cluster wants to open."""
        known, self.known = self.known, None
        if known is not None and not known.is_about(labels, penalty):
            known = None
        points, links = engine.points, engine.device_links
        stands = known is not None and known.means is means
        if known is not None and stands:
            centers, scores = known.centers, known.scores
            after, rows = labels.all, links.rows[:0]
        else:
            theta, c = engine.tangent(means)
            none = np.full(len(c), -1, np.int32)
            centers, scores = points.centers(Rule(theta, c, none, len(c), float(penalty))), None
            last = None if known is None else known.centers
            glance = points.look(centers, labels.all, known=last)
            if len(glance.openers):
                return None
            after, rows = glance.after, glance.movers
        if links.size:
            if not links.has_room(centers.size):
                return None
            scores = links.scores(centers) if scores is None else scores
            found = links.visit(scores, labels.all, engine.visits(order).rank, weights)
            if found is None:
                return None
            after, rows = _with_linked(links, labels.all, after, rows, found)
        if not len(rows):
            self.known = KnownSweep(labels, centers, means, scores)
            return Swept(labels, totals, 0)
        swept = swept_of(points, links, rows, labels, after, len(means), totals, engine.local.cut)
        if len(swept.totals.size) == centers.size:  # bounds are about all of these centres
            self.known = KnownSweep(swept.labels, centers, None, None)
        return swept

    # ------------------------------------------------------------------ where a cluster opens

    def _store(self, engine: CudaEngine) -> PointStore:
        return engine.local

    def _stored(self, labels: DeviceLabels) -> Stored:
        return labels.linked

    def _visit_order(self, engine: CudaEngine, order: Index) -> VisitOrder:
        return engine.visits(order).here

    def _round(
        self,
        engine: CudaEngine,
        labels: DeviceLabels,
        memory: Memory,
        visits: VisitOrder,
        *centers_and_costs: Any,
    ) -> Round:
        return CudaRound(engine, labels, memory, visits, *centers_and_costs)

    def _first_look(self, current: Round, moves: Moves) -> int:
        return current.look(moves)


def _with_linked(links: Any, before: Any, after: Any, rows: Any, found: Any) -> tuple[Any, Any]:
    """Return labels and movers with the new labels of the linked points taken in."""
    import torch

    changed = links.rows[found != before[links.rows]]
    if len(changed):
        after = after.clone() if after is before else after
        after[links.rows] = found
        rows = torch.cat([rows.to(torch.int64), changed])
    return after, rows
