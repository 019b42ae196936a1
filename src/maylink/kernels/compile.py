"""How kernels are compiled: without the interpreter lock, kept on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function when it is first called; cached unless no folder can be written."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            kernel: Callable[..., Any] = njit(nogil=True, cache=True, **options)(function)
        except RuntimeError:  # neither the package nor the user's cache folder can be written
            kernel = njit(nogil=True, **options)(function)
        return kernel

    return decorate
