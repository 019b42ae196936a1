"""Runs of a fit, one after the other, of which some may have been made before it was broken off.

A checkpoint holds, for each run, its state, the rows of its trace and, where it has ended, why.
Starts are not in it: the same seed makes them again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from maylink.engines.rules import Assignment, Partition, Rule
from maylink.engines.totals import Totals
from maylink.errors import MaylinkError
from maylink.families.registry import records
from maylink.io.fingerprint import fingerprint
from maylink.model.partition_priors import (
    DirichletProcess,
    Microclustering,
    PitmanYor,
    UniformPartitions,
)
from maylink.model.reliability import LinkCounts
from maylink.problem import ChunkedProblem, Problem
from maylink.runtime.progress import SILENT, Progress
from maylink.solvers import loop
from maylink.solvers.checkpoint import Checkpoint
from maylink.solvers.chunk_sums import SoftRule
from maylink.solvers.chunked_variational import ChunkedState
from maylink.solvers.fit import Ascent, Fit, Status, Sweep, Trace
from maylink.solvers.rdpmeans import MostProbable, RDPMeansState
from maylink.solvers.variational import Factors, VariationalSettings
from maylink.version import __version__

S = TypeVar("S")
NOT_IN_FINGERPRINT = ("checkpoint", "verbose", "time_budget", "n_jobs", "device", "init")


class SavedRun(NamedTuple):
    """A run as the checkpoint holds it."""

    state: Any
    rows: tuple[Any, ...]
    status: Status | None  # None while the run is under way
    kept: int = -1


RECORDS = (
    Ascent, Assignment, ChunkedState, DirichletProcess, Factors, LinkCounts, Microclustering,
    MostProbable, Partition, PitmanYor, RDPMeansState, Rule, SavedRun, SoftRule, Status, Sweep,
    Totals, UniformPartitions, VariationalSettings,
)  # fmt: skip
"""The classes of what a checkpoint holds, families and their priors aside."""


class CheckpointedRuns(Generic[S]):
    """The runs of one fit.

    Parameters
    ----------
    checkpoint : Checkpoint, optional
        Where to write how far the runs have come; without one nothing is written.
    pack : callable, optional
        Turns a state into one that can be stored, or into None where it cannot be yet.
    """

    def __init__(
        self, checkpoint: Checkpoint | None = None, pack: Callable[[S], Any] | None = None
    ) -> None:
        self.checkpoint = checkpoint
        self.pack: Callable[[S], Any] = pack or (lambda state: state)
        self.saved: list[SavedRun] = [] if checkpoint is None else checkpoint.load() or []
        self.finished: list[SavedRun] = []

    def run(
        self,
        solver: loop.Solver[S],
        start: Callable[[], S],
        progress: Progress = SILENT,
        *,
        unpack: Callable[[Any], S] | None = None,
        finish: Callable[[Fit[S]], Fit[S]] | None = None,
    ) -> Fit[S]:
        """Make the next run, or go on with it, or return it where it has ended before.

        Parameters
        ----------
        solver : Solver
            The algorithm.
        start : callable
            Makes the state to start from, where the run has not begun before.
        progress : Progress, optional
            Shows each sweep.
        unpack : callable, optional
            Undoes ``pack``.
        finish : callable, optional
            What is done with a run that has ended, before it is stored.
        """
        number = len(self.finished)
        saved = self.saved[number] if number < len(self.saved) else None
        state = start() if saved is None else (unpack or _same)(saved.state)
        rows = () if saved is None else saved.rows
        if saved is not None and saved.status is not None:
            self.finished.append(saved)
            return Fit(
                state, loop.objective_of(solver, rows), Trace(rows, saved.kept), saved.status
            )
        fit = loop.run(solver, state, progress, rows=rows, after_step=self._after_step)
        fit = fit if finish is None else finish(fit)
        if self.checkpoint is not None and not fit.status.is_early:
            packed = self.pack(fit.state)
            if packed is None:  # then what comes after cannot be numbered, either
                self.checkpoint = None
            self.finished.append(SavedRun(packed, fit.trace.sweeps, fit.status, fit.trace.kept))
        return fit

    def finish(self) -> None:
        """Delete the checkpoint: the fit needs it no more."""
        if self.checkpoint is not None:
            self.checkpoint.delete()

    def _after_step(self, state: S, rows: Sequence[Any]) -> None:
        if self.checkpoint is None or not self.checkpoint.is_due:
            return
        packed = self.pack(state)
        if packed is not None:
            run = SavedRun(packed, tuple(rows), None)
            self.checkpoint.save([*self.finished, run])


def checkpoint_of(
    path: str | Path | None,
    kind: str,
    problem: Problem,
    settings: Any,
    parameters: Mapping[str, Any],
    init: Any,
) -> Checkpoint | None:
    """Return the checkpoint of a fit to data in chunks, where one is wanted.

    Parameters
    ----------
    path : str or Path, optional
        The file.
    kind : str
        What is fitted.
    problem : Problem
        Data, links and family.
    settings
        Of the solver: what was chosen is in them.
    parameters : mapping
        Of the estimator.
    init : str, array or None
        Where the fit starts.
    """
    if path is None:
        return None
    check_checkpoint(problem, parameters.get("random_state"))
    assert isinstance(problem, ChunkedProblem)
    decisive = {
        name: _fingerprint_of(value)
        for name, value in parameters.items()
        if name not in NOT_IN_FINGERPRINT and not hasattr(value, "get_params")
    }
    start = init if init is None or isinstance(init, str) else np.asarray(init)
    columns = (problem.columns.means, problem.columns.largest, problem.columns.smallest)
    data = (problem.X.shape, problem.sizes, columns, problem.links)
    mark = fingerprint(data, problem.family.name, settings, decisive, start, __version__)
    return Checkpoint(path, kind, mark, (*RECORDS, *records()))


def check_checkpoint(problem: Problem, random_state: Any, order: Any = None) -> None:
    """Raise where a fit cannot have a checkpoint."""
    if not isinstance(problem, ChunkedProblem):
        raise MaylinkError("checkpoint: fits to data in memory have none; give a dask array")
    if random_state is None:
        raise MaylinkError(
            "checkpoint: needs a random_state, so that a later run can make its starts again"
        )
    if isinstance(order, str) and order == "shuffle":
        raise MaylinkError(
            "checkpoint: needs an order other than 'shuffle', so that a later run can draw the "
            "orders again"
        )


def _fingerprint_of(value: Any) -> str:
    """Return the fingerprint of a parameter; of an object that has none, that of its text."""
    try:
        return fingerprint(value)
    except MaylinkError:
        return fingerprint(repr(value))


def _same(state: Any) -> Any:
    return state
