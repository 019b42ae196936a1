"""The simulated patterns: every method on six patterns of the plane, p = 1 and r = .01.

A pattern is drawn once and its links anew in each of five trials. The paper shows the strongest of
five runs; since that flatters whoever varies most, the mean stands beside it.

Paper: the figure of simulated patterns. Protocol: those of ``--protocol``; the picture shows
``stated``. Command: ``python -m maylink.experiments patterns``.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maylink.datasets import PATTERNS, Dataset, make_pattern
from maylink.experiments.averages import averaged
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.protocols import Task, make_task, methods_of
from maylink.experiments.scoring import RunResult, score
from maylink.plots import plot_partition

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Simulated patterns"
RATE, ACCURACY = 0.01, 1.0
TRIALS = 5
SHOWN = ("K-means", "MPCKMeans", "LCVQE", "constrained spectral", "RDP-means", "TVClust")
SHOWN_PROTOCOL = "stated"


def cells(plan: RunPlan) -> list[Cell]:
    """Return five runs of every method on every pattern, however many trials the plan has.

    A quick plan leaves slow methods out.
    """
    return [
        Cell("patterns", protocol, method, name, RATE, ACCURACY, trial, plan.seed)
        for trial in range(TRIALS)
        for protocol in plan.protocols
        for name in PATTERNS
        for method in methods_of(protocol)
        if plan.wants(method)
    ]


def run(cell: Cell) -> RunResult:
    """Draw the links of the trial, fit the method, score it."""
    truth, task = make_trial(cell)
    return score(truth, methods_of(cell.protocol)[cell.method](task), task.links)


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return F of the best of the trials, and its mean, by pattern."""
    import pandas as pd

    by_caption: dict[str, pd.DataFrame] = {}
    names = list(dict.fromkeys(runs["data"]))
    for protocol, part in runs.groupby("protocol", sort=False):
        groups = part.groupby(["method", "data"], sort=False)["F"]
        columns = {f"best of {TRIALS}": groups.max(), "mean": groups.mean()}
        wide = {kind: column.unstack("data")[names] for kind, column in columns.items()}
        by_caption[f"{protocol}: F"] = pd.concat(
            {kind: table.assign(all=table.mean(axis=1)) for kind, table in wide.items()}, axis=1
        )
        by_caption[f"{protocol}: means over patterns and trials"] = averaged(part, ["method"])
    return by_caption


def figure(runs: pd.DataFrame) -> Any:
    """Draw the partition of the best run, a row for each pattern, the truth first.

    A run depends on its cell alone, so the best one is repeated for its labels.
    """
    if runs.empty:
        return None
    import matplotlib.pyplot as plt

    protocols = list(dict.fromkeys(runs["protocol"]))
    protocol = SHOWN_PROTOCOL if SHOWN_PROTOCOL in protocols else protocols[0]
    runs = runs[(runs["protocol"] == protocol) & runs["F"].notna()]
    methods = [method for method in SHOWN if method in set(runs["method"])]
    methods = methods or list(dict.fromkeys(runs["method"]))[: len(SHOWN)]
    names = list(dict.fromkeys(runs["data"]))
    drawing, axes = plt.subplots(
        len(names), 1 + len(methods), squeeze=False, layout="constrained",
        figsize=(1.7 * (1 + len(methods)), 1.75 * len(names)),
    )  # fmt: skip
    for row, name in zip(axes, names, strict=True):
        truth, _ = make_trial(_cell(runs[runs["data"] == name].iloc[0]))
        plot_partition(truth.X, truth.y, ax=row[0])
        for axis, method in zip(row[1:], methods, strict=True):
            part = runs[(runs["data"] == name) & (runs["method"] == method)]
            if part.empty:
                axis.set_axis_off()
                continue
            best = part.loc[part["F"].idxmax()]
            plot_partition(truth.X, _labels(_cell(best)), ax=axis)
            axis.set_xlabel(f"best F {best['F']:.2f}, mean {part['F'].mean():.2f}", fontsize=7)
        row[0].set_ylabel(name)
    for axis, title in zip(axes[0], ("truth", *methods), strict=True):
        axis.set_title(title, fontsize=9)
    drawing.suptitle(
        f"best of {TRIALS} runs, {protocol}, r = {RATE:g}, p = {ACCURACY:g}",
        fontsize=10,
    )
    return drawing


def make_trial(cell: Cell) -> tuple[Dataset, Task]:
    """Return the pattern, which is that of all trials, and the task of this one."""
    seed, name, *_ = cell.links_seed
    truth = make_pattern(cell.data, rng=np.random.default_rng([seed, name]))
    return truth, make_task(truth, cell.rate, cell.accuracy, cell.protocol, cell.links_seed)


def _cell(row: Any) -> Cell:
    """Return the cell that a row of the store is the result of."""
    r, p, trial, seed = float(row["r"]), float(row["p"]), int(row["trial"]), int(row["seed"])
    return Cell("patterns", row["protocol"], row["method"], row["data"], r, p, trial, seed)


def _labels(cell: Cell) -> NDArray[np.int64]:
    _, task = make_trial(cell)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return methods_of(cell.protocol)[cell.method](task)
