"""The progress bar."""

import sys
import time

import pytest

from maylink.runtime.interrupts import CtrlC
from maylink.runtime.progress import PATIENCE, SILENT, Progress, delay_of, tick


class Terminal:
    """Standard error that says whether it is a terminal."""

    def __init__(self, is_terminal):
        self.isatty = lambda: is_terminal


def test_a_bar_shows_and_goes(capsys):
    with Progress("work", 2, 0.0, unit="draw") as bar:
        bar.show(clusters=3)
        bar.advance(2)
    shown = capsys.readouterr().err
    assert "work: 2 of 2 draws" in shown
    assert "passed" in shown
    assert "left, clusters=3" in shown


def test_it_is_told_how_much_is_left(capsys):
    with Progress("race", 100, 0.0, unit="fit") as bar:
        bar.expect(20)
        for number in range(3):
            bar.show(candidate=f"{number + 1} of 20")
            bar.advance()
        bar.expect(4)
        bar.advance(4)
    assert "race: 7 of 7 fits" in capsys.readouterr().err


def test_a_bar_that_nobody_asked_for_waits(capsys):
    with Progress("work", 2, 60.0) as bar:
        bar.show(clusters=3)
        bar.advance()
    assert capsys.readouterr().err == ""


def test_only_a_terminal_shows_a_bar_unasked(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal(True))
    assert delay_of(verbose=False) == PATIENCE
    assert delay_of(verbose=False, passed=1.5) == pytest.approx(PATIENCE - 1.5)
    assert delay_of(verbose=False, passed=60.0) == 0.0
    assert delay_of(verbose=True) == 0.0
    monkeypatch.setattr(sys, "stderr", Terminal(False))
    assert delay_of(verbose=False) is None
    assert delay_of(verbose=True) == 0.0


def test_silence(capsys):
    SILENT.show(clusters=3)
    SILENT.advance()
    SILENT.expect(3)
    assert capsys.readouterr().err == ""
    assert not SILENT.stopped


def test_whoever_works_for_a_fit_hears_that_it_should_stop():
    with CtrlC() as stop:
        assert not SILENT.stopped
        stop.ask()
        assert SILENT.stopped
        assert not SILENT.out_of_time
    with CtrlC(time_budget=1e-9):
        assert SILENT.stopped
        assert SILENT.out_of_time
    assert not SILENT.stopped


def test_work_without_a_bar_of_its_own_keeps_that_of_the_fit_up_to_date(capsys):
    tick(looking_at="nothing")
    assert capsys.readouterr().err == ""
    with Progress("tuning", 5, 0.0, unit="fit"):
        tick(looking_at="gaussian")
        tick()
        assert "tuning: 0 of 5 fits" in (shown := capsys.readouterr().err)
        assert shown.count("looking_at=gaussian") == 2


def test_time_goes_on_while_a_step_takes_long(capsys):
    with Progress("report", None, 0.0):
        time.sleep(2.3)
    shown = capsys.readouterr().err
    assert "report: 00:01 passed" in shown
    assert "report: 00:02 passed" in shown


def test_a_bar_inside_another_has_the_next_line(capsys):
    with Progress("outer", 2, 0.0), Progress("inner", 2, 0.0) as inner:
        inner.advance()
    assert "\n\rinner: 1 of 2 runs" in capsys.readouterr().err
