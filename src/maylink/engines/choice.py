"""Which engine holds the points of a problem."""

from __future__ import annotations

from maylink.engines.cpu import CpuEngine
from maylink.engines.dask import DaskEngine
from maylink.engines.protocol import Engine
from maylink.problem import ChunkedProblem, Problem


def engine_of(problem: Problem, n_jobs: int | None = None) -> Engine:
    """Return the engine that holds the points of a problem: in memory, or in chunks on Dask."""
    if isinstance(problem, ChunkedProblem):
        return DaskEngine(problem.chunks, problem.sizes, problem.family, problem.links, n_jobs)
    return CpuEngine(problem.X, problem.family, n_jobs, problem.links)
