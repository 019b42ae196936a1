"""Every method of the library, when more and more of its links are flipped.

None, 10, 20 and 30% of the links are flipped, r = .05; a link that is flipped at 10% stays so at 20
and 30%. Beside the methods of :mod:`maylink.experiments.protocols` run spectral clustering, which
ignores links, the two seeded K-means, which take their seeds from them, COP-COBWEB and supervised
clustering. Patterns are drawn anew in each trial. Methods that must fulfil all links may find that
they cannot: "failed" is the proportion of such trials, and the scores are means over the others.

Paper: not in it. Protocol: ``stated``. Command: ``python -m maylink.experiments flipped``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maylink.baselines import (
    ConstrainedSeededKMeans,
    COPCobweb,
    PlainSpectral,
    SeededKMeans,
    SupervisedClustering,
)
from maylink.datasets import PATTERNS, Dataset, load, make_pattern
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.figures import in_order, line_of
from maylink.experiments.protocols import METHODS, Task, as_method, make_task
from maylink.experiments.scoring import RunResult, score

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Flipped links"
PROTOCOL = "stated"
SETS = ("iris", "wine")
RATE = 0.05
ACCURACIES = (1.0, 0.9, 0.8, 0.7)


def cells(plan: RunPlan) -> list[Cell]:
    """Return the runs of all methods on two data sets and six patterns; see ``RunPlan.wants``."""
    plan = plan.once()
    return [
        Cell("flipped", PROTOCOL, method, name, RATE, accuracy, trial, plan.seed)
        for trial in range(plan.trials)
        for name in (*SETS, *PATTERNS)
        if name in PATTERNS or name in plan.data
        for accuracy in ACCURACIES
        for method in methods()
        if plan.wants(method)
    ]


def run(cell: Cell) -> RunResult:
    """Draw the links of the trial, flip some, fit the method, score it."""
    truth, task = make_trial(cell)
    return score(truth, methods()[cell.method](task), task.links)


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return F, ARI and the proportion of failed runs by percentage of flipped links."""
    return {
        f"{PROTOCOL}, r = {RATE:g}, by share of flipped links": table(runs, ["method"]),
        f"{PROTOCOL}, r = {RATE:g}, by data set": table(runs, ["data", "method"]),
    }


def figure(runs: pd.DataFrame) -> Any:
    """Draw F by percentage of flipped links: the mean of two data sets, and of the patterns."""
    import matplotlib.pyplot as plt

    names = in_order(runs["method"])
    groups = {
        ", ".join(SETS): runs["data"].isin(SETS),
        f"mean of {len(PATTERNS)} patterns": runs["data"].isin(PATTERNS),
    }
    drawing, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharey=True, layout="constrained")
    for axis, (title, members) in zip(axes, groups.items(), strict=True):
        for name in names:
            means = runs[members & (runs["method"] == name)].groupby("p")["F"].mean()
            style = line_of(name) | {"ls": "-" if name in METHODS else ":"}
            axis.plot(100 * (1 - means.index), means, **style, label=name)
        axis.set(title=title, xlabel="flipped links (%)", ylim=(0, 1.02))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("F of the runs that did not fail")
    marks, labels = axes[0].get_legend_handles_labels()
    drawing.legend(marks, labels, fontsize=7, loc="outside right center")
    return drawing


def methods() -> dict[str, Callable[[Task], NDArray[np.int64]]]:
    """Return the methods of the protocols, and those that have no place in the paper's tables."""
    return {
        **METHODS,
        "spectral": as_method(PlainSpectral),
        "seeded K-means": as_method(SeededKMeans),
        "constrained K-means": as_method(ConstrainedSeededKMeans),
        "COP-COBWEB": as_method(COPCobweb),
        "supervised clustering": as_method(SupervisedClustering),
    }


def make_trial(cell: Cell) -> tuple[Dataset, Task]:
    """Return the data and the task of a cell."""
    key = cell.nested_seed
    if cell.data in PATTERNS:
        truth = make_pattern(cell.data, rng=np.random.default_rng([*key, 1]))
    else:
        truth = load(cell.data)
    return truth, make_task(truth, cell.rate, cell.accuracy, cell.protocol, key)


def table(runs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Average the runs: scores of those that did not fail, and how many did."""
    rows = runs.assign(
        flipped=[f"{100 * (1 - p):.0f}%" for p in runs["p"]], failed=runs["F"].isna().astype(float)
    )
    scores = ["F", "F_unlinked", "ARI", "failed"]
    # A column in which every run failed must not vanish.
    means = rows.pivot_table(scores, by, "flipped", dropna=False, sort=False)[scores]
    return means[
        [(score, percent) for score in scores for percent in dict.fromkeys(rows["flipped"])]
    ]
