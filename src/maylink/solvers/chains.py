"""Chains of draws: several at a time, each reproducible alone, stopped and continued at will.

A chain is made in blocks of draws. After a block all that the next one needs is the sampler's state
and the generator's, so a chain that was killed goes on from its last checkpoint to exactly the
draws that it would have made.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from maylink.arrays import Index
from maylink.errors import MaylinkError
from maylink.io.fingerprint import fingerprint
from maylink.model.draws import Draws
from maylink.problem import Problem
from maylink.runtime.interrupts import NEVER, Stop, ignore_ctrl_c
from maylink.runtime.progress import Progress
from maylink.runtime.threads import thread_count
from maylink.solvers import loop
from maylink.solvers.checkpoint import Checkpoint
from maylink.solvers.fit import Fit, Status, Trace
from maylink.solvers.gibbs import GibbsState
from maylink.version import __version__

logger = logging.getLogger("maylink")
SHOWN = 4  # sources whose p and q a progress bar has room for


class Sampler(Protocol):
    """What a chain needs of a sampler."""

    problem: Problem
    settings: Any
    prior: Any

    def init(self, labels: Index) -> GibbsState:
        """Return the state of a chain that starts from a partition."""

    @property
    def block(self) -> int:
        """How many draws are made at a time."""

    def step(
        self, state: GibbsState, n_draws: int, rng: np.random.Generator
    ) -> tuple[GibbsState, Draws]:
        """Make some draws."""


class ChainStart(Protocol):
    """Makes the partitions that chains start from."""

    def __call__(self, rng: np.random.Generator, number: int) -> Index:
        """Return the partition of the chain with this number."""

    @property
    def init(self) -> Any:
        """The kind of start, or the labels that were given."""


@dataclass(frozen=True)
class ChainPlan:
    """How many chains and draws.

    Parameters
    ----------
    n_chains, n_warmup, n_draws : int
        Chains, draws of each that are thrown away, and draws of each that are kept.
    checkpoint : str or Path, optional
        The folder of the checkpoints, one for each chain.
    n_jobs : int, optional
        Processes.
    delay : float, optional
        Seconds until progress bars are shown; None for none.
    """

    n_chains: int = 2
    n_warmup: int = 300
    n_draws: int = 500
    checkpoint: str | Path | None = None
    n_jobs: int | None = None
    delay: float | None = None


class ChainState(NamedTuple):
    """One chain, as far as it got."""

    sampler: GibbsState
    blocks: tuple[Draws, ...]  # of draws that are kept, in order; the first is empty
    n_draws: int  # in all blocks
    n_warmup: int  # draws that were thrown away
    generator: Mapping[str, Any]  # the state of the generator
    last: BlockOfDraws | None = None

    @property
    def draws(self) -> Draws:
        """The draws of all blocks."""
        return self.blocks[0] if len(self.blocks) == 1 else Draws.joined(list(self.blocks))

    def compact(self) -> ChainState:
        """Return the same chain with its draws in one block."""
        return self._replace(blocks=(self.draws,))


class BlockOfDraws(NamedTuple):
    """A block of draws as a row of the trace: what its last draw is like."""

    log_joint: float
    n_clusters: int
    n_draws: int  # in the block
    p: tuple[float, ...] = ()  # of the first sources
    q: tuple[float, ...] = ()


class ChainSolver:
    """Blocks of draws of one chain.

    Parameters
    ----------
    sampler : Sampler
        Makes the draws.
    plan : ChainPlan
        How many draws.
    rng : Generator
        The generator of the chain; it moves on.
    """

    name: ClassVar[str] = "Gibbs"
    objective: ClassVar[str] = "log_joint"
    records_start: ClassVar[bool] = False

    def __init__(self, sampler: Sampler, plan: ChainPlan, rng: np.random.Generator) -> None:
        self.sampler, self.plan, self.rng = sampler, plan, rng

    def init(self, labels: Index) -> ChainState:
        """Start from a partition."""
        problem = self.sampler.problem
        n_scales = problem.family.scales(self.sampler.prior)
        draws = Draws.empty(problem.n, len(problem.links.sources), n_scales)
        generator = self.rng.bit_generator.state
        return ChainState(self.sampler.init(labels), (draws,), 0, 0, generator)

    def step(self, state: ChainState) -> ChainState:
        """Make a block of draws."""
        plan = self.plan
        warming = state.n_warmup < plan.n_warmup
        left = plan.n_warmup - state.n_warmup if warming else plan.n_draws - state.n_draws
        size = min(self.sampler.block, left)
        sampler, draws = self.sampler.step(state.sampler, size, self.rng)
        p, q = (tuple(map(float, drawn[-1][:SHOWN])) for drawn in (draws.p, draws.q))
        last = BlockOfDraws(float(draws.log_joint[-1]), int(draws.n_clusters[-1]), size, p, q)
        state = state._replace(sampler=sampler, generator=self.rng.bit_generator.state, last=last)
        if warming:
            return state._replace(n_warmup=state.n_warmup + size)
        return state._replace(blocks=(*state.blocks, draws), n_draws=state.n_draws + size)

    def record(self, state: ChainState) -> BlockOfDraws:
        """Return the last block."""
        assert state.last is not None
        return state.last

    def done(self, state: ChainState, rows: Sequence[BlockOfDraws]) -> Status | None:
        """Stop when all draws are made."""
        n_left = self.plan.n_warmup - state.n_warmup + self.plan.n_draws - state.n_draws
        return None if n_left > 0 else Status.SAMPLED


def solve(
    sampler: Sampler, start: ChainStart, plan: ChainPlan, seed: int, stop: Stop = NEVER
) -> Fit[list[ChainState]]:
    """Run all chains, in parallel processes where there are several.

    Parameters
    ----------
    sampler : Sampler
        Makes the draws.
    start : ChainStart
        Makes the partition that a chain starts from, with the chain's generator and number.
    plan : ChainPlan
        How many chains and draws.
    seed : int
        Chain c draws from the generator of ``SeedSequence(seed, spawn_key=(c,))``, whatever the
        other chains do.
    stop : Stop, optional
        Says whether the user wants to stop; other processes see it, too.

    Returns
    -------
    Fit
        Its state holds all chains; its objective is the mean log joint of their last draws.
    """
    from joblib import Parallel, delayed

    n_jobs = min(thread_count(plan.n_jobs), plan.n_chains)
    _make_folder(plan.checkpoint)
    mark = chain_fingerprint(sampler, start, plan, seed)
    jobs = [(sampler, start, plan, seed, number, mark, stop) for number in range(plan.n_chains)]
    if n_jobs == 1:
        fits = [run_chain(*job) for job in jobs]
    else:
        # Large arrays as read-only maps would be another type to the kernels: no maps.
        parallel = Parallel(n_jobs=n_jobs, backend="loky", max_nbytes=None)
        fits = list(parallel(delayed(_run_in_worker)(*job) for job in jobs))
    early = [fit.status for fit in fits if fit.status.is_early]
    status = early[0] if early else Status.SAMPLED
    rows = tuple(row for fit in fits for row in fit.trace.sweeps)
    objective = float(np.mean([fit.objective for fit in fits]))
    return Fit([fit.state for fit in fits], objective, Trace(rows, len(rows) - 1), status)


def run_chain(
    sampler: Sampler,
    start: ChainStart,
    plan: ChainPlan,
    seed: int,
    number: int,
    mark: str,
    stop: Stop,
) -> Fit[ChainState]:
    """Run one chain, or go on from its checkpoint."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
    solver = ChainSolver(sampler, plan, rng)
    checkpoint = None
    if plan.checkpoint is not None:
        path = Path(plan.checkpoint) / f"chain-{number}.npz"
        checkpoint = Checkpoint(path, "chain", mark, (ChainState, GibbsState, Draws, BlockOfDraws))
    state: ChainState | None = None if checkpoint is None else checkpoint.load()
    if state is None:
        state = solver.init(start(rng, number))
    else:
        rng.bit_generator.state = state.generator
        logger.info("chain %d goes on after %d draws", number, state.n_draws)
    title, total = f"chain {number + 1} of {plan.n_chains}", plan.n_warmup + plan.n_draws
    with Progress(title, total, plan.delay, "draw", stop, line=number) as progress:
        progress.advance(state.n_warmup + state.n_draws)

        def after_step(state: ChainState, rows: Sequence[BlockOfDraws]) -> None:
            progress.advance(rows[-1].n_draws)
            if checkpoint is not None and checkpoint.is_due:
                checkpoint.save(state.compact())

        rows = () if state.last is None else (state.last,)
        fit = loop.run(solver, state, progress, rows=rows, after_step=after_step)
    state = fit.state.compact()
    if checkpoint is not None:
        checkpoint.save(state)
    return replace(fit, state=state)


