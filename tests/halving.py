"""A solver that halves a number: the smallest thing that the loop can run."""

from typing import NamedTuple

from maylink.solvers.fit import Status


class HalvedNumber(NamedTuple):
    """A step of the solver, as a row of the trace."""

    value: float
    n_steps: int


class HalvingState(NamedTuple):
    """The number, and how often it was halved."""

    value: float
    n_steps: int = 0


class HalvingSolver:
    """Halves a number until it is 1 or less."""

    name = "halving"
    objective = "value"

    def __init__(self, max_sweeps=100, *, records_start=False, broken_at=None):
        self.max_sweeps, self.records_start = max_sweeps, records_start
        self.broken_at = broken_at  # the step that raises KeyboardInterrupt
        self.n_calls = 0

    def init(self, value):
        return HalvingState(value)

    def step(self, state):
        self.n_calls += 1
        if self.n_calls == self.broken_at:
            raise KeyboardInterrupt
        return HalvingState(state.value / 2.0, state.n_steps + 1)

    def record(self, state):
        return HalvedNumber(*state)

    def done(self, state, rows):
        if state.value <= 1.0:
            return Status.CONVERGED
        return Status.MAX_SWEEPS if state.n_steps >= self.max_sweeps else None
