"""What TVClust says about its links: how reliable they are, and which of them are wrong.

Links at r = .03 are right with probability p = q ∈ {1, .95, .9, .8, .7}; what is wrong at .95 stays
so below. Data are iris, wine, and draws from the model itself ("two-view": 300 points, two
features, Gaussians with covariances), where the family fits; and with two links a point breast
cancer, digits, and simulated tables of numbers, counts, categories and yes or no ("mixed table").
Measured are

* the posterior means of p and q, and whether their 95% intervals hold the truth. At p = 1 none can,
  since intervals between quantiles of a Beta end below 1: that row shows how near they come;
* the precision of suspicion: of as many most suspect links as there are wrong ones, the proportion
  that is wrong, beside what suspecting at random would give (1 − p);
* how many links are said to be wrong with a probability above .99, and the share that is.

Paper: not in it. Protocol: ``stated``. Command: ``python -m maylink.experiments reliability``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maylink.arrays import Index
from maylink.datasets import Dataset, load, make_two_view
from maylink.estimators import TVClust
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.protocols import Task, make_task
from maylink.experiments.scoring import RunResult, score
from maylink.links import MAY, Links
from maylink.tables.reading import read_table

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Reliability of links, learned"
PROTOCOL = "stated"
RATE = 0.03
ACCURACIES = (1.0, 0.95, 0.9, 0.8, 0.7)
MODEL, TABLE = "two-view", "mixed table"
POINTS, ROWS = 300, 400
FEW = {"breast_cancer": 4 / 569, "digits": 4 / 1797, TABLE: 4 / ROWS}  # r: two links a point
SETS = ("iris", "wine", MODEL, *FEW)
SURE = 0.99  # probability from which a link is said to be wrong
INFERENCE = {"TVClust": "variational", "TVClust, Gibbs": "gibbs"}


def cells(plan: RunPlan) -> list[Cell]:
    """Return the runs of both kinds of inference."""
    plan = plan.once()
    return [
        Cell("reliability", PROTOCOL, method, name, FEW.get(name, RATE), accuracy, trial, plan.seed)
        for trial in range(plan.trials)
        for name in SETS
        if name in plan.data
        for accuracy in ACCURACIES
        for method in INFERENCE
        if plan.wants(method)
    ]


def run(cell: Cell) -> RunResult:
    """Draw the links of the trial, fit TVClust, score its partition and its judgement of links."""
    truth, task = make_trial(cell)
    inference: Any = INFERENCE[cell.method]
    X: Any = draw_table(cell.nested_seed)[0] if cell.data == TABLE else task.X
    model = TVClust(inference=inference, random_state=task.rng, n_jobs=1)
    model.fit(X, links=task.links)
    return score(
        truth, model.labels_, task.links, link_measures(model, truth, task.links, cell.accuracy)
    )


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return what was learned by accuracy, for each data set and over all."""
    if runs.empty:
        return {}
    return {
        f"{PROTOCOL}, all data": table(runs, ["r", "method", "p"]),
        f"{PROTOCOL}, by data set": table(runs, ["data", "r", "method", "p"]),
    }


def figure(runs: pd.DataFrame) -> Any:
    """Draw how far p and q learned are off, how often intervals hold them, and the precision."""
    if runs.empty:
        return None
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(1, 4, figsize=(13, 3.6), layout="constrained")
    runs = runs.astype({"precision": float, "p_held": float, "q_held": float})
    runs = runs.assign(p_off=runs["p_learned"] - runs["p"], q_off=runs["q_learned"] - runs["p"])
    runs = runs.assign(held=runs[["p_held", "q_held"]].mean(axis=1).where(runs["p"] < 1.0))
    panels = {
        "p_off": "p learned − true p",
        "q_off": "q learned − true q",
        "held": "95% intervals that hold the truth",
        "precision": "wrong among the most suspect",
    }
    accuracies = sorted(runs["p"].unique())
    ends = [accuracies[0], 1.0]
    for axis, level in zip(axes, ([0, 0], [0, 0], [0.95, 0.95], [1 - end for end in ends]),
                           strict=True):  # fmt: skip
        axis.plot(ends, level, "k:", lw=1, label="truth, 95%, by chance")
    for number, name in enumerate(dict.fromkeys(runs["data"])):
        for method, line, mark in zip(INFERENCE, ("-", "--"), "os", strict=True):
            part = runs[(runs["data"] == name) & (runs["method"] == method)]
            means = part.groupby("p")[list(panels)].mean()
            if part.empty:
                continue
            for axis, column in zip(axes, panels, strict=True):
                axis.plot(means.index, means[column], ls=line, marker=mark, color=f"C{number}",
                          ms=4, lw=1.3, label=f"{name}, {method}")  # fmt: skip
    for axis, title in zip(axes, panels.values(), strict=True):
        axis.set_xlabel("true accuracy of the links")
        axis.set_xticks(accuracies, [f"{value:g}" for value in accuracies], fontsize=8)
        axis.set_title(title, fontsize=9)
        axis.grid(alpha=0.3)
    for axis in axes[2:]:
        axis.set_ylim(-0.03, 1.03)
    axes[1].sharey(axes[0])
    axes[1].autoscale(axis="y")
    marks, names = axes[0].get_legend_handles_labels()
    drawing.legend(marks, names, fontsize=7, loc="outside right center")
    return drawing


