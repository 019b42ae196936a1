"""Tasks in threads, of which each may make further ones; results come back as they are ready."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from maylink.label.judges.words import StopAsked, never

LOOK = 0.05  # seconds between two looks whether to stop


class TaskResult(NamedTuple):
    """What a task gave.

    Parameters
    ----------
    results : list
        To be handed on.
    more : list
        Tasks to be done, too.
    """

    results: list[Any]
    more: list[Any]


def in_threads(
    tasks: Iterable[Any],
    work: Callable[[Any, StopAsked], TaskResult],
    n_threads: int,
    stop: StopAsked = never,
) -> Iterator[Any]:
    """Yield the results of tasks, done by several threads.

    Parameters
    ----------
    tasks : iterable
        What to do.
    work : callable
        Does a task; it is also given what says whether to stop.
    n_threads : int
        How many at a time.
    stop : callable
        Says whether to begin no more tasks.

    Raises
    ------
    BaseException
        The first that a task has raised, when those under way have ended and given their results.

    Examples
    --------
    >>> from maylink.label.judges.threads import TaskResult, in_threads
    >>> def work(task, stop):
    ...     return TaskResult([task], [task // 2] if task > 1 else [])
    >>> sorted(in_threads([8, 3], work, n_threads=2))
    [1, 1, 2, 3, 4, 8]
    """
    team = _TaskTeam(tasks, work, stop)
    threads = [threading.Thread(target=team.loop, daemon=True) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    left = n_threads
    try:
        while left:
            try:
                result = team.results.get(timeout=LOOK)
            except queue.Empty:
                if stop():
                    team.halt()
                continue
            if result is _END:
                left -= 1
            else:
                yield result
    finally:
        team.halt()  # where nobody wants the rest, threads end by themselves
    if team.error is not None:
        raise team.error


_END = object()


class _TaskTeam:
    """What the threads share: tasks to do, and results."""

    def __init__(
        self, tasks: Iterable[Any], work: Callable[[Any, StopAsked], TaskResult], stop: StopAsked
    ) -> None:
        self.results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.error: BaseException | None = None
        self._todo, self._work, self._stop = deque(tasks), work, stop
        self._under_way, self._halted = 0, False
        self._changed = threading.Condition()

    def halt(self) -> None:
        """Begin no more tasks."""
        with self._changed:
            self._halted = True
            self._changed.notify_all()

    def _is_halted(self) -> bool:
        return self._halted or self._stop()

    def loop(self) -> None:
        """Do tasks until there are none."""
        try:
            while (task := self._next()) is not _END:
                self._do(task)
        finally:
            self.results.put(_END)

    def _next(self) -> Any:
        with self._changed:
            while not self._is_halted():
                if self._todo:
                    self._under_way += 1
                    return self._todo.popleft()
                if not self._under_way:
                    break
                self._changed.wait(LOOK)
        return _END

    def _do(self, task: Any) -> None:
        more: list[Any] = []
        try:
            done = self._work(task, self._is_halted)
            more = done.more
            for result in done.results:
                self.results.put(result)
        except BaseException as error:
            with self._changed:
                self.error = self.error or error
            self.halt()
        finally:
            with self._changed:
                self._under_way -= 1
                self._todo.extend(more)
                self._changed.notify_all()
