import itertools
import random
import threading

import pytest

from maylink.label.judges.pacing import Pacer, RetryPlan, told_to_wait


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        assert seconds > 0
        self.now += seconds


@pytest.mark.parametrize("per_minute", [1, 30, 600])
def test_calls_keep_their_distance(per_minute):
    clock = Clock()
    pacer = Pacer(per_minute, clock=clock, sleep=clock.sleep)
    times = []
    for _ in range(5):
        assert pacer.wait()
        times.append(clock())
    gaps = [late - early for early, late in itertools.pairwise(times)]
    assert gaps == pytest.approx([60 / per_minute] * 4)


def test_without_a_rate_nobody_waits_but_in_a_pause():
    clock = Clock()
    pacer = Pacer(clock=clock, sleep=clock.sleep)
    assert pacer.wait()
    assert pacer.wait()
    assert clock() == 1000.0
    pacer.pause(7.0)
    pacer.pause(3.0)  # a shorter one does not end it
    assert pacer.wait()
    assert clock() == pytest.approx(1007.0)


def test_waiting_ends_when_it_is_time_to_stop():
    clock = Clock()
    pacer = Pacer(clock=clock, sleep=clock.sleep)
    pacer.pause(1e6)
    assert not pacer.wait(lambda: clock() > 1001)
    assert not pacer.rest(1e6, lambda: clock() > 1002)
    assert clock() < 1003
    assert pacer.rest(5.0)
    assert clock() == pytest.approx(1007, abs=1.1)


def test_threads_share_the_rate():
    pacer = Pacer(6000)  # a hundredth of a second apart
    import time

    times, lock = [], threading.Lock()

    def take():
        for _ in range(5):
            pacer.wait()
            with lock:
                times.append(time.monotonic())

    threads = [threading.Thread(target=take) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert max(times) - min(times) >= 19 * 0.01 - 0.002


def test_waits_double_up_to_a_limit_with_jitter_below():
    plan, chance = RetryPlan(first=1.0, longest=10.0), random.Random(0)
    for attempt, whole in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (5, 10.0), (50, 10.0)):
        waits = [plan.wait(attempt, chance) for _ in range(200)]
        assert whole / 2 <= min(waits) < 0.6 * whole
        assert 0.9 * whole < max(waits) <= whole


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("0", 0.0), ("1.5", 1.5), ("-3", None), ("inf", None), ("nan", None), ("", None), ("x", None)],
)
def test_what_a_server_says_about_waiting(header, seconds):
    assert told_to_wait(header) == seconds


def test_dates_of_a_server():
    assert told_to_wait("Thu, 01 Jan 1970 00:01:00 GMT", now=lambda: 10.0) == 50.0
    assert told_to_wait("Thu, 01 Jan 1970 00:01:00 GMT", now=lambda: 100.0) == 0.0
