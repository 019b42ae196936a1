"""The newest rivals, each in an environment of its own, beside TVClust and RDP-means.

Data are iris, wine and digits, and in a full run all of :mod:`maylink.experiments.today`. 2n links,
in a full run n/2 as well, join random points or look-alikes and are right with p = 1, .9 and .8;
*contradicting* links are random and right, but every tenth pair is told a second time, the other
way round. TVClust and RDP-means have their defaults and get nothing but data and links. The rivals
are called as their own pages show (:mod:`maylink.experiments.rival_programs`) and are told the true
number of clusters where they ask for it. Points of noise are clusters of one. PCCC is in no package
index: the variable ``MAYLINK_PCCC`` names a checkout of its repository.

Every fit is a process of its own on one thread, which has its libraries, and its compiled loops if
it has any, before the clock starts. It is ended after half a minute, on data of more than 150,000
numbers after five; who was too slow is not asked again on the same data in the same process.
Seconds are of the processor, F and ARI are over the pairs that carry no link, and memory is what
the process takes beyond that before the fit.

Paper: not in it. Protocol: ``stated``. Command: ``python -m maylink.experiments rivals``.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import warnings
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from maylink.datasets import Dataset
from maylink.errors import DatasetError
from maylink.experiments import peers, rival_tables, today
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.peers import MissingError, PatienceError, Peer, PeerFailedError
from maylink.experiments.rival_programs import RIVALS, Rival
from maylink.experiments.scoring import RunResult, score
from maylink.links import Links

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Rivals"
METHODS = tuple(RIVALS)
QUICK_SETS = ("iris", "wine", "digits")
PAIRS = (*today.PAIRS, "contradicting")
COUNTS, QUICK_COUNTS = (0.5, 2.0), (2.0,)
EVERY = 10  # of the pairs of contradicting links one in so many is told twice
SMALL = 150_000  # numbers, rows times columns
PATIENCE, PATIENCE_OF_LARGE = 30.0, 300.0  # seconds of a fit
WARM = 180.0  # seconds of the tiny fit before it, in which some compile


def cells(plan: RunPlan) -> list[Cell]:
    """Return the runs of all methods; those that take no links make one a data set and trial.

    The variant of a cell says how its pairs are drawn and how many links there are.
    """
    quick = plan.quick
    plan = plan.once()
    sizes = {}
    for name in QUICK_SETS if quick else today.SETS:
        if name not in plan.data:
            continue
        try:
            sizes[name] = today.data_of(name, plan.seed, 0).X.shape[0]
        except DatasetError as error:
            warnings.warn(f"rivals goes without {name}: {error}", stacklevel=2)
    return [
        Cell("rivals", "stated", method, name, 2 * count / n, p, trial, plan.seed,
             f"{pairs} {count:g}n")
        for trial in range(plan.trials)
        for name, n in sizes.items()
        for count in (QUICK_COUNTS if quick else COUNTS)
        for pairs in PAIRS
        for p in (today.ACCURACIES if pairs != "contradicting" else (1.0,))
        for method in METHODS
        if plan.wants(method)
    ]  # fmt: skip


def run(cell: Cell) -> RunResult:
    """Draw the links of the trial, fit the method in its environment, score it."""
    truth = data_of(cell)
    links, rng = draw_links(cell, truth)
    try:
        if cell.method in too_slow(cell.data):
            raise PatienceError
        if RIVALS[cell.method].links == "none":
            answer = without_links(cell.method, cell.data, cell.seed, cell.trial)
        else:
            answer = answer_to(cell, truth, links, int(rng.integers(2**31)))
    except PatienceError:
        too_slow(cell.data).add(cell.method)
        return RunResult(failure="timeout")
    except PeerFailedError as error:
        return RunResult(failure=str(error).splitlines()[0][:200])
    except MissingError as error:
        return RunResult(failure=f"missing: {error}")
    labels = today.noise_apart(np.asarray(answer["labels"], np.int64))
    more = {"fit_seconds": answer["seconds"], "peak_mb": answer["peak"] / 1e6}
    return score(truth, labels, links, {**more, "n_links": links.n_links})


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the summary, where we lose, what failed, and F, ARI, seconds and memory by cell."""
    return rival_tables.tables(runs)


