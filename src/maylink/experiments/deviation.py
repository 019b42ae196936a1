"""The deviation figure: what becomes of methods that are told a wrong number of clusters.

At r = .03 and p = 1 every method that is told k gets k + δ instead, δ from −3 to 3 where that
leaves a cluster; the paper's axis is −δ. Methods that are not told k run once a trial and are drawn
as level lines.

Paper: the figure of F by deviation from the true k. Protocol: those of ``--protocol``.
Command: ``python -m maylink.experiments deviation``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from maylink.datasets import load
from maylink.experiments import grid
from maylink.experiments.averages import averaged
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.figures import in_order, line_of
from maylink.experiments.protocols import make_task, methods_of
from maylink.experiments.scoring import RunResult, score

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Deviation from the true number of clusters"
RATE, ACCURACY = 0.03, 1.0
DEVIATIONS = (-3, -2, -1, 0, 1, 2, 3)
CLUSTERS = {"iris": 3, "wine": 3, "ecoli": 8, "glass": 6, "balance": 3}
NOT_TOLD = (
    "TVClust", "RDP-means, k not told", "RDP-means, schedule", "RDP-means, obeying",
    "TVClust, Gibbs", "MRF mixture", "links alone",
)  # fmt: skip


def cells(plan: RunPlan) -> list[Cell]:
    """Return a run for each deviation, or one for a method that is not told k."""
    plan = plan.once()
    return [
        Cell("deviation", protocol, method, name, RATE, ACCURACY, trial, plan.seed, variant)
        for trial in range(plan.trials)
        for protocol in plan.protocols
        for name in grid.DATA
        if name in plan.data
        for method in methods_of(protocol)
        if plan.wants(method)
        for variant in _variants(method, name)
    ]


def run(cell: Cell) -> RunResult:
    """Draw the links of the trial, fit the method with the k it is told, score it."""
    truth = load(cell.data)
    task = make_task(truth, cell.rate, cell.accuracy, cell.protocol, cell.links_seed)
    deviating = replace(task, k=task.k + int(cell.variant or 0))
    return score(truth, methods_of(cell.protocol)[cell.method](deviating), task.links)


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return mean F by deviation, and all scores over all data sets, for each protocol.

    "lost" is how far F at the worst deviation that did not fail lies below F at the true k.
    """
    by_caption: dict[str, pd.DataFrame] = {}
    if runs.empty:
        return by_caption
    for protocol, part in _wide(runs).groupby("protocol", sort=False):
        for caption, by in (("F", ["method"]), ("F by data set", ["data", "method"])):
            means = part.groupby([*by, "deviation"], sort=False)["F"].mean().unstack("deviation")
            means = means[sorted(means.columns)]
            means["lost"] = means[0] - means.min(axis=1)
            by_caption[f"{protocol}: {caption}"] = means.rename(columns=_signed)
        by_caption[f"{protocol}: all scores"] = averaged(part, ["method", "deviation"])
    return by_caption


def figure(runs: pd.DataFrame) -> Any:
    """Draw F by deviation, a panel for each data set and a row for each protocol."""
    if runs.empty:
        return None
    import matplotlib.pyplot as plt

    wide = _wide(runs)
    protocols = list(dict.fromkeys(wide["protocol"]))
    sets = sorted(set(wide["data"]), key=list(CLUSTERS).index)
    methods = in_order(wide["method"])
    drawing, axes = plt.subplots(
        len(protocols), len(sets), squeeze=False, sharex=True, sharey=True, layout="constrained",
        figsize=(2.6 * len(sets) + 2.0, 3.2 * len(protocols)),
    )  # fmt: skip
    for row, protocol in zip(axes, protocols, strict=True):
        for axis, name in zip(row, sets, strict=True):
            part = wide[(wide["protocol"] == protocol) & (wide["data"] == name)]
            for method in methods:
                means = part[part["method"] == method].groupby("deviation")["F"].mean()
                style = line_of(method)
                if method in NOT_TOLD:
                    style |= {"ls": "--", "marker": "none"}
                axis.plot(means.index, means, **style, label=method)
            axis.set(title=f"{name}, {protocol}", ylim=(0, 1.03), xticks=DEVIATIONS)
            axis.grid(alpha=0.3)
        row[0].set_ylabel("F")
    for axis in axes[-1]:
        axis.set_xlabel("k told − true k")
    marks, names = axes[0, 0].get_legend_handles_labels()
    drawing.legend(marks, names, fontsize=7, loc="outside right center",
                   title="dashed: k not told")  # fmt: skip
    return drawing


def _variants(method: str, name: str) -> list[str]:
    if method in NOT_TOLD:
        return [""]
    return [_signed(shift) for shift in DEVIATIONS if CLUSTERS[name] + shift >= 1]


def _signed(shift: Any) -> str:
    return f"{shift:+d}" if isinstance(shift, int) and shift else str(shift)


def _wide(runs: pd.DataFrame) -> pd.DataFrame:
    """Give each run its deviation; a run that was not told k stands for all of them."""
    import pandas as pd

    with_k = runs[~runs["method"].isin(NOT_TOLD)]
    level = runs[runs["method"].isin(NOT_TOLD)]
    parts = [with_k.assign(deviation=[int(variant or 0) for variant in with_k["variant"]])]
    parts += [level.assign(deviation=shift) for shift in DEVIATIONS]
    return pd.concat([part for part in parts if len(part)], ignore_index=True)
