"""What a family hands to the collapsed sampler: the code of a formula, and its prior as arrays.

The formulas are those of :mod:`maylink.kernels.conjugate`. Nothing here needs Numba, so that
families can name their code before a kernel is loaded.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from maylink.arrays import Array


class Code(IntEnum):
    """The conjugate families that the collapsed sampler's kernels know."""

    GAUSSIAN = 0
    DIAGONAL_GAUSSIAN = 1
    FULL_GAUSSIAN = 2
    MULTINOMIAL = 3
    POISSON = 4
    BERNOULLI = 5
    GAMMA = 6
    VON_MISES_FISHER = 7
    KNOWN_VARIANCE = 8


GAPS = 16
"""Added to the code of a block that may be missing: its last column says whether it is there."""


class Block(NamedTuple):
    """A prior as plain arrays, for the kernel; what the rows mean depends on the code."""

    code: int  # one of Code, more by GAPS where the block may be missing
    columns: Array  # two numbers for each column that the likelihood sees, shape (2, d)
    scalars: Array  # three numbers, shape (3,)
    factor: Array  # Cholesky factor of the prior scale, shape (d, d); empty but for full Gaussians
    weight: float = 1.0  # power on the likelihood of the block; other than 1 with GAPS alone
