"""How TVClust solves what was chosen: in memory, in batches, in chunks, or by draws.

Each way ends in the same thing, a :class:`maylink.solvers.fit.Fit` whose state is a
:class:`~maylink.estimators.tvclust_task.ClusterSummary`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from maylink.arrays import Array, Index
from maylink.engines.choice import DeviceRequest
from maylink.estimators.parameter_objects import Gibbs, Variational
from maylink.estimators.tvclust_task import ClusterSummary, GibbsSummary, TVClustTask
from maylink.families.base import Statistics
from maylink.labels import first_appearance
from maylink.model import partitions
from maylink.model.mixture import one_hot
from maylink.model.posterior import Posterior, SampledPosterior, VariationalPosterior
from maylink.model.refined_posterior import RefinedPosterior
from maylink.problem import ChunkedProblem, Problem
from maylink.runtime.progress import Progress
from maylink.runtime.session import Session
from maylink.solvers import chains, loop, variational
from maylink.solvers.checkpointed_runs import CheckpointedRuns, checkpoint_of
from maylink.solvers.chunk_sums import renormalised
from maylink.solvers.chunked_variational import ChunkedState, ChunkedVariationalSolver
from maylink.solvers.cuda_variational import CudaVariationalSolver
from maylink.solvers.fit import Ascent, Fit, Trace
from maylink.solvers.gibbs import CollapsedSampler, GibbsSettings
from maylink.solvers.instantiated import InstantiatedSampler
from maylink.solvers.partition_weights import expected_alpha
from maylink.solvers.refinement import Refinement
from maylink.solvers.variational import VariationalSettings, VariationalSolver
from maylink.solvers.variational_batches import BatchSolver
from maylink.tuning.chain_starts import ChainStarts
from maylink.tuning.pool import worth_of
from maylink.tuning.samples import sampled
from maylink.tuning.starts import ProblemStart, Starts, best_of_restarts

PRIOR_DRAWS = 5  # rounds over the scales of the prior, in a short chain; a sweep costs far more


def solve(
    task: TVClustTask, inference: Variational | Gibbs, session: Session
) -> Fit[ClusterSummary]:
    """Solve by the inference that was asked for, where the data are."""
    if isinstance(inference, Gibbs):
        return _by_draws(task, inference, session)
    if isinstance(task.problem, ChunkedProblem):
        return _in_chunks(task, task.problem, inference, session)
    if inference.batch_size is not None:
        return _in_batches(task, inference, session)
    if task.device is not None:
        return _on_device(task, task.device, inference, session)
    return _in_memory(task, inference, session)


def _in_memory(task: TVClustTask, inference: Variational, session: Session) -> Fit[ClusterSummary]:
    problem, settings = task.problem, task.model.settings
    prepared, count = problem.prepared(), task.n_starts(inference)
    solver = VariationalSolver(prepared, task.model.prior, settings)
    fit = _best_fit(solver, task.starts(session), prepared, count, session)
    omitted = float((problem.log_base - prepared.log_base).sum())
    fit = _shifted(fit, settings.data_weight * omitted)
    return _summarised(task, inference, fit, session)


def _best_fit(
    solver: Any, starts: Starts, problem: Problem, count: int, session: Session
) -> Fit[Any]:
    """Return the best of the fits from several starts, which are searched for in a problem."""
    with session.progress("TVClust", count, "start") as progress:
        return best_of_restarts(
            starts.several(problem, count),
            lambda labels: loop.run(solver, solver.init(labels), progress),
            lambda state: starts.repaired(solver.labels(state)),
            progress,
            lambda fit: worth_of(solver, fit),
        )


def _on_device(
    task: TVClustTask, device: DeviceRequest, inference: Variational, session: Session
) -> Fit[ClusterSummary]:
    """Fit on a GPU; starts that are searched for are made on this machine."""
    problem, settings, count = task.problem, task.model.settings, task.n_starts(inference)
    solver = CudaVariationalSolver(
        problem, task.model.prior, settings, device.settings, device.data(problem.X)
    )
    starts = task.starts(session)
    looked_at = problem if starts.needs_no_search else problem.prepared()
    fit = _best_fit(solver, starts, looked_at, count, session)
    fit = _shifted(fit, settings.data_weight * solver.omitted_log_base)
    labels, there = solver.renormalised(fit.state)
    responsibilities, points = there.cpu().numpy(), solver.rows.soft_points(there)
    statistics = solver.soft_statistics(there, responsibilities)
    del there
    parts = (labels, responsibilities, statistics, points)
    state = solver.brought_here(fit.state)
    return _summary(task, inference, replace(fit, state=state), session, *parts)


def _in_batches(task: TVClustTask, inference: Variational, session: Session) -> Fit[ClusterSummary]:
    size, model = int(inference.batch_size or 1), task.model
    starts = Starts(task.init, session.rng, task.tuning, session.n_jobs, model)
    solver = BatchSolver(task.problem, model.prior, model.settings, size, session.rng)
    with session.progress("TVClust", model.settings.max_sweeps, "sweep") as progress:
        state = solver.init(solver.start_labels(starts))
        fit = loop.run(solver, state, progress, after_step=lambda *_: progress.advance())
    return _summarised(task, inference, fit, session)


def _summarised(
    task: TVClustTask, inference: Variational, fit: Fit[Any], session: Session
) -> Fit[ClusterSummary]:
    """Return a fit with responsibilities in memory as a summary of its clusters."""
    problem, state = task.problem, fit.state
    labels, columns = first_appearance(state.responsibilities.argmax(axis=1))
    responsibilities = renormalised(state.responsibilities, columns)
    statistics = problem.family.soft_statistics(problem.X, responsibilities)
    points = np.asarray(responsibilities.T @ problem.family.points(problem.X))
    parts = (labels, responsibilities, statistics, points)
    return _summary(task, inference, fit, session, *parts)


def _summary(
    task: TVClustTask,
    inference: Variational,
    fit: Fit[Any],
    session: Session,
    labels: Index,
    responsibilities: Array,
    statistics: Statistics,
    points: Array,
) -> Fit[ClusterSummary]:
    """Return a summary of clusters and of what the factors know."""
    state, settings = fit.state, task.model.settings
    factors = variational.posterior_of(task.problem.links, settings, state)
    summary = ClusterSummary(
        labels=labels,
        responsibilities=responsibilities,
        statistics=statistics,
        points=points,
        posterior=task.judged(_refined(task, factors, labels, inference, session)),
        alpha=expected_alpha(state.factors.alpha),
        prior=task.model.prior,
        partition_prior=settings.partition_prior,
        neighbour_reliability=task.neighbour_reliability(factors),
    )
    return Fit(summary, fit.objective, fit.trace, fit.status)


def _refined(
    task: TVClustTask,
    factors: VariationalPosterior,
    labels: Index,
    inference: Variational,
    session: Session,
) -> Posterior:
    """Return a posterior that draws when it is asked, or the factors where it cannot."""
    is_open = task.parameters.get("prior") is None  # what the user believes stays as it is
    settings = gibbs_settings(
        task.model.settings,
        learn_prior=bool(inference.learn_prior) and is_open,
        n_prior_draws=PRIOR_DRAWS,
        n_split_merge=1,
    )
    n_draws, seed = int(inference.interval_draws), int(session.rng.integers(2**63))
    source = Refinement(task.problem, task.model.prior, settings, labels, n_draws, seed)
    if n_draws == 0 or not source.is_possible:
        return factors
    return RefinedPosterior(factors, source, factors.links)


def gibbs_settings(settings: VariationalSettings, **how: Any) -> GibbsSettings:
    """Return the settings of a sampler of the same model."""
    return GibbsSettings(
        data_weight=settings.data_weight,
        alpha=settings.alpha,
        alpha_prior=settings.alpha_prior,
        reliability=settings.reliability,
        reliability_prior=settings.reliability_prior,
        partition_prior=settings.partition_prior,
        **how,
    )


def _in_chunks(
    task: TVClustTask, problem: ChunkedProblem, inference: Variational, session: Session
) -> Fit[ClusterSummary]:
    solver = ChunkedVariationalSolver(problem, task.model.prior, task.model.settings)
    checkpoint = checkpoint_of(
        task.checkpoint, "tvclust", problem, task.model.settings, task.parameters, task.init
    )
    runs: CheckpointedRuns[ChunkedState] = CheckpointedRuns(checkpoint)
    count = task.n_starts(inference)
    with session.progress("TVClust", count, "start") as progress:
        fit = _best_in_chunks(task, solver, runs, count, session, progress)
        if not progress.stopped:
            runs.finish()
    fit = _shifted(fit, task.model.settings.data_weight * solver.omitted_log_base())
    labels, columns = solver.numbered(fit.state)
    sums = solver.cluster_sums(fit.state, columns)
    summary = ClusterSummary(
        labels=labels,
        responsibilities=solver.responsibilities(fit.state, columns),
        statistics=sums.statistics,
        points=sums.points,
        posterior=solver.posterior(fit.state),
        alpha=expected_alpha(fit.state.factors.alpha),
        prior=task.model.prior,
        partition_prior=task.model.settings.partition_prior,
        neighbour_reliability=None,
    )
    return Fit(summary, fit.objective, fit.trace, fit.status)


def _best_in_chunks(
    task: TVClustTask,
    solver: ChunkedVariationalSolver,
    runs: CheckpointedRuns[ChunkedState],
    count: int,
    session: Session,
    progress: Progress,
) -> Fit[ChunkedState]:
    """Up to a sample's size, starts are those of one machine; of more points a sample is fitted."""
    problem, starts = solver.problem, task.starts(session)

    def run(labels: Any) -> Fit[ChunkedState]:
        return runs.run(solver, lambda: solver.init(labels), progress)

    if not task.start_is_open:
        plain = _plain_starts(problem, solver, starts, count)
        return best_of_restarts(plain, run, lambda state: None, progress)
    if problem.n <= task.tuning.sample_size:
        return best_of_restarts(
            starts.several(problem.loaded().prepared(), count),
            run,
            lambda state: starts.repaired(solver.labels(state)),
            progress,
        )
    sample = sampled(problem, task.tuning.sample_size, session.rng).prepared()
    small = VariationalSolver(sample, task.model.prior, task.model.settings)
    best = best_of_restarts(
        starts.several(sample, count),
        lambda labels: loop.run(small, small.init(labels), progress),
        lambda state: starts.repaired(small.labels(state)),
        progress,
    )
    return runs.run(solver, lambda: solver.init_from_factors(best.state.factors), progress)


