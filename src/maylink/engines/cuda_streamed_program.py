"""A sweep over points that pass through the GPU, in which no cluster opens: one pass over the data.

Sums follow the points of a window while it is on the GPU, so nothing is read twice. Where bounds
leave few points, these alone are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maylink.engines.cuda_program import LISTED, SweepEnd, SweepForm, SweepProgram
from maylink.engines.cuda_streamed import StreamedPoints
from maylink.engines.totals import Totals

if TYPE_CHECKING:
    from maylink.engines.cuda import CudaEngine


class StreamedProgram(SweepProgram):
    """Sweeps over points that are on this machine, with so many clusters.

    Parameters
    ----------
    engine : CudaEngine
        Has the points.
    n_clusters : int
        How many clusters there are.
    """

    def __init__(self, engine: CudaEngine, n_clusters: int) -> None:
        super().__init__(engine, n_clusters)
        assert isinstance(engine.points, StreamedPoints)
        self.windows = engine.points
        self.links = engine.device_links

    def run(self, form: SweepForm, before: Totals) -> SweepEnd | None:
        """Make a sweep; None where a cluster wants to open; see :meth:`SweepProgram.run`."""
        task, centers, visit = self.task, self.centers, self.visit
        if form.sent:
            centers.locate(known=form.bounded)
        centers.judge(again=form.linked_only)
        if not form.linked_only and not self._look(form):
            return None
        if visit is not None:
            if not form.linked_only:
                visit.score()
            visit.begin(task.before, task.after)
            if visit.finish(task.after, self.sums.counts.tolist()) is None:
                return None
            self._follow_linked()
        n_changed, n_openers = self._movers_again()
        if n_openers:
            return None
        self._locate()
        totals, means, _ = self.sums.told()
        return SweepEnd(n_changed, task.after.clone(), totals, means if self.is_summed else None)

    def _look(self, form: SweepForm) -> bool:
        """Let points without links choose; False where one of the first wants to open a cluster."""
        task, points = self.task, self.windows
        self.centers.prepare(ranked=form.bounded)
        listed = False
        if form.bounded:
            points.wear(task, fast=False)
            listed = int(task.counts[4]) < LISTED * points.n
        if self.links.size:  # they choose later, and their sums follow then
            task.after[self.links.rows] = task.before[self.links.rows]
        return points.pass_through(task, listed=listed, sums=self.sums)

    def _follow_linked(self) -> None:
        """Let the sums follow linked points whose labels have changed."""
        import torch

        rows, (values, potential) = self.links.rows, self.links.values
        old, new = self.task.before[rows], self.task.after[rows]
        movers = torch.nonzero(old != new).ravel().to(torch.int32)
        size: Any = torch.full((1,), len(movers), dtype=torch.int32, device=self.points.place)
        self.sums.follow_values(values, self.points.columns, potential, movers, size, old, new)
