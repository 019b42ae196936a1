"""Runs of RDP-means on data in chunks, with a checkpoint.

The labels of points without links are not in the checkpoint, since a rule gives them
(:mod:`maylink.engines.rules`); nor are orders of visits, which the same seed draws again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from maylink.runtime.progress import Progress
from maylink.solvers import rdpmeans
from maylink.solvers.checkpoint import Checkpoint
from maylink.solvers.checkpointed_runs import CheckpointedRuns
from maylink.solvers.rdpmeans import NO_ORDER, RDPMeansSolver, RDPMeansState, Run


class RDPMeansRuns(CheckpointedRuns[RDPMeansState]):
    """The runs of one fit.

    Parameters
    ----------
    solver : RDPMeansSolver
        Its engine is that of data in chunks.
    checkpoint : Checkpoint, optional
        Where to write how far the runs have come.
    """

    def __init__(self, solver: RDPMeansSolver, checkpoint: Checkpoint | None) -> None:
        super().__init__(checkpoint, pack_state)
        self.engine: Any = solver.engine

    def make(self, solver: RDPMeansSolver, start: RDPMeansState, progress: Progress) -> Run:
        """Make the next run, or go on with it; see :func:`maylink.solvers.rdpmeans.run`."""

        def unpack(state: RDPMeansState) -> RDPMeansState:
            order = start.order
            state = replace(state, order=order, labels=self.engine.ranked(state.labels, order))
            if state.best is None:
                return state
            best = state.best.state
            best = replace(best, labels=self.engine.ranked(best.labels, order))
            return replace(state, best=state.best._replace(state=best))

        fit = self.run(
            solver,
            lambda: start,
            progress,
            unpack=unpack,
            finish=lambda fit: rdpmeans.finish(solver, fit),
        )
        progress.advance()
        return fit


def pack_state(state: RDPMeansState) -> RDPMeansState | None:
    """Return a state without its order of visits; None where a partition has no rule yet."""
    if state.labels.given is not None:
        return None
    packed = replace(state, order=NO_ORDER, labels=state.labels._replace(ranks=None))
    if state.best is None:
        return packed
    best = pack_state(state.best.state)
    return None if best is None else replace(packed, best=state.best._replace(state=best))