def gather(chains: list[ChainState]) -> Draws:
    """Return the draws of all chains, or where they stand if they were stopped before any."""
    if any(chain.n_draws for chain in chains):
        return Draws.joined([chain.draws for chain in chains])
    states = [chain.sampler for chain in chains]
    return Draws(
        np.array([state.labels for state in states], np.int32),
        np.array([int(state.labels.max()) + 1 for state in states]),
        np.array([state.alpha for state in states]),
        np.full(len(states), np.nan),
        np.array([state.p for state in states]),
        np.array([state.q for state in states]),
        np.array([state.factors for state in states]),
    )


def chain_fingerprint(sampler: Sampler, start: ChainStart, plan: ChainPlan, seed: int) -> str:
    """Return the fingerprint of everything that decides what a chain draws."""
    problem = sampler.problem
    model = (type(sampler).__name__, repr(problem.family), sampler.settings, sampler.prior)
    length = (plan.n_warmup, plan.n_draws, seed, start.init, __version__)
    return fingerprint(problem.X, problem.links, model, length)


def _run_in_worker(*arguments: Any) -> Fit[ChainState]:
    ignore_ctrl_c()
    return run_chain(*arguments)


def _make_folder(path: str | Path | None) -> None:
    if path is not None:
        try:
            Path(path).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MaylinkError(
                f"checkpoint: {path} cannot be made a folder ({error}); name another"
            ) from None