def make_trial(cell: Cell) -> tuple[Dataset, Task]:
    """Return the data and the task of a cell."""
    key = cell.nested_seed
    if cell.data == MODEL:
        draw = make_two_view(
            POINTS, 2, family="full-gaussian", rng=np.random.default_rng([*key, 1])
        )
        classes = tuple(str(k) for k in range(int(draw.y.max()) + 1))
        truth = Dataset(MODEL, draw.X, draw.y, classes, "simulated")
    elif cell.data == TABLE:
        frame, y = draw_table(key)
        truth = Dataset(TABLE, read_table(frame).X, y, tuple("0123"), "simulated")
    else:
        truth = load(cell.data)
    return truth, make_task(truth, cell.rate, cell.accuracy, cell.protocol, key)


def draw_table(key: list[int]) -> tuple[pd.DataFrame, Index]:
    """Draw a table of numbers, counts, categories and yes or no, and the group of each row."""
    import pandas as pd

    rng = np.random.default_rng([*key, 2])
    y = np.arange(ROWS) % 4
    colour = np.array(["red", "green", "blue", "grey"])[(y + (rng.random(ROWS) < 0.4)) % 4]
    columns = {
        "height": 2.0 * (y // 2) + rng.normal(size=ROWS),
        "width": 2.0 * (y % 2) + rng.normal(size=ROWS),
        "visits": rng.poisson(np.array([1.0, 3.0, 6.0, 3.0])[y]),
        "colour": colour,
        "plan": np.array(["free", "firm", "team"])[rng.integers(0, 3, ROWS)],
        "smokes": np.where(rng.random(ROWS) < np.array([0.2, 0.8, 0.5, 0.5])[y], "yes", "no"),
    }
    return pd.DataFrame(columns), y


def link_measures(
    model: TVClust, truth: Dataset, links: Links, accuracy: float
) -> dict[str, float | None]:
    """Return what was learned about the links, beside the truth."""
    same = truth.y[links.i] == truth.y[links.j]
    wrong = same != (links.kind == MAY)
    measures: dict[str, float | None] = {"links": int(wrong.size), "wrong_links": int(wrong.sum())}
    row = model.reliability_.iloc[0]
    for name in ("p", "q"):
        measures[f"{name}_learned"] = float(row[name])
        measures[f"{name}_width"] = float(row[f"{name}_high"] - row[f"{name}_low"])
        measures[f"{name}_held"] = bool(row[f"{name}_low"] <= accuracy <= row[f"{name}_high"])
    suspects = model.suspect_links()["wrong"]
    most, sure = suspects.index[: int(wrong.sum())], suspects.index[suspects > SURE]
    measures |= {"sure": len(sure), "sure_wrong": int(wrong[sure].sum())}
    measures["precision"] = float(wrong[most].mean()) if wrong.any() else None
    return measures


def table(runs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Average the runs."""
    import pandas as pd

    groups = runs.astype({"precision": float}).groupby(by, sort=False)
    columns: dict[str, Any] = {}
    for name in ("p", "q"):
        columns[f"{name} learned"] = groups[f"{name}_learned"].mean()
        columns[f"± {name}"] = groups[f"{name}_learned"].sem()
        columns[f"{name} in 95%"] = groups[f"{name}_held"].agg(
            lambda held: held.astype(float).mean()
        )
        columns[f"{name} width"] = groups[f"{name}_width"].mean()
    columns["precision"] = groups["precision"].mean()
    sure = groups["sure"].sum()
    columns[f"above {SURE:g}"] = sure / groups.size()
    columns["truly wrong"] = groups["sure_wrong"].sum() / sure
    columns["wrong links"] = groups["wrong_links"].mean()
    columns |= {name: groups[name].mean() for name in ("F", "F_unlinked", "K", "seconds")}
    return pd.DataFrame(columns)
