"""Session: what a fit needs to run, whatever it fits: randomness, threads, a bar, Ctrl-C."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from maylink.runtime.interrupts import NEVER, Stop
from maylink.runtime.progress import Progress, delay_of


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
        Whether to show progress bars at once; in a terminal they are shown after two seconds.
    stop : Stop
        Says whether the user has pressed Ctrl-C, or time is over.
    began : float
        When, by the clock of :func:`time.monotonic`.
    """

    rng: np.random.Generator
    n_jobs: int | None = None
    verbose: bool = False
    stop: Stop = NEVER
    began: float = field(default_factory=time.monotonic)

    @property
    def delay(self) -> float | None:
        """After how many seconds to show a bar; None is never."""
        return delay_of(self.verbose, time.monotonic() - self.began)

    def progress(self, title: str, total: int, unit: str = "run") -> Progress:
        """Return a progress bar of this fit."""
        return Progress(title, total, self.delay, unit, self.stop)
