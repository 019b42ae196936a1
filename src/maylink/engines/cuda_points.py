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
from maylink.engines.totals import Totals
from maylink.families.base import Family
from maylink.families.gaussian import Gaussian
from maylink.runtime.gpu import as_host, is_on_device

UNIT = 2.0**-23  # of rounding on tensor cores, which cut digits off
CENTERS = 64  # centres that are scored together
OPENER, DOUBT = -1, -2  # labels, as in the kernels


class Glance(NamedTuple):
    """What one look at all points without links left: labels, and how many of which kind."""

    after: Any  # (n,) on the GPU
    n_changed: int
    openers: Any  # rows on the GPU


class DeviceCenters(NamedTuple):
    """Centres as the kernels take them."""

    theta: Any  # (padded, columns) in the form of the points
    minus_c: Any  # (padded,)
    theta_exact: Any  # (s, K) in double precision
    c_exact: Any  # (K,)
    opened: Any  # (padded,)
    size: int
    steepest: float  # the greatest ‖θ‖
    farthest: float  # the greatest |c|


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
        self.unranked = torch.zeros(1, dtype=torch.int32, device=self.place)

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
        wide, rest = _widths(self.stride)
        theta = torch.zeros((padded, wide + rest), dtype=self.points.dtype, device=self.place)
        exact = torch.as_tensor(np.ascontiguousarray(rule.theta), device=self.place)
        theta[:size, : self.columns] = exact.to(theta.dtype)
        minus_c = torch.full((padded,), -1e37, dtype=torch.float32, device=self.place)
        c = torch.as_tensor(np.ascontiguousarray(rule.c), device=self.place)
        minus_c[:size] = -c.to(torch.float32)
        opened = self.unranked
        if size > rule.n_old:
            opened = torch.full((padded,), 2**31 - 1, dtype=torch.int32, device=self.place)
            opened[:size] = torch.as_tensor(rule.opened.copy(), device=self.place)
        steepest = float(np.sqrt(np.square(rule.theta).sum(axis=1).max()))
        farthest = float(np.abs(rule.c).max())
        return DeviceCenters(
            theta, minus_c, exact.T.contiguous(), c, opened, size, steepest, farthest
        )

    def look(self, rule: Rule, before: Any, rank: Any, founders: Any) -> Glance:
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
        """
        import torch

        from maylink.engines import cuda_kernels as kernels

        centers, is_new = self.centers(rule), len(rule.c) > rule.n_old
        after = torch.empty_like(before)
        rows = 128
        tiles = _ceil(self.n, rows) // rows
        counts = torch.zeros((tiles, 4), dtype=torch.int32, device=self.place)
        turns = rank if is_new else self.unranked
        wide, rest = _widths(self.stride)
        slope, floor = self.margin(centers, rule.penalty)
        kernels.nearest[(tiles,)](
            self.points, centers.theta, centers.minus_c, self.phi, self.norm, self.linked, before,
            after, turns, centers.opened, counts, self.n, len(centers.minus_c),
            float(np.float32(rule.penalty)), slope, floor, STRIDE=self.stride, WIDE=wide, REST=rest,
            ROWS=rows, CENTERS=CENTERS, SURE=self.is_sure, NEW=is_new, PRECISION=self.products,
            num_warps=8,
        )  # fmt: skip
        _, _, n_doubts = self._counted(counts)
        if n_doubts:
            doubts = self._listed(before, after, counts[:, 2], DOUBT, n_doubts)
            self.decide(centers, rule, rank, doubts, after)
        if len(founders[0]):
            after[founders[0]] = founders[1]
        if n_doubts or len(founders[0]):
            counts = self._count_again(before, after, rows)
        n_changed, n_openers, _ = self._counted(counts)
        openers = self._listed(before, after, counts[:, 1], OPENER, n_openers)
        return Glance(after, n_changed, openers)

    @property
    def products(self) -> str:
        """How Triton multiplies numbers of single precision."""
        return "tf32x3" if self.is_sure else "tf32"

    def margin(self, centers: DeviceCenters, penalty: float) -> tuple[float, float]:
        """Return slope and floor of what a choice must win by to be that of exact scores.

        On tensor cores each product of single precision is made of three of fewer digits, off by
        3 · 2^-20 together; s additions of each cut off a digit each. The bound is taken twice.
        """
        slope = 2.0 * (3 * self.columns + 32) * UNIT * centers.steepest
        reach = float(self.largest[-1]) + (penalty if np.isfinite(penalty) else 0.0)
        floor = 2.0 * (3 * self.columns + 32) * UNIT * centers.farthest + 8.0 * UNIT * reach
        return slope, floor

    def decide(
        self, centers: DeviceCenters, rule: Rule, rank: Any, rows: Any, after: Any
    ) -> Any:
        """Let some points, or all where rows is None, choose by exact scores; return the least."""
        import torch

        from maylink.engines import cuda_kernels as kernels

        size = self.n if rows is None else len(rows)
        least = torch.empty(size, dtype=torch.float64, device=self.place)
        is_new = centers.size > rule.n_old
        block = 32
        kernels.exact[(_ceil(size, block) // block,)](
            self.exact, centers.theta_exact, centers.c_exact, self.potential,
            rank if is_new else self.unranked, centers.opened,
            self.unranked if rows is None else rows, size, least, after, centers.size,
            centers.size, self._double(rule.penalty), STRIDE=self.stride, COLUMNS=self.columns,
            ROWS=block, CENTERS=min(32, _power(centers.size)), NEW=is_new, ALL=rows is None,
            enable_fp_fusion=False,
        )  # fmt: skip
        return least

    def _double(self, value: float) -> Any:
        """Return a number as a tensor: as an argument of a kernel it would lose digits."""
        import torch

        return torch.tensor([value], dtype=torch.float64, device=self.place)

    def divergences(self, theta: Array, c: Array) -> Any:
        """Return the exact divergence of every point from the nearest of some centres."""
        import torch

        none = np.full(len(c), -1, np.int32)
        rule = Rule(theta, c, none, len(c), np.inf)
        after = torch.empty(self.n, dtype=torch.int32, device=self.place)
        return self.decide(self.centers(rule), rule, None, None, after)

    def _counted(self, counts: Any) -> tuple[int, int, int]:
        changed, openers, doubts, _ = counts.sum(dim=0).tolist()
        return int(changed), int(openers), int(doubts)

    def _count_again(self, before: Any, after: Any, rows: int) -> Any:
        import torch

        free = self.linked == 0
        kinds = torch.stack([after != before, (after == OPENER) & free], dim=1).to(torch.int32)
        filled = torch.zeros((_ceil(self.n, rows), 4), dtype=torch.int32, device=self.place)
        filled[: self.n, :2] = kinds
        return filled.view(-1, rows, 4).sum(dim=1, dtype=torch.int32)

    def _listed(self, before: Any, after: Any, counts: Any, wanted: int, size: int) -> Any:
        """Return the rows of one kind, of which there are so many in each tile."""
        import torch

        from maylink.engines import cuda_kernels as kernels

        out = torch.empty(size, dtype=torch.int32, device=self.place)
        if size:
            ends = counts.cumsum(dim=0, dtype=torch.int32)
            kernels.listed[(len(counts),)](
                before, after, self.linked, ends - counts, out, self.n, WANTED=wanted, ROWS=128
            )
        return out

    # ------------------------------------------------------------------ sums

    def moved(self, before: Any, after: Any, n_changed: int, n_clusters: int, cut: Array) -> Totals:
        """Return how the sums change when points without links change their labels."""
        import torch

        from maylink.engines import cuda_kernels as kernels

        if n_changed > self.settings.sort_from * self.n:
            old = self.totals(before, n_clusters, cut)
            new = self.totals(after, n_clusters, cut)
            return Totals(*(b - a for a, b in zip(old, new, strict=True)))
        high, low, sizes = self._sums(n_clusters)
        if n_changed:
            changed = (after != before) & (self.linked == 0)
            rows = torch.nonzero(changed).ravel().to(torch.int32)
            block = 8
            kernels.transfer[(_ceil(len(rows), block) // block,)](
                self.exact, self.potential, self._cutters(cut), rows, len(rows), before, after,
                high, low, sizes, STRIDE=self.stride, COLUMNS=self.columns,
                BLOCK=min(128, _power(self.columns + 1)), ROWS=block,
            )  # fmt: skip
        return _totals(high, low, sizes)

    def totals(self, labels: Any, n_clusters: int, cut: Array) -> Totals:
        """Return the sums of all points without links; those with label −1 count nowhere."""
        import torch

        from maylink.engines import cuda_kernels as kernels

        high, low, sizes = self._sums(n_clusters)
        free = torch.where(self.linked == 0, labels, -1)
        in_order, rows = torch.sort(free)
        nowhere = int((free < 0).sum())
        in_order, rows = in_order[nowhere:], rows[nowhere:].to(torch.int32)
        if len(rows):
            sizes = torch.bincount(in_order, minlength=n_clusters).to(torch.int32)
            block, steps, columns = 16, 16, min(64, _power(self.columns + 1))
            per_program = block * steps
            grid = (_ceil(len(rows), per_program) // per_program, -(-(self.columns + 1) // columns))
            kernels.add_sorted[grid](
                self.exact, self.potential, self._cutters(cut), rows, in_order, len(rows), high,
                low, STRIDE=self.stride, COLUMNS=self.columns, BLOCK=columns, ROWS=block,
                STEPS=steps,
            )  # fmt: skip
        return _totals(high, low, sizes)

    def _sums(self, n_clusters: int) -> tuple[Any, Any, Any]:
        import torch

        shape = (n_clusters, self.columns + 1)
        high = torch.zeros(shape, dtype=torch.float64, device=self.place)
        sizes = torch.zeros(n_clusters, dtype=torch.int32, device=self.place)
        return high, torch.zeros_like(high), sizes

    def _cutters(self, cut: Array) -> Any:
        import torch

        return torch.as_tensor(
            np.ascontiguousarray(cut[:, : self.columns + 1]), device=self.place
        )


def _centred(X: Any, family: Gaussian) -> Any:
    """Map points that are on the GPU already, as the family does on this machine."""
    import torch

    if family.offset is None or not family.offset.any():
        return X
    return X - torch.as_tensor(family.offset, device=X.device).to(X.dtype)


def _totals(high: Any, low: Any, sizes: Any) -> Totals:
    size: Index = sizes.cpu().numpy().astype(np.int64)
    return Totals(high.cpu().numpy(), low.cpu().numpy(), size)


def _widths(stride: int) -> tuple[int, int]:
    """Return two powers of two, or one and nothing, that hold so many columns together."""
    whole = max(16, _power(stride))
    wide = whole // 2
    if whole > 32 and stride <= wide + wide // 2:
        return wide, max(16, _power(stride - wide))
    return whole, 0


def _power(size: int) -> int:
    """Return the least power of two that is not smaller."""
    return 1 << max(0, int(size) - 1).bit_length()


def _ceil(size: int, unit: int) -> int:
    return -(-size // unit) * unit
