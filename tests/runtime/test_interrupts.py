"""Ctrl-C as a request."""

import os
import signal
import threading

import pytest

from maylink.runtime.interrupts import NEVER, CtrlC, ignore_ctrl_c


def test_the_first_ctrl_c_asks_and_the_second_interrupts():
    before = signal.getsignal(signal.SIGINT)
    with CtrlC() as stop:
        assert not stop.asked
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.asked
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


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
