"""Threads of this process: how many there may be, and how work is shared out among them.

Kernels run without the interpreter lock, so that Python threads are enough.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count, pairwise
from typing import Any, Self

import numpy as np

from maylink.errors import MaylinkError

WORK_FOR_A_THREAD = 200_000  # multiplications below which another thread costs more than it saves

PIECES = 4  # into which the work of a thread is cut


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads: ``n_jobs``, or all processors for None and −1.

    All means those that this process may use, and no more than ``OMP_NUM_THREADS``, by which
    joblib tells its workers to share.
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
    """Counts who wants libraries to work alone: the first sets it, the last to go undoes it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.limit: Any = None

    def enter(self) -> None:
        from threadpoolctl import threadpool_limits

        with self.lock:
            if self.users == 0:
                self.limit = threadpool_limits(1)
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
    """Let BLAS and OpenMP work alone: they round by the number of their threads, and one is one.

    Work is shared out here, in blocks. Their threads on top of ours, for products this small, cost
    more than they save: choosing settings for 5,000 points took twice the time on two processors.
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
        Does the work from low to high; what it returns comes back in a list.
    size : int
        How much there is to do.
    work : int
        Multiplications for each.
    n_threads : int, optional
        At most so many threads; all processors by default.
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
    """Return how many threads are worth their while, 1 at least."""
    return max(1, min(n_threads, size, size * work // WORK_FOR_A_THREAD))


def share_out(
    part: Callable[[int, int, int], Any], size: int, n_parts: int, n_threads: int
) -> list[Any]:
    """Run ``part(low, high, thread)`` over 0 … size, each thread taking what comes next.

    So a thread that is slowed down by others on its processor does less. What the parts return
    comes back in no certain order.
    """
    if n_parts == 1:
        return [part(0, size, 0)]
    n_pieces = min(size, PIECES * n_parts)
    pieces = count()

    def work(thread: int) -> list[Any]:
        found = []
        while (piece := next(pieces)) < n_pieces:
            low, high = size * piece // n_pieces, size * (piece + 1) // n_pieces
            found.append(part(low, high, thread))
        return found

    pool = _team(n_threads - 1).make_way().pool
    others = [pool.submit(work, thread) for thread in range(1, n_parts)]
    found = work(0)
    for other in others:
        if not other.cancel():  # one that has not begun has nothing left to do
            found += other.result()
    return found


class Team:
    """Threads that keep off the processor of whoever calls them.

    The system likes to wake a thread where its caller runs, and both then take turns on one
    processor while another is idle, until it finds out, which takes longer than a sweep.
    """

    def __init__(self, size: int) -> None:
        self.pool = ThreadPoolExecutor(size, "maylink", initializer=self._enter)
        self.members: list[int] = []
        self.placed: Any = None  # the caller's processor, its others, how many members know

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
                with suppress(OSError):  # not allowed, or not among them
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
    ask = _sched_getcpu()
    return -1 if ask is None else int(ask())


def _forget() -> None:
    """A forked process has none of the threads of its parent."""
    _team.cache_clear()
    _limit.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
