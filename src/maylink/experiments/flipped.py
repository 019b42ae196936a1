"""Every method of the library, when more and more of its links are flipped.

Not in the paper. Links are drawn as the ``stated`` protocol has them, r n²/2 pairs with r = .05,
and none, 10, 20 and 30% of them are flipped; what is flipped at 10% stays so at 20 and 30%. Beside
the methods of :mod:`maylink.experiments.protocols` run spectral clustering, which does not hear
links, and the two seeded K-means, which take their seeds from them. Patterns are drawn anew in each
trial. Hard methods may find that links cannot all be kept: "failed" tells in which share of the
trials, and the scores are means over the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maylink.baselines import ConstrainedSeededKMeans, PlainSpectral, SeededKMeans
from maylink.datasets import PATTERNS, Dataset, load, make_pattern
from maylink.experiments import grid
from maylink.experiments.cells import Cell, Plan
from maylink.experiments.figures import in_order, line_of
from maylink.experiments.protocols import METHODS, Task, as_method, make_task

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Flipped links"
PROTOCOL = "stated"
SETS = ("iris", "wine")
RATE = 0.05
ACCURACIES = (1.0, 0.9, 0.8, 0.7)


def cells(plan: Plan) -> list[Cell]:
    """Return the runs of all methods on two data sets and six patterns; see ``Plan.wants``."""
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


def methods() -> dict[str, Callable[[Task], NDArray[np.int64]]]:
    """Return the methods of the protocols, and those that have no place in the paper's tables."""
    return {
        **METHODS,
        "spectral": as_method(PlainSpectral),
        "seeded K-means": as_method(SeededKMeans),
        "constrained K-means": as_method(ConstrainedSeededKMeans),
    }


def run(cell: Cell) -> dict[str, Any]:
    """Draw the links of the trial, flip some, fit the method, score it."""
    truth, task = drawn(cell)
    return grid.scores(truth, methods()[cell.method](task), task.links)


def drawn(cell: Cell) -> tuple[Dataset, Task]:
    """Return the data and the task of a cell."""
    key = cell.nested_seed
    if cell.data in PATTERNS:
        truth = make_pattern(cell.data, rng=np.random.default_rng([*key, 1]))
    else:
        truth = load(cell.data)
    return truth, make_task(truth, cell.rate, cell.accuracy, cell.protocol, key)


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return F, ARI and the share of failed runs by share of flipped links."""
    return {
        f"{PROTOCOL}, r = {RATE:g}, by share of flipped links": table(runs, ["method"]),
        f"{PROTOCOL}, r = {RATE:g}, by data set": table(runs, ["data", "method"]),
    }


def table(runs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Average the runs: scores of those that did not fail, and the share of those that did."""
    shown = runs.assign(
        flipped=[f"{100 * (1 - p):.0f}%" for p in runs["p"]], failed=runs["F"].isna().astype(float)
    )
    scores = ["F", "F_unlinked", "ARI", "failed"]
    # A column in which every run failed must not vanish.
    means = shown.pivot_table(scores, by, "flipped", dropna=False, sort=False)[scores]
    return means[[(score, share) for score in scores for share in dict.fromkeys(shown["flipped"])]]


def figure(runs: pd.DataFrame) -> Any:
    """Draw F by share of flipped links: the mean of two data sets, and that of the patterns."""
    import matplotlib.pyplot as plt

    names = in_order(runs["method"])
    groups = {
        ", ".join(SETS): runs["data"].isin(SETS),
        f"mean of {len(PATTERNS)} patterns": runs["data"].isin(PATTERNS),
    }
    drawing, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharey=True, layout="constrained")
    for axis, (title, chosen) in zip(axes, groups.items(), strict=True):
        for name in names:
            means = runs[chosen & (runs["method"] == name)].groupby("p")["F"].mean()
            style = line_of(name) | {"ls": "-" if name in METHODS else ":"}
            axis.plot(100 * (1 - means.index), means, **style, label=name)
        axis.set(title=title, xlabel="flipped links (%)", ylim=(0, 1.02))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("F of the runs that did not fail")
    marks, labels = axes[0].get_legend_handles_labels()
    drawing.legend(marks, labels, fontsize=7, loc="outside right center")
    return drawing
