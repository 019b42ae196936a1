"""How much a program on a GPU works on together; measured on one H200 (``benchmarks/gpu.py``)."""

from __future__ import annotations

from typing import NamedTuple

CENTERS = 64  # centres that are scored together
LOOP = 32  # columns that are scored together, of points with doubts or with very many columns


class TileShape(NamedTuple):
    """How many points a program looks at together, with how many warps, how far ahead."""

    rows: int
    warps: int
    stages: int
    looped: bool = False


class SumShape(NamedTuple):
    """How many points and columns a program adds up together, and how often."""

    rows: int
    columns: int
    steps: int
    warps: int


class TileShapes(NamedTuple):
    """The shapes for all points, for doubts, and for sums."""

    streamed: TileShape = TileShape(64, 4, 3)
    resident: TileShape = TileShape(64, 4, 3)
    refined: TileShape = TileShape(64, 4, 3, looped=True)
    sums: SumShape = SumShape(8, 64, 32, 4)


def power_of_two(size: int) -> int:
    """Return the least power of two that is not smaller."""
    return 1 << max(0, int(size) - 1).bit_length()
