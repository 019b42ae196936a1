"""How much each convention matters: RDP-means between the two protocols, one switch at a time.

From what the text states, each convention of the published figures is switched on alone; from
these, each is switched off alone.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from maylink.datasets import load
from maylink.engines.cpu import CpuEngine
from maylink.estimators import DPMeans, RDPMeans
from maylink.experiments import grid
from maylink.experiments.cells import Cell, Plan
from maylink.experiments.protocols import (
    ACCURACIES,
    RATES,
    Task,
    UnsquaredDistance,
    kth_distance,
    make_task,
    random_centre,
)
from maylink.families import Gaussian
from maylink.solvers import penalty

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Conventions: what each of them does to RDP-means"
SWITCHES = {
    "links": "⌊r n²⌋ ordered pairs in place of ⌊r n²/2⌋ pairs, about twice as many",
    "distance": "the distance itself in place of its square",
    "penalty": "λ the k-th largest distance to the mean in place of furthest-first",
    "start": "a random centre in the bounding box in place of the mean",
    "schedule": "ξ = 0 in the first sweep, then 0.002, in place of 0.001 from the start",
    "order": "a new order in each sweep in place of one for each run",
    "runs": "one run in place of four",
    "row number": "glass with its row number as a feature, and k = 7",
}
METHOD = "RDP-means"


def cells(plan: Plan) -> list[Cell]:
    """Return both ends, and each switch alone from either end."""
    variants = ["stated", *(f"stated, {name}" for name in SWITCHES)]
    variants += ["published", *(f"published but {name}" for name in SWITCHES)]
    return [
        Cell("conventions", "both", METHOD, name, rate, accuracy, trial, plan.seed, variant)
        for trial in range(plan.trials)
        for name in plan.data
        for rate in RATES
        for accuracy in ACCURACIES
        for variant in variants
        if "row number" not in variant or name == "glass"
    ]


def run(cell: Cell) -> dict[str, Any]:
    """Fit RDP-means under the conventions that the variant names."""
    on = switched_on(cell.variant)
    truth = load(cell.data)
    numbered = make_task(truth, cell.rate, cell.accuracy, "published", cell.links_seed)
    drawn = numbered if "links" in on else _stated(truth, cell)
    shown = numbered if "row number" in on else _stated(truth, cell)
    task = Task(shown.X, drawn.links, shown.k, "both", np.random.default_rng(cell.links_seed))
    return grid.scores(truth, fit(task, on), task.links)


def switched_on(variant: str) -> set[str]:
    """Return the published conventions in force."""
    if variant.startswith("published"):
        return set(SWITCHES) - {variant.removeprefix("published but ")}
    return set(SWITCHES) & {variant.removeprefix("stated, ")}


def fit(task: Task, on: set[str]) -> NDArray[np.int64]:
    """Return the labels of RDP-means under these conventions."""
    family = UnsquaredDistance() if "distance" in on else Gaussian()
    common: dict[str, Any] = {
        "cluster_penalty": _penalty(task, family, on),
        "order": "shuffle" if "order" in on else "random",
        "n_init": 1 if "runs" in on else 4,
        "keep": "objective",
        "random_state": task.rng,
        "n_jobs": 1,
    }
    start: NDArray[Any] | None = random_centre(task) if "start" in on else None
    weight = 0.001
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if "schedule" in on:  # the first sweep has ξ = 0
            start = DPMeans(family, init=start, max_sweeps=1, **common).fit(task.X).labels_
            weight = 0.002
        model = RDPMeans(family, init=start, link_weight=weight, **common)
        return model.fit(task.X, links=task.links).labels_


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return mean F by data set for every switch, and what the switch does to their mean."""
    by_data = runs.groupby(["variant", "data"], sort=False)["F"].mean().unstack("data")
    found = {}
    for end in ("stated", "published"):
        rows = by_data[by_data.index.str.startswith(end)]
        whole = rows.fillna(rows.loc[end])  # the row number concerns one data set alone
        change = (whole - whole.loc[end]).mean(axis=1)
        found[f"from {end}"] = rows.assign(**{"mean change": change})
    return found


def figure(runs: pd.DataFrame) -> Any:
    """Draw the mean change of F by switch, from either end."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for axis, (end, table) in zip(axes, tables(runs).items(), strict=True):
        change = table["mean change"].iloc[1:]
        axis.barh(range(len(change)), change, color=["#2a7" if c >= 0 else "#c44" for c in change])
        axis.set_yticks(range(len(change)), change.index)
        axis.invert_yaxis()
        axis.axvline(0.0, color="k", lw=0.8)
        axis.set(title=end, xlabel="mean change of F")
    return drawing


def _stated(truth: Any, cell: Cell) -> Task:
    return make_task(truth, cell.rate, cell.accuracy, "stated", cell.links_seed)


def _penalty(task: Task, family: Gaussian, on: set[str]) -> float:
    if "penalty" in on:
        distance = kth_distance(task)
        return distance if "distance" in on else distance**2
    engine = CpuEngine(task.X, family.adapt(task.X), 1)
    return penalty.from_hint(engine, task.k)
