"""How kernels are compiled: without the interpreter lock, kept on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.cpu import CPUTargetOptions
from numba.extending import intrinsic


def compiled(
    *, allocates: bool = True, inner: bool = False, **options: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function when it is first called; cached unless no folder can be written.

    Division by zero gives infinity, as in NumPy: a check would keep loops from being vectorised.
    A function that allocates nothing need not count references to the arrays it is handed, which
    costs small ones more than their work; Numba can leave that out. An inner function is called by
    kernels alone: what Python would need to call it is not compiled.

    The first fit after an install waits for the compiler, mostly for the part of it that is written
    in Python. Its time grows with the number of functions and of operations; what looks short may
    be many of them. ``a[:] = b`` compiles 37 functions, as its error message is made of strings;
    so kernels write loops, and arrays are made by the caller where the kernel is called from
    Python.
    """
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    if inner:
        options["no_cpython_wrapper"] = True
    if not allocates and hasattr(CPUTargetOptions, "_nrt"):
        options["_nrt"] = False

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            kernel: Callable[..., Any] = njit(cache=True, **options)(function)
        except RuntimeError:  # neither the package nor the user's cache folder can be written
            return njit(**options)(function)  # type: ignore[no-any-return]
        forgive_old_types(kernel)
        return kernel

    return decorate


def forgive_old_types(kernel: Any) -> None:
    """Take a cached kernel for types that are no more, as of an earlier version, for none at all.

    Numba checks whether a file on disk is out of date only after it has found the types that the
    file names, and raises where a type is gone.
    """
    file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    load = getattr(file, "_load_index", None)
    if file is None or load is None:
        return

    def load_index() -> Any:
        try:
            return load()
        except (AttributeError, ImportError):
            return {}

    file._load_index = load_index


def instructions(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let kernels call a function that writes its own instructions; see ``kernels.vector``."""
    written: Callable[..., Any] = intrinsic(function)
    return written
