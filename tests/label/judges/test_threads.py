import threading
import time

import pytest

from maylink.label.judges.threads import TaskResult, in_threads


def test_every_task_is_done_once_and_so_are_those_that_tasks_make():
    seen, lock = [], threading.Lock()

    def work(task, stop):
        with lock:
            seen.append(task)
        return TaskResult([task], [task + 100] if task < 100 else [])

    results = sorted(in_threads(range(30), work, 4))
    assert results == sorted(seen) == [*range(30), *range(100, 130)]


def test_tasks_go_side_by_side():
    barrier = threading.Barrier(3, timeout=5)
    assert (
        list(in_threads(range(3), lambda t, s: (barrier.wait(), TaskResult([1], []))[1], 3))
        == [1] * 3
    )


def test_an_error_comes_after_the_results_of_those_under_way():
    ready = threading.Event()

    def work(task, stop):
        if task == 0:
            assert ready.wait(5)
            raise ValueError("broken")
        ready.set()
        time.sleep(0.1)
        return TaskResult([task], [])

    results = in_threads([0, 1, *range(10, 99)], work, 2)
    assert next(results) == 1
    with pytest.raises(ValueError, match="broken"):
        next(results)


def test_no_task_is_begun_after_the_stop():
    begun = []

    def work(task, stop):
        begun.append(task)
        return TaskResult([task], [])

    results = in_threads(range(1000), work, 2, lambda: len(begun) >= 5)
    assert len(list(results)) == len(begun) < 10


def test_who_wants_no_more_leaves_the_threads_to_end():
    before = threading.active_count()
    results = in_threads(range(1000), lambda t, s: (time.sleep(0.01), TaskResult([t], []))[1], 4)
    next(results)
    results.close()
    end = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert threading.active_count() == before
