"""The points of one data set on a GPU, and what kernels do with all of them at once.

Points lie in the order of the data. Those with links lie there, too, but the kernels leave them
alone: they are looked at in turn (:mod:`maylink.engines.cuda_round`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Array, Index
from maylink.engines.rules import Rule
from maylink.engines.settings import CudaSettings
from maylink.engines.tile_shapes import CENTERS, LOOP, TileShape, TileShapes, power_of_two
from maylink.families.base import Family
from maylink.families.gaussian import Gaussian
from maylink.runtime.gpu import as_host, is_on_device

UNIT = 2.0**-23  # of rounding on tensor cores, which cut digits off
RESIDENT = 32_768  # numbers of all centres up to which these stay where they are scored
AT_ONCE = 512  # columns up to which a tile of points is loaded once
MOSTLY = 0.7  # share of the points from which on to list them for a look costs more than it saves


class Glance(NamedTuple):
    """What one look at all points without links left, on the GPU."""

    after: Any  # (n,) labels
    movers: Any  # rows whose labels have changed, openers included
    openers: Any  # rows to which all centres are λ away


class DeviceCenters(NamedTuple):
    """Centres as the kernels take them."""

    theta: Any  # (padded, columns), in double precision
    minus_c: Any  # (padded,)
    theta_exact: Any  # (s, K) in double precision
    c_exact: Any  # (K,)
    opened: Any  # (padded,)
    size: int
    scale: float  # a power of two that makes θ as large as short numbers may be
    reach: float  # the greatest |θ| of a feature
    steepest: float  # the greatest ‖θ‖
    farthest: float  # the greatest |c|


class LookTask(NamedTuple):
    """One look at all points."""

    rule: Rule
    centers: DeviceCenters
    before: Any
    after: Any
    rank: Any
    counts: Any  # (5,) doubts, movers, openers, doubts that are left, points that bounds leave


class DevicePoints:
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

        self.settings = settings
        self.place = torch.device(settings.place)
        self.n = int(X.shape[0])
        self.is_sure = settings.precision == "exact"
        self._load(X, family)
        self.norm = self._norms()
        self.phi = self.potential.to(torch.float32)
        self.linked = torch.as_tensor(linked, dtype=torch.uint8, device=self.place)
        self.nobody = torch.zeros(1, dtype=torch.int32, device=self.place)
        self.shapes = TileShapes()
        self.widths = _widths(self.stride)
        self.span = max(sum(self.widths), _ceil(self.stride, LOOP))
        self.scale = _power_below(float(self.largest[:-1].max(initial=0.0)))
        self.gap = torch.empty(self.n, dtype=torch.float32, device=self.place)
        lists = torch.empty((5, self.n), dtype=torch.int32, device=self.place)
        self.doubts, self.doubts_left, self.movers, self.openers, self.unsettled = lists
        self.n_doubts = self.n_moved = self.n_unsettled = 0  # at the last look
        self.forget()
        self.processors = _processors(self.place)
        self.programs = 16 * self.processors

    # ------------------------------------------------------------------ laying out

    def _load(self, X: Any, family: Family) -> None:
        """Map the points, some at a time, and copy them to the GPU."""
        import torch

        d = int(X.shape[1])
        on_device = is_on_device(X) and type(family) is Gaussian and family.tails is None
        first = family.points(as_host(X[:1]))
        self.columns = int(first.shape[1])
        sort = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(self.settings.storage)
        double = first.dtype == np.float64 and sort is None
        self.stride = _ceil(self.columns, 16 // (2 if sort else 4))
        shape = (self.n, self.stride)
        self.points = torch.zeros(shape, dtype=sort or torch.float32, device=self.place)
        self.exact = self.points
        if double and self.is_sure:
            self.exact = torch.zeros(shape, dtype=torch.float64, device=self.place)
        self.potential = torch.empty(self.n, dtype=torch.float64, device=self.place)
        largest = np.zeros(self.columns + 1)
        step = max(1, self.settings.chunk // max(d, self.columns))
        for low in range(0, self.n, step):
            rows = slice(low, min(low + step, self.n))
            part = _centred(X[rows], family) if on_device else family.points(as_host(X[rows]))
            T = torch.as_tensor(part, device=self.place)
            self.points[rows, : self.columns] = T.to(self.points.dtype)
            if self.exact is not self.points:
                self.exact[rows, : self.columns] = T
            T = self.exact[rows, : self.columns]
            if on_device or sort is not None:
                wide = T.to(torch.float64)
                phi = (wide * wide).sum(dim=1) if on_device else None
                if phi is None:
                    phi = torch.as_tensor(family.potential(as_host(wide)), device=self.place)
            else:
                phi = torch.as_tensor(family.potential(part), device=self.place)
            self.potential[rows] = phi
            reach = T.abs().amax(dim=0).to(torch.float64).cpu().numpy()
            largest = np.maximum(largest, np.append(reach, float(phi.abs().max())))
        self.largest: Array = largest

    def _norms(self) -> Any:
        """Return ‖t‖ of each point, rounded up."""
        import torch

        norm = torch.empty(self.n, dtype=torch.float32, device=self.place)
        step = max(1, self.settings.chunk // self.stride)
        for low in range(0, self.n, step):
            part = self.exact[low : low + step].to(torch.float64)
            norm[low : low + step] = (part * part).sum(dim=1).sqrt() * (1.0 + 1e-6)
        return norm

    def rows(self, rows: Any) -> tuple[Any, Array]:
        """Return some mapped points, and their φ, on this machine."""
        return (
            self.exact[rows, : self.columns].cpu().numpy(),
            self.potential[rows].cpu().numpy(),
        )

    # ------------------------------------------------------------------ nearest centres

    def centers(self, rule: Rule) -> DeviceCenters:
        """Copy centres to the GPU, in the form of the points and in double precision."""
        import torch

        size = len(rule.c)
        padded = _ceil(size, CENTERS)
        if padded * self.span <= RESIDENT:
            padded = max(CENTERS, power_of_two(size))
        exact = torch.as_tensor(np.ascontiguousarray(rule.theta), device=self.place)
        c = torch.as_tensor(np.ascontiguousarray(rule.c), device=self.place)
        reach = float(np.abs(rule.theta).max(initial=0.0))
        scale = 1.0 if self.points.dtype == torch.bfloat16 else _power_below(reach)
        opened = self.nobody
        if size > rule.n_old:
            opened = torch.full((padded,), 2**31 - 1, dtype=torch.int32, device=self.place)
            opened[:size] = torch.as_tensor(rule.opened.copy(), device=self.place)
        theta = torch.zeros((padded, self.span), dtype=torch.float64, device=self.place)
        theta[:size, : self.columns] = exact
        minus_c = torch.full((padded,), -1e37, dtype=torch.float32, device=self.place)
        minus_c[:size] = -c
        steepest = float(np.sqrt(np.square(rule.theta).sum(axis=1).max(initial=0.0)))
        farthest = float(np.abs(rule.c).max(initial=0.0))
        return DeviceCenters(
            theta, minus_c, exact.T.contiguous(), c, opened, size, scale, reach, steepest, farthest
        )

    def look(self, rule: Rule, before: Any, rank: Any, founders: Any, moves: Any = None) -> Glance:
        """Let every point without links choose among the centres that are open to it.

        Parameters
        ----------
        rule : Rule
            The centres.
        before : tensor of shape (n,)
            Labels of before the sweep.
        rank : tensor of shape (n,), or None
            Turns of the points; needed once clusters have opened.
        founders : (rows, labels)
            Points without links that have opened a cluster: no centre says their labels.
        moves : Moves, optional
            How far centres have moved since the last look, where that was at these labels.
        """
        import torch

        centers, after = self.centers(rule), torch.empty_like(before)
        counts = torch.zeros(5, dtype=torch.int32, device=self.place)
        turns = rank if centers.size > rule.n_old else self.nobody
        task = LookTask(rule, centers, before, after, turns, counts)
        bounded = moves is not None and self.n_moved < self.in_vain
        if bounded:
            self._wear(task, moves)
        self._score(task, listed=bounded)
        if self.is_sure:
            self._refine(task)
            self._decide(task)
        founder_rows, founder_labels = founders
        if len(founder_rows):
            after[founder_rows] = founder_labels
        self.n_doubts, n_moved, n_openers, _, self.n_unsettled = counts.tolist()
        self.n_moved = n_moved
        if bounded:
            self.in_vain = n_moved / 2 if self.n_unsettled > MOSTLY * self.n else np.inf
        movers = self.movers[:n_moved]
        openers = self.openers[:n_openers]
        if len(founder_rows) and n_openers:
            openers = openers[~torch.isin(openers, founder_rows.to(torch.int32))]
        return Glance(after, movers, openers)

    def _wear(self, task: LookTask, moves: Any) -> None:
        """List the points that bounds do not settle."""
        import torch

        from maylink.engines.cuda_kernels import nearest as kernels

        drift, shift = (
            torch.as_tensor(part.astype(np.float32) * np.float32(1.00001), device=self.place)
            for part in moves
        )
        block = 1024
        kernels.wear[(-(-self.n // block),)](
            self.gap, self.norm, self.linked, task.before, task.after, drift, shift,
            float(moves.drift.max()), float(moves.shift.max()), self.unsettled, task.counts[4:],
            self.n, ROWS=block,
        )  # fmt: skip

    def _score(self, task: LookTask, *, listed: bool) -> None:
        """Score points by short products; choices that are not sure become doubts."""
        import torch

        cast = self.points.dtype == torch.float32
        margin = self.margin(task, 1.01 * 2.0**-10) if self.is_sure else (0.0, 0.0)
        scale = self.scale if cast else 1.0
        form = torch.float16 if cast else self.points.dtype
        if self._can_stay(task, listed):
            self._nearest_resident(task, margin, scale, form)
            return
        shape = self.shapes.streamed
        lists = (self.unsettled, task.counts[4:], self.doubts)
        self._nearest(
            task, shape, lists, 0, margin, scale, task.centers.scale, form, listed, "tf32"
        )

    def _can_stay(self, task: LookTask, listed: bool) -> bool:
        """Whether all centres have room where they are scored."""
        padded = len(task.centers.minus_c)
        fits = padded * self.span <= RESIDENT and padded // CENTERS in (1, 2, 4)
        is_new = task.centers.size > task.rule.n_old
        return fits and self.widths == (self.span, 0) and not listed and not is_new

    def _nearest_resident(self, task: LookTask, margin: Any, scale: float, form: Any) -> None:
        from maylink.engines.cuda_kernels import nearest as kernels

        centers, shape = task.centers, self.shapes.resident
        unit, padded = 1.0 / (scale * centers.scale), len(centers.minus_c)
        room = 2 if padded * self.span > RESIDENT // 2 else 3
        kernels.nearest_resident[(min(-(-self.n // shape.rows), room * self.processors),)](
            self.points, (centers.theta * centers.scale).to(form), centers.minus_c * (1.0 / unit),
            self.phi, self.norm, self.linked, task.before, task.after, self.gap, self.doubts,
            self.movers, self.openers, task.counts, self.n,
            float(np.float32(task.rule.penalty)), *margin, scale, unit, STRIDE=self.stride,
            SPAN=self.span, ROWS=shape.rows, CENTERS=CENTERS, GROUPS=padded // CENTERS,
            MASK=power_of_two(padded) - 1, CAST=form != self.points.dtype, SURE=self.is_sure,
            STAGES=shape.stages, num_warps=shape.warps,
        )  # fmt: skip

    def _refine(self, task: LookTask) -> None:
        """Score doubtful points in single precision; doubts that are left are few."""
        import torch

        # Each product of single precision is made of three short ones, off by 3 · 2^-20 together.
        margin = self.margin(task, 3.0 * 2.0**-20)
        lists = (self.doubts, task.counts, self.doubts_left)
        self._nearest(
            task, self.shapes.refined, lists, 3, margin, 1.0, 1.0, torch.float32, True, "tf32x3"
        )

    def _nearest(
        self, task: LookTask, shape: TileShape, lists: Any, counter: int, margin: Any,
        scale: float, theta_scale: float, form: Any, listed: bool, products: str,
    ) -> None:  # fmt: skip
        from maylink.engines.cuda_kernels import nearest as kernels

        centers, unit = task.centers, 1.0 / (scale * theta_scale)
        cast = form != self.points.dtype
        rows_of, size_of, doubts = lists
        padded, looped = len(centers.minus_c), shape.looped or self.stride > AT_ONCE
        wide, rest = (LOOP, 0) if looped else self.widths
        tiles = -(-self.n // shape.rows)
        kernels.nearest[(min(tiles, self.programs) if listed else tiles,)](
            self.points, (centers.theta * theta_scale).to(form), centers.minus_c * (1.0 / unit),
            self.phi, self.norm, self.linked, task.before, task.after, self.gap, task.rank,
            centers.opened, rows_of, size_of, doubts, self.movers, self.openers, task.counts,
            counter, self.n, padded, float(np.float32(task.rule.penalty)), *margin, scale, unit,
            STRIDE=self.stride, SPAN=self.span, WIDE=wide, REST=rest, LOOPED=looped,
            ROWS=shape.rows, CENTERS=CENTERS, MASK=power_of_two(padded) - 1, LISTED=listed,
            CAST=cast, SURE=self.is_sure, NEW=centers.size > task.rule.n_old, PRECISION=products,
            num_warps=shape.warps, num_stages=shape.stages,
        )  # fmt: skip

    def margin(self, task: LookTask, products: float) -> tuple[float, float]:
        """Return slope and floor of what a choice must win by to be that of exact scores.

        Products are off by the given share; each addition on tensor cores cuts off a digit; the
        last digits hold the number of the centre.
        """
        centers, penalty = task.centers, task.rule.penalty
        digits = 2 * power_of_two(len(centers.minus_c))
        added = (3 * self.columns + 32 + digits) * UNIT
        reach = float(self.largest[-1]) + (penalty if np.isfinite(penalty) else 0.0)
        smallest = 4.0 * self.columns * 2.0**-40 * float(self.largest[:-1].max(initial=0.0))
        floor = 2.0 * added * centers.farthest + 8.0 * UNIT * reach + smallest * centers.reach
        return 2.0 * (products + added) * centers.steepest, floor

    def _decide(self, task: LookTask, least: Any = None) -> None:
        """Let points that are still in doubt choose by exact scores; or find the least of all."""
        import torch

        from maylink.engines.cuda_kernels import exact as kernels

        listed, block, centers = least is None, 32, task.centers
        tiles = -(-self.n // block)
        penalty = torch.tensor([task.rule.penalty], dtype=torch.float64, device=self.place)
        kernels.exact[(min(tiles, self.programs) if listed else tiles,)](
            self.exact, centers.theta_exact, centers.c_exact, self.potential, task.rank,
            centers.opened, self.doubts_left, task.counts[3:], least if least is not None else
            self.potential, task.before, task.after, self.gap, self.movers, self.openers,
            task.counts, self.n, centers.size, penalty, STRIDE=self.stride, COLUMNS=self.columns,
            ROWS=block, CENTERS=min(32, power_of_two(centers.size)), NEW=centers.size > task.rule.n_old,
            LISTED=listed, enable_fp_fusion=False,
        )  # fmt: skip

    def divergences(self, theta: Array, c: Array) -> Any:
        """Return the exact divergence of every point from the nearest of some centres."""
        import torch

        rule = Rule(theta, c, np.full(len(c), -1, np.int32), len(c), np.inf)
        none = self.nobody
        least = torch.empty(self.n, dtype=torch.float64, device=self.place)
        self._decide(LookTask(rule, self.centers(rule), none, none, none, none.repeat(5)), least)
        return least

    def forget(self) -> None:
        """Forget what looks have learnt about bounds."""
        self.in_vain: float = np.inf


def _centred(X: Any, family: Gaussian) -> Any:
    """Map points that are on the GPU already, as the family does on this machine."""
    import torch

    if family.offset is None or not family.offset.any():
        return X
    return X - torch.as_tensor(family.offset, device=X.device).to(X.dtype)


def _widths(stride: int) -> tuple[int, int]:
    """Return two powers of two, or one and nothing, that hold so many columns together."""
    whole = max(16, power_of_two(stride))
    wide = whole // 2
    if whole > 32 and stride <= wide + wide // 2:
        return wide, max(16, power_of_two(stride - wide))
    return whole, 0


def _ceil(size: int, unit: int) -> int:
    return -(-size // unit) * unit


def _power_below(reach: float) -> float:
    """Return the power of two that makes numbers up to ``reach`` as large as half a short one."""
    if reach <= 0.0:
        return 1.0
    return float(2.0 ** (14 - np.frexp(reach)[1]))


def _processors(place: Any) -> int:
    import torch

    if place.type != "cuda":
        return 2
    return int(torch.cuda.get_device_properties(place).multi_processor_count)
