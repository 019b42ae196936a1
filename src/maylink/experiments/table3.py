"""Table 3: each method by rate and accuracy of the links, averaged over data sets.

A second table asks in each cell whether the best of our methods reaches the best printed figure of
any method.

Paper: Table 3. Protocol: those of ``--protocol``, on :mod:`maylink.experiments.grid`.
Command: ``python -m maylink.experiments table3``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maylink.experiments import grid, paper_scores
from maylink.experiments.averages import SCORES, beside_print
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.figures import in_order, line_of

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Table 3: by rate and accuracy of the links"
OURS = ("RDP-means", "RDP-means, k not told", "TVClust", "TVClust, Gibbs")


def cells(plan: RunPlan) -> list[Cell]:
    """Return the runs that the table is made of."""
    return grid.cells(plan)


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return our means beside the printed ones, and the best of ours beside the best printed."""
    by_caption: dict[str, pd.DataFrame] = {}
    for protocol, part in runs.groupby("protocol", sort=False):
        by_caption[str(protocol)] = beside_print(part, ["method", "r", "p"], paper_scores.TABLE_3)
        by_caption[f"{protocol}: the best of ours, the best printed"] = best_of_ours(part)
    return by_caption


def figure(runs: pd.DataFrame) -> Any:
    """Draw F by accuracy, a panel for each rate, the best printed figure as a line."""
    import matplotlib.pyplot as plt

    protocol = runs["protocol"].iloc[-1]
    runs = runs[runs["protocol"] == protocol]
    rates = sorted(runs["r"].unique())
    drawing, axes = plt.subplots(1, len(rates), figsize=(3.4 * len(rates), 4.2), squeeze=False,
                                  layout="constrained")  # fmt: skip
    for axis, rate in zip(axes[0], rates, strict=True):
        part = runs[runs["r"] == rate]
        for method in in_order(part["method"]):
            means = part[part["method"] == method].groupby("p")["F"].mean()
            axis.plot(1 - means.index, means, **line_of(method), label=method)
        best_printed = {p: s.f for (r, p), s in paper_scores.BEST_OF_TABLE_3.items() if r == rate}
        wrong = [1 - p for p in best_printed]
        axis.plot(wrong, list(best_printed.values()), "k--", lw=1.6, label="best printed", zorder=4)
        axis.set(
            title=f"{protocol}, r = {rate:g}", xlabel="proportion of wrong links", ylim=(0, 1.02)
        )
    axes[0, 0].set_ylabel("F")
    marks, names = axes[0, 0].get_legend_handles_labels()
    drawing.legend(marks, names, fontsize=6, loc="outside right center")
    return drawing


def best_of_ours(runs: pd.DataFrame) -> pd.DataFrame:
    """Return in each cell the best mean score of our methods and the best printed of any."""
    import pandas as pd

    ours = runs[runs["method"].isin(OURS)]
    means = ours.groupby(["r", "p", "method"])[list(SCORES)].mean()
    columns: dict[str, Any] = {}
    for score, name in SCORES.items():
        table = means[score].unstack("method").sort_index(ascending=[True, False])
        limit = [getattr(paper_scores.BEST_OF_TABLE_3[cell], name) for cell in table.index]
        columns[score] = table.max(axis=1)
        columns[f"best printed {score}"] = limit
        columns[f"{score} reached"] = table.max(axis=1).round(2) >= limit
        columns[f"by ({score})"] = table.idxmax(axis=1)
    return pd.DataFrame(columns)
