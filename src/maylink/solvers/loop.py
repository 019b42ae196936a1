"""The one loop that runs every solver: step after step, until the solver is done.

A solver has four methods::

    init(…) → state            where to start
    step(state) → state        one sweep, or one block of draws
    record(state) → row        what the step did, as a row of the trace
    done(state, rows) → why    why to stop now, or None to go on

The loop alone knows progress, Ctrl-C, checkpoints, values that are not finite, and the trace.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from maylink.errors import MaylinkError
from maylink.runtime.progress import SILENT, Progress, tick
from maylink.solvers.fit import Fit, Status, Trace

S = TypeVar("S")
logger = logging.getLogger("maylink")


class Solver(Protocol[S]):
    """What the loop asks of a solver; ``init`` differs from solver to solver."""

    @property
    def name(self) -> str:
        """What progress bars and messages call the solver."""

    @property
    def objective(self) -> str | None:
        """The field of a row that the solver minimises or maximises; it must stay finite.

        None where rows have no such field.
        """

    @property
    def records_start(self) -> bool:
        """Whether the trace begins with a row for the start itself."""

    def step(self, state: S) -> S:
        """Return the next state."""

    def record(self, state: S) -> Any:
        """Return the last step as a row of the trace, a named tuple."""

    def done(self, state: S, rows: Sequence[Any]) -> Status | None:
        """Return why to stop, or None to go on."""


def run(
    solver: Solver[S],
    state: S,
    progress: Progress = SILENT,
    *,
    rows: Sequence[Any] = (),
    after_step: Callable[[S, Sequence[Any]], None] | None = None,
) -> Fit[S]:
    """Step until the solver is done or the user wants to stop.

    Parameters
    ----------
    solver : Solver
        The algorithm.
    state : S
        Where to start.
    progress : Progress, optional
        Shows the last row and knows whether the user wants to stop. A run that has no row yet makes
        one step first, so that there is something to keep.
    rows : sequence of named tuples
        Rows of the trace that come before the first step: of a run that goes on, its steps so far.
    after_step : callable, optional
        Called with the state and all rows after each step; it may write a checkpoint.

    Returns
    -------
    Fit
        With the last state.

    Raises
    ------
    MaylinkError
        When the objective is not finite; the message names the sweep.
    """
    rows = list(rows) or ([solver.record(state)] if solver.records_start else [])
    while (status := solver.done(state, rows)) is None:
        if progress.stopped and rows:
            status = Status.of_stop(progress.out_of_time)
            break
        state = solver.step(state)
        rows.append(solver.record(state))
        value, sweep = objective_of(solver, rows), len(rows) - solver.records_start
        if solver.objective is not None and not math.isfinite(value):
            raise MaylinkError(
                f"{solver.name}: the {solver.objective} is {value} after sweep {sweep}: values "
                "of X or the weights of links are too large, too small or too close for double "
                "precision; shift or scale X"
            )
        if progress.is_shown:
            progress.show(sweep=sweep, **_shown(rows[-1]))
        else:
            tick()
        if after_step is not None:
            after_step(state, rows)
    if logger.isEnabledFor(logging.INFO):
        last = _shown(rows[-1]) if rows else {}
        logger.info("%s: %s after %d steps: %s", solver.name, status, len(rows), last)
    return Fit(state, objective_of(solver, rows), Trace(tuple(rows), len(rows) - 1), status)


def objective_of(solver: Solver[Any], rows: Sequence[Any]) -> float:
    """Return the objective of the last row; NaN where there is none."""
    if solver.objective is None or not rows:
        return math.nan
    return float(getattr(rows[-1], solver.objective))


def _shown(row: Any) -> dict[str, Any]:
    """Return a row as a progress bar shows it: numbers that are not whole are short."""
    return {name: _short(value) for name, value in row._asdict().items()}


def _short(value: Any) -> Any:
    if isinstance(value, tuple):
        return " ".join(f"{number:.2f}" for number in value)
    return f"{value:.6g}" if isinstance(value, float) else value
