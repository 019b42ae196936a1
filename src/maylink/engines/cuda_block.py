"""Points that lie on a GPU together, and what kernels do with all of them at once.

Points lie in the order of the data. Those with links lie there, too, but the kernels leave them
alone: they are looked at in turn (:mod:`maylink.engines.cuda_round`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Array
from maylink.engines.cuda_centers import DeviceCenters, PointScale, copied, number_digits
from maylink.engines.rules import Rule
from maylink.engines.tile_shapes import (
    AT_ONCE,
    CENTERS,
    LOOP,
    REFINED,
    RESIDENT,
    TileShape,
    glimpse_shape,
    power_of_two,
    resident_shape,
    streamed_shape,
)


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

    def part(self, rows: Any) -> LookTask:
        """Return the look of some points; labels of a slice are written in place."""
        rank = self.rank[rows] if self.centers.is_new else self.rank
        return self._replace(before=self.before[rows], after=self.after[rows], rank=rank)


class PointState(NamedTuple):
    """What the GPU keeps of every point, wherever its values are."""

    potential: Any  # φ in double precision
    phi: Any  # φ
    norm: Any  # ‖t‖, rounded up
    linked: Any  # whether it has links
    gap: Any  # by how much the last choice was won
    own: Any  # the score of the chosen centre, at the least

    def part(self, rows: Any) -> PointState:
        """Return that of some points: in place for a slice, a copy for a list."""
        return PointState(*(column[rows] for column in self))


class PointBlock:
    """Points on a GPU that kernels look at together.

    Parameters
    ----------
    facts : PointScale
        What all points are like.
    points, exact : tensors of shape (n, stride)
        The points as they are scored, and as they are where rounding might decide; zeros behind.
    state : PointState
        What is kept of each.
    lists : tensor of shape (5, n)
        Room for lists of points.
    short : tensor of shape (n, stride), optional
        The points as short products take them; where there are none, kernels make them shorter.
    """

    def __init__(
        self,
        facts: PointScale,
        points: Any,
        exact: Any,
        state: PointState,
        lists: Any,
        short: Any = None,
    ) -> None:
        import torch

        self.facts, self.points, self.exact = facts, points, exact
        self.short = points if short is None else short
        self.state = state
        self.potential, self.phi, self.norm, self.linked, self.gap, self.own = state
        self.place, self.n = state.potential.device, len(state.potential)
        self.columns, self.stride, self.span = facts.columns, facts.stride, facts.span
        self.is_sure = facts.is_sure
        self.widths = widths(self.stride)
        self.doubts, self.doubts_left, self.movers, self.openers, self.unsettled = lists
        self.nobody = torch.zeros(1, dtype=torch.int32, device=self.place)
        self.n_doubts = 0  # at the last look
        self._cut: tuple[Array, Any] | None = None
        self.processors = _processors(self.place)
        self.programs = 16 * self.processors

    def blocks(self, rows: Any = None) -> Iterator[tuple[Any, Any, PointBlock]]:
        """Yield points in blocks, of all rows or of a list of them on the GPU.

        Yields
        ------
        rows, inside, block
            Which rows, where these are in the block (None where they are all of it), and the block.
        """
        yield (slice(None), None, self) if rows is None else (rows, rows, self)

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

    def choose(self, task: LookTask, *, listed: bool, gauged: bool = True) -> None:
        """Let points without links choose: all, or those that bounds do not settle.

        Where not ``gauged``, nobody finds by how much choices are won, which bounds need.
        """
        self._score(task, listed=listed, gauged=gauged)
        if self.is_sure:
            lists = (self.unsettled, task.counts[4:]) if listed else None
            self._collect(task, self.doubts, 0, lists)
            self._refine(task)
            self._collect(task, self.doubts_left, 3, (self.doubts, task.counts))
            self._decide(task)

    def glance(self, task: LookTask) -> Glance:
        """List the points whose labels a look has changed, and those that want to open."""
        task.counts[1:3].zero_()
        self.compare(task)
        self.n_doubts, n_movers, n_openers, *_ = task.counts.tolist()
        return Glance(task.after, self.movers[:n_movers], self.openers[:n_openers])

    def compare(self, task: LookTask, rows: tuple[Any, Any] | None = None) -> None:
        """List the points whose labels a look has changed, and those that want to open.

        Parameters
        ----------
        task : LookTask
            The look.
        rows : tuple of tensors, optional
            Which points can have changed, and how many of the list are meant; all by default.
        """
        self._collect(task, None, 0, rows)

    def wear(self, task: LookTask, *, fast: bool) -> None:
        """List the points that bounds do not settle; let ``before`` be ``after``.

        Where ``fast``, the fastest centres are looked at by all points in place of their bounds.
        """
        from maylink.engines.cuda_kernels import nearest as kernels

        centers, block = task.centers, 1024
        grid = (-(-self.n // block),)
        kernels.wear[grid](
            self.gap, self.own, self.norm, self.linked, task.before, task.after, centers.moves,
            centers.slow, centers.facts, self.unsettled, task.counts[4:], self.n, centers.size,
            RANKED=centers.n_fast > 0, FAST=fast, ROWS=block,
        )  # fmt: skip
        if not fast:
            return
        cast = self.short.dtype != self.facts.form
        shape = glimpse_shape(self.span, not cast)
        kernels.glimpse[(min(-(-self.n // shape.rows), shape.programs * self.processors),)](
            self.short, centers.fast_slopes, centers.fast_starts, centers.fast_of, self.norm,
            task.before, self.gap, self.own, self.n, centers.facts, self.facts.scale,
            STRIDE=self.stride, SPAN=self.span, ROWS=shape.rows, CENTERS=CENTERS,
            CAST=cast, SURE=self.is_sure, STAGES=shape.stages, **shape.options,
        )  # fmt: skip
        kernels.list_open[grid](self.gap, self.unsettled, task.counts[4:], self.n, ROWS=block)

    def _score(self, task: LookTask, *, listed: bool, gauged: bool = True) -> None:
        """Score points by short products; choices that are not sure become doubts."""
        centers, scale = task.centers, self.facts.scale
        cast = self.short.dtype != self.facts.form
        lists = (self.unsettled, task.counts[4:]) if listed else None
        fits = centers.padded * self.span <= RESIDENT and centers.padded // CENTERS in (1, 2, 4)
        if centers.is_new or not fits or self.widths != (self.span, 0):
            shape = streamed_shape(self.stride, gauged)
            slopes = (centers.slopes, centers.minus_c)
            self._nearest(
                task, shape, self.short, lists, slopes, centers.facts, scale, "tf32", gauged=gauged
            )
            return
        from maylink.engines.cuda_kernels.nearest import nearest_resident

        shape = resident_shape(centers.padded * self.span, not cast)
        options = shape.options | {"STAGES": shape.stages}
        tiles = -(-self.n // shape.rows)
        rows_of, size_of = lists or (self.nobody, self.nobody)
        nearest_resident[(min(tiles, shape.programs * self.processors),)](
            self.short, centers.slopes, centers.starts, self.phi, self.norm, self.linked,
            task.after, self.gap, self.own, rows_of, size_of, self.n, centers.facts, scale,
            STRIDE=self.stride, SPAN=self.span, ROWS=shape.rows, CENTERS=CENTERS,
            GROUPS=centers.padded // CENTERS, MASK=centers.padded - 1, LISTED=listed, CAST=cast,
            SURE=self.is_sure, RANKED=centers.n_fast > 0, GAUGED=gauged, **options,
        )  # fmt: skip

    def _refine(self, task: LookTask) -> None:
        """Score doubtful points in single precision; doubts that are left are few."""
        slopes = (task.centers.long_slopes, task.centers.minus_c[1])
        lists = (self.doubts, task.counts)
        facts = task.centers.facts[8:]
        self._nearest(task, REFINED, self.points, lists, slopes, facts, 1.0, "tf32x3", looped=True)

    def _nearest(
        self,
        task: LookTask,
        shape: TileShape,
        points: Any,
        lists: Any,
        slopes: tuple[Any, Any],
        facts: Any,
        scale: float,
        products: str,
        *,
        looped: bool = False,
        gauged: bool = True,
    ) -> None:
        """Score all points, or those of a list, against centres that are read tile by tile."""
        from maylink.engines.cuda_kernels.nearest import nearest

        centers = task.centers
        rows_of, size_of = lists or (self.nobody, self.nobody)
        looped = looped or self.stride > AT_ONCE
        wide, rest = (LOOP, 0) if looped else self.widths
        tiles = -(-self.n // shape.rows)
        nearest[(min(tiles, self.programs) if lists else tiles,)](
            points, *slopes, self.phi, self.norm, self.linked, task.after,
            self.gap, self.own, task.rank, centers.opened, rows_of, size_of, self.n,
            centers.padded, facts, scale, STRIDE=self.stride, SPAN=self.span, WIDE=wide,
            REST=rest, LOOPED=looped, ROWS=shape.rows, CENTERS=CENTERS,
            MASK=number_digits(centers.padded, looped) - 1, LISTED=lists is not None,
            CAST=slopes[0].dtype != points.dtype, SURE=self.is_sure, NEW=centers.is_new,
            RANKED=centers.n_fast > 0, GAUGED=gauged, PRECISION=products, **shape.options,
        )  # fmt: skip

    def _collect(
        self, task: LookTask, doubts: Any, counter: int, rows: tuple[Any, Any] | None = None
    ) -> None:
        """List points in doubt; or, where no list is given for them, movers and openers.

        All points are asked, or some of them: a list, and how many of it are meant.
        """
        from maylink.engines.cuda_kernels.nearest import collect

        block = 1024 if rows is None else 256
        blocks = -(-self.n // block)
        rows_of, size_of = rows or (self.nobody, self.nobody)
        collect[(blocks if rows is None else min(blocks, self.programs // 2),)](
            task.before, task.after, self.linked, self.nobody if doubts is None else doubts,
            self.movers, self.openers, task.counts, counter, rows_of, size_of, self.n,
            DOUBTS=doubts is not None, LISTED=rows is not None, ROWS=block,
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
        task = LookTask(self.centers(rule), none, none, none)
        least = torch.empty(self.n, dtype=torch.float64, device=self.place)
        for rows, _, block in self.blocks():
            block._decide(task, least[rows])
        return least


def widths(stride: int) -> tuple[int, int]:
    """Return two powers of two, or one and nothing, that hold so many columns together."""
    whole = max(32, power_of_two(stride))
    wide = whole // 2
    if whole > 64 and stride <= wide + wide // 2:
        return wide, max(32, power_of_two(stride - wide))
    return whole, 0


@cache
def _processors(place: Any) -> int:
    import torch

    if place.type != "cuda":
        return 2
    return int(torch.cuda.get_device_properties(place).multi_processor_count)
