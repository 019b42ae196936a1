"""How kernels are compiled: without the interpreter lock, kept on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.cpu import CPUTargetOptions
from numba.extending import intrinsic


def compiled(
    *, allocates: bool = True, **options: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function when it is first called; cached unless no folder can be written.

    Division by zero gives infinity, as in NumPy: a check would keep loops from being vectorised.
    A function that allocates nothing need not count references to the arrays it is handed, which
    costs small ones more than their work; Numba can leave that out.
    """
    options = {"nogil": True, "error_model": "numpy", **options}
    if not allocates and hasattr(CPUTargetOptions, "_nrt"):
        options["_nrt"] = False

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            kernel: Callable[..., Any] = njit(cache=True, **options)(function)
            _forget_lost_classes(kernel)
        except RuntimeError:  # neither the package nor the user's cache folder can be written
            kernel = njit(**options)(function)
        return kernel

    return decorate


def _forget_lost_classes(kernel: Any) -> None:
    """Compile anew where a stored index names a class that was moved or renamed since.

    Numba reads the index before it looks whether the source is newer, and would fail there.
    """
    stored = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    read_index = getattr(stored, "_load_index", None)
    if stored is None or read_index is None:
        return

    def index_or_none() -> Any:
        try:
            return read_index()
        except (AttributeError, ImportError):
            return {}

    stored._load_index = index_or_none


def instructions(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let kernels call a function that writes its own instructions; see ``kernels.vector``."""
    written: Callable[..., Any] = intrinsic(function)
    return written
