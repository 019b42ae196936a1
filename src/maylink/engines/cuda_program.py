"""A sweep on a GPU in which no cluster opens: one row of kernels, and one wait at its end.

Everything that a sweep needs lies in the same memory as in the sweep before, so that a row of
kernels that has run once can be recorded and started as a whole (a CUDA graph): to start kernels
one by one takes longer than most of them run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from maylink.arrays import Array
from maylink.engines.cuda_block import LookTask
from maylink.engines.cuda_centers import COUNTS, DeviceCenters
from maylink.engines.cuda_links import LinkVisit
from maylink.engines.cuda_sums import DeviceSums
from maylink.engines.totals import Totals
from maylink.families.gaussian import EuclideanFamily

if TYPE_CHECKING:
    from maylink.engines.cuda import CudaEngine

LISTED = 0.4  # share of the points up to which to look at these alone is quicker
GLIMPSED = 0.3  # the same where all must look at the fastest centres before
FEW = 30_000_000  # numbers of movers up to which each adds for itself
BLIND = ((0.97, 6), (0.8, 4))  # from which share of points left on, bounds rest for how many sweeps


class SweepForm(NamedTuple):
    """Which kernels a sweep is made of."""

    sent: bool  # whether centres come from this machine, or lie on the GPU already
    follows: bool  # whether labels are those that the last sweep has left on the GPU
    bounded: bool  # whether bounds of the last look hold
    listed: bool  # whether only points are looked at that bounds leave
    fast: bool  # whether all points look at the fastest centres before that
    linked_only: bool  # whether centres are those of the last look
    few: bool  # whether movers are few
    gauged: bool  # whether this look finds bounds


class SweepEnd(NamedTuple):
    """What a sweep leaves."""

    n_changed: int
    labels: Any  # a copy
    totals: Totals
    means: Array | None  # the centres of these sums, where the GPU has made them


class SweepProgram:
    """Sweeps over all points with so many clusters.

    Parameters
    ----------
    engine : CudaEngine
        Holds the points.
    n_clusters : int
        How many clusters there are.
    """

    def __init__(self, engine: CudaEngine, n_clusters: int) -> None:
        import torch

        self.points, links = engine.points, engine.device_links
        place = self.points.place
        self.sums = DeviceSums(self.points, n_clusters, COUNTS, engine.local.cut)
        self.centers = DeviceCenters(self.points.facts, n_clusters, place)
        self.centers.counts = self.sums.counts
        before, after = torch.zeros((2, self.points.n), dtype=torch.int32, device=place)
        self.task = LookTask(self.centers, before, after, self.points.nobody)
        self.visit = LinkVisit(links, self.centers) if links.size else None
        # Whether m, θ = 2 m and c = ‖m‖² of a sum can be found on the GPU.
        self.is_summed = isinstance(engine.family, EuclideanFamily)
        self.n_movers = self.points.n  # in the last sweep
        # Points that bounds left in the last sweep, by all centres and by all but the fastest.
        self.n_open = (self.points.n, self.points.n)
        self.n_blind = 0  # sweeps to come in which bounds would settle next to nothing
        self.is_gauged = True  # whether the last look has found bounds
        self.graphs: dict[SweepForm, Any] = {}

    def form(self, *, sent: bool, follows: bool, linked_only: bool) -> SweepForm:
        """Return which kernels to take, guessed from the last sweep: nobody waits for counts."""
        bounded = follows and self.is_gauged and not self.n_blind
        n, bounded_look = self.points.n, bounded and not linked_only
        few = self.n_movers * (self.points.columns + 1) <= FEW
        listed = bounded_look and self.n_open[0] < LISTED * n
        fast = bounded_look and not listed and self.n_open[1] < GLIMPSED * n
        fast = fast and self.centers.n_fast > 0
        gauged = not self.n_blind
        return SweepForm(sent, follows, bounded, listed or fast, fast, linked_only, few, gauged)

    def run(self, form: SweepForm, before: Totals) -> SweepEnd | None:
        """Make a sweep; None where a cluster wants to open.

        Parameters
        ----------
        form : SweepForm
            Which kernels to take.
        before : Totals
            The sums of before the sweep.
        """
        self._start(form)
        few, totals, means = form.few, before, None
        copied = self.sums.copied() if few else None
        labels = self.task.after.clone()  # nobody waits for that
        if few:
            totals, means, counts = self.sums.told(copied)
        else:
            counts = self.sums.counts.tolist()
        if self.visit is not None:
            more = self.visit.finish(self.task.after, counts)
            if more is None:
                return None
            if more:  # the list of movers was made too early
                labels = self.task.after.clone()
                counts[1:3] = self._movers_again()
                if few:
                    self.sums.load(before)
                few = False
        self.points.n_doubts, self.n_movers, n_openers, _, *n_open = counts[:7]
        if not form.linked_only:
            self.n_open = self._open_next(form, n_open)
            self.is_gauged, self.n_blind = form.gauged, self._blind_next(form)
        if n_openers:
            return None
        if not few:
            rows = self.points.movers[: self.n_movers]
            self.sums.change(rows, self.task.before, self.task.after)
            self._locate()
            totals, means, _ = self.sums.told()
        return SweepEnd(self.n_movers, labels, totals, means if self.is_summed else None)

    def _blind_next(self, form: SweepForm) -> int:
        """Return for how many sweeps to come bounds rest: not to find them saves time, too.

        With few centres that time is short, and choices that must be sure need them at once.
        """
        if self.n_blind or not form.bounded or self.points.is_sure or not self.centers.n_fast:
            return max(self.n_blind - 1, 0)
        share = min(self.n_open) / self.points.n
        return next((many for least, many in BLIND if share >= least), 0)

    def _open_next(self, form: SweepForm, counts: list[int]) -> tuple[int, int]:
        """Return how many points the bounds of the next sweep will leave, as a guess."""
        n, (n_listed, n_all, n_slow) = self.points.n, counts
        if not form.bounded:
            return n, n
        if not self.centers.n_fast:
            return n_listed, n
        return n_all, max(n_slow, n_listed) if form.fast else n_slow

    def _start(self, form: SweepForm) -> None:
        """Start all kernels of a sweep, one by one the first time, as a whole from then on."""
        import torch

        if form not in self.graphs or self.points.place.type != "cuda":
            self.graphs[form] = None
            self._kernels(form)
            return
        if self.graphs[form] is None:
            graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream(self.points.place)
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                graph.capture_begin(capture_error_mode="thread_local")
                self._kernels(form)
                graph.capture_end()
            self.graphs[form] = graph
        self.graphs[form].replay()

    def _kernels(self, form: SweepForm) -> None:
        """Start the kernels of a sweep, one by one."""
        points, centers, task, visit = self.points, self.centers, self.task, self.visit
        if form.sent:
            centers.locate(known=form.bounded)
        centers.judge(again=form.linked_only)
        if not form.linked_only:
            centers.prepare(ranked=form.bounded)
            if form.bounded:
                points.wear(task, fast=form.fast)
            elif form.follows:
                task.before.copy_(task.after)
            points.choose(task, listed=form.listed, gauged=form.gauged)
        if visit is not None:
            if not form.linked_only:
                visit.score()
            visit.begin(task.before, task.after)
        if not form.listed and not form.linked_only:
            points.compare(task)
        else:  # all others have kept their labels
            if form.listed:
                points.compare(task, (points.unsettled, task.counts[4:]))
            if visit is not None:
                points.compare(task, visit.links.listed)
        if form.few:
            self.sums.follow(points.movers, task.counts[1:], task.before, task.after)
            self._locate()

    def _locate(self) -> None:
        """Find the centres of the sums."""
        if self.is_summed:
            self.centers.locate((self.sums.sums, self.sums.sizes, self.sums.means), known=True)

    def _movers_again(self) -> list[int]:
        """List movers and openers anew; return how many there are."""
        counts = self.task.counts
        counts[1:3].zero_()
        self.points.compare(self.task)
        told: list[int] = counts[1:3].tolist()
        return told
