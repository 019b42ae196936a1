"""Sums of the points of each cluster on a GPU: exact, so that no order of adding shows."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from maylink.arrays import Array
from maylink.engines.cuda_block import PointBlock
from maylink.engines.tile_shapes import SumShape, power_of_two
from maylink.engines.totals import Totals

SHAPE = SumShape()
COPIES = (32, 1_100_000)  # of the sums that movers add to, at most, and numbers of all together
MANY = 0.3  # share of the points from which on to add up all is quicker than to follow the movers


class DeviceSums:
    """Sums of clusters on the GPU, and the centres that they make, next to what a sweep tells.

    All of it comes to this machine in one copy: to wait once costs less than to wait twice.

    Parameters
    ----------
    points : PointBlock
        All points.
    n_clusters, n_counts : int
        How many clusters there are, and whole numbers that a sweep tells.
    cut : array
        What cuts points.
    """

    def __init__(self, points: PointBlock, n_clusters: int, n_counts: int, cut: Array) -> None:
        import torch

        self.points, self.n_clusters, self.cut = points, n_clusters, points.cutters(cut)
        width = points.columns + 1
        sizes = (n_counts // 2, 2 * n_clusters * width, n_clusters, n_clusters * points.columns)
        self.board = torch.zeros(sum(sizes), dtype=torch.float64, device=points.place)
        counts, sums, self.sizes, means = self.board.split(sizes)
        self.both = self.board[sizes[0] : sizes[0] + sizes[1] + sizes[2]]  # sums and sizes
        self.sums = sums.view(2, n_clusters, width)
        self.means = means.view(n_clusters, points.columns)
        self.counts = counts.view(torch.int32)

    @cached_property
    def copies(self) -> Any:
        """Copies of sums and sizes, all of them zeros between sweeps."""
        import torch

        many = max(1, min(COPIES[0], COPIES[1] // len(self.both)))
        shape = (1 << (many.bit_length() - 1), len(self.both))
        return torch.zeros(shape, dtype=torch.float64, device=self.board.device)

    def load(self, totals: Totals) -> None:
        """Take sums from this machine."""
        import torch

        self.sums.copy_(torch.as_tensor(np.stack([totals.high, totals.low])))
        self.sizes.copy_(torch.as_tensor(totals.size))

    def follow(
        self, rows: Any, size: Any, before: Any, after: Any, points: PointBlock | None = None
    ) -> None:
        """Change the sums as some points change their labels; for few of them.

        Parameters
        ----------
        rows, size : tensors
            These points, and how many of the list are meant.
        before, after : tensors of shape (n,)
            Labels of all points of the block.
        points : PointBlock, optional
            Where they lie; all points by default.
        """
        points = self.points if points is None else points
        self.follow_values(points.exact, points.stride, points.potential, rows, size, before, after)

    def follow_values(
        self,
        values: Any,
        stride: int,
        potential: Any,
        rows: Any,
        size: Any,
        before: Any,
        after: Any,
    ) -> None:
        """Change the sums as some points change their labels, given their values and φ."""
        from maylink.engines.cuda_kernels.sums import add_copies, add_movers

        points, (n_copies, numbers) = self.points, self.copies.shape
        block = power_of_two(points.columns + 1)
        add_movers[(min(len(potential), 16 * points.processors),)](
            values, potential, self.cut, rows, size, before, after, self.copies, self.n_clusters,
            n_copies, STRIDE=stride, COLUMNS=points.columns, BLOCK=block,
            num_warps=min(4, max(1, block // 64)),
        )  # fmt: skip
        add_copies[(-(-numbers // 64),)](
            self.copies, self.both, numbers, COPIES=n_copies, BLOCK=64, num_warps=2
        )

    def change(self, rows: Any, before: Any, after: Any) -> None:
        """Change the sums as some points change their labels; for many of them."""
        if len(rows) > MANY * self.points.n:
            self.sums.zero_()
            self.sizes.zero_()
            self.add_all(after)
        else:
            self.move(rows, before, after)

    def move(self, rows: Any, before: Any, after: Any) -> None:
        """Take some points from the sums of one cluster to those of another."""
        import torch

        for part, inside, block in self.points.blocks(rows):
            left = before[part]
            labels = torch.cat([after[part], torch.where(left < 0, left, left + self.n_clusters)])
            places = torch.arange(block.n, device=block.place) if inside is None else inside
            self._add(block, places.repeat(2), labels)

    def add_all(self, labels: Any) -> None:
        """Add all points; those with label −1 count nowhere."""
        for rows, _, block in self.points.blocks():
            self._add(block, None, labels[rows])

    def copied(self) -> tuple[Any, Any]:
        """Begin to copy all to this machine; return where to, and what happens at its end."""
        import torch

        pinned = torch.empty(self.board.shape, dtype=torch.float64, pin_memory=self.board.is_cuda)
        pinned.copy_(self.board, non_blocking=True)
        if not self.board.is_cuda:
            return pinned, None
        event = torch.cuda.Event()
        event.record()
        return pinned, event

    def told(self, copied: tuple[Any, Any] | None = None) -> tuple[Totals, Array, list[int]]:
        """Return sums, centres and counts on this machine, once they are there."""
        pinned, event = self.copied() if copied is None else copied
        if event is not None:
            event.synchronize()
        here = pinned.numpy()
        width, n_clusters, first = self.points.columns + 1, self.n_clusters, len(self.counts) // 2
        last = first + self.sums.numel()
        high, low = here[first:last].reshape(2, n_clusters, width)
        sizes = here[last : last + n_clusters].astype(np.int64)
        means = here[last + n_clusters :].reshape(n_clusters, width - 1)
        return Totals(high, low, sizes), means, here[:first].view(np.int32).tolist()

    def _add(self, points: PointBlock, rows: Any, labels: Any) -> None:
        """Add some points of a block, or all where rows is None.

        Label −1 counts nowhere. From K on, labels are of points that leave the clusters 0, 1, …
        """
        import torch

        from maylink.engines.cuda_kernels.sums import add_clusters

        n_clusters = self.n_clusters
        in_order, order = torch.sort(labels)
        numbers = torch.arange(2 * n_clusters + 1, dtype=in_order.dtype, device=points.place)
        first_of = torch.searchsorted(in_order, numbers)
        entered, left = torch.diff(first_of).view(2, n_clusters)
        self.sizes += entered - left
        both = 2 if rows is not None else 1
        if len(order):
            wide = min(SHAPE.columns, power_of_two(points.columns))
            parts = min(power_of_two(-(-len(order) // (both * n_clusters * SHAPE.size))), 4096)
            add_clusters[(both * n_clusters * parts, -(-points.columns // wide))](
                points.exact, points.potential, self.cut, order if rows is None else rows[order],
                first_of, *self.sums, n_clusters, parts, STRIDE=points.stride,
                COLUMNS=points.columns, BLOCK=wide, ROWS=SHAPE.rows, num_warps=SHAPE.warps,
            )  # fmt: skip


def all_of(points: PointBlock, labels: Any, n_clusters: int, cut: Array) -> Totals:
    """Return the sums of all points; those with label −1 count nowhere."""
    sums = DeviceSums(points, n_clusters, 0, cut)
    sums.add_all(labels)
    return sums.told()[0]


def moved(
    points: PointBlock, rows: Any, before: Any, after: Any, totals: Totals, cut: Array
) -> Totals:
    """Return the sums after some points have changed their labels.

    Parameters
    ----------
    points : PointBlock
        All points.
    rows : tensor
        Those that have changed.
    before, after : tensors of shape (n,)
        All labels.
    totals : Totals
        The sums of before, with as many clusters as there are after.
    cut : array
        What cuts points.
    """
    sums = DeviceSums(points, len(totals.size), 0, cut)
    sums.load(totals)
    sums.change(rows, before, after)
    return sums.told()[0]
