"""Threads of this process: how many there may be, and how work is shared out among them.

Kernels run without the interpreter lock, so that Python threads are enough.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from itertools import count, pairwise
from typing import Any, Self

import numpy as np

from maylink.errors import MaylinkError

# Multiplications below which another thread costs more than it saves.
_LEAST_WORK = ContextVar("least_work", default=200_000)

PIECES = 4  # into which the work of a thread is cut, so that a slow thread can leave some to others


@contextmanager
def least_work(multiplications: int) -> Iterator[None]:
    """While it lasts, so many multiplications are worth another thread, 200,000 otherwise.

    Examples
    --------
    >>> from maylink.runtime.threads import least_work, share
    >>> with least_work(1):
    ...     share(lambda low, high: high - low, 4, 1, n_threads=2)
    [2, 2]
    """
    token = _LEAST_WORK.set(multiplications)
    try:
        yield
    finally:
        _LEAST_WORK.reset(token)


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads: ``n_jobs``, or all processors for None and −1.

    All processors are those that this process may use, and no more than ``OMP_NUM_THREADS``, by
    which joblib tells its workers to share.
    """
    if n_jobs is None or n_jobs == -1:
        available = getattr(os, "sched_getaffinity", None)
        processors = len(available(0)) if available else os.cpu_count() or 1
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return max(1, min(processors, int(limit))) if limit.isdigit() else processors
    if not isinstance(n_jobs, (int, np.integer)) or isinstance(n_jobs, bool) or n_jobs < 1:
        raise MaylinkError(
            f"n_jobs: {n_jobs!r} is not a number of threads; give 1 or more, or None for all"
        )
    return int(n_jobs)


class _Limit:
    """Counts the blocks of :func:`one_thread` that are open: the first limits, the last frees.

    To look for libraries that have threads takes milliseconds. They come with modules, so one looks
    again only where more of these are loaded than before.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.n_modules = 0  # loaded when libraries were looked for
        self.libraries: Any = None
        self.limit: Any = None

    def enter(self) -> None:
        from threadpoolctl import ThreadpoolController

        with self.lock:
            if self.users == 0:
                if self.n_modules != len(sys.modules):
                    self.n_modules, self.libraries = len(sys.modules), ThreadpoolController()
                self.limit = self.libraries.limit(limits=1)
            self.users += 1

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                self.limit.restore_original_limits()
                self.limit = None


_limit = _Limit()


@contextmanager
def one_thread() -> Iterator[None]:
    """While it lasts, BLAS and OpenMP use one thread: how they round depends on their number.

    Besides, the threads of this module share the work already. Those of BLAS on top of them cost
    more than they save on small products: choosing settings for 5,000 points took twice the time on
    two processors.
    """
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()


def share(
    part: Callable[[int, int], Any], size: int, work: int, n_threads: int | None = None
) -> list[Any]:
    """Run ``part(low, high)`` over 0 … size, on threads where there is enough to do.

    Parameters
    ----------
    part : callable
        Does the work from low to high.
    size : int
        How many items there are.
    work : int
        Multiplications for each item.
    n_threads : int, optional
        The most threads; all processors by default.

    Returns
    -------
    list
        What the parts returned, in order.
    """
    most = thread_count(None) if n_threads is None else n_threads
    n_parts = part_count(size, work, most)
    if n_parts == 1:
        return [part(0, size)]
    pool = _team(most - 1).make_way().pool
    cuts = [size * p // n_parts for p in range(n_parts + 1)]
    others = [pool.submit(part, low, high) for low, high in pairwise(cuts[1:])]
    return [part(0, cuts[1]), *(other.result() for other in others)]


def part_count(size: int, work: int, n_threads: int) -> int:
    """Return how many threads so many items are worth, 1 at least; ``work`` is that of an item."""
    return max(1, min(n_threads, size, size * work // _LEAST_WORK.get()))


def share_out(
    part: Callable[[int, int, int], Any], size: int, n_parts: int, n_threads: int
) -> list[Any]:
    """Run ``part(low, high, thread)`` over 0 … size, each thread taking the next piece left.

    So a thread that shares its processor with other programs does less. The results of the parts
    come back in no certain order.
    """
    if n_parts == 1:
        return [part(0, size, 0)]
    n_pieces = min(size, PIECES * n_parts)
    pieces = count()

    def work(thread: int) -> list[Any]:
        results = []
        while (piece := next(pieces)) < n_pieces:
            low, high = size * piece // n_pieces, size * (piece + 1) // n_pieces
            results.append(part(low, high, thread))
        return results

    pool = _team(n_threads - 1).make_way().pool
    others = [pool.submit(work, thread) for thread in range(1, n_parts)]
    results = work(0)
    for other in others:
        if not other.cancel():  # a thread that has not begun finds nothing left to do
            results += other.result()
    return results


class Team:
    """Threads that keep off the processor of whoever calls them.

    The system likes to wake a thread where its caller runs. Both then take turns on one processor
    while another is idle, until the system moves one of them, which takes longer than a sweep.
    """

    def __init__(self, size: int) -> None:
        self.pool = ThreadPoolExecutor(size, "maylink", initializer=self._enter)
        self.members: list[int] = []
        self.placed: Any = None  # (the caller's processor, those allowed, members) of the last call

    def _enter(self) -> None:
        self.members.append(threading.get_native_id())

    def make_way(self) -> Self:
        """Keep the threads off this processor, where the system lets us say so."""
        here = _processor()
        if here < 0:
            return self
        allowed, members = os.sched_getaffinity(0), self.members.copy()
        if self.placed != (here, allowed, len(members)):
            for member in members:
                with suppress(OSError):  # the system forbids it, or the thread has ended
                    os.sched_setaffinity(member, allowed - {here} or allowed)
            self.placed = (here, allowed, len(members))
        return self


@cache
def _team(size: int) -> Team:
    return Team(size)


@cache
def _sched_getcpu() -> Any:
    import ctypes

    if not hasattr(os, "sched_setaffinity"):
        return None
    return getattr(ctypes.CDLL(None), "sched_getcpu", None)


def _processor() -> int:
    """Return the number of the processor that runs this, −1 where the system does not tell."""
    getcpu = _sched_getcpu()
    return -1 if getcpu is None else int(getcpu())


def _forget() -> None:
    """Start without threads: a forked process has none of those of its parent."""
    _team.cache_clear()
    _limit.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
