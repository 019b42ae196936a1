"""Threads: how many, and that nothing is done twice or left out."""

import multiprocessing
import os
import sys
import threading
from types import ModuleType

import numpy as np
import pytest
import threadpoolctl
from threadpoolctl import threadpool_info, threadpool_limits

from maylink.runtime import threads
from maylink.runtime.threads import least_work, one_thread, share, thread_count


def test_thread_count(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert thread_count(3) == 3
    assert thread_count(None) == thread_count(-1) >= 1
    with pytest.raises(ValueError, match="n_jobs: -4"):
        thread_count(-4)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # how joblib tells its workers to share
    assert thread_count(None) == 1
    assert thread_count(3) == 3


@pytest.mark.parametrize("n_threads", [1, 2, 3, 7])
@pytest.mark.parametrize("size", [0, 1, 5, 100])
def test_every_piece_is_done_once_and_in_order(n_threads, size):
    done = np.zeros(size, int)

    def part(low, high):
        done[low:high] += 1
        return list(range(low, high))

    with least_work(1):
        parts = share(part, size, 1, n_threads)
    assert [i for found in parts for i in found] == list(range(size))
    assert done.tolist() == [1] * size
    assert len(parts) <= n_threads


def test_little_work_stays_on_this_thread():
    assert len(share(lambda low, high: None, 10, 10, 8)) == 1
    with least_work(50):
        assert len(share(lambda low, high: None, 10, 10, 8)) == 2
    assert len(share(lambda low, high: None, 10, 10, 8)) == 1


def test_errors_come_through():
    def part(low, high):
        if high == 4:
            raise ValueError("here")

    with least_work(1), pytest.raises(ValueError, match="here"):
        share(part, 4, 1, 2)


def in_child(queue):
    with least_work(1):
        queue.put(share(lambda low, high: high - low, 4, 1, 2))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_has_threads_of_its_own():
    with least_work(1):
        assert share(lambda low, high: high - low, 4, 1, 2) == [2, 2]
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=20) == [2, 2]
    child.join()


@pytest.mark.parametrize("n_parts", [1, 2, 3])
def test_work_shared_out_is_done_once(n_parts):
    """Every number is seen once, whoever takes it, and each thread has a place of its own."""
    seen = np.zeros(1000, int)
    by_thread = np.zeros(n_parts, int)

    def part(low, high, thread):
        seen[low:high] += 1
        by_thread[thread] += high - low
        return high - low

    found = threads.share_out(part, 1000, n_parts, 3)
    assert seen.tolist() == [1] * 1000
    assert by_thread.sum() == sum(found) == 1000


def test_work_shared_out_passes_errors_on():
    def part(low, high, thread):
        if low <= 700 < high:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        threads.share_out(part, 1000, 2, 2)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system cannot be told")
def test_threads_keep_off_the_processor_of_their_caller():
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 2:
        pytest.skip("there is one processor only")
    team = threads.Team(2)
    for _ in range(3):  # the second call knows of the threads that the first has started
        team.make_way()
        list(team.pool.map(lambda _: None, range(8)))
    here = team.placed[0]
    assert here in allowed
    for member in team.members:
        assert os.sched_getaffinity(member) == allowed - {here}
    assert os.sched_getaffinity(0) == allowed


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system cannot be told")
def test_threads_follow_when_their_caller_may_use_other_processors():
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 2:
        pytest.skip("there is one processor only")
    team = threads.Team(1)
    list(team.pool.map(lambda _: None, range(2)))
    try:
        os.sched_setaffinity(0, {min(allowed)})
        team.make_way()
        assert os.sched_getaffinity(team.members[0]) == {min(allowed)}  # there is no other
    finally:
        os.sched_setaffinity(0, allowed)
    team.make_way()
    assert os.sched_getaffinity(team.members[0]) == allowed - {team.placed[0]}


def test_nobody_waits_for_a_thread_that_has_nothing_to_do():
    """All threads of the team are held up; the caller does their work and goes on."""
    team = threads._team(1)
    held = threading.Event()
    blocked = team.pool.submit(held.wait, 30)
    try:
        found = threads.share_out(lambda low, high, thread: high - low, 100, 2, 2)
        assert sum(found) == 100
        assert not blocked.done()
    finally:
        held.set()


def test_blas_works_alone_until_the_last_user_has_left():
    def allowed():
        return [part["num_threads"] for part in threadpool_info() if part["user_api"] == "blas"]

    with threadpool_limits(2, "blas"):
        before = allowed()
        first, second = one_thread(), one_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert set(allowed()) == {1}
        second.__exit__(None, None, None)
        assert allowed() == before


def test_libraries_are_looked_for_again_only_where_modules_have_come(monkeypatch):
    looked = []

    class Counted(threadpoolctl.ThreadpoolController):
        def __init__(self):
            looked.append(len(sys.modules))
            super().__init__()

    monkeypatch.setattr(threadpoolctl, "ThreadpoolController", Counted)
    monkeypatch.setattr(threads, "_limit", threads._Limit())
    for _ in range(4):
        with one_thread():
            pass
    assert len(looked) <= 2  # to look may load modules itself
    known = len(looked)
    monkeypatch.setitem(sys.modules, "a_module_that_came", ModuleType("a_module_that_came"))
    with one_thread():
        assert len(looked) == known + 1
