"""Centres on a GPU, in the forms in which the kernels take them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maylink.engines.rules import Rule
from maylink.engines.tile_shapes import CENTERS, RESIDENT, power_of_two

PARTS = (256.0, 0.125, 2.0**-14)  # of −c: each holds what the one before leaves over
LOWEST = -65504.0  # the least short number


class DeviceCenters(NamedTuple):
    """The centres of one look."""

    rule: Rule
    theta: Any  # (padded, columns), zeros behind θ, in double precision
    exact: Any  # (s, K)
    c: Any  # (K,)
    opened: Any  # (padded,), or nothing while no cluster has opened
    padded: int
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

    def scale(self, point_scale: float, longest: float) -> float:
        """Return a power of two by which θ is multiplied before it is made shorter.

        θ stays below 2^8, −c below 2^23 and every score below 2^26, so that sums are exact enough
        and centres that only fill up, at −2^27 or less, are never the nearest.
        """
        reach = point_scale * (longest * self.steepest + self.farthest)
        bits = [8.0 - np.log2(max(self.steepest, 1e-30)), 26.0 - np.log2(max(reach, 1e-30))]
        bits.append(23.0 - np.log2(max(point_scale * self.farthest, 1e-30)))
        return float(2.0 ** np.floor(np.clip(min(bits), -100, 100)))

    def slopes(self, scale: float, form: Any) -> Any:
        """Return θ in some form of numbers, scaled."""
        return (self.theta * scale).to(form)

    def minus_c(self, scale: float) -> Any:
        """Return −c in single precision, scaled; centres that fill up are far away."""
        import torch

        out = torch.full((self.padded,), -1e37, dtype=torch.float32, device=self.c.device)
        out[: self.size] = -self.c * scale
        return out

    def starts(self, scale: float, form: Any) -> Any:
        """Return −c as sums of short numbers times :data:`PARTS`, scaled, shape (padded, 16)."""
        import torch

        out = torch.zeros((self.padded, 16), dtype=form, device=self.c.device)
        out[self.size :, 3:] = LOWEST
        rest = -self.c * scale
        for column, part in enumerate(PARTS):
            out[: self.size, column] = (rest / part).to(form)
            rest = rest - part * out[: self.size, column].to(torch.float64)
        return out


def copied(rule: Rule, span: int, place: Any, nobody: Any) -> DeviceCenters:
    """Copy centres to the GPU.

    Parameters
    ----------
    rule : Rule
        The centres.
    span : int
        Columns that the kernels want.
    place : torch.device
        The GPU.
    nobody : tensor
        Stands for what is not needed.
    """
    import torch

    size, s = rule.theta.shape
    padded = -(-size // CENTERS) * CENTERS
    if padded * span <= RESIDENT:
        padded = max(CENTERS, power_of_two(size))
    slopes = torch.as_tensor(np.ascontiguousarray(rule.theta), device=place)
    theta = torch.zeros((padded, span), dtype=torch.float64, device=place)
    theta[:size, :s] = slopes
    opened = nobody
    if size > rule.n_old:
        opened = torch.full((padded,), 2**31 - 1, dtype=torch.int32, device=place)
        opened[:size] = torch.as_tensor(rule.opened.copy(), device=place)
    steepest = float(np.sqrt(np.einsum("ks,ks->k", rule.theta, rule.theta).max(initial=0.0)))
    farthest = float(np.abs(rule.c).max(initial=0.0))
    c = torch.as_tensor(np.ascontiguousarray(rule.c), device=place)
    return DeviceCenters(rule, theta, slopes.T.contiguous(), c, opened, padded, steepest, farthest)