def figure(runs: pd.DataFrame) -> Any:
    """Draw nothing: what counts here is in the tables."""
    return None


def data_of(cell: Cell) -> Dataset:
    """Return the data of a cell; of simulated ones, the draw of the trial."""
    return today.data_of(cell.data, cell.seed, cell.trial if cell.data in today.SIMULATED else 0)


def draw_links(cell: Cell, truth: Dataset) -> tuple[Links, np.random.Generator]:
    """Return the links of a cell, and the generator after them."""
    pairs, count = cell.variant.split(" ")
    if pairs != "contradicting":
        return today.draw_links(_as_today(cell, f"{pairs} {count}"), truth)
    links, rng = today.draw_links(_as_today(cell, f"random {count}"), truth)
    twice = links.i[::EVERY], links.j[::EVERY], -links.kind[::EVERY]
    return links + Links(links.n, *twice), rng


def _as_today(cell: Cell, variant: str) -> Cell:
    return Cell("today", "stated", "", cell.data, cell.rate, cell.accuracy, cell.trial, cell.seed,
                variant)  # fmt: skip


@cache
def too_slow(name: str) -> set[str]:
    """Return the methods that have run out of time on a data set, to which more may be added."""
    return set()


@lru_cache(maxsize=64)
def without_links(method: str, name: str, seed: int, trial: int) -> dict[str, Any]:
    """Let a rival that takes no links fit: once for all cells of a data set and a trial."""
    cell = Cell("rivals", "stated", method, name, 0.0, 0.0, trial, seed)
    truth = data_of(cell)
    return answer_to(cell, truth, Links.empty(truth.y.size), trial)


def answer_to(cell: Cell, truth: Dataset, links: Links, seed: int) -> dict[str, Any]:
    """Let a rival fit data and links; return its labels, seconds and bytes."""
    with tempfile.TemporaryDirectory() as folder:
        problem, tiny = Path(folder) / "problem.npz", Path(folder) / "tiny.npz"
        X = today.features(truth)
        write(problem, X, links)
        write_tiny(tiny, X.shape[1])
        patience = PATIENCE if X.size <= SMALL else PATIENCE_OF_LARGE
        return ask(RIVALS[cell.method], problem, tiny, len(truth.classes), seed, patience)


def write(file: Path, X: Any, links: Links) -> None:
    """Write a problem for a peer."""
    rows = np.ascontiguousarray(X, np.float64)  # some take no other order
    np.savez(file, X=rows, i=links.i, j=links.j, kind=links.kind)


def write_tiny(file: Path, n_features: int) -> None:
    """Write three clusters of twenty points with some links, all right.

    Features are as many as those of the data: some programs go other ways where they are many.
    """
    rng, y = np.random.default_rng(0), np.arange(60) % 3
    X = 4.0 * y[:, None] + rng.normal(size=(60, n_features))
    i, j = np.arange(0, 40), np.arange(20, 60)
    write(file, X, Links(60, i, j, np.where(y[i] == y[j], 1, -1)))


def ask(
    rival: Rival, problem: Path, tiny: Path, k: int, seed: int, patience: float
) -> dict[str, Any]:
    """Let a rival fit a problem in a process of its own; return its answer.

    Raises
    ------
    MissingError
        There is no fit, and why.
    """
    peers.look_for_checkout(rival.variable)
    python: str | Path = sys.executable
    if rival.package:
        pythons = rival.pythons or (sys.executable,)
        python = peers.environment(rival.package, None, rival.needs, pythons)
    with Peer(python, rival.program, patience=patience, threads=1) as peer:
        if rival.compiles:
            with contextlib.suppress(PeerFailedError):  # what it says of the problem itself counts
                peer.run(patience=WARM, problem=str(tiny), k=3, seed=0)
        return peer.run(problem=str(problem), k=k, seed=seed)
