"""How much each convention matters: one switch at a time, from either protocol.

From what the text states, each convention of the published RDP-means is switched on alone; from
these, each is switched off alone. For TVClust, LCVQE, K-means and MPCKMeans, conventions are
switched off alone.

Paper: not in it. Protocol: from ``stated`` and from ``published``, at the rates and accuracies of
Table 1. Command: ``python -m maylink.experiments conventions``.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from maylink.baselines import LCVQE, MPCKMeans
from maylink.baselines.centers import plus_plus
from maylink.datasets import load
from maylink.engines.cpu import CpuEngine
from maylink.estimators import DPMeans, RDPMeans
from maylink.estimators.parameter_objects import Schedule
from maylink.experiments import grid, published_lcvqe, published_tvclust
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.protocols import (
    ACCURACIES,
    RATES,
    Task,
    UnsquaredDistance,
    as_method,
    kth_distance,
    make_task,
    methods_of,
    random_centre,
)
from maylink.experiments.scoring import RunResult, score
from maylink.families import Gaussian
from maylink.tuning import penalty

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Conventions: what each of them does"
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
OTHERS = {
    "TVClust": published_tvclust.SWITCHES,
    "LCVQE": {
        "second": "the second nearest centre of all in place of the nearest other one",
        "start": "random points in place of k-means++",
    },
    "K-means": {"start": "centres drawn in the bounding box in place of k-means++"},
    "MPCKMeans": {"two features": "the first two features in place of all"},
}
"""Conventions of other methods, by method."""


def cells(plan: RunPlan) -> list[Cell]:
    """Return both ends, and each switch alone from either end."""
    plan = plan.once()
    variants = [(METHOD, "stated"), *((METHOD, f"stated, {name}") for name in SWITCHES)]
    for method, switches in {METHOD: SWITCHES, **OTHERS}.items():
        variants += [(method, "published")]
        variants += [(method, f"published but {name}") for name in switches]
    return [
        Cell("conventions", "both", method, name, rate, accuracy, trial, plan.seed, variant)
        for trial in range(plan.trials)
        for name in grid.DATA
        if name in plan.data
        for rate in RATES
        for accuracy in ACCURACIES
        for method, variant in variants
        if plan.wants(method)
        if "row number" not in variant or name == "glass"
    ]


def run(cell: Cell) -> RunResult:
    """Fit the method under the conventions that the variant names."""
    truth = load(cell.data)
    if cell.method != METHOD:
        task = make_task(truth, cell.rate, cell.accuracy, "published", cell.links_seed)
        off = cell.variant.removeprefix("published").removeprefix(" but ")
        return score(truth, fit_without(cell.method, off, task), task.links)
    on = switched_on(cell.variant)
    numbered = make_task(truth, cell.rate, cell.accuracy, "published", cell.links_seed)
    stated = make_task(truth, cell.rate, cell.accuracy, "stated", cell.links_seed)
    data = numbered if "row number" in on else stated
    links = numbered.links if "links" in on else stated.links
    task = Task(data.X, links, data.k, "both", np.random.default_rng(cell.links_seed))
    return score(truth, fit(task, on), task.links)


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return mean F by data set for every switch, and what the switch does to their mean."""
    by_caption = {}
    for method, part in runs.groupby("method", sort=False):
        by_data = part.groupby(["variant", "data"], sort=False)["F"].mean().unstack("data")
        for end in ("stated", "published"):
            rows = by_data[by_data.index.str.startswith(end)]
            if rows.empty:
                continue
            whole = rows.fillna(rows.loc[end])  # the row number concerns one data set alone
            change = (whole - whole.loc[end]).mean(axis=1)
            by_caption[f"{method}, from {end}"] = rows.assign(**{"mean change": change})
    return by_caption


def figure(runs: pd.DataFrame) -> Any:
    """Draw the change of F by switch: a mark for each data set, a bar for their mean."""
    import matplotlib.pyplot as plt

    panels = {name: table for name, table in tables(runs).items() if len(table) > 1}
    heights = [len(table) for table in panels.values()]
    drawing, axes = plt.subplots(
        len(panels), 1, figsize=(7.5, 0.9 + 0.3 * sum(heights)), sharex=True, squeeze=False,
        height_ratios=heights, layout="constrained",
    )  # fmt: skip
    for axis, (name, table) in zip(axes[:, 0], panels.items(), strict=True):
        change = (table - table.iloc[0]).iloc[1:].drop(columns="mean change")
        mean = table["mean change"].iloc[1:]
        axis.barh(range(len(mean)), mean, color="0.85")
        for number, data in enumerate(change):
            axis.plot(change[data], range(len(mean)), "o", ms=4, color=f"C{number}",
                      label=data)  # fmt: skip
        axis.set_yticks(range(len(mean)), mean.index, fontsize=8)
        axis.invert_yaxis()
        axis.axvline(0.0, color="k", lw=0.8)
        axis.set_title(name, fontsize=9, loc="left")
    axes[-1, 0].set_xlabel("change of F; bar: mean over data sets")
    marks, names = axes[0, 0].get_legend_handles_labels()
    drawing.legend(marks, names, fontsize=8, loc="outside right upper")
    return drawing


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
        "n_init": 1 if "runs" in on else 4,
        "keep": "objective",
        "random_state": task.rng,
        "n_jobs": 1,
    }
    order = "shuffle" if "order" in on else "random"
    start: NDArray[Any] | None = random_centre(task) if "start" in on else None
    weight = 0.001
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if "schedule" in on:  # the first sweep has ξ = 0
            once = Schedule(order=order, max_sweeps=1)
            first = DPMeans(family, init=start, schedule=once, **common)
            start = first.fit(task.X).labels_
            weight = 0.002
        schedule = Schedule(order=order)
        model = RDPMeans(family, init=start, link_weight=weight, schedule=schedule, **common)
        return model.fit(task.X, links=task.links).labels_


def fit_without(method: str, off: str, task: Task) -> NDArray[np.int64]:
    """Return the labels of another method as published but for one convention, or for none."""
    if not off:
        return methods_of("published")[method](task)
    if method == "TVClust":
        return published_tvclust.fit(task.X, task.links, task.rng, {off})
    if method == "MPCKMeans":
        return as_method(MPCKMeans, n_init=1)(task)
    if method == "LCVQE" and off == "second":
        twice = replace(task, links=task.links + task.links)
        return as_method(LCVQE, n_init=1, init="random")(twice)
    if method == "LCVQE":
        centers = plus_plus(task.X, task.X[:0], task.k, task.rng)
        return published_lcvqe.fit(task.X, task.links, task.k, task.rng, centers)
    seed = int(task.rng.integers(2**31))
    model = KMeans(task.k, n_init=1, random_state=seed).fit(task.X)
    return np.asarray(model.labels_, np.int64)


def _penalty(task: Task, family: Gaussian, on: set[str]) -> float:
    if "penalty" in on:
        distance = kth_distance(task)
        return distance if "distance" in on else distance**2
    engine = CpuEngine(task.X, family.adapt(task.X), 1)
    return penalty.from_hint(engine, task.k)
