"""The one loop: steps, rows, Ctrl-C, checkpoints, values that are not finite."""

import logging
import os
import signal

import numpy as np
import pytest

from halving import HalvedNumber, HalvingSolver, HalvingState
from maylink.errors import MaylinkError
from maylink.problem import Problem
from maylink.runtime.interrupts import CtrlC, Stop
from maylink.runtime.progress import Progress
from maylink.solvers import loop
from maylink.solvers.fit import Status
from maylink.solvers.variational import VariationalSettings, VariationalSolver
from zoo import draw, random_links


def stopping(tmp_path, n_steps=0):
    """Progress that asks to stop once it was shown so many steps."""
    stop = Stop(tmp_path / "stop")

    class Stopping(Progress):
        is_shown = True

        def show(self, **state):
            if state["sweep"] == n_steps:
                stop.ask()

    if n_steps == 0:
        stop.ask()
    return Stopping("", 0, False, stop=stop)


def test_it_steps_until_the_solver_is_done():
    solver = HalvingSolver()
    fit = loop.run(solver, solver.init(8.0))
    assert fit.state == HalvingState(1.0, 3)
    assert fit.trace.sweeps == (
        HalvedNumber(4.0, 1),
        HalvedNumber(2.0, 2),
        HalvedNumber(1.0, 3),
    )
    assert fit.trace.kept == 2
    assert (fit.objective, fit.status) == (1.0, Status.CONVERGED)


def test_the_solver_says_why_it_stops():
    assert loop.run(HalvingSolver(2), HalvingState(8.0)).status is Status.MAX_SWEEPS


def test_a_trace_may_begin_with_the_start():
    fit = loop.run(HalvingSolver(records_start=True), HalvingState(8.0))
    assert fit.trace.column("value").tolist() == [8.0, 4.0, 2.0, 1.0]
    assert fit.trace.kept == 3


def test_a_solver_that_is_done_at_the_start_makes_no_step():
    solver = HalvingSolver()
    fit = loop.run(solver, HalvingState(1.0))
    assert (solver.n_calls, len(fit.trace), fit.status) == (0, 0, Status.CONVERGED)
    assert np.isnan(fit.objective)  # there is no row that could tell


# ---------------------------------------------------------------------- going on


def test_rows_of_earlier_steps_come_first():
    whole = loop.run(HalvingSolver(), HalvingState(16.0))
    earlier = loop.run(HalvingSolver(2), HalvingState(16.0))
    again = loop.run(HalvingSolver(), earlier.state, rows=earlier.trace.sweeps)
    assert again == whole


def test_a_start_is_recorded_once():
    first = loop.run(HalvingSolver(2, records_start=True), HalvingState(16.0))
    solver = HalvingSolver(records_start=True)
    again = loop.run(solver, first.state, rows=first.trace.sweeps)
    assert again.trace.column("value").tolist() == [16.0, 8.0, 4.0, 2.0, 1.0]


def test_what_is_called_after_a_step_gets_the_state_and_all_rows():
    calls = []
    loop.run(
        HalvingSolver(records_start=True),
        HalvingState(4.0),
        after_step=lambda state, rows: calls.append((state.value, [row.value for row in rows])),
    )
    assert calls == [(2.0, [4.0, 2.0]), (1.0, [4.0, 2.0, 1.0])]


# ---------------------------------------------------------------------- Ctrl-C


def test_ctrl_c_stops_after_the_step_and_keeps_what_there_is(tmp_path):
    fit = loop.run(HalvingSolver(), HalvingState(64.0), stopping(tmp_path, 2))
    assert fit.status is Status.STOPPED
    assert (fit.state, fit.objective, len(fit.trace)) == (HalvingState(16.0, 2), 16.0, 2)


def test_a_signal_in_the_middle_of_a_step_lets_the_step_end():
    class Interrupted(HalvingSolver):
        def step(self, state):
            if state.n_steps == 1:
                os.kill(os.getpid(), signal.SIGINT)
            return super().step(state)

    with CtrlC() as stop:
        fit = loop.run(Interrupted(), HalvingState(64.0), Progress("", 0, False, stop=stop))
    assert fit.status is Status.STOPPED
    assert fit.state == HalvingState(16.0, 2)


def test_stopped_before_the_first_step_there_is_one_step_or_the_start(tmp_path):
    progress = stopping(tmp_path)
    one_step = loop.run(HalvingSolver(), HalvingState(64.0), progress)
    assert (one_step.state.n_steps, one_step.status) == (1, Status.STOPPED)
    start = loop.run(HalvingSolver(records_start=True), HalvingState(64.0), progress)
    assert (start.state.n_steps, start.status) == (0, Status.STOPPED)
    assert start.objective == 64.0


def test_a_solver_that_is_done_was_not_stopped(tmp_path):
    fit = loop.run(HalvingSolver(), HalvingState(4.0), stopping(tmp_path, 2))
    assert fit.status is Status.CONVERGED


# ---------------------------------------------------------------------- values that are not finite


@pytest.mark.parametrize("records_start", [False, True])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_an_objective_that_is_not_finite_is_an_error_that_names_the_sweep(value, records_start):
    class Breaking(HalvingSolver):
        def record(self, state):
            return HalvedNumber(value if state.n_steps == 3 else state.value, state.n_steps)

    saved = []
    with pytest.raises(MaylinkError, match=f"halving: the value is {value} after sweep 3: .*X"):
        loop.run(
            Breaking(records_start=records_start),
            HalvingState(64.0),
            after_step=lambda state, rows: saved.append(state.n_steps),
        )
    assert saved == [1, 2]  # a checkpoint never holds such a state


def test_a_bound_that_is_not_a_number_is_told_with_its_sweep():
    X, _ = draw("gaussian", 20, 0)
    problem = Problem.build(X, random_links(20, 20, 0))

    class Breaking(VariationalSolver):
        def step(self, state):
            state = super().step(state)
            return state._replace(factors=state.factors._replace(bound=np.nan))

    solver = Breaking(problem, problem.prior, VariationalSettings())
    with pytest.raises(MaylinkError, match="TVClust: the bound is nan after sweep 1"):
        loop.run(solver, solver.init(np.arange(20) % 3))


# ---------------------------------------------------------------------- what a user sees


def test_progress_shows_short_numbers():
    shown = []

    class Watching(Progress):
        is_shown = True

        def show(self, **state):
            shown.append(state)

    loop.run(HalvingSolver(1), HalvingState(2.0 / 3.0 * 1e6), Watching("", 0, False))
    assert shown == [{"sweep": 1, "value": "333333", "n_steps": 1}]


def test_the_log_says_how_a_run_ended(caplog):
    with caplog.at_level(logging.INFO, "maylink"):
        loop.run(HalvingSolver(), HalvingState(8.0))
    assert "halving: converged after 3 steps: {'value': '1', 'n_steps': 3}" in caplog.text
