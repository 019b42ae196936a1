"""Sweeps of the GPU engine, one after the other.

A sweep in which no cluster opens never leaves the GPU (:mod:`maylink.engines.cuda_program`), or is
one pass over data that are streamed (:mod:`maylink.engines.cuda_streamed_program`). Where a cluster
opens, the sweep is made again by :class:`maylink.engines.cuda_round.CudaRound`. A sweep
that starts from the labels that the last one left, with its penalty, looks only at points that
bounds do not settle; where the centres, too, are those of a sweep that changed nothing, at the
linked points alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from maylink.arrays import Array, Index
from maylink.engines.cuda_program import SweepProgram
from maylink.engines.cuda_round import CudaRound, DeviceLabels, without_empty
from maylink.engines.cuda_streamed import StreamedPoints
from maylink.engines.cuda_streamed_program import StreamedProgram
from maylink.engines.memory import Memory, Moves
from maylink.engines.points import PointStore
from maylink.engines.round import Round
from maylink.engines.sweep import Sweeper
from maylink.engines.totals import Stored, Swept, Totals
from maylink.engines.visits import VisitOrder

if TYPE_CHECKING:
    from maylink.engines.cuda import CudaEngine


class KnownSweep(NamedTuple):
    """What the program of sweeps holds: what the last sweep left."""

    labels: DeviceLabels
    totals: Totals
    penalty: float  # bounds hold for this λ only
    means: Array | None  # the centres of the sums, where they lie on the GPU
    still: Array | None  # the centres that the labels were chosen by, where nothing changed


class CudaSweeper(Sweeper):
    """Makes sweeps over the points of a GPU engine and remembers what the last one learnt."""

    def __init__(self) -> None:
        super().__init__()
        self.known: KnownSweep | None = None
        self.program: SweepProgram | None = None

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

    def means(self, totals: Totals) -> Array | None:
        """Return the centres of sums that the last sweep left, where the GPU has made them."""
        return None if self.known is None or self.known.totals is not totals else self.known.means

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
        if not engine.device_links.has_room(len(means)):
            return None
        program = self._program(engine, len(means))
        known, self.known = self.known, None
        if known is None or known.totals is not totals:
            known = None
            program.sums.load(totals)
        follows = known is not None and known.labels is labels and known.penalty == penalty
        still = follows and known is not None and known.still is means
        sent = not still and (known is None or known.means is not means)
        if not follows:
            program.task.before.copy_(labels.all)
        program.centers.send((*weights, float(penalty)), *(engine.tangent(means) if sent else ()))
        if program.visit is not None:
            program.visit.prepare(engine.visits(order).linked)
        end = program.run(program.form(sent=sent, follows=follows, linked_only=still), totals)
        if end is None:
            return None
        if not end.n_changed:
            if not still:
                on_device = end.means if sent or end.means is None else means
                known = KnownSweep(labels, totals, penalty, on_device, means)
            self.known = known
            return Swept(labels, totals, 0)
        new = DeviceLabels(end.labels, engine.device_links)
        if not (end.totals.size > 0).all():
            return Swept(*without_empty(new, end.totals), end.n_changed)
        self.known = KnownSweep(new, end.totals, penalty, end.means, None)
        return Swept(new, end.totals, end.n_changed)

    def _program(self, engine: CudaEngine, n_clusters: int) -> SweepProgram:
        """Return room for sweeps with so many clusters; the last is kept."""
        if self.program is None or self.program.centers.size != n_clusters:
            self.known = self.program = None  # two at a time may be too many
            streams = isinstance(engine.points, StreamedPoints)
            self.program = (StreamedProgram if streams else SweepProgram)(engine, n_clusters)
        return self.program

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
