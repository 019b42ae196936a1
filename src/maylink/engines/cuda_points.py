"""The points of one data set on a GPU, and what kernels do with all of them at once.

Points lie in the order of the data. Those with links lie there, too, but the kernels leave them
alone: they are looked at in turn (:mod:`maylink.engines.cuda_round`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Array
from maylink.engines.cuda_centers import DeviceCenters, PointScale, copied, number_digits
from maylink.engines.rules import Rule
from maylink.engines.settings import CudaSettings
from maylink.engines.tile_shapes import (
    AT_ONCE,
    CENTERS,
    LOOP,
    REFINED,
    RESIDENT,
    TileShape,
    power_of_two,
    resident_shape,
    streamed_shape,
)
from maylink.errors import MaylinkError
from maylink.families.base import Family
from maylink.families.gaussian import Gaussian
from maylink.runtime.gpu import as_host, is_on_device, sent


class Glance(NamedTuple):
    """What one look at all points without links left, on the GPU."""

    after: Any  # (n,) labels
    movers: Any  # rows whose labels have changed, openers included
    openers: Any  # rows to which all centres are λ away


class LookTask(NamedTuple):
    """One look at all points."""

    centers: DeviceCenters
    before: Any
    after: Any
    rank: Any

    @property
    def counts(self) -> Any:
        """Numbers of points: in doubt, movers, openers, still in doubt, and three of bounds.

        Points that bounds leave: as listed; by all centres; by all but the fastest.
        """
        return self.centers.counts[:7]


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
        self.widths = _widths(self.stride)
        self.span = max(sum(self.widths), _ceil(self.stride, LOOP))
        cast = self.points.dtype == torch.float32
        scale = _power_below(float(self.largest[:-1].max(initial=0.0))) if cast else 1.0
        about = [float(self.columns), float(self.norm.max()), float(self.largest[-1]), scale]
        self.facts = PointScale(
            self.columns, self.stride, self.span, scale, sent(about, self.place),
            torch.float16 if cast else self.points.dtype, self.is_sure,
        )  # fmt: skip
        self.gap, self.own = torch.zeros((2, self.n), device=self.place)
        lists = torch.empty((5, self.n), dtype=torch.int32, device=self.place)
        self.doubts, self.doubts_left, self.movers, self.openers, self.unsettled = lists
        self.n_doubts = 0  # at the last look
        self._cut: tuple[Array, Any] | None = None
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
            if isinstance(part, np.ndarray) and not part.flags.writeable:
                part = part.copy()  # PyTorch takes no others
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
        if not np.isfinite(largest).all():
            raise MaylinkError(
                "device: X has values of more than 65504, the most that fp16 holds; "
                "give precision='bf16', or divide X by a constant"
            )

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
        values = as_host(self.exact[rows, : self.columns])  # NumPy has no bfloat16
        return values, self.potential[rows].cpu().numpy()

    def cutters(self, cut: Array) -> Any:
        """Return what cuts points for exact sums, on the GPU; the last is remembered."""
        import torch

        if self._cut is None or self._cut[0] is not cut:
            part = cut[:, : self.columns + 1].copy()
            self._cut = (cut, torch.as_tensor(part, device=self.place))
        return self._cut[1]

    # ------------------------------------------------------------------ nearest centres

    def centers(self, rule: Rule) -> DeviceCenters:
        """Copy centres to the GPU."""
        return copied(rule, self.facts, self.place)

    def look(self, centers: DeviceCenters, before: Any, rank: Any = None) -> LookTask:
        """Let every point without links choose among the centres that are open to it.

        Parameters
        ----------
        centers : DeviceCenters
            The centres.
        before : tensor of shape (n,)
            Labels of before the sweep.
        rank : tensor of shape (n,), optional
            Turns of the points; needed once clusters have opened.
        """
        task = LookTask(centers, before, before.clone(), rank if centers.is_new else self.nobody)
        self.choose(task, listed=False)
        return task

    def choose(self, task: LookTask, *, listed: bool) -> None:
        """Let points without links choose: all, or those that bounds do not settle."""
        self._score(task, listed=listed)
        if self.is_sure:
            self._collect(task, self.doubts, 0)
            self._refine(task)
            self._collect(task, self.doubts_left, 3)
            self._decide(task)

    def glance(self, task: LookTask) -> Glance:
        """List the points whose labels a look has changed, and those that want to open."""
        task.counts[1:3].zero_()
        self.compare(task)
        self.n_doubts, n_movers, n_openers, *_ = task.counts.tolist()
        return Glance(task.after, self.movers[:n_movers], self.openers[:n_openers])

    def compare(self, task: LookTask) -> None:
        """List the points whose labels a look has changed, and those that want to open."""
        self._collect(task, None, 0)

    def wear(self, task: LookTask, *, fast: bool) -> None:
        """List the points that bounds do not settle; let ``before`` be ``after``.

        Where ``fast``, the fastest centres are looked at by all points in place of their bounds.
        """
        from maylink.engines.cuda_kernels import nearest as kernels

        centers, block = task.centers, 1024
        grid, shape = (-(-self.n // block),), resident_shape(CENTERS * self.span, True)
        kernels.wear[grid](
            self.gap, self.own, self.norm, self.linked, task.before, task.after, centers.moves,
            centers.slow, centers.facts, self.unsettled, task.counts[4:], self.n, centers.size,
            RANKED=centers.n_fast > 0, FAST=fast, ROWS=block,
        )  # fmt: skip
        if not fast:
            return
        kernels.glimpse[(min(-(-self.n // shape.rows), shape.programs * self.processors),)](
            self.points, centers.fast_slopes, centers.fast_starts, centers.fast_of, self.norm,
            task.before, self.gap, self.own, self.n, centers.facts, self.facts.scale,
            STRIDE=self.stride, SPAN=self.span, ROWS=shape.rows, CENTERS=CENTERS,
            CAST=self.points.dtype != self.facts.form, SURE=self.is_sure, STAGES=shape.stages,
            **shape.options,
        )  # fmt: skip
        kernels.list_open[grid](
            self.gap, self.linked, task.before, self.unsettled, task.counts[4:], self.n, ROWS=block,
        )  # fmt: skip

    def _score(self, task: LookTask, *, listed: bool) -> None:
        """Score points by short products; choices that are not sure become doubts."""
        centers, scale = task.centers, self.facts.scale
        cast = self.points.dtype != self.facts.form
        fits = centers.padded * self.span <= RESIDENT and centers.padded // CENTERS in (1, 2, 4)
        if listed or centers.is_new or not fits or self.widths != (self.span, 0):
            shape = streamed_shape(self.stride)
            lists = (self.unsettled, task.counts[4:]) if listed else None
            slopes = (centers.slopes, centers.minus_c)
            self._nearest(task, shape, lists, slopes, centers.facts, scale, "tf32")
            return
        from maylink.engines.cuda_kernels.nearest import nearest_resident

        shape = resident_shape(centers.padded * self.span, not cast)
        options = shape.options | {"STAGES": shape.stages}
        tiles = -(-self.n // shape.rows)
        nearest_resident[(min(tiles, shape.programs * self.processors),)](
            self.points, centers.slopes, centers.starts, self.phi, self.norm, self.linked,
            task.after, self.gap, self.own, self.n, centers.facts, scale,
            STRIDE=self.stride, SPAN=self.span, ROWS=shape.rows, CENTERS=CENTERS,
            GROUPS=centers.padded // CENTERS, MASK=centers.padded - 1, CAST=cast,
            SURE=self.is_sure, RANKED=centers.n_fast > 0, **options,
        )  # fmt: skip

    def _refine(self, task: LookTask) -> None:
        """Score doubtful points in single precision; doubts that are left are few."""
        slopes = (task.centers.long_slopes, task.centers.minus_c[1])
        lists = (self.doubts, task.counts)
        facts = task.centers.facts[8:]
        self._nearest(task, REFINED, lists, slopes, facts, 1.0, "tf32x3", looped=True)

    def _nearest(
        self,
        task: LookTask,
        shape: TileShape,
        lists: Any,
        slopes: tuple[Any, Any],
        facts: Any,
        scale: float,
        products: str,
        looped: bool = False,
    ) -> None:
        """Score all points, or those of a list, against centres that are read tile by tile."""
        from maylink.engines.cuda_kernels.nearest import nearest

        centers = task.centers
        rows_of, size_of = lists or (self.nobody, self.nobody)
        looped = looped or self.stride > AT_ONCE
        wide, rest = (LOOP, 0) if looped else self.widths
        tiles = -(-self.n // shape.rows)
        nearest[(min(tiles, self.programs) if lists else tiles,)](
            self.points, *slopes, self.phi, self.norm, self.linked, task.after, self.gap,
            self.own, task.rank, centers.opened, rows_of, size_of, self.n, centers.padded,
            facts, scale, STRIDE=self.stride, SPAN=self.span, WIDE=wide,
            REST=rest, LOOPED=looped, ROWS=shape.rows, CENTERS=CENTERS,
            MASK=number_digits(centers.padded, looped) - 1, LISTED=lists is not None,
            CAST=slopes[0].dtype != self.points.dtype, SURE=self.is_sure, NEW=centers.is_new,
            RANKED=centers.n_fast > 0, PRECISION=products, **shape.options,
        )  # fmt: skip

    def _collect(self, task: LookTask, doubts: Any, counter: int) -> None:
        """List points in doubt; or, where no list is given for them, movers and openers."""
        from maylink.engines.cuda_kernels.nearest import collect

        block = 1024
        collect[(-(-self.n // block),)](
            task.before, task.after, self.linked, self.nobody if doubts is None else doubts,
            self.movers, self.openers, task.counts, counter, self.n, DOUBTS=doubts is not None,
            ROWS=block,
        )  # fmt: skip

    def _decide(self, task: LookTask, least: Any = None) -> None:
        """Let points that are still in doubt choose by exact scores; or find the least of all."""
        from maylink.engines.cuda_kernels.exact import exact

        listed, block, centers = least is None, 32, task.centers
        tiles = -(-self.n // block)
        exact[(min(tiles, self.programs) if listed else tiles,)](
            self.exact, centers.exact, centers.c, self.potential, task.rank, centers.opened,
            self.doubts_left, task.counts[3:], self.potential if least is None else least,
            task.after, self.gap, self.own, self.n, centers.size, centers.facts, STRIDE=self.stride,
            COLUMNS=self.columns, ROWS=block, CENTERS=min(32, power_of_two(centers.size)),
            NEW=centers.is_new, LISTED=listed, RANKED=centers.n_fast > 0, enable_fp_fusion=False,
        )  # fmt: skip

    def divergences(self, theta: Array, c: Array) -> Any:
        """Return the exact divergence of every point from the nearest of some centres."""
        import torch

        rule = Rule(theta, c, np.full(len(c), -1, np.int32), len(c), np.inf)
        none = self.nobody
        least = torch.empty(self.n, dtype=torch.float64, device=self.place)
        self._decide(LookTask(self.centers(rule), none, none, none), least)
        return least


def _centred(X: Any, family: Any) -> Any:
    """Map points that are on the GPU already, as the family does on this machine."""
    import torch

    if X.dtype in (torch.float16, torch.bfloat16):
        X = X.to(torch.float32)
    if family.offset is None or not family.offset.any():
        return X
    return X - torch.as_tensor(family.offset, device=X.device).to(X.dtype)


def _widths(stride: int) -> tuple[int, int]:
    """Return two powers of two, or one and nothing, that hold so many columns together."""
    whole = max(32, power_of_two(stride))
    wide = whole // 2
    if whole > 64 and stride <= wide + wide // 2:
        return wide, max(32, power_of_two(stride - wide))
    return whole, 0


def _ceil(size: int, unit: int) -> int:
    return -(-size // unit) * unit


def _power_below(reach: float) -> float:
    """Return the power of two that makes numbers up to ``reach`` as large as 2^8."""
    return float(2.0 ** (8 - np.frexp(reach)[1])) if reach > 0.0 else 1.0


def _processors(place: Any) -> int:
    import torch

    if place.type != "cuda":
        return 2
    return int(torch.cuda.get_device_properties(place).multi_processor_count)
