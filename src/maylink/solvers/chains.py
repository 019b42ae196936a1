"""Chains of draws: several at a time, each reproducible alone, stopped and taken up again at will.

A chain is made in blocks of draws. After a block all that the next one needs is the sampler's state
and the generator's, so a chain that was killed goes on from its last checkpoint to exactly the
draws that it would have made.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from maylink.arrays import Index
from maylink.errors import MaylinkError
from maylink.model.draws import Draws
from maylink.problem import Problem
from maylink.runtime.interrupts import CtrlC, Stop, ignore_ctrl_c
from maylink.runtime.progress import Progress
from maylink.solvers.gibbs import State
from maylink.version import __version__

REST = 1.0  # seconds between two checkpoints, at the least
SCHEMA = 1
logger = logging.getLogger("maylink")


class Sampler(Protocol):
    """What a chain needs of a sampler."""

    problem: Problem
    settings: Any
    prior: Any

    def init(self, labels: Index) -> State:
        """Return the state of a chain that starts from a partition."""

    @property
    def block(self) -> int:
        """How many draws are made at a time."""

    def step(self, state: State, n_draws: int, rng: np.random.Generator) -> tuple[State, Draws]:
        """Make some draws."""


@dataclass(frozen=True)
class Plan:
    """How many chains and draws."""

    n_chains: int = 2
    n_warmup: int = 300
    n_draws: int = 500
    checkpoint: str | Path | None = None
    n_jobs: int | None = None
    shown: bool = False


class Chain(NamedTuple):
    """One chain, as far as it got."""

    draws: Draws
    state: State
    n_warmup: int  # warm-up draws made
    stopped: bool


class Start(Protocol):
    """Makes the partition that a chain starts from."""

    def __call__(self, rng: np.random.Generator) -> Index:
        """Return the partition."""

    def told(self) -> str:
        """Tell what kind of start it is."""


def run_chains(sampler: Sampler, start: Start, plan: Plan, seed: int) -> list[Chain]:
    """Run all chains, in parallel processes where there are several.

    Parameters
    ----------
    sampler : Sampler
        Makes the draws.
    start : Start
        Makes the partition that a chain starts from, with the chain's generator.
    plan : Plan
        How many chains and draws.
    seed : int
        Chain c draws from the generator of ``SeedSequence(seed, spawn_key=(c,))``, whatever the
        other chains do.

    Returns
    -------
    list of Chain
    """
    from joblib import Parallel, delayed

    from maylink.runtime.threads import thread_count

    n_jobs = min(thread_count(plan.n_jobs), plan.n_chains)
    if plan.checkpoint is not None:
        try:
            Path(plan.checkpoint).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MaylinkError(
                f"checkpoint: {plan.checkpoint} cannot be made a folder ({error}); name another"
            ) from None
    mark = fingerprint(sampler, start, plan, seed)
    with CtrlC() as stop:
        if n_jobs == 1:
            return [
                run_chain(sampler, start, plan, seed, number, mark, stop)
                for number in range(plan.n_chains)
            ]
        # Large arrays as read-only maps would be another type to the kernels: no maps.
        parallel = Parallel(n_jobs=n_jobs, backend="loky", max_nbytes=None)
        jobs = (
            delayed(_in_worker)(sampler, start, plan, seed, number, mark, stop)
            for number in range(plan.n_chains)
        )
        return list(parallel(jobs))


def gather(chains: list[Chain]) -> Draws:
    """Return the draws of all chains, or where they stand if they were stopped before any."""
    drawn = [chain.draws for chain in chains if len(chain.draws.alpha)]
    if drawn:
        return Draws.joined(drawn)
    states = [chain.state for chain in chains]
    return Draws(
        np.array([state.labels for state in states], np.int32),
        np.array([int(state.labels.max()) + 1 for state in states]),
        np.array([state.alpha for state in states]),
        np.full(len(states), np.nan),
        np.array([state.p for state in states]),
        np.array([state.q for state in states]),
        np.array([state.factors for state in states]),
    )


def _in_worker(*arguments: Any) -> Chain:
    ignore_ctrl_c()
    return run_chain(*arguments)


def run_chain(
    sampler: Sampler,
    start: Start,
    plan: Plan,
    seed: int,
    number: int,
    mark: str,
    stop: Stop,
) -> Chain:
    """Run one chain, or take it up again from its checkpoint."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
    path = None if plan.checkpoint is None else Path(plan.checkpoint) / f"chain-{number}.npz"
    saved = None if path is None else load(path, mark, rng)
    if saved is None:
        chain = Chain(_no_draws(sampler), sampler.init(start(rng)), 0, False)
    else:
        chain = saved
        logger.info("chain %d goes on after %d draws", number, len(chain.draws.alpha))
    total = plan.n_warmup + plan.n_draws
    parts = [chain.draws]
    n_done = len(chain.draws.alpha)
    state, n_warmup = chain.state, chain.n_warmup
    last_saved, rest = time.monotonic(), REST
    stopped = False
    title = f"chain {number + 1} of {plan.n_chains}"
    with Progress(title, total, plan.shown, "draw", stop, line=number) as progress:
        progress.advance(n_warmup + n_done)
        while n_warmup + n_done < total:
            if progress.stopped:
                stopped = True
                break
            warming = n_warmup < plan.n_warmup
            left = plan.n_warmup - n_warmup if warming else plan.n_draws - n_done
            size = min(sampler.block, left)
            state, draws = sampler.step(state, size, rng)
            if warming:
                n_warmup += size
            else:
                parts.append(draws)
                n_done += size
            progress.advance(size)
            progress.show(**_summary(draws))
            if path is not None and time.monotonic() - last_saved > rest:
                began = time.monotonic()
                parts = [Draws.joined(parts)]
                save(path, mark, rng, Chain(parts[0], state, n_warmup, False))
                last_saved = time.monotonic()
                rest = max(REST, 20.0 * (last_saved - began))
    draws = Draws.joined(parts)
    if path is not None:
        save(path, mark, rng, Chain(draws, state, n_warmup, False))
    return Chain(draws, state, n_warmup, stopped)


