"""How long each stage of a command took, and how much memory the whole of it."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from maylink.cli.show import note

LARGE_BLOCK = 1 << 18  # bytes from which on a freed block goes back to the system at once
M_MMAP_THRESHOLD = -3  # what glibc calls that in mallopt


class Stages:
    """Measures stages, and tells about them at the end.

    Parameters
    ----------
    quiet : bool
        Whether to say nothing.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.seconds: dict[str, float] = {}
        self._libc = _glibc()
        if self._libc is not None:
            self._libc.mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure what is done inside."""
        start = time.perf_counter()
        try:
            yield
        finally:
            passed = time.perf_counter() - start
            self.seconds[name] = self.seconds.get(name, 0.0) + passed
            if self._libc is not None:
                self._libc.malloc_trim(0)

    def tell(self) -> None:
        """Say how long each stage took, and the largest memory of the process."""
        told = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in self.seconds.items())
        peak = peak_memory()
        memory = "" if peak is None else f"; peak memory {peak:.0f} MB"
        note("time", told + memory, quiet=self.quiet)


def _glibc() -> ctypes.CDLL | None:
    """Return the C library where it can be told to give freed memory back to the system.

    By itself it learns to keep blocks of up to 32 MB, and what one stage has freed is then too
    scattered for the next.
    """
    if sys.platform != "linux":
        return None
    found = ctypes.CDLL(None)
    return found if hasattr(found, "mallopt") and hasattr(found, "malloc_trim") else None


def peak_memory() -> float | None:
    """Return the largest memory that this process has had, in MB; None where it is not told."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(largest / (1e6 if sys.platform == "darwin" else 1e6 / 1024))
