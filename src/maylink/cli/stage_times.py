"""How long each stage of a command took, and the peak memory of the process."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from maylink.cli.printing import print_note

LARGE_BLOCK = 1 << 18  # bytes from which on a freed block goes back to the system at once
M_MMAP_THRESHOLD = -3  # what glibc calls that in mallopt


class StageTimes:
    """Measures stages and prints their times at the end.

    Parameters
    ----------
    quiet : bool
        Whether to print nothing.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.seconds: dict[str, float] = {}
        self._libc = _glibc()
        if self._libc is not None:
            self._libc.mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the block inside; after it, freed memory goes back to the system."""
        start = time.perf_counter()
        try:
            yield
        finally:
            elapsed = time.perf_counter() - start
            self.seconds[name] = self.seconds.get(name, 0.0) + elapsed
            if self._libc is not None:
                self._libc.malloc_trim(0)

    def print(self) -> None:
        """Print how long each stage took, and the peak memory."""
        times = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in self.seconds.items())
        peak = peak_memory()
        memory = "" if peak is None else f"; peak memory {peak:.0f} MB"
        print_note("time", times + memory, quiet=self.quiet)


def _glibc() -> ctypes.CDLL | None:
    """Return the C library where it can be asked to give freed memory back to the system.

    By itself it learns to keep blocks of up to 32 MB. What one stage has freed is then too
    scattered for the next.
    """
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    has_both = hasattr(library, "mallopt") and hasattr(library, "malloc_trim")
    return library if has_both else None


def peak_memory() -> float | None:
    """Return the peak memory of this process in MB; None where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(largest / (1e6 if sys.platform == "darwin" else 1e6 / 1024))
