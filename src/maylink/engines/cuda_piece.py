"""A piece of the data on the GPU of some worker: the points without links of one chunk.

It does what :class:`maylink.engines.piece.Piece` does on processors, to the last bit. All of its
points look at the centres whenever they are asked to; what it remembers are labels alone.
"""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.engines.cuda import check_room
from maylink.engines.cuda_block import Glance
from maylink.engines.cuda_points import DevicePoints
from maylink.engines.cuda_streamed import StreamedPoints
from maylink.engines.cuda_sums import DeviceSums, all_of
from maylink.engines.memory import new_numbers
from maylink.engines.piece import Look, LookResult, no_result
from maylink.engines.rules import Assignment, Rule
from maylink.engines.settings import CudaSettings
from maylink.engines.totals import Stored, Totals
from maylink.families.base import Family
from maylink.runtime.gpu import check_gpu


class CudaPiece:
    """The points without links of a chunk, on a GPU.

    Parameters
    ----------
    X : array of shape (m, d)
        The chunk.
    start : int
        The number of its first row.
    family : Family
        Adapted to all data.
    linked : array of int
        Which rows of the chunk have links.
    device : CudaSettings
        Which GPU of the worker.
    """

    def __init__(
        self,
        X: NDArray[Any],
        start: int,
        family: Family,
        linked: NDArray[np.int64],
        device: CudaSettings,
    ) -> None:
        self.size, self.start, self.linked = len(X), start, linked
        self.family, self.device = family, device
        alone = np.ones(self.size, bool)
        alone[linked] = False
        self.rows = np.flatnonzero(alone).astype(np.int32)
        self.X = X if linked.size == 0 else X[self.rows]
        self._begin()

    def _begin(self) -> None:
        self.lock = threading.Lock()
        self.before: tuple[str, Any] | None = None  # token and labels of before the sweep
        self.after: tuple[str, int, Any] | None = None  # sweep, clusters and labels of its look
        self.turns: tuple[str, Any] | None = None  # order of visits and ranks
        self.nearest: tuple[Array, Any] | None = None  # centres, divergence from the nearest

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is on the GPU, and what is only remembered."""
        names = ("size", "start", "linked", "family", "device", "rows", "X")
        return {name: self.__dict__[name] for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def __sizeof__(self) -> int:
        """Say how much memory it takes, so that Dask can plan."""
        return int(1000 + self.X.nbytes + 24 * self.size)

    @cached_property
    def points(self) -> DevicePoints | StreamedPoints:
        """The points on the GPU."""
        check_gpu(self.device.place)
        kind = StreamedPoints if check_room(self.X, self.family, self.device) else DevicePoints
        return kind(self.X, self.family, np.zeros(len(self.X), bool), self.device)

    # ------------------------------------------------------------------ looks

    def look(
        self,
        task: Look,
        rank: Any,
        explicit: Any = None,
        order_before: str = "",
        rank_before: Any = None,
    ) -> LookResult:
        """Let the points choose; see :meth:`maylink.engines.piece.Piece.look`."""
        if not self.rows.size:
            return no_result(*task.rule.theta.shape)
        with self.lock:
            before = self._labels(task.before, order_before or task.order, rank_before, explicit)
            turns = self._turns(task.order, rank)
            glance = self._glance(task.rule, turns, before)
            n_clusters = len(task.rule.c)
            self.after = task.sweep, n_clusters, glance.after
            sums = DeviceSums(self.points, n_clusters, 0, task.cut)
            sums.move(glance.movers, before, glance.after)
            ranks, rows, n_openers = _openers(glance, turns, task)
            values, phi = self.points.rows(rows)
            return LookResult(
                *sums.told()[0], len(glance.movers), n_openers, values, phi,
                ranks.cpu().numpy(), whole=n_openers <= task.most,
            )  # fmt: skip

    def _glance(self, rule: Rule, turns: Any, before: Any) -> Glance:
        """Let all points look; who has opened a cluster has its label, which no centre says."""
        import torch

        points = self.points
        task = points.look(points.centers(rule), before, turns)
        opened = torch.tensor(rule.opened[rule.n_old :], device=points.place)
        if len(opened):
            in_order, cluster = torch.sort(opened)
            at = torch.searchsorted(in_order, turns).clamp(max=len(opened) - 1)
            founded = in_order[at] == turns
            task.after[founded] = (rule.n_old + cluster[at[founded]]).to(torch.int32)
        return points.glance(task)

    def _turns(self, order: str, rank: Any) -> Any:
        """Return the place of each point in the order of visits."""
        import torch

        if self.turns is None or self.turns[0] != order:
            by_row = self.start + self.rows.astype(np.int64) if rank is None else rank[self.rows]
            here = np.asarray(by_row, np.int32)
            self.turns = order, torch.tensor(here, device=self.points.place)
        return self.turns[1]

    # ------------------------------------------------------------------ labels

    def labels(
        self, assignment: Assignment, order: str, rank: Any, explicit: Any, cut: Array
    ) -> Stored | None:
        """Return the labels of the points without links, in the order of the rows."""
        if not self.rows.size:
            return None
        with self.lock:
            found: Stored = self._labels(assignment, order, rank, explicit).cpu().numpy()
            return found

    def _labels(self, assignment: Assignment, order: str, rank: Any, explicit: Any) -> Any:
        """Return labels: those that are remembered, or made anew."""
        import torch

        if self.before is not None and self.before[0] == assignment.token:
            return self.before[1]
        place, rule, after = self.points.place, assignment.rule, self.after
        if rule is not None and after is not None and after[:2] == (assignment.token, len(rule.c)):
            labels = after[2]
        elif rule is not None:
            nothing = torch.full((len(self.X),), -1, dtype=torch.int32, device=place)
            labels = self._glance(rule, self._turns(order, rank), nothing).after
        else:
            values: Any = assignment.uniform if explicit is None else explicit[self.rows]
            here = np.full(len(self.X), values, np.int32)
            labels = torch.tensor(here, device=place)
        if assignment.used is not None and not assignment.used.all():
            labels = torch.tensor(new_numbers(assignment.used), device=place)[labels]
        self.before = assignment.token, labels
        return labels

    # ------------------------------------------------------------------ sums and distances

    def largest(self) -> Array | None:
        """Return the greatest |t| of each column and, last, the greatest |φ|."""
        return self.points.largest if self.rows.size else None

    def sums(self, labels: Stored | None, n_clusters: int, cut: Array) -> Totals | None:
        """Return the sums of a partition."""
        import torch

        if labels is None:
            return None
        with self.lock:
            there = torch.tensor(labels, device=self.points.place)
            return all_of(self.points, there, n_clusters, cut)

    def reach(self, center: Array) -> float:
        """Return the greatest divergence from a centre."""
        return float(self._divergences(center).max()) if self.rows.size else 0.0

    def _divergences(self, centers: Array) -> Any:
        return self.points.divergences(*self.family.tangent(centers))

    def furthest(self, centers: Array) -> tuple[float, int, Array] | None:
        """Return how far the point is that is furthest from all centres, its row and itself."""
        import torch

        if not self.rows.size:
            return None
        with self.lock:
            before, nearest = self.nearest or (centers[:0], None)
            if not np.array_equal(before, centers[:-1]):
                before, nearest = centers[:0], None
            for k in range(len(before), len(centers)):
                away = self._divergences(centers[k : k + 1])
                nearest = away if nearest is None else torch.minimum(nearest, away)
            assert nearest is not None
            self.nearest = centers, nearest
            at = int((nearest == nearest.max()).to(torch.uint8).argmax())
            point = np.asarray(self.points.rows([at])[0], np.float64)
            return float(nearest[at]), self.start + int(self.rows[at]), point


def _openers(glance: Glance, turns: Any, task: Look) -> tuple[Any, Any, int]:
    """Return ranks and rows of the first openers that are left, and how many there are."""
    import torch

    rows = glance.openers.to(torch.int64)
    rows = rows[turns[rows] > task.decided]
    ranks, order = torch.sort(turns[rows])
    return ranks[: task.most], rows[order[: task.most]], len(rows)