def _summary(draws: Draws) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "clusters": int(draws.n_clusters[-1]),
        "log joint": f"{draws.log_joint[-1]:.1f}",
    }
    if draws.p.shape[1]:
        shown["p"] = " ".join(f"{p:.2f}" for p in draws.p[-1][:4])
        shown["q"] = " ".join(f"{q:.2f}" for q in draws.q[-1][:4])
    return shown


def _no_draws(sampler: Sampler) -> Draws:
    problem = sampler.problem
    n_scales = problem.family.scales(sampler.prior)
    return Draws.empty(problem.n, len(problem.links.sources), n_scales)


# ---------------------------------------------------------------------- checkpoints


def fingerprint(sampler: Sampler, start: Start, plan: Plan, seed: int) -> str:
    """Return a mark of everything that decides what a chain draws."""
    mark = hashlib.sha256()
    problem = sampler.problem
    parts = (
        (problem.X.indptr, problem.X.indices, problem.X.data)
        if hasattr(problem.X, "indptr")
        else (problem.X,)
    )
    links = problem.links
    for array in (*parts, links.i, links.j, links.kind, links.weight, links.source):
        mark.update(np.ascontiguousarray(array).tobytes())
    mark.update(repr((problem.X.shape, str(problem.X.dtype), __version__)).encode())
    mark.update(start.told().encode())
    told = (type(sampler).__name__, problem.family, sampler.settings, _numbers(sampler.prior))
    mark.update(repr((told, plan.n_warmup, plan.n_draws, seed)).encode())
    return mark.hexdigest()


def _numbers(prior: Any) -> Any:
    if isinstance(prior, tuple):
        return [_numbers(part) for part in prior]
    return np.asarray(prior).tolist()


def save(path: Path, mark: str, rng: np.random.Generator, chain: Chain) -> None:
    """Write a checkpoint; whoever reads it finds the old one or the new one, never a part."""
    told = {"schema": SCHEMA, "mark": mark, "warmup": chain.n_warmup, "alpha": chain.state.alpha}
    told["generator"] = rng.bit_generator.state
    state = chain.state._asdict()
    del state["alpha"]
    arrays = {f"draws_{name}": value for name, value in chain.draws._asdict().items()}
    arrays |= {f"state_{name}": value for name, value in state.items()}
    beside = path.with_suffix(".part")
    with beside.open("wb") as file:
        np.savez(file, told=np.array(json.dumps(told)), **arrays)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def load(path: Path, mark: str, rng: np.random.Generator) -> Chain | None:
    """Read a checkpoint and set the generator to where it was; None where there is none."""
    if not path.exists():
        return None
    try:
        file = np.load(path, allow_pickle=False)
        told = json.loads(str(file["told"]))
    except (OSError, ValueError, KeyError) as error:
        raise MaylinkError(
            f"checkpoint: {path} cannot be read ({error}); delete it to begin anew"
        ) from None
    with file:
        if told.get("schema") != SCHEMA or told["mark"] != mark:
            raise MaylinkError(
                f"checkpoint: {path} is from other data, links or settings; "
                "name another folder, or delete it"
            )
        draws = Draws(*(file[f"draws_{name}"] for name in Draws._fields))
        arrays = {name: file[f"state_{name}"] for name in State._fields if name != "alpha"}
    rng.bit_generator.state = told["generator"]
    return Chain(draws, State(alpha=told["alpha"], **arrays), told["warmup"], False)
