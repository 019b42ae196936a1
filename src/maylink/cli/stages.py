"""How long each stage of a command took, and how much memory the whole of it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from maylink.cli.show import note


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

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure what is done inside."""
        start = time.perf_counter()
        try:
            yield
        finally:
            passed = time.perf_counter() - start
            self.seconds[name] = self.seconds.get(name, 0.0) + passed

    def tell(self) -> None:
        """Say how long each stage took, and the largest memory of the process."""
        told = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in self.seconds.items())
        peak = peak_memory()
        memory = "" if peak is None else f"; peak memory {peak:.0f} MB"
        note("time", told + memory, quiet=self.quiet)


def peak_memory() -> float | None:
    """Return the largest memory that this process has had, in MB; None where it is not told."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(largest / (1e6 if sys.platform == "darwin" else 1e6 / 1024))
