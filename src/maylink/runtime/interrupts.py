"""Ctrl-C as a request to stop: the step under way is finished, and its result is kept.

The request is a file, so that other processes see it too.
"""

from __future__ import annotations

import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any


class Stop:
    """Says whether the user has asked to stop.

    Parameters
    ----------
    path : Path, optional
        The file that stands for the request; without a file there never is one.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path

    @property
    def asked(self) -> bool:
        """Whether the user has asked."""
        return self.path is not None and self.path.exists()

    def ask(self) -> None:
        """Ask to stop."""
        if self.path is not None:
            self.path.touch()


NEVER = Stop()
_WHOLE = ContextVar("whole", default=False)


@contextmanager
def whole_or_nothing() -> Iterator[None]:
    """While it lasts, work that Ctrl-C has stopped ends in KeyboardInterrupt.

    For callers that have no use for a part of the work.

    Examples
    --------
    >>> from maylink.runtime.interrupts import CtrlC, whole_or_nothing
    >>> try:
    ...     with whole_or_nothing(), CtrlC() as stop:
    ...         stop.ask()
    ... except KeyboardInterrupt:
    ...     print("nothing is left")
    nothing is left
    """
    token = _WHOLE.set(True)
    try:
        yield
    finally:
        _WHOLE.reset(token)


class CtrlC:
    """While it lasts, the first Ctrl-C only asks to stop; the second interrupts as usual.

    Outside the main thread, where signals cannot be caught, Ctrl-C does what it always does.

    Examples
    --------
    >>> from maylink.runtime.interrupts import CtrlC
    >>> with CtrlC() as stop:
    ...     stop.ask()
    ...     stop.asked
    True
    """

    def __init__(self) -> None:
        self._folder: Any = None
        self._before: Any = None

    def __enter__(self) -> Stop:
        self._folder = tempfile.TemporaryDirectory(prefix="maylink-")
        self._stop = Stop(Path(self._folder.name) / "stop")
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._on_signal)
        return self._stop

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._stop.asked:
            raise KeyboardInterrupt
        self._stop.ask()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        asked = self._stop.asked
        self._folder.cleanup()
        if asked and kind is None and _WHOLE.get():
            raise KeyboardInterrupt


def ignore_ctrl_c() -> None:
    """Leave Ctrl-C to the parent process, which passes the request on."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
