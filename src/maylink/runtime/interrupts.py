"""Ctrl-C as a request to stop: the step under way is finished, and its result is kept.

The request is a file, so that other processes see it too. A fit that has used up its time stops in
the same way.
"""

from __future__ import annotations

import math
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import Any

MESSAGE = "stopping after this sweep; press Ctrl-C again to end now"


class Stop:
    """Says whether to stop: the user has asked to, or the time that was given is over.

    Parameters
    ----------
    path : Path, optional
        The file that stands for the request; without a file there never is one.
    deadline : float, optional
        When the time is over, by the clock of :func:`time.monotonic`.
    """

    def __init__(self, path: Path | None = None, deadline: float = math.inf) -> None:
        self.path, self.deadline = path, deadline

    @property
    def asked(self) -> bool:
        """Whether to stop."""
        return self.out_of_time or self.asked_by_user

    @property
    def asked_by_user(self) -> bool:
        """Whether the user has asked."""
        return self.path is not None and self.path.exists()

    @property
    def out_of_time(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self.deadline

    def ask(self) -> None:
        """Ask to stop."""
        if self.path is not None:
            self.path.touch()

    @contextmanager
    def sooner(self, share: float) -> Iterator[Stop]:
        """While it lasts, only a share of the time that is left may be used."""
        now = time.monotonic()
        stop = Stop(self.path, now + share * (self.deadline - now))
        token = _PRESENT.set(stop)
        try:
            yield stop
        finally:
            _PRESENT.reset(token)


NEVER = Stop()
_WHOLE = ContextVar("whole", default=False)
_PRESENT = ContextVar("present", default=NEVER)


def present_stop() -> Stop:
    """Return what says whether the fit that is under way should stop.

    Examples
    --------
    >>> from maylink.runtime.interrupts import CtrlC, present_stop
    >>> with CtrlC() as stop:
    ...     stop.ask()
    ...     present_stop().asked
    True
    >>> present_stop().asked
    False
    """
    return _PRESENT.get()


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

    A thread answers the first at once, even while the main thread is inside a compiled loop, which
    Python's own handlers wait for. Outside the main thread, where signals cannot be caught, Ctrl-C
    does what it always does.

    Parameters
    ----------
    time_budget : float, optional
        Seconds after which to stop as well.
    message : str
        What the first Ctrl-C is answered.

    Examples
    --------
    >>> from maylink.runtime.interrupts import CtrlC
    >>> with CtrlC() as stop:
    ...     stop.ask()
    ...     stop.asked
    True
    """

    def __init__(self, time_budget: float | None = None, message: str = MESSAGE) -> None:
        self._message = message
        self._deadline = math.inf if time_budget is None else time.monotonic() + time_budget
        self._folder: Any = None
        self._before: Any = None
        self._mouth: socket.socket | None = None  # what the system writes signals to
        self._n_heard = 0  # by the thread
        self._handled = False  # whether the handler has run
        self._answered = _WHOLE.get()  # where nothing is kept, the caller says that it ends

    def __enter__(self) -> Stop:
        self._folder = tempfile.TemporaryDirectory(prefix="maylink-")
        self._stop = Stop(Path(self._folder.name) / "stop", self._deadline)
        self._token = _PRESENT.set(self._stop)
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._on_signal)
            self._listen()
        return self._stop

    def _listen(self) -> None:
        """Let a thread hear of signals as they come, unless somebody else, as asyncio, does."""
        ear, mouth = socket.socketpair()
        mouth.setblocking(False)
        other = signal.set_wakeup_fd(mouth.fileno(), warn_on_full_buffer=False)
        if other != -1:
            signal.set_wakeup_fd(other)
            ear.close()
            mouth.close()
            return
        self._mouth = mouth
        self._thread = threading.Thread(target=self._answer, args=(ear,), daemon=True)
        self._thread.start()

    def _answer(self, ear: socket.socket) -> None:
        with ear:
            while heard := ear.recv(1):
                if heard[0] == signal.SIGINT:
                    self._n_heard += 1
                    self._ask()

    def _ask(self) -> None:
        self._stop.ask()
        if not self._answered:
            self._answered = True
            print(f"\n{self._message}", file=sys.stderr, flush=True)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._handled or self._n_heard > 1:
            raise KeyboardInterrupt
        self._handled = True
        self._ask()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        if self._mouth is not None:
            signal.set_wakeup_fd(-1)
            self._mouth.close()  # the thread hears the end, and ends
            self._thread.join()
        _PRESENT.reset(self._token)
        asked = self._stop.asked_by_user
        self._folder.cleanup()
        if asked and kind is None and _WHOLE.get():
            raise KeyboardInterrupt


def ignore_ctrl_c() -> None:
    """Leave Ctrl-C to the parent process, which passes the request on."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
