"""Sums of the points of each cluster on a GPU: exact, so that no order of adding shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from maylink.arrays import Array
from maylink.engines.cuda_points import DevicePoints
from maylink.engines.tile_shapes import SumShape, power_of_two
from maylink.engines.totals import Totals

SHAPE = SumShape()
MANY = 0.3  # share of the points from which on to add up all is quicker than to follow the movers


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
    import torch

    size = len(totals.size)
    if len(rows) > MANY * points.n:
        return all_of(points, after, size, cut)
    left = before[rows]
    labels = torch.cat([after[rows], torch.where(left < 0, left, left + size)])
    change = _sums(points, rows.repeat(2), labels, size, cut)
    high, low = totals.high + change.high, totals.low + change.low
    return Totals(high, low, totals.size + change.size)


def all_of(points: DevicePoints, labels: Any, n_clusters: int, cut: Array) -> Totals:
    """Return the sums of all points; those with label −1 count nowhere."""
    return _sums(points, None, labels, n_clusters, cut)


def _sums(points: DevicePoints, rows: Any, labels: Any, n_clusters: int, cut: Array) -> Totals:
    """Return the sums of some points, or of all where rows is None.

    From K on, labels are of points that leave the clusters 0, 1, …
    """
    import torch

    from maylink.engines.cuda_kernels.sums import add_clusters

    in_order, order = torch.sort(labels)
    numbers = torch.arange(2 * n_clusters + 1, dtype=in_order.dtype, device=points.place)
    first_of = torch.searchsorted(in_order, numbers)
    shape = (2, n_clusters, points.columns + 1)
    # Sums and where clusters begin come here in one copy: to wait once costs less than twice.
    told = torch.zeros(
        int(np.prod(shape)) + 2 * n_clusters + 1, dtype=torch.float64, device=points.place
    )
    values = told[: int(np.prod(shape))].view(shape)
    both = 2 if rows is not None else 1
    if len(order):
        wide = min(SHAPE.columns, power_of_two(points.columns))
        parts = min(power_of_two(-(-len(order) // (both * n_clusters * SHAPE.size))), 4096)
        add_clusters[(both * n_clusters * parts, -(-points.columns // wide))](
            points.exact, points.potential, points.cutters(cut),
            order if rows is None else rows[order], first_of, values[0], values[1], n_clusters,
            STRIDE=points.stride, COLUMNS=points.columns, BLOCK=wide, ROWS=SHAPE.rows, PARTS=parts,
            num_warps=SHAPE.warps,
        )  # fmt: skip
    told[values.numel() :] = first_of
    pinned = torch.empty(told.shape, dtype=told.dtype, pin_memory=told.is_cuda)
    here = pinned.copy_(told).numpy()
    sizes = np.diff(here[values.numel() :].astype(np.int64))
    high, low = here[: values.numel()].reshape(shape)
    return Totals(high, low, sizes[:n_clusters] - sizes[n_clusters:])
