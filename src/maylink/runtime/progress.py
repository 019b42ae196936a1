"""A progress bar for long fits, on standard error, gone when the fit is done."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from maylink.runtime.interrupts import NEVER, Stop


class Progress:
    """Counts steps, shows what the present step does and knows whether the user wants to stop.

    Parameters
    ----------
    title : str
        What is running.
    total : int
        The most steps that there can be.
    shown : bool
        Whether to show a bar; it needs tqdm, which comes with ``maylink[cli]``.
    unit : str, default "run"
        What a step is.
    stop : Stop, optional
        Says whether the user has pressed Ctrl-C.
    line : int, default 0
        The line of the bar, where several processes show one each.
    """

    def __init__(
        self,
        title: str,
        total: int,
        shown: bool,
        unit: str = "run",
        stop: Stop = NEVER,
        line: int = 0,
    ) -> None:
        self._stop = stop
        self._bar: Any = None
        if shown:
            try:
                from tqdm import tqdm
            except ImportError as error:
                raise ImportError(
                    "verbose=True shows a bar by tqdm; install it with: pip install 'maylink[cli]'"
                ) from error
            self._bar = tqdm(total=total, desc=title, unit=unit, leave=False, position=line)

    @property
    def is_shown(self) -> bool:
        """Whether there is a bar."""
        return self._bar is not None

    @property
    def stopped(self) -> bool:
        """Whether the user wants to stop."""
        return self._stop.asked

    def show(self, **state: Any) -> None:
        """Show the state of the present step."""
        if self._bar is not None:
            self._bar.set_postfix(state)

    def advance(self, steps: int = 1) -> None:
        """Count finished steps."""
        if self._bar is not None:
            self._bar.update(steps)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()


SILENT = Progress("", 0, False)
