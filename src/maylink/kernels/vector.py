"""Vectors of the processor, for kernels that the compiler would not vectorise as well by itself.

:class:`Vectors` writes the instructions of a kernel: ``load``, ``store``, ``splat`` (one number in
every lane), ``fused_subtract`` (``a − b·c`` in one instruction where there is one), ``minimum``,
``choose`` and so on. A kernel made of them is a Python function that Numba calls while it compiles,
so its Python loops are unrolled and its variables become registers.

Numba gives no such access by itself; the way in is ``numba.extending.intrinsic``, with LLVM's
vector types underneath. LLVM splits a vector that is wider than the processor's, so that every
kernel runs everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, config
from numba.core.codegen import get_host_cpu_features

INT = ir.IntType(64)


def _capability() -> tuple[int, int]:
    """Bytes of a register, and how many of them a tile spends on points."""
    features = (getattr(config, "CPU_FEATURES", None) or get_host_cpu_features()).split(",")
    if "+avx512f" in features:
        return 64, 4
    if "+avx2" in features:
        return 32, 2
    return (16, 4) if "+neon" in features else (16, 2)


BYTES, VECTORS = _capability()


def width(dtype: Any) -> int:
    """Return how many numbers of this type a register holds."""
    return int(BYTES // np.dtype(dtype).itemsize)


class Vectors:
    """Writes vector instructions at the place where ``builder`` stands.

    Parameters
    ----------
    builder : llvmlite.ir.IRBuilder
        Where Numba is compiling.
    scalar : llvmlite.ir.Type
        float or double.
    size : int
        Bytes of a scalar.
    """

    def __init__(self, builder: Any, scalar: Any, size: int) -> None:
        self.builder = builder
        self.size = size
        self.lanes = BYTES // size
        self.type = ir.VectorType(scalar, self.lanes)

    def whole(self) -> Vectors:
        """Return the writer of vectors of as many whole numbers of 32 bits."""
        other = Vectors(self.builder, ir.IntType(32), 4)
        other.lanes = self.lanes
        other.type = ir.VectorType(ir.IntType(32), self.lanes)
        return other

    def variable(self) -> Any:
        """Return a new variable that holds a vector."""
        return cgutils.alloca_once(self.builder, self.type)

    def at(self, pointer: Any, offset: Any) -> Any:
        """Return the pointer moved on by so many scalars."""
        return self.builder.gep(pointer, [number(offset)])

    def scalar(self, pointer: Any, offset: Any) -> Any:
        """Return the scalar there."""
        return self.builder.load(self.at(pointer, offset))

    def load(self, pointer: Any, offset: Any) -> Any:
        """Return the vector that begins there."""
        place = self.builder.bitcast(self.at(pointer, offset), self.type.as_pointer())
        vector = self.builder.load(place)
        vector.align = self.size
        return vector

    def store(self, vector: Any, pointer: Any, offset: Any) -> None:
        """Write a vector."""
        place = self.builder.bitcast(self.at(pointer, offset), self.type.as_pointer())
        self.builder.store(vector, place).align = self.size

    def splat(self, scalar: Any) -> Any:
        """Return the vector that has this number in every lane."""
        nothing = ir.Constant(self.type, ir.Undefined)
        first = self.builder.insert_element(nothing, scalar, ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(first, nothing, zeros)

    def constant(self, value: float) -> Any:
        """Return the vector that has this constant in every lane."""
        return ir.Constant(self.type, [value] * self.lanes)

    def fused_add(self, a: Any, b: Any, c: Any) -> Any:
        """Return a + b·c, rounded once where the processor can."""
        product = self.builder.fmul(b, c, flags=("contract",))
        return self.builder.fadd(a, product, flags=("contract",))

    def fused_subtract(self, a: Any, b: Any, c: Any) -> Any:
        """Return a − b·c, rounded once where the processor can."""
        product = self.builder.fmul(b, c, flags=("contract",))
        return self.builder.fsub(a, product, flags=("contract",))

    def add(self, a: Any, b: Any) -> Any:
        """Return a + b."""
        return self.builder.fadd(a, b)

    def minus(self, a: Any, b: Any) -> Any:
        """Return a − b."""
        return self.builder.fsub(a, b)

    def less(self, a: Any, b: Any) -> Any:
        """Return the mask of lanes in which a < b; never where one of them is not a number."""
        return self.builder.fcmp_ordered("<", a, b)

    def choose(self, mask: Any, a: Any, b: Any) -> Any:
        """Return a where the mask holds, b elsewhere."""
        return self.builder.select(mask, a, b)

    def minimum(self, a: Any, b: Any) -> Any:
        """Return the lesser of two; b where they cannot be compared."""
        return self.choose(self.less(a, b), a, b)

    def absolute(self, a: Any) -> Any:
        """Return |a|."""
        negative = self.minus(self.constant(0.0), a)
        return self.choose(self.less(a, negative), negative, a)

    def bits(self, mask: Any) -> Any:
        """Return a mask as a whole number, lane 0 in the lowest bit."""
        return self.builder.zext(self.builder.bitcast(mask, ir.IntType(self.lanes)), INT)

    @contextmanager
    def loop(self, stop: Any, step: int = 1, start: Any = 0) -> Iterator[Any]:
        """Loop over start, start + step … below ``stop``; gives the counter."""
        with cgutils.for_range_slice(
            self.builder, number(start), number(stop), number(step), INT
        ) as (counter, _):
            yield counter

    def plus(self, a: Any, b: Any) -> Any:
        """Return the sum of two counters."""
        return self.builder.add(number(a), number(b))

    def times(self, a: Any, b: Any) -> Any:
        """Return the product of two counters."""
        return self.builder.mul(number(a), number(b))


def number(value: Any) -> Any:
    """Return a counter as LLVM sees it."""
    return ir.Constant(INT, value) if isinstance(value, int) else value
