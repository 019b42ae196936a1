"""Session: what a fit needs to run, whatever it fits: randomness, threads, a bar, Ctrl-C."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maylink.runtime.interrupts import NEVER, Stop
from maylink.runtime.progress import Progress


@dataclass(frozen=True)
class Session:
    """How one fit runs.

    Parameters
    ----------
    rng : Generator
        All randomness of the fit comes from it, in a fixed order.
    n_jobs : int, optional
        Threads or processes; all processors by default.
    verbose : bool
        Whether to show progress bars.
    stop : Stop
        Says whether the user has pressed Ctrl-C.
    """

    rng: np.random.Generator
    n_jobs: int | None = None
    verbose: bool = False
    stop: Stop = NEVER

    def progress(self, title: str, total: int, unit: str = "run") -> Progress:
        """Return a progress bar of this fit."""
        return Progress(title, total, self.verbose, unit, self.stop)
