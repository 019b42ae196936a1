"""Linked points on a GPU: the labels of the plain loop, found in rounds.

In its turn a linked point sees the new labels of neighbours that come earlier and the old ones of
those that come later. So the labels of the plain loop are the only ones in which every choice is
right in view of the others. All points choose at once, again and again, until no choice changes:
after r rounds the first r points of every chain of neighbours are right, and mostly few rounds do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maylink.arrays import Index
from maylink.engines.cuda_points import DeviceCenters, DevicePoints
from maylink.engines.points import PointStore
from maylink.engines.tile_shapes import power_of_two

ROUNDS = 64  # more are left to the plain loop
LARGEST = 500_000_000  # scores of linked points that are kept


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
        self._columns: tuple[Any, Any] | None = None
        self.n_rounds = 0  # of the last visit

    def has_room(self, n_clusters: int) -> bool:
        """Whether scores of all linked points can be kept."""
        return 0 < self.size * n_clusters <= LARGEST

    def scores(self, centers: DeviceCenters) -> Any:
        """Return the divergence of every linked point from every centre, exact."""
        import torch

        from maylink.engines.cuda_kernels.exact import scores

        points, block = self.points, 64
        out = torch.empty((self.size, centers.size), dtype=torch.float64, device=points.place)
        columns = min(block, power_of_two(centers.size))
        scores[(-(-self.size // block), -(-centers.size // columns))](
            points.exact, centers.theta_exact, centers.c_exact, points.potential, self.rows,
            self.size, out, centers.size, STRIDE=points.stride, COLUMNS=points.columns, ROWS=block,
            CENTERS=columns, enable_fp_fusion=False,
        )  # fmt: skip
        return out

    def visit(
        self, scores: Any, before: Any, rank: Any, weights: tuple[float, float], penalty: float
    ) -> Any:
        """Return the labels of all linked points after a sweep; None where one wants to open.

        Parameters
        ----------
        scores : tensor of shape (m, K)
            Divergences.
        before, rank : tensors of shape (n,)
            Labels of before the sweep, and turns.
        weights : (float, float)
            ξ_may and ξ_not.
        penalty : float
            λ.
        """
        import torch

        from maylink.engines.cuda_kernels.exact import choose_linked

        n_clusters, place = scores.shape[1], self.points.place
        old, turns = before[self.rows], rank[self.rows]
        costs = torch.tensor([*weights, penalty], dtype=torch.float64, device=place)
        now = old
        for self.n_rounds in range(1, ROUNDS + 1):
            then = torch.empty_like(now)
            counts = torch.zeros(2, dtype=torch.int32, device=place)
            choose_linked[(self.size,)](
                scores, *self.columns, turns, old, now, then, costs, counts, n_clusters,
                CENTERS=power_of_two(n_clusters), num_warps=1 if n_clusters <= 256 else 4,
                enable_fp_fusion=False,
            )  # fmt: skip
            n_other, n_opening = counts.tolist()
            now = then
            if n_other == 0:
                return None if n_opening else now
        return None

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
                torch.as_tensor(np.ascontiguousarray(column, kind), device=self.points.place)
                for column, kind in zip(arrays, kinds, strict=True)
            )
            self._columns = (shares, columns)
        return self._columns[1]
