"""Sums of the points of each cluster on a GPU: exact, so that no order of adding shows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Array
from maylink.engines.cuda_points import DevicePoints
from maylink.engines.tile_shapes import power_of_two
from maylink.engines.totals import Totals


class DeviceSums(NamedTuple):
    """Sums of clusters; see :class:`maylink.engines.totals.Totals`."""

    high: Any  # (K, s + 1), behind a row for label −1, of which nobody asks
    low: Any
    sizes: Any  # (K,)
    cut: Any  # (2, s + 1)

    def totals(self) -> Totals:
        """Return the sums on this machine."""
        return Totals(*(part.cpu().numpy() for part in self[:3]))


def moved(
    points: DevicePoints, rows: Any, before: Any, after: Any, n_clusters: int, cut: Array
) -> Totals:
    """Return how the sums change when some points change their labels."""
    import torch

    sums, rows = _no_sums(points, n_clusters, cut), rows.to(torch.int64)
    _add(points, sums, rows, before[rows], -1.0)
    _add(points, sums, rows, after[rows], 1.0)
    return sums.totals()


def totals(points: DevicePoints, labels: Any, n_clusters: int, cut: Array) -> Totals:
    """Return the sums of all points; those with label −1 count nowhere."""
    import torch

    sums = _no_sums(points, n_clusters, cut)
    _add(points, sums, torch.arange(points.n, device=points.place), labels, 1.0)
    return sums.totals()


def _no_sums(points: DevicePoints, n_clusters: int, cut: Array) -> DeviceSums:
    import torch

    shape = (2, n_clusters + 1, points.columns + 1)
    high, low = torch.zeros(shape, dtype=torch.float64, device=points.place)
    sizes = torch.zeros(n_clusters, dtype=torch.int64, device=points.place)
    cutters = torch.as_tensor(np.ascontiguousarray(cut[:, : points.columns + 1]))
    return DeviceSums(high[1:], low[1:], sizes, cutters.to(points.place))


def _add(points: DevicePoints, sums: DeviceSums, rows: Any, labels: Any, sign: float) -> None:
    """Add points to the sums of their clusters, or take them away."""
    import torch

    from maylink.engines.cuda_kernels.sums import add_sorted

    if not len(rows):
        return
    labels, order = torch.sort(labels)
    counts = torch.bincount(labels.to(torch.int64) + 1, minlength=len(sums.sizes) + 1)
    sums.sizes.add_(counts[1:], alpha=int(sign))
    shape = points.shapes.sums
    at_once = shape.rows * shape.steps
    columns = min(shape.columns, power_of_two(points.columns + 1))
    grid = (-(-len(rows) // at_once), -(-(points.columns + 1) // columns))
    add_sorted[grid](
        points.exact, points.potential, sums.cut, rows[order], labels, len(rows), sign, sums.high,
        sums.low, STRIDE=points.stride, COLUMNS=points.columns, BLOCK=columns, ROWS=shape.rows,
        STEPS=shape.steps, num_warps=shape.warps,
    )  # fmt: skip
