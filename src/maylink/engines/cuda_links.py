"""Linked points on a GPU: the labels of the plain loop, found in rounds.

In its turn a linked point sees the new labels of neighbours that come earlier and the old ones of
those that come later. So the labels of the plain loop are the only ones in which every choice is
right in view of the others. All points choose at once, again and again, until no choice changes:
after r rounds the first r points of every chain of neighbours are right, and mostly few rounds do.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Index
from maylink.engines.cuda_centers import DeviceCenters
from maylink.engines.cuda_points import DevicePoints
from maylink.engines.points import PointStore
from maylink.engines.tile_shapes import power_of_two
from maylink.engines.totals import Stored
from maylink.engines.visits import NOBODY
from maylink.runtime.gpu import sent

AHEAD = 4  # rounds that are begun before anybody looks at what came of them
ROUNDS = 64  # more are left to the plain loop
LARGEST = 500_000_000  # scores of linked points that are kept


class LinkScores(NamedTuple):
    """Divergences of the linked points from the centres."""

    centers: DeviceCenters
    dots: Any  # (m, K) ⟨t, θ⟩
    c: Any  # (K,)
    is_exact: Any  # (m,) those of which points are exact
    room: float  # more than rounding can do to the difference of two others


class LinkVisit(NamedTuple):
    """Rounds in which linked points choose."""

    scores: LinkScores
    old: Any  # (m,) labels of before the sweep
    turns: Any  # (m,)
    costs: Any  # (4,)
    doubts: Any  # (m,) points whose scores must be exact
    counts: Any  # (AHEAD + 1, 3) what came of each round
    now: Any = None  # (m,) labels after the rounds


class DeviceLinks:
    """The linked points of one data set.

    Parameters
    ----------
    points : DevicePoints
        All points.
    store : PointStore
        Holds the linked points on this machine, with their links.
    rows : array of shape (m,)
        The linked points.
    """

    def __init__(self, points: DevicePoints, store: PointStore, rows: Index) -> None:
        import torch

        self.points, self.store = points, store
        self.size = len(rows)
        self.rows = torch.as_tensor(rows, device=points.place)
        self.slots: Stored = store.layout.position[-self.size :] if self.size else NOBODY
        self._columns: tuple[Any, Any] | None = None
        self.n_rounds = 0  # of the last visit

    def has_room(self, n_clusters: int) -> bool:
        """Whether scores of all linked points can be kept."""
        return 0 < self.size * n_clusters <= LARGEST

    def scores(self, centers: DeviceCenters) -> LinkScores:
        """Return the divergence of every linked point from every centre, but for rounding."""
        import torch

        points = self.points
        rows, _ = self._points
        is_exact = torch.zeros(self.size, dtype=torch.uint8, device=points.place)
        reach = points.facts.longest * centers.steepest + centers.farthest
        room = (points.columns + 8) * 2.0**-50 * (float(points.largest[-1]) + reach)
        return LinkScores(centers, rows @ centers.exact, centers.c, is_exact, room)

    @cached_property
    def _points(self) -> tuple[Any, Any]:
        """The linked points in double precision, and their φ."""
        import torch

        points = self.points
        rows = points.exact[self.rows, : points.columns].to(torch.float64)
        return rows, points.potential[self.rows]

    def begin(
        self, scores: LinkScores, before: Any, turns: Any, weights: tuple[float, float]
    ) -> LinkVisit:
        """Let all linked points choose, a few rounds long; nobody waits for what comes of it.

        Parameters
        ----------
        scores : LinkScores
            Divergences.
        before : tensor of shape (n,)
            Labels of before the sweep.
        turns : tensor of shape (m,)
            Turns of the linked points.
        weights : (float, float)
            ξ_may and ξ_not.
        """
        import torch

        place = self.points.place
        costs = [*weights, scores.centers.rule.penalty, scores.room]
        counts = torch.zeros((AHEAD + 1, 3), dtype=torch.int32, device=place)
        counts[0] = 1
        visit = LinkVisit(
            scores, before[self.rows], turns,
            sent(costs, place),
            torch.empty(self.size, dtype=torch.int32, device=place), counts,
        )  # fmt: skip
        now = visit.old
        for number in range(AHEAD):
            now = self._round(visit, now, counts[number + 1], counts[number])
        return visit._replace(now=now)

    def finish(self, visit: LinkVisit, counts: list[list[int]]) -> Any:
        """Return the labels of all linked points after a sweep; None where one wants to open.

        Parameters
        ----------
        visit : LinkVisit
            The rounds that were begun.
        counts : list of shape (AHEAD + 1, 3)
            What came of them.
        """
        import torch

        now, alike = visit.now, torch.ones(3, dtype=torch.int32, device=self.points.place)
        done = [row for row in counts[1:] if not row[0]]
        if done and not any(row[2] for row in counts[1:]):
            return None if done[0][1] else now
        if counts[-1][2]:
            self._make_exact(visit.scores, visit.doubts[: counts[-1][2]].to(torch.int64))
        for self.n_rounds in range(AHEAD + 1, ROUNDS + 1):
            round_counts = torch.zeros(3, dtype=torch.int32, device=self.points.place)
            now = self._round(visit, now, round_counts, alike)
            n_other, n_opening, n_doubts = round_counts.tolist()
            if n_doubts:
                self._make_exact(visit.scores, visit.doubts[:n_doubts].to(torch.int64))
            elif n_other == 0:
                return None if n_opening else now
        return None

    def _round(self, visit: LinkVisit, now: Any, counts: Any, last: Any) -> Any:
        """Let all linked points choose once; return their choices."""
        import torch

        from maylink.engines.cuda_kernels.exact import choose_linked

        scores, n_clusters = visit.scores, visit.scores.centers.size
        then = torch.empty_like(now)
        choose_linked[(self.size,)](
            scores.dots, self._points[1], scores.c, scores.is_exact, *self.columns, visit.turns,
            visit.old, now, then, visit.costs, visit.doubts, counts, last, n_clusters,
            CENTERS=power_of_two(n_clusters), num_warps=1 if n_clusters <= 256 else 4,
            enable_fp_fusion=False,
        )  # fmt: skip
        return then

    def _make_exact(self, scores: LinkScores, places: Any) -> None:
        """Write exact scores of some linked points, which decide near ties as on the CPU."""
        from maylink.engines.cuda_kernels import exact as kernels

        points, centers, block = self.points, scores.centers, 32
        columns = min(block, power_of_two(centers.size))
        kernels.dot_products[(-(-len(places) // block), -(-centers.size // columns))](
            points.exact, centers.exact, self.rows[places], places, len(places), scores.dots,
            centers.size, STRIDE=points.stride, COLUMNS=points.columns, ROWS=block,
            CENTERS=columns, enable_fp_fusion=False,
        )  # fmt: skip
        scores.is_exact[places] = 1

    def here(self, labels: Any) -> Stored:
        """Return the labels of the linked points in the slots on this machine, −1 elsewhere."""
        stored = np.full(self.store.n_slots, -1, np.int32)
        stored[self.slots] = labels[self.rows].cpu().numpy()
        return stored

    @property
    def columns(self) -> Any:
        """Links by point: where they begin, neighbours, weights with the shares of sources."""
        import torch

        shares = self.store._shares
        if self._columns is None or self._columns[0] is not shares:
            links = self.store.slot_links(1.0, 1.0, 0.0)
            kinds = (np.int64, np.int32, np.float64)
            arrays = (links.indptr, links.neighbour - links.first, links.signed)
            columns = tuple(
                torch.as_tensor(np.array(column, kind), device=self.points.place)
                for column, kind in zip(arrays, kinds, strict=True)
            )
            self._columns = (shares, columns)
        return self._columns[1]
