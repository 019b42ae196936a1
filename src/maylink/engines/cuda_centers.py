"""Centres on a GPU, in the forms in which the kernels take them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maylink.engines.rules import Rule
from maylink.engines.tile_shapes import CENTERS, RESIDENT, power_of_two

PARTS = (256.0, 0.125, 2.0**-14)
"""Factors of the three short numbers whose sum is −c: each holds what the one before leaves over.
Where centres only fill up, 13 more numbers of −65504 each, times 256, put them far away."""


class DeviceCenters(NamedTuple):
    """The centres of one look."""

    rule: Rule
    values: Any  # (K, s + 1) θ and c, in double precision
    exact: Any  # (s, K) θ
    slopes: Any  # (padded, columns) θ times the scale, short, zeros behind
    long_slopes: Any  # the same in single precision
    starts: Any  # (padded, 16) −c times both scales, in parts
    minus_c: Any  # (2, padded) −c times both scales; times that of θ
    opened: Any  # (padded,), or nothing while no cluster has opened
    moves: Any  # (2, K) how far each has moved since the last look, where that is known
    padded: int
    scale: float  # of θ, a power of two
    steepest: float  # the greatest ‖θ‖
    farthest: float  # the greatest |c|

    @property
    def size(self) -> int:
        """How many centres there are."""
        return len(self.rule.c)

    @property
    def is_new(self) -> bool:
        """Whether a cluster has opened in this sweep."""
        return self.size > self.rule.n_old

    @property
    def c(self) -> Any:
        """All c, contiguous."""
        return self.values[:, -1].contiguous()


class PointScale(NamedTuple):
    """What centres must know of the points."""

    columns: int
    span: int  # columns that the kernels want
    scale: float  # by which points are multiplied before they are made shorter
    longest: float  # the greatest ‖t‖
    form: Any  # the short numbers
    is_sure: bool  # whether doubts are scored in single precision


def copied(
    rule: Rule, points: PointScale, place: Any, known: DeviceCenters | None = None
) -> DeviceCenters:
    """Copy centres to the GPU.

    Parameters
    ----------
    rule : Rule
        The centres.
    points : PointScale
        What the points are like.
    place : torch.device
        The GPU.
    known : DeviceCenters, optional
        The centres of the last look, to see how far each has moved.
    """
    import torch

    from maylink.engines.cuda_kernels.centers import prepare

    size, s, span = len(rule.c), points.columns, points.span
    padded = -(-size // CENTERS) * CENTERS
    if padded * span <= RESIDENT:
        padded = max(CENTERS, power_of_two(size))
    staged = torch.empty((size, s + 1), dtype=torch.float64, pin_memory=place.type == "cuda")
    here = staged.numpy()
    here[:, :s], here[:, s] = rule.theta, rule.c
    steepest = float(np.sqrt(np.einsum("ks,ks->k", rule.theta, rule.theta).max(initial=0.0)))
    farthest = float(np.abs(rule.c).max(initial=0.0))
    scale = _scale(points, steepest, farthest)
    values = staged.to(place, non_blocking=True)
    slopes = torch.empty((padded, span), dtype=points.form, device=place)
    single = torch.empty((padded, span if points.is_sure else 1), device=place)
    starts = torch.empty((padded, 16), dtype=points.form, device=place)
    minus_c, moves = torch.empty((2, padded), device=place), torch.empty((2, size), device=place)
    exact = torch.empty((s, size), dtype=torch.float64, device=place)
    prepare[(padded,)](
        values, values if known is None else known.values, slopes, single, starts, minus_c, exact,
        moves, size, padded, scale, points.scale, COLUMNS=s, SPAN=span, WIDE=power_of_two(span),
        LONG=points.is_sure, KNOWN=known is not None,
    )  # fmt: skip
    opened = torch.empty(0, dtype=torch.int32, device=place)
    if size > rule.n_old:
        opened = torch.full((padded,), 2**31 - 1, dtype=torch.int32, device=place)
        opened[:size] = torch.as_tensor(rule.opened.copy(), device=place)
    return DeviceCenters(
        rule, values, exact, slopes, single, starts, minus_c, opened, moves, padded, scale,
        steepest, farthest,
    )  # fmt: skip


def _scale(points: PointScale, steepest: float, farthest: float) -> float:
    """Return a power of two by which θ is multiplied before it is made shorter.

    θ stays below 2^8, −c below 2^23 and every score below 2^26, so that sums are exact enough and
    centres that only fill up, at −2^27 or less, are never the nearest.
    """
    reach = points.scale * (points.longest * steepest + farthest)
    bits = (
        8.0 - np.log2(max(steepest, 1e-30)),
        26.0 - np.log2(max(reach, 1e-30)),
        23.0 - np.log2(max(points.scale * farthest, 1e-30)),
    )
    return float(2.0 ** np.floor(np.clip(min(bits), -100, 100)))
