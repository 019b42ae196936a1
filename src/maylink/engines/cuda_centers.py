"""Centres on a GPU, in the forms in which the kernels take them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maylink.engines.rules import Rule
from maylink.engines.tile_shapes import AT_ONCE, CENTERS, RESIDENT, power_of_two

PARTS = (256.0, 0.125, 2.0**-14)
"""Factors of the three short numbers whose sum is −c: each holds what the one before leaves over.
Where centres only fill up, 13 more numbers of −65504 each, times 256, put them far away."""

COUNTS = 32  # whole numbers that a sweep tells; see judge in cuda_kernels/centers.py


class PointScale(NamedTuple):
    """What centres must know of the points."""

    columns: int
    stride: int  # columns that a point has in memory
    span: int  # columns that the kernels want
    scale: float  # by which points are multiplied before they are made shorter
    constants: Any  # (4,) columns, the greatest ‖t‖ and |φ|, and the scale, on the GPU
    form: Any  # the short numbers
    is_sure: bool  # whether doubts are scored in single precision


class DeviceCenters:
    """Room for the centres of a look; what is in it changes with the sweeps.

    Parameters
    ----------
    points : PointScale
        What the points are like.
    n_clusters : int
        How many centres there are.
    place : torch.device
        The GPU.
    """

    def __init__(self, points: PointScale, n_clusters: int, place: Any) -> None:
        import torch

        self.points, self.size, self.place = points, n_clusters, place
        s, span = points.columns, points.span
        padded = -(-n_clusters // CENTERS) * CENTERS
        if padded * span <= RESIDENT:
            padded = max(CENTERS, power_of_two(n_clusters))
        self.padded = padded
        double = {"dtype": torch.float64, "device": place}
        self.exact = torch.empty((s, n_clusters), **double)  # θ of the last look
        self.c = torch.empty(n_clusters, **double)
        self.next = torch.empty_like(self.exact), torch.empty_like(self.c)  # of the next one
        self.moves = torch.zeros((3, n_clusters), device=place)  # ‖θ‖, ‖Δθ‖ and |Δc|
        self.facts = torch.empty(24, **double)
        self.counts = torch.empty(COUNTS, dtype=torch.int32, device=place)
        self.slopes = torch.empty((padded, span), dtype=points.form, device=place)
        self.long_slopes = torch.empty((padded, span if points.is_sure else 1), device=place)
        self.starts = torch.empty((padded, 16), dtype=points.form, device=place)
        self.minus_c = torch.empty((2, padded), device=place)
        # What the fastest centres are needs more of them than are scored together.
        self.n_fast = CENTERS if can_glimpse(points, padded) else 0
        rows = max(self.n_fast, 1)
        self.fast_of = torch.zeros(rows, dtype=torch.int32, device=place)
        self.fast_slopes = torch.empty((rows, span), dtype=points.form, device=place)
        self.fast_starts = torch.empty((rows, 16), dtype=points.form, device=place)
        self.slow = torch.empty(2, device=place)
        self.opened = torch.empty(0, dtype=torch.int32, device=place)
        self.given = torch.empty(n_clusters * (s + 1) + 3, **double)
        self._costs: tuple[float, float, float] | None = None  # that were sent last

    @property
    def is_new(self) -> bool:
        """Whether a cluster has opened in this sweep."""
        return len(self.opened) > 0

    def send(self, costs: tuple[float, float, float], theta: Any = None, c: Any = None) -> None:
        """Copy ξ_may, ξ_not and λ to the GPU, and centres where they are given; nobody waits."""
        import torch

        if theta is None and costs == self._costs:
            return  # they are there
        self._costs = costs
        n_costs, size = len(costs), 0 if theta is None else self.given.numel()
        pinned = self.place.type == "cuda"
        staged = torch.empty(size or n_costs, dtype=torch.float64, pin_memory=pinned)
        here = staged.numpy()
        here[:n_costs] = costs
        if theta is not None:
            rows = here[n_costs:].reshape(self.size, -1)
            rows[:, :-1], rows[:, -1] = theta, c
        self.given[: len(staged)].copy_(staged, non_blocking=True)

    def locate(self, board: Any = None, *, known: bool = False) -> None:
        """Take the next centres from sums, or those that were sent; see how far each has moved."""
        from maylink.engines.cuda_kernels.centers import locate

        wide, no = power_of_two(self.points.columns), self.given
        sums, sizes, means = (no, no, no) if board is None else board
        locate[(self.size,)](
            sums, sizes, self.given[3:], means, self.exact, self.c, *self.next, self.moves,
            self.size,
            COLUMNS=self.points.columns, WIDE=wide, LEVELS=wide.bit_length() - 1,
            SUMMED=board is not None, KNOWN=known, num_warps=1, enable_fp_fusion=False,
        )  # fmt: skip

    def judge(self, *, again: bool = False) -> None:
        """See what rounding can do to scores, or take that of the last look; begin to count."""
        from maylink.engines.cuda_kernels.centers import judge

        points = self.points
        digits = float(number_digits(self.padded, points.stride > AT_ONCE))
        judge[(1,)](
            self.given, points.constants, self.next[1], self.moves, self.slow, self.facts,
            self.counts, self.size, digits, float(number_digits(self.padded, True)), BLOCK=1024,
            AGAIN=again,
        )  # fmt: skip

    def prepare(self, *, ranked: bool = False) -> None:
        """Let the next centres be those of this look, in the forms that the kernels take.

        Where ``ranked``, the fastest are also written together: it is known how far each moved.
        """
        from maylink.engines.cuda_kernels.centers import prepare

        points = self.points
        prepare[(self.padded,)](
            *self.next, self.facts, self.exact, self.c, self.slopes, self.long_slopes,
            self.starts, self.minus_c, points.constants, self.moves, self.fast_of,
            self.fast_slopes, self.fast_starts, self.slow, self.size, self.padded, points.scale,
            COLUMNS=points.columns, SPAN=points.span, WIDE=power_of_two(points.span),
            IS_SURE=points.is_sure, FAST=self.n_fast if ranked else 0,
        )  # fmt: skip


def copied(rule: Rule, points: PointScale, place: Any) -> DeviceCenters:
    """Return centres that are copied to the GPU.

    Parameters
    ----------
    rule : Rule
        The centres.
    points : PointScale
        What the points are like.
    place : torch.device
        The GPU.
    """
    import torch

    centers = DeviceCenters(points, len(rule.c), place)
    centers.send((0.0, 0.0, rule.penalty), rule.theta, rule.c)
    centers.locate()
    centers.judge()
    centers.prepare()
    if len(rule.c) > rule.n_old:
        opened = np.full(centers.padded, 2**31 - 1, np.int32)
        opened[: centers.size] = rule.opened
        centers.opened = torch.as_tensor(opened, device=place)
    return centers


def can_glimpse(points: PointScale, padded: int) -> bool:
    """Whether to look at the fastest centres alone can be worth while."""
    fits = points.span == power_of_two(points.span) and CENTERS * points.span <= RESIDENT
    return fits and padded > 2 * CENTERS


def number_digits(padded: int, looped: bool) -> int:
    """Return the power of two whose digits hold the number of a centre, or of a group of them."""
    return power_of_two(padded // CENTERS if looped else padded)
