"""Ctrl-C as a request."""

import os
import signal
import threading
import time

import pytest

from maylink.kernels.compile import compiled
from maylink.runtime.interrupts import MESSAGE, NEVER, CtrlC, ignore_ctrl_c, present_stop


def test_the_first_ctrl_c_asks_and_the_second_interrupts():
    before = signal.getsignal(signal.SIGINT)
    with CtrlC() as stop:
        assert not stop.asked
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.asked
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


@compiled()
def spin(n):
    total = 0.0
    for i in range(n):
        total += (i % 7) ** 0.5
    return total


def test_it_answers_while_a_kernel_runs(capfd):
    spin(1)
    start = time.perf_counter()
    spin(10_000_000)
    n = int(10_000_000 * 1.5 / (time.perf_counter() - start))  # a second and a half
    answered = []

    def press():
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)
        pressed = time.perf_counter()
        while not stop.asked:
            time.sleep(0.01)
        answered.append(time.perf_counter() - pressed)

    with CtrlC() as stop:
        thread = threading.Thread(target=press)
        thread.start()
        spin(n)
        thread.join()
    assert answered[0] < 1.0
    assert capfd.readouterr().err.count(MESSAGE) == 1


def test_a_time_budget_asks_to_stop():
    with CtrlC(time_budget=60.0) as stop, stop.sooner(1e-9) as sooner:
        assert not stop.asked
        assert sooner.asked
        assert present_stop() is sooner
        assert sooner.out_of_time
        assert not sooner.asked_by_user
    with CtrlC(time_budget=1e-9) as stop:
        assert stop.asked


def test_other_threads_leave_signals_alone():
    seen = []

    def body():
        with CtrlC() as stop:
            seen.append(stop.asked)
        ignore_ctrl_c()

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert seen == [False]


def test_never():
    NEVER.ask()
    assert not NEVER.asked
