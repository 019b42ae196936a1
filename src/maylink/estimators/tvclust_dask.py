"""How TVClust fits data on Dask: what it chooses, and where it starts.

Sweeps are those of :mod:`maylink.big.variational`. Up to 5,000 points are gathered, and starts are
those of one machine. Of more points a sample is fitted, here; its factors are what the first sweep
uses on all data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from maylink.big.problem import BigProblem
from maylink.big.runs import Runs, resume_of
from maylink.big.variational import SoftState, Solver
from maylink.errors import MaylinkError
from maylink.parameters import as_generator
from maylink.runtime.interrupts import CtrlC
from maylink.runtime.progress import Progress
from maylink.solvers import variational
from maylink.tuning import penalty, starts
from maylink.tuning.tvclust import Choice, labels_of

if TYPE_CHECKING:
    from maylink.estimators.tvclust import TVClust


def fit(model: TVClust, X: Any, links: Any) -> dict[str, Any]:
    """Return the fitted attributes of a model of data on Dask.

    Parameters
    ----------
    model : TVClust
        Its parameters say how.
    X : dask array of shape (n, d)
        The data.
    links : Links, pair of lists, n × n matrix, DataFrame or None
        Links between the points.
    """
    from maylink.estimators.tvclust import told_choice

    _check(model)
    rng = as_generator(model.random_state)
    choice = model._choose(X, links, rng)
    problem, prior = choice.problem, model._prior_of(choice.problem)
    solver = Solver(problem, prior, model._variational_settings(choice.data_weight))
    resume = resume_of(model, problem)
    with (
        CtrlC() as stop,
        Progress("TVClust", model._n_starts, model.verbose, "start", stop) as progress,
    ):
        best = _best(model, choice, solver, Runs(solver, resume, progress), rng, progress)
        if resume is not None and not progress.stopped:
            resume.done()
    found = solver.described(best.state, best.bounds)
    return {
        "prior_": prior,
        "status_": best.status,
        "family_": problem.family,
        **told_choice(choice),
        **found,
    }


def _check(model: TVClust) -> None:
    """Refuse what needs all points in one place."""
    if model.inference != "variational":
        raise MaylinkError(
            "inference: draws hold a label for each point, so 'gibbs' needs data in memory; on "
            "Dask use 'variational'"
        )
    if model.batch_size is not None:
        raise MaylinkError(
            "batch_size: data on Dask are visited by chunk already; leave it out, or give data in "
            "memory"
        )
    if model.learn_prior:
        raise MaylinkError("learn_prior: only for inference='gibbs', with data in memory")


def _best(
    model: TVClust,
    choice: Choice,
    solver: Solver,
    runs: Runs,
    rng: np.random.Generator,
    progress: Progress,
) -> variational.Result[SoftState]:
    """Run from all starts and return the best."""
    problem, settings = choice.problem, solver.settings
    fit = starts.Model(solver.prior, settings)
    start = starts.Start(model.init, model.n_jobs, rng, fit, choice.views)
    if not (isinstance(model.init, str) and model.init == "auto"):
        given = _given(problem, solver, start, model._n_starts)
        return starts.best_of(given, runs.from_labels, lambda state: None, progress)
    if problem.n <= penalty.SAMPLE:
        return starts.best_of(
            start.several(problem.loaded().prepared(), model._n_starts),
            runs.from_labels,
            lambda state: start.anew(solver.gathered_labels(state)),
            progress,
        )
    sample = penalty.sampled(problem, rng).prepared()
    found = starts.best_of(
        start.several(sample, model._n_starts),
        lambda labels: variational.solve(sample, solver.prior, settings, labels, progress),
        lambda state: start.anew(labels_of(state)),
        progress,
    )
    return runs.from_factors(found.state.factors)


def _given(problem: BigProblem, solver: Solver, start: starts.Start, count: int) -> Iterator[Any]:
    """Yield starts other than those of a pool; what is not given by the user stays on Dask."""
    import dask.array

    chunks = tuple(problem.sizes)
    if isinstance(start.init, str) and start.init == "one":
        yield dask.array.zeros(problem.n, dtype=np.int64, chunks=(chunks,))
    elif isinstance(start.init, str) and start.init == "singletons":
        yield dask.array.arange(problem.n, dtype=np.int64, chunks=(chunks,))
    else:
        yield from start.several(replace(problem, family=solver.ready), count)  # type: ignore[arg-type]
