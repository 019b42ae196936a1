"""Threads of this process: how many there may be, and how work is shared out among them.

Kernels run without the interpreter lock, so that Python threads are enough.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from maylink.errors import MaylinkError

WORK_FOR_A_THREAD = 200_000  # multiplications below which another thread costs more than it saves


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

    def one(low: int, high: int, number: int) -> Any:
        return part(low, high)

    return share_parts(one, size, part_count(size, work, most), most)


def part_count(size: int, work: int, n_threads: int) -> int:
    """Return how many threads are worth their while, 1 at least."""
    return max(1, min(n_threads, size, size * work // WORK_FOR_A_THREAD))


def share_parts(
    part: Callable[[int, int, int], Any], size: int, n_parts: int, n_threads: int
) -> list[Any]:
    """Run ``part(low, high, number)`` over 0 … size in so many parts, each on its thread."""
    if n_parts == 1:
        return [part(0, size, 0)]
    cuts = [size * p // n_parts for p in range(n_parts + 1)]
    pool = _pool(n_threads - 1)
    others = [
        pool.submit(part, low, high, p) for p, (low, high) in enumerate(pairwise(cuts[1:]), 1)
    ]
    return [part(0, cuts[1], 0), *(other.result() for other in others)]


@cache
def _pool(size: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(size, thread_name_prefix="maylink")


def _forget() -> None:
    """A forked process has none of the threads of its parent."""
    _pool.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
