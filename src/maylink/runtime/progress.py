"""A progress bar for long work, on standard error, gone when the work is done."""

from __future__ import annotations

import multiprocessing
import shutil
import sys
import threading
import time
from contextvars import ContextVar
from typing import Any, Self

from maylink.runtime.interrupts import NEVER, Stop, present_stop

PATIENCE = 2.0  # seconds before a bar is shown that nobody has asked for
PAUSE = 0.2  # seconds between two times that it is drawn
SECOND = 1.0  # after which the time that has passed is drawn again, whatever the work does
BAR = "{desc}: {n_fmt} of {total_fmt} {unit}s, {elapsed} passed, {remaining} left{postfix}"
CLOCK = "{desc}: {elapsed} passed{postfix}"  # of work without steps


def delay_of(verbose: bool, passed: float = 0.0) -> float | None:
    """Return after how many seconds to show a bar: at once if asked to; None is never.

    Nobody needs to ask for it in a terminal, but nothing else is written to.

    Parameters
    ----------
    verbose : bool
        Whether a bar was asked for.
    passed : float, default 0
        Seconds since the fit began.
    """
    if verbose:
        return 0.0
    alone = multiprocessing.current_process().name == "MainProcess"
    seen = alone and sys.stderr is not None and sys.stderr.isatty()
    return max(0.0, PATIENCE - passed) if seen else None


class Progress:
    """Counts steps, shows what the present step does and knows whether to stop.

    Parameters
    ----------
    title : str
        What is running.
    total : int or None
        The most steps that there can be; None where there are none, and only time passes.
    delay : float, optional
        Seconds until a bar is shown, see :func:`delay_of`; None for none at all.
    unit : str, default "run"
        What a step is.
    stop : Stop, optional
        Says whether the user has pressed Ctrl-C, or time is over; that of the fit under way says so
        in any case.
    line : int, optional
        The line of the bar, where several processes show one each; by default the one below the
        bar of the work that this work is a part of.
    """

    def __init__(
        self,
        title: str,
        total: int | None,
        delay: float | None,
        unit: str = "run",
        stop: Stop = NEVER,
        line: int | None = None,
    ) -> None:
        self._stop = stop
        outer = _PRESENT.get()
        below = 0 if outer is None else outer.line + 1
        self.line: int = below if line is None else line
        self._bar: Any = None
        if delay is not None:
            from tqdm import tqdm

            room: dict[str, int] = {}  # in a file there is no end of room
            if sys.stderr.isatty():  # 80 × 24 of terminals that do not tell theirs
                columns, lines = shutil.get_terminal_size()
                room = {"ncols": columns, "nrows": lines}
            self._bar = tqdm(
                total=total, desc=title, unit=unit, leave=False, position=self.line,
                delay=delay, bar_format=CLOCK if total is None else BAR, **room,
            )  # fmt: skip
            self._ended = threading.Event()
            self._next = time.monotonic() + delay  # when to draw the bar again
            self._pause = PAUSE if delay else 0.0

    @property
    def is_shown(self) -> bool:
        """Whether there is a bar."""
        return self._bar is not None

    @property
    def stopped(self) -> bool:
        """Whether to stop."""
        return self._stop.asked or present_stop().asked

    @property
    def out_of_time(self) -> bool:
        """Whether it is time, not the user, that says so."""
        stops = (self._stop, present_stop())
        return any(stop.out_of_time and not stop.asked_by_user for stop in stops)

    def show(self, **state: Any) -> None:
        """Show the state of the present step."""
        if self._bar is not None:
            self._bar.set_postfix(state, refresh=False)
            self._draw()

    def advance(self, steps: int = 1) -> None:
        """Count finished steps."""
        if self._bar is not None:
            self._bar.n += steps
            self._draw()

    def expect(self, steps: int) -> None:
        """Correct how many steps are left."""
        if self._bar is not None:
            self._bar.total = self._bar.n + steps

    def _draw(self) -> None:
        if (now := time.monotonic()) >= self._next:
            self._next = now + self._pause
            self._bar.refresh()

    def _keep_time(self) -> None:
        """Draw the bar every second: a step may be long, and compile or call other libraries."""
        while not self._ended.wait(SECOND):
            self._draw()

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._token = _PRESENT.set(self)
            self._clock = threading.Thread(target=self._keep_time, daemon=True)
            self._clock.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            _PRESENT.reset(self._token)
            self._ended.set()
            self._clock.join()
            self._bar.close()


def tick(**state: Any) -> None:
    """Bring the bar of the fit under way up to date, from work that has no bar of its own."""
    present = _PRESENT.get()
    if present is not None and state:
        present.show(**state)
    elif present is not None:
        present._draw()


_PRESENT: ContextVar[Progress | None] = ContextVar("bar", default=None)
SILENT = Progress("", 0, None)
