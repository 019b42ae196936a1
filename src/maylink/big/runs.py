"""Runs of TVClust on Dask, of which some may have been made before the fit was broken off.

A resume point holds, for each run, the shares of the linked points, the factors and those of the
sweep before, which are the rule of all other points, and the bounds so far. Starts are not in it:
the same seed makes them again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from maylink.big.problem import BigProblem
from maylink.big.responsibilities import SoftRule
from maylink.big.resume import File
from maylink.big.resumed import mark_of
from maylink.labels import complete_codes
from maylink.runtime.progress import Progress
from maylink.solvers import variational
from maylink.solvers.fit import Status
from maylink.solvers.variational import Factors
from maylink.tuning.pool import mark_of as mark_of_labels

if TYPE_CHECKING:
    from maylink.big.variational import SoftState, Solver
    from maylink.estimators.tvclust import TVClust


def resume_of(model: TVClust, problem: BigProblem) -> File | None:
    """Return the file of the resume point, where a checkpoint is wanted."""
    if model.checkpoint is None:
        return None
    start = model.init
    if not isinstance(start, str):
        start = mark_of_labels(complete_codes(start, "init")).hex()
    return File(Path(model.checkpoint), mark_of(model, problem) + start)


class Runs:
    """Runs, one after the other.

    Parameters
    ----------
    solver : Solver
        Makes sweeps.
    resume : File or None
        Where to take down how far they have come.
    progress : Progress
        Told about every sweep.
    """

    def __init__(self, solver: Solver, resume: File | None, progress: Progress) -> None:
        self.solver, self.resume, self.progress = solver, resume, progress
        told = None if resume is None else resume.read()
        self.known: list[Any] = [] if told is None else told  # of earlier: runs done, one going
        self.done: list[Any] = []  # as they are told

    def from_labels(self, labels: Any) -> variational.Result[SoftState]:
        """Run from a partition."""
        return self._run(lambda: self.solver.from_labels(labels))

    def from_factors(self, factors: Factors) -> variational.Result[SoftState]:
        """Run from factors."""
        return self._run(lambda: self.solver.from_factors(factors))

    def _run(self, begin: Callable[[], SoftState]) -> variational.Result[SoftState]:
        number = len(self.done)
        if number < len(self.known):
            state, bounds, status = self._read(self.known[number])
            if status is not None:
                self.done.append(self.known[number])
                return variational.Result(state, np.array(bounds), status)
        else:
            state = begin()
            bounds = [state.factors.bound]

        def sweep(state: SoftState) -> SoftState:
            new = self.solver.sweep(state)
            bounds.append(new.factors.bound)
            if self.resume is not None:
                self.resume.write([*self.done, _told(new, bounds, None)])
            return new

        settings, n = self.solver.settings, self.solver.problem.n
        result = variational.climb(state, sweep, n, settings, self.progress, bounds[:-1])
        if self.resume is not None and result.status is not Status.STOPPED:
            self.done.append(_told(result.state, bounds, result.status))
        return result

    def _read(self, told: Any) -> tuple[SoftState, list[float], Status | None]:
        from maylink.big.variational import SoftState

        linked, rule, factors, bounds, status = told
        solver, prior = self.solver, self.solver.prior
        posterior, sticks = rule
        rule = SoftRule(solver.ready, solver.settings, _typed(posterior, prior), sticks)
        factors = Factors(_typed(factors[0], prior), *factors[1:])
        state = SoftState(linked, rule, factors)
        return state, list(bounds), None if status is None else Status(status)


def _told(state: SoftState, bounds: list[float], status: Status | None) -> Any:
    """Return a run as a file can hold it."""
    rule: Any = state.rule
    said = [rule.posterior, rule.sticks]
    return [state.linked, said, list(state.factors), list(bounds), status and str(status)]


def _typed(told: Any, prior: Any) -> Any:
    """Return a posterior as the type that its prior has."""
    if not isinstance(prior, tuple):
        return told
    parts = [_typed(*pair) for pair in zip(told, prior, strict=True)]
    return type(prior)(*parts) if hasattr(prior, "_fields") else tuple(parts)
