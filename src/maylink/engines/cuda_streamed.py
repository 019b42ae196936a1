"""The points of one data set that is larger than the memory of the GPU.

Points stay on this machine, or in a memory-mapped file, and pass through the GPU in windows
whenever all of them are looked at. What is kept of each point (label, φ, bounds) lies on the GPU;
so points that bounds settle need not come: those that are left are picked, here, and copied alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from maylink.arrays import Array
from maylink.engines.cuda_block import LookTask, PointBlock
from maylink.engines.cuda_mapping import Measured, PointMapping, maps_there
from maylink.engines.cuda_transfers import lists, slices
from maylink.engines.settings import CudaSettings
from maylink.families.base import Family
from maylink.runtime.gpu import as_host


class StreamedPoints(PointBlock):
    """Points that pass through a GPU in windows.

    Parameters
    ----------
    X, family, linked, settings
        As for :class:`maylink.engines.cuda_points.DevicePoints`. Gaussian data are read where they
        are; points of other families are mapped once and kept on this machine.
    """

    def __init__(self, X: Any, family: Family, linked: Any, settings: CudaSettings) -> None:
        import torch

        is_mapped = not maps_there(family)
        data = _mapped(X, family, settings.chunk) if is_mapped else X
        self.mapping = PointMapping(data, family, settings, is_mapped=is_mapped, lock=True)
        measured, place = Measured(self.mapping, linked), self.mapping.place
        for _ in measured.parts():
            pass
        n, step = int(X.shape[0]), min(int(X.shape[0]), self.mapping.step)
        room = torch.empty((3, n), dtype=torch.int32, device=place)
        none = room[0, :0]
        all_lists = (none, none, *room)  # of movers, openers and unsettled points
        super().__init__(measured.facts(), None, None, measured.state(), all_lists)
        self.largest: Array = measured.largest
        self.lists = torch.empty((5, step), dtype=torch.int32, device=place)  # of a window

    def blocks(self, rows: Any = None) -> Iterator[tuple[Any, Any, PointBlock]]:
        """Yield all points, or those of a list on the GPU, window by window."""
        import torch

        step = self.mapping.step
        parts: Any = slices(self.n, step) if rows is None else lists(rows, step)
        for part in self.mapping.parts(parts):
            at = part.rows
            if not isinstance(at, slice):
                at = torch.as_tensor(at, device=self.place)
            state, n = self.state.part(at), len(part.points)
            room = self.lists[:, :n]
            yield at, None, PointBlock(self.facts, part.points, part.exact, state, room)

    def choose(self, task: LookTask, *, listed: bool, gauged: bool = True) -> None:
        """Let points without links choose; see :meth:`PointBlock.choose`. All are gauged."""
        self.pass_through(task, listed=listed)

    def pass_through(self, task: LookTask, *, listed: bool, sums: Any = None) -> bool:
        """Let points without links choose; return False where that was broken off.

        Parameters
        ----------
        task : LookTask
            Where labels are.
        listed : bool
            Whether only points choose that bounds do not settle.
        sums : DeviceSums, optional
            Sums that follow the points whose labels change, as long as none wants to open a
            cluster; where one of the first window does, the others are not looked at.
        """
        rows = self.unsettled[: int(task.counts[4])] if listed else None
        is_first = sums is not None
        for at, _, block in self.blocks(rows):
            window = task.part(at)
            task.counts[:4].zero_()
            block.choose(window, listed=False)
            if sums is not None:
                block.compare(window)
                sums.follow(block.movers, task.counts[1:], window.before, window.after, block)
            if listed:
                task.after[at] = window.after
                self.gap[at], self.own[at] = block.gap, block.own
            if is_first and int(task.counts[2]):
                return False
            is_first = False
        return True

    def rows(self, rows: Any) -> tuple[Any, Array]:
        """Return some mapped points, as they would be on the GPU, and their φ, on this machine."""
        values = self.there(rows)
        short = not self.mapping.is_double
        return as_host(values.float() if short else values), self.potential[rows].cpu().numpy()

    def there(self, rows: Any) -> Any:
        """Return some mapped points in double precision, on the GPU."""
        import torch

        wanted = np.asarray(as_host(rows), np.int64)
        order = np.argsort(wanted, kind="stable")
        parts = [wanted[order][part] for part in slices(len(wanted), self.mapping.step)]
        found = torch.empty((len(wanted), self.columns), dtype=torch.float64, device=self.place)
        into = torch.as_tensor(order, device=self.place)
        low = 0
        for part in self.mapping.parts(parts):
            high = low + len(part.points)
            found[into[low:high]] = part.exact[:, : self.columns].to(torch.float64)
            low = high
        return found


def _mapped(X: Any, family: Family, chunk: int) -> Any:
    """Return all points on this machine, mapped some at a time."""
    parts = slices(int(X.shape[0]), max(1, chunk // int(X.shape[1])))
    first = family.points(as_host(X[:1]))
    out = np.empty((int(X.shape[0]), first.shape[1]), first.dtype)
    for rows in parts:
        out[rows] = family.points(as_host(X[rows]))
    return out
