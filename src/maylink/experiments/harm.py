"""Whether links ever make a result worse than none: from all wrong to all right.

Links on random pairs, 1 to 8 a point, right with probability 0 to 1 in steps of a tenth; at a half
they say nothing. Data are five sets of Gaussian clusters, 2 to 300 of them, apart and overlapping,
round and long, drawn anew in each trial, and iris and wine. TVClust and RDP-means have their
defaults; each is compared with its own result without links on the same data.

A loss is a cell whose mean F is below that without links by more than .02 and a standard error of
the difference.

Paper: not in it. Protocol: ``stated``. Command: ``python -m maylink.experiments harm``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.datasets import Dataset, load, sample_links
from maylink.estimators import RDPMeans, TVClust
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.scoring import RunResult, score
from maylink.links import Links

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Links against none"
METHODS = ("TVClust", "RDP-means")
COUNTS = (1, 2, 4, 8)  # links a point
ACCURACIES = tuple(tenths / 10 for tenths in range(11))
QUICK_COUNTS, QUICK_ACCURACIES = (2,), (0.0, 0.3, 0.5, 0.7, 1.0)
ALLOWED = 0.02  # F that may be lost, besides a standard error


class ClusterShape(NamedTuple):
    """Gaussian clusters to draw: how many, of how many points and features, how far apart."""

    n_clusters: int
    n: int
    n_features: int
    apart: float  # standard deviations between centres, about
    is_round: bool


SIMULATED = {
    "2 overlapping": ClusterShape(2, 200, 4, 3.0, False),
    "3 apart": ClusterShape(3, 150, 2, 8.0, True),
    "10 long": ClusterShape(10, 400, 5, 5.0, False),
    "50 apart": ClusterShape(50, 750, 3, 8.0, True),
    "300 apart": ClusterShape(300, 1800, 4, 8.0, True),
}
REAL = ("iris", "wine")
SETS = (*SIMULATED, *REAL)


def cells(plan: RunPlan) -> list[Cell]:
    """Return the runs of both methods, with links and without."""
    counts = QUICK_COUNTS if plan.quick else COUNTS
    accuracies = QUICK_ACCURACIES if plan.quick else ACCURACIES
    plan = plan.once()
    methods = [name for name in METHODS if plan.wants(name)]
    return [
        Cell("harm", "stated", method, name, 0.0, p, trial, plan.seed, f"{count} a point")
        for trial in range(plan.trials)
        for name in SETS
        if name in plan.data
        for count in (0, *counts)
        for p in (accuracies if count else (1.0,))
        for method in methods
    ]


def run(cell: Cell) -> RunResult:
    """Draw the links of the trial, fit the method, score it."""
    truth = data_of(cell.data, cell.seed, cell.trial)
    links = draw_links(cell, truth)
    state = int(np.random.default_rng(cell.nested_seed).integers(2**31))
    kind = TVClust if cell.method == "TVClust" else RDPMeans
    model: Any = kind(n_jobs=1, random_state=state).fit(truth.X, links=links)
    return score(truth, model.labels_, links)


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the losses, and mean F above that without links by data, links and accuracy."""
    if runs.empty:
        return {}
    gains = gains_of(runs)
    means = gains.groupby(["method", "data", "links", "p"], sort=False)["gain"].agg(
        ["mean", "sem", "count"]
    )
    lost = means["mean"] < -(ALLOWED + means["sem"].fillna(0.0))
    none = runs[runs["variant"] == "0 a point"]
    summary = means.groupby("method", sort=False)["mean"].agg(["mean", "min", "count"])
    summary["losses"] = lost.groupby("method", sort=False).sum()
    return {
        "all cells": summary,
        "losses: cells below the result without links": means[lost],
        "mean gain in F by p": gains.pivot_table("gain", ["method", "data"], "p", sort=False),
        "F without links": none.pivot_table("F", "data", "method", sort=False),
    }


def figure(runs: pd.DataFrame) -> Any:
    """Draw the gain by accuracy, a line for each data set, a panel for each method."""
    if runs.empty:
        return None
    import matplotlib.pyplot as plt

    gains = gains_of(runs)
    methods = list(dict.fromkeys(gains["method"]))
    drawing, axes = plt.subplots(
        1, len(methods), figsize=(5 * len(methods), 4), sharey=True, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for axis, method in zip(axes[0], methods, strict=True):
        some = gains[gains["method"] == method]
        for name, rows in some.groupby("data", sort=False):
            mean = rows.groupby("p")["gain"].mean()
            axis.plot(mean.index, mean, marker="o", ms=3, label=name)
        axis.axhline(0.0, color="0.3", lw=1)
        axis.set(title=method, xlabel="p: how often links are right", ylabel="F above no links")
        axis.grid(alpha=0.3)
    axes[0, 0].legend(fontsize=8)
    return drawing


def gains_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with links, each with its F above the run without links of its trial."""
    key = ["method", "data", "trial"]
    none = runs[runs["variant"] == "0 a point"].set_index(key)["F"]
    linked = runs[runs["variant"] != "0 a point"]
    before = none.reindex(linked.set_index(key).index).to_numpy()
    return linked.assign(gain=linked["F"] - before, links=linked["variant"])


@lru_cache(maxsize=4)
def data_of(name: str, seed: int, trial: int) -> Dataset:
    """Return a data set; of simulated ones, the draw of the trial."""
    if name in REAL:
        return load(name)
    key = Cell("harm", "stated", "", name, 0.0, 0.0, trial, seed).nested_seed
    rng, shape = np.random.default_rng(key), SIMULATED[name]
    d = shape.n_features
    y = rng.permutation(np.arange(shape.n) % shape.n_clusters)
    mix = np.eye(d) if shape.is_round else np.eye(d) + 0.5 * rng.normal(size=(d, d))
    X = centers_apart(shape, rng)[y] + rng.normal(size=(shape.n, d)) @ mix
    classes = tuple(str(number) for number in range(shape.n_clusters))
    return Dataset(name, X, y, classes, "simulated")


def centers_apart(shape: ClusterShape, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw centres, each at least so far from all others, in a box that they fill loosely."""
    side = 1.5 * shape.apart * shape.n_clusters ** (1.0 / shape.n_features)
    centers = np.empty((0, shape.n_features))
    while len(centers) < shape.n_clusters:
        one = rng.uniform(0.0, side, shape.n_features)
        if len(centers) == 0 or np.sqrt(np.square(centers - one).sum(axis=1).min()) > shape.apart:
            centers = np.vstack([centers, one])
    return centers


def draw_links(cell: Cell, truth: Dataset) -> Links:
    """Return the links of a cell; at 0 a point there are none."""
    n, count = truth.y.size, int(cell.variant.split(" ")[0])
    if not count:
        return Links.empty(n)
    rng = np.random.default_rng([*cell.nested_seed, count])
    return sample_links(truth.y, 2 * count / n, cell.accuracy, "stated", rng)
