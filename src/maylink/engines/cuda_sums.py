"""Sums of the points of each cluster on a GPU: exact, so that no order of adding shows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Array
from maylink.engines.cuda_points import DevicePoints
from maylink.engines.tile_shapes import SumShape, power_of_two
from maylink.engines.totals import Totals

SHAPE = SumShape()
MANY = 0.3  # share of the points from which on to add up all is quicker than to follow the movers


class DeviceSums(NamedTuple):
    """Sums of clusters; see :class:`maylink.engines.totals.Totals`."""

    values: Any  # (2, K, s + 1) high and low parts
    sizes: Any  # (K,)
    cut: Any  # (2, s + 1)

    def totals(self) -> Totals:
        """Return the sums on this machine."""
        high, low = self.values.cpu().numpy()
        return Totals(high, low, self.sizes.cpu().numpy())


def moved(
    points: DevicePoints, rows: Any, before: Any, after: Any, totals: Totals, cut: Array
) -> Totals:
    """Return the sums after some points have changed their labels.

    Parameters
    ----------
    points : DevicePoints
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
    n_clusters = len(totals.size)
    if len(rows) > MANY * points.n:
        return all_of(points, after, n_clusters, cut)
    sums = _no_sums(points, n_clusters, cut)
    add(points, sums, rows, before, -1.0)
    add(points, sums, rows, after, 1.0)
    change = sums.totals()
    high, low = totals.high + change.high, totals.low + change.low
    return Totals(high, low, totals.size + change.size)


def all_of(points: DevicePoints, labels: Any, n_clusters: int, cut: Array) -> Totals:
    """Return the sums of all points; those with label −1 count nowhere."""
    sums = _no_sums(points, n_clusters, cut)
    add(points, sums, None, labels, 1.0)
    return sums.totals()


def _no_sums(points: DevicePoints, n_clusters: int, cut: Array) -> DeviceSums:
    import torch

    shape = (2, n_clusters, points.columns + 1)
    values = torch.zeros(shape, dtype=torch.float64, device=points.place)
    sizes = torch.zeros(n_clusters, dtype=torch.int64, device=points.place)
    cutters = torch.as_tensor(np.ascontiguousarray(cut[:, : points.columns + 1]))
    return DeviceSums(values, sizes, cutters.to(points.place))


def add(points: DevicePoints, sums: DeviceSums, rows: Any, labels: Any, sign: float) -> None:
    """Add some points, or all where rows is None, to the sums of their clusters.

    They are sorted by cluster and cut into pieces of one cluster each.
    """
    import torch

    from maylink.engines.cuda_kernels.sums import add_pieces

    clusters, order = torch.sort(labels if rows is None else labels[rows])
    if not len(order):
        return
    in_order = order if rows is None else rows[order]
    n_clusters, place = len(sums.sizes), points.place
    numbers = torch.arange(n_clusters + 1, dtype=clusters.dtype, device=place)
    first_of = torch.searchsorted(clusters, numbers)
    sizes = first_of.diff()
    sums.sizes.add_(sizes, alpha=int(sign))
    ends = ((sizes + (SHAPE.size - 1)) // SHAPE.size).cumsum(dim=0)
    n_pieces = len(order) // SHAPE.size + n_clusters
    pieces = torch.arange(n_pieces, device=place)
    cluster = torch.searchsorted(ends, pieces, right=True)
    known = cluster.clamp(max=n_clusters - 1)
    before = torch.where(known > 0, ends[known - 1], 0)
    first = first_of[known] + (pieces - before) * SHAPE.size
    columns = min(SHAPE.columns, power_of_two(points.columns))
    high, low = sums.values
    add_pieces[(n_pieces, -(-points.columns // columns))](
        points.exact, points.potential, sums.cut, in_order, cluster, first, first_of, sign, high,
        low, n_clusters, STRIDE=points.stride, COLUMNS=points.columns, BLOCK=columns,
        ROWS=SHAPE.rows, SIZE=SHAPE.size, num_warps=SHAPE.warps,
    )  # fmt: skip
