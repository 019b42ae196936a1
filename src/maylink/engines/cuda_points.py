"""The points of one data set, all of them on a GPU."""

from __future__ import annotations

from typing import Any

from maylink.arrays import Array
from maylink.engines.cuda_block import PointBlock
from maylink.engines.cuda_centers import PointScale
from maylink.engines.cuda_mapping import Measured, PointMapping
from maylink.engines.cuda_transfers import slices
from maylink.engines.settings import CudaSettings
from maylink.families.base import Family
from maylink.runtime.gpu import as_host, has_memory

PIECE = 16_000_000  # numbers that are made shorter at a time


class DevicePoints(PointBlock):
    """Points on a GPU.

    Parameters
    ----------
    X : array or tensor of shape (n, d)
        The data, here or on the GPU.
    family : Family
        Maps them.
    linked : array of bool of shape (n,)
        Which points have links.
    settings : CudaSettings
        How to store and score points.
    """

    def __init__(self, X: Any, family: Family, linked: Any, settings: CudaSettings) -> None:
        import torch

        mapping = PointMapping(X, family, settings)
        shape, place = (int(X.shape[0]), mapping.stride), mapping.place
        points = torch.empty(shape, dtype=mapping.form, device=place)
        exact = points
        if mapping.is_double:
            exact = torch.empty(shape, dtype=torch.float64, device=place)
        measured = Measured(mapping, linked)
        for part in measured.parts():
            points[part.rows] = part.points
            if exact is not points:
                exact[part.rows] = part.exact
        lists = torch.empty((5, shape[0]), dtype=torch.int32, device=place)
        facts = measured.facts()
        super().__init__(facts, points, exact, measured.state(), lists, shortened(points, facts))
        self.largest: Array = measured.largest

    def rows(self, rows: Any) -> tuple[Any, Array]:
        """Return some mapped points, and their φ, on this machine."""
        values = as_host(self.exact[rows, : self.columns])  # NumPy has no bfloat16
        return values, self.potential[rows].cpu().numpy()

    def there(self, rows: Any) -> Any:
        """Return some mapped points in double precision, on the GPU."""
        import torch

        return self.exact[rows, : self.columns].to(torch.float64)


def shortened(points: Any, facts: PointScale) -> Any:
    """Return a copy of points in the numbers that kernels multiply, where there is much room.

    A look then reads half the bytes, and makes nothing shorter. None where points are short
    already, or where the copy would take more than half of the memory that is left.
    """
    import torch

    if points.dtype == facts.form or not has_memory(4 * points.numel(), str(points.device)):
        return None
    short = torch.empty(points.shape, dtype=facts.form, device=points.device)
    for rows in slices(len(points), max(1, PIECE // points.shape[1])):
        short[rows] = (points[rows] * facts.scale).to(facts.form)
    return short
