"""How much a program on a GPU works on together; measured on one H200 (``benchmarks/gpu.py``)."""

from __future__ import annotations

from typing import Any, NamedTuple

from maylink.runtime.gpu import power_of_two

__all__ = [
    "SumShape",
    "TileShape",
    "glimpse_shape",
    "power_of_two",
    "resident_shape",
    "streamed_shape",
]

CENTERS = 64  # centres that are scored together
LOOP = 32  # columns that are scored together, of points with doubts or with very many columns
AT_ONCE = 512  # columns up to which a tile of points is loaded once
RESIDENT = 32_768  # numbers of all centres up to which these stay where they are scored


class TileShape(NamedTuple):
    """How many points a program looks at together, with how many warps, how far ahead."""

    rows: int
    warps: int
    stages: int
    registers: int | None = None  # at most, for a thread
    programs: int = 16  # for each multiprocessor

    @property
    def options(self) -> dict[str, Any]:
        """What Triton is told."""
        options: dict[str, Any] = {"num_warps": self.warps, "num_stages": self.stages}
        return options if self.registers is None else options | {"maxnreg": self.registers}


class SumShape(NamedTuple):
    """How many points and columns a program adds up together, and about how many points in all."""

    rows: int = 2
    columns: int = 128
    size: int = 512
    warps: int = 2


REFINED = TileShape(64, 4, 3)


def streamed_shape(columns: int, gauged: bool = True) -> TileShape:
    """Return the shape for centres that are read again for every tile of points.

    Where a look is not ``gauged``, it needs fewer registers.
    """
    if columns > 256:
        return TileShape(128, 8, 2)
    return TileShape(128, 8, 3, 128) if gauged else TileShape(128, 4, 2)


def resident_shape(numbers: int, is_short: bool) -> TileShape:
    """Return the shape for centres of so many numbers that stay, and points of 2 or 4 bytes."""
    if numbers > RESIDENT // 2:
        return TileShape(64, 4, 2, None, 2) if is_short else TileShape(128, 8, 2, None, 1)
    return TileShape(64, 4, 3, 128, 4)


def glimpse_shape(columns: int, is_short: bool) -> TileShape:
    """Return the shape for the fastest centres alone, which stay, and so many columns."""
    if columns > 128:
        return resident_shape(CENTERS * columns, is_short)
    return TileShape(64, 4, 4, 128, 4)