def _plain_starts(
    problem: ChunkedProblem, solver: ChunkedVariationalSolver, starts: Starts, count: int
) -> Iterator[Any]:
    """Yield starts other than those of a pool; what is not given by the user stays on Dask."""
    import dask.array

    chunks = (tuple(problem.sizes),)
    if isinstance(starts.init, str) and starts.init == "one":
        yield dask.array.zeros(problem.n, dtype=np.int64, chunks=chunks)
    elif isinstance(starts.init, str) and starts.init == "singletons":
        yield dask.array.arange(problem.n, dtype=np.int64, chunks=chunks)
    else:
        yield from starts.several(replace(problem, family=solver.family), count)


def _by_draws(task: TVClustTask, inference: Gibbs, session: Session) -> Fit[ClusterSummary]:
    problem, prior, settings = task.problem, task.model.prior, task.model.settings
    plan = chains.ChainPlan(
        inference.n_chains, inference.n_warmup, inference.n_draws, task.checkpoint, session.n_jobs,
        session.delay,
    )  # fmt: skip
    kind = CollapsedSampler if inference.sampler == "collapsed" else InstantiatedSampler
    gibbs = gibbs_settings(
        settings,
        learn_prior=inference.learn_prior,
        thin=inference.thin,
        n_split_merge=inference.n_split_merge,
    )
    seed = int(session.rng.integers(2**63))
    first = ProblemStart(problem, task.start, task.tuning, task.model)
    start = ChainStarts(first, differ=task.start_is_open)
    fit = chains.solve(kind(problem, prior, gibbs), start, plan, seed, session.stop)
    draws = chains.gather(fit.state)
    posterior = SampledPosterior(draws, problem.links, settings.reliability_prior)
    judged = task.judged(posterior)
    if inference.learn_prior and draws.factors.shape[1]:
        prior = problem.family.rescale(prior, np.exp(np.log(draws.factors).mean(axis=0)))
    labels = partitions.point_estimate(draws.labels, inference.loss, rng=seed)
    members = one_hot(labels, int(labels.max()) + 1)
    summary = GibbsSummary(
        labels=labels,
        responsibilities=partitions.responsibilities_of(draws.labels, labels),
        statistics=problem.family.soft_statistics(problem.X, members),
        points=np.asarray(members.T @ problem.family.points(problem.X)),
        posterior=judged,
        neighbour_reliability=task.neighbour_reliability(posterior),
        alpha=float(draws.alpha.mean()) if settings.partition_prior.uses_alpha else np.nan,
        prior=prior,
        partition_prior=settings.partition_prior,
        draws=judged.draws,
        chain_lengths=[chain.n_draws for chain in fit.state],
    )
    return Fit(summary, fit.objective, fit.trace, fit.status)


def _shifted(fit: Fit[Any], by: float) -> Fit[Any]:
    """Return a fit whose bounds are those of the family that was not prepared."""
    rows = tuple(Ascent(row.bound + by, row.n_clusters) for row in fit.trace.sweeps)
    return Fit(fit.state, fit.objective + by, Trace(rows, fit.trace.kept), fit.status)
