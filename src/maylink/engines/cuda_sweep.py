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
        if known is not None and known.means is means:
            return self._linked_alone(engine, known, totals, order, weights)
        points, theta_c = engine.points, engine.tangent(means)
        none = np.full(len(means), -1, np.int32)
        rule = Rule(*theta_c, none, len(none), float(penalty))
        centers = points.centers(rule, None if known is None else known.centers)
        task = points.look(centers, labels.all, bounded=known is not None)
        links, scores, glance = engine.device_links, None, None
        if links.size:
            if not links.has_room(centers.size):
                return None
            scores = links.scores(centers)
            visit = links.begin(scores, labels.all, engine.visits(order).linked, weights)
            task.after[links.rows] = visit.now
            glance = points.glance(task, visit.counts)
            found = links.finish(visit, np.reshape(glance.rest, (-1, 3)).tolist())
            if found is None:
                return None
            if found is not visit.now:
                task.after[links.rows] = found
                glance = None
        glance = glance or points.glance(task)
        if len(glance.openers):
            return None
        if not len(glance.movers):
            self.known = KnownSweep(labels, centers, means, scores)
            return Swept(labels, totals, 0)
        return self._swept(engine, labels, centers, glance.movers, glance.after, totals)

    def _linked_alone(
        self,
        engine: CudaEngine,
        known: KnownSweep,
        totals: Totals,
        order: Index,
        weights: tuple[float, float],
    ) -> Swept | None:
        """Make a sweep in which only link weights have changed; None where a cluster opens."""
        labels, links, centers = known.labels, engine.device_links, known.centers
        if links.size:
            if not links.has_room(centers.size):
                return None
            scores = known.scores or links.scores(centers)
            visit = links.begin(scores, labels.all, engine.visits(order).linked, weights)
            found = links.finish(visit, visit.counts.tolist())
            if found is None:
                return None
            rows = links.rows[found != labels.all[links.rows]]
            if len(rows):
                after = labels.all.clone()
                after[links.rows] = found
                return self._swept(engine, labels, known.centers, rows, after, totals)
            known = known._replace(scores=scores)
        self.known = known
        return Swept(labels, totals, 0)

    def _swept(
        self,
        engine: CudaEngine,
        labels: DeviceLabels,
        centers: DeviceCenters,
        rows: Any,
        after: Any,
        totals: Totals,
    ) -> Swept:
        """Return what a sweep leaves in which these rows have changed their labels."""
        links, cut = engine.device_links, engine.local.cut
        swept = swept_of(engine.points, links, rows, labels, after, centers.size, totals, cut)
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
