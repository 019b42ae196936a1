"""When the next call may be sent: so many a minute, pauses that the server asks for, retries.

Before the k-th retry of a call one waits a random time between a half and the whole of

    min(longest, first · 2^(k − 1))

seconds, so that calls that failed together do not come back together; or as long as the server
says (``Retry-After``), if that is longer. Such a pause holds for all calls, not only for the one
that was told.
"""

from __future__ import annotations

import email.utils
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from maylink.label.judges.words import StopAsked, never

STEP = 0.05  # seconds between two looks whether to stop


@dataclass(frozen=True)
class RetryPlan:
    """How often, and how soon, a call that failed is sent again.

    Parameters
    ----------
    most : int, default 6
        Times that one call is sent again.
    first : float, default 0.5
        Seconds before the first of them.
    longest : float, default 60
        Seconds that one waits at most by oneself.
    longest_told : float, default 600
        Seconds that one waits at most because the server says so; if it says more, the judge
        stops.
    """

    most: int = 6
    first: float = 0.5
    longest: float = 60.0
    longest_told: float = 600.0

    def wait(self, attempt: int, chance: random.Random) -> float:
        """Return the seconds before a retry, counted from 1.

        Examples
        --------
        >>> import random
        >>> waits = [RetryPlan().wait(k, random.Random(0)) for k in (1, 2, 3, 20)]
        >>> [round(wait, 2) for wait in waits]
        [0.46, 0.92, 1.84, 55.33]
        """
        whole = min(self.longest, self.first * 2.0 ** (attempt - 1))
        return whole * (0.5 + 0.5 * chance.random())


class Pacer:
    """Lets calls go: at most so many a minute, and none during a pause.

    Parameters
    ----------
    per_minute : float, optional
        Calls a minute; they are sent at equal distances. None: as they come.
    clock : callable
        Seconds.
    sleep : callable
        Waits so many seconds.

    Examples
    --------
    >>> from maylink.label.judges.pacing import Pacer
    >>> now = [0.0]
    >>> pacer = Pacer(60, clock=lambda: now[0], sleep=lambda s: now.append(now.pop() + s))
    >>> [pacer.wait() and round(now[0]) for _ in range(3)]
    [0, 1, 2]
    """

    def __init__(
        self,
        per_minute: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._distance = 0.0 if per_minute is None else 60.0 / per_minute
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()
        self._next = -float("inf")  # when the next call may go

    def wait(self, stop: StopAsked = never) -> bool:
        """Wait for a turn, and take it; False if it is time to stop.

        Parameters
        ----------
        stop : callable
            Says whether to stop waiting.
        """
        while not stop():
            with self._lock:
                left = self._next - self._clock()
                if left <= 0.0:
                    self._next = max(self._next, self._clock()) + self._distance
                    return True
            self._sleep(min(left, STEP))
        return False

    def pause(self, seconds: float) -> None:
        """Let no call go for so many seconds."""
        with self._lock:
            self._next = max(self._next, self._clock() + seconds)

    def rest(self, seconds: float, stop: StopAsked = never) -> bool:
        """Wait so many seconds; False if it is time to stop."""
        end = self._clock() + seconds
        while (left := end - self._clock()) > 0.0:
            if stop():
                return False
            self._sleep(min(left, STEP))
        return not stop()


def told_to_wait(header: str | None, now: Callable[[], float] = time.time) -> float | None:
    """Return the seconds of a ``Retry-After`` header: a number, or a date; None if it has none.

    Examples
    --------
    >>> told_to_wait("7"), told_to_wait("soon"), told_to_wait(None)
    (7.0, None, None)
    >>> told_to_wait("Thu, 01 Jan 1970 00:02:00 GMT", now=lambda: 100.0)
    20.0
    """
    if header is None:
        return None
    try:
        seconds = float(header)
        return seconds if 0.0 <= seconds < float("inf") else None
    except ValueError:
        pass
    try:
        when = email.utils.parsedate_to_datetime(header)
    except (TypeError, ValueError):
        return None
    return max(0.0, when.timestamp() - now())
