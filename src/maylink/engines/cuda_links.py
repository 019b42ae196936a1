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

ROUNDS = 64  # more are left to the plain loop
LARGEST = 500_000_000  # scores of linked points that are kept


class LinkScores(NamedTuple):
    """Divergences of the linked points from the centres."""

    centers: DeviceCenters
    dots: Any  # (m, K) ⟨t, θ⟩
    c: Any  # (K,)
    is_exact: Any  # (m,) those of which points are exact
    room: float  # more than rounding can do to the difference of two others


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

    def visit(
        self, scores: LinkScores, before: Any, turns: Any, weights: tuple[float, float]
    ) -> Any:
        """Return the labels of all linked points after a sweep; None where one wants to open.

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

        from maylink.engines.cuda_kernels.exact import choose_linked

        n_clusters, place = scores.centers.size, self.points.place
        old, phi = before[self.rows], self._points[1]
        costs = [*weights, scores.centers.rule.penalty, scores.room]
        now, doubts = old, torch.empty(self.size, dtype=torch.int32, device=place)
        cost = torch.tensor(costs, dtype=torch.float64, device=place)
        for self.n_rounds in range(1, ROUNDS + 1):
            then = torch.empty_like(now)
            counts = torch.zeros(3, dtype=torch.int32, device=place)
            choose_linked[(self.size,)](
                scores.dots, phi, scores.c, scores.is_exact, *self.columns, turns, old, now, then,
                cost, doubts, counts, n_clusters, CENTERS=power_of_two(n_clusters),
                num_warps=1 if n_clusters <= 256 else 4, enable_fp_fusion=False,
            )  # fmt: skip
            n_other, n_opening, n_doubts = counts.tolist()
            now = then
            if n_doubts:
                self._make_exact(scores, doubts[:n_doubts].to(torch.int64))
            elif n_other == 0:
                return None if n_opening else now
        return None

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
