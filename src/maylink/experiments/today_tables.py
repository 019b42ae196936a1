"""What the runs of :mod:`maylink.experiments.today` say: TVClust beside K-means, cell by cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maylink.experiments.figures import in_order, line_of

if TYPE_CHECKING:
    import pandas as pd

COUNT, ACCURACY = 2.0, 0.9  # links in units of n and p of the summary
CELL = ["data", "pairs", "links", "p"]
PEERS = ("K-means", "K-means, scaled")  # both are given the true k


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the summary, the losses, and F, clusters and seconds by cell."""
    if runs.empty:
        return {}
    runs = split_variant(runs)
    chosen = runs[(runs["links"] == f"{COUNT:g}n") & (runs["p"] == ACCURACY)]
    summary = differences(chosen)
    found = {f"TVClust above K-means (k given) at {COUNT:g}n links, p = {ACCURACY:g}": summary}
    found["losses: cells where TVClust is below K-means (k given) by over a standard error"] = (
        losses(runs)
    )
    return {
        **{caption: table for caption, table in found.items() if len(table)},
        "mean F": mean_f(runs),
        "mean number of clusters": as_text(runs, "K", ".1f"),
        "seconds of a fit": as_text(runs, "fit_seconds", ".3g"),
    }


def figure(runs: pd.DataFrame) -> Any:
    """Draw mean F by data set in the cells of the summary, a panel for each way to draw pairs."""
    if runs.empty:
        return None
    import matplotlib.pyplot as plt

    runs = split_variant(runs)
    runs = runs[(runs["links"] == f"{COUNT:g}n") & (runs["p"] == ACCURACY)]
    if runs.empty:
        return None
    kinds = list(dict.fromkeys(runs["pairs"]))
    drawing, axes = plt.subplots(
        1, len(kinds), figsize=(2 + 4 * len(kinds), 4.4), squeeze=False, sharey=True,
        layout="constrained",
    )  # fmt: skip
    names = list(dict.fromkeys(runs["data"]))[::-1]
    for axis, kind in zip(axes[0], kinds, strict=True):
        means = runs[runs["pairs"] == kind].groupby(["method", "data"])["F"].mean()
        for method in in_order(runs["method"]):
            mark = {**line_of(method), "ls": "none"}
            if method == "hindsight":
                mark |= {"marker": "|", "color": "0.2", "ms": 18, "mew": 2}
            values = [means.get((method, name), np.nan) for name in names]
            axis.plot(values, range(len(names)), **mark, label=method)
        axis.set_yticks(range(len(names)), names)
        axis.set(title=f"{kind} pairs", xlabel="mean F", xlim=(0, 1.02))
        axis.grid(alpha=0.3)
    marks, labels = axes[0, 0].get_legend_handles_labels()
    drawing.legend(marks, labels, fontsize=8, loc="outside right center")
    return drawing


def split_variant(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with how pairs are drawn, and how many links there are, in two columns."""
    words = runs["variant"].str.split(" ")
    return runs.assign(pairs=words.str[0], links=words.str[1])


def mean_f(runs: pd.DataFrame) -> pd.DataFrame:
    """Return mean F of every method by cell, and its standard error in the column after it."""
    import pandas as pd

    groups = runs.groupby([*CELL, "method"], sort=False)["F"]
    means, errors = groups.mean().unstack("method", sort=False), groups.sem().unstack("method")
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(runs["method"]):
        columns |= {name: means[name], f"± {name}": errors[name]}
    return pd.DataFrame(columns).reindex(means.index)


def as_text(runs: pd.DataFrame, column: str, form: str) -> pd.DataFrame:
    """Return the mean of a column of every method by cell, written in a form."""
    means = runs.pivot_table(column, CELL, "method", sort=False, observed=True)
    return means.map(lambda value: "–" if np.isnan(value) else f"{value:{form}}")


def differences(runs: pd.DataFrame) -> pd.DataFrame:
    """Return by how much TVClust is above each K-means, by cell, with errors of the difference."""
    import pandas as pd

    rows, index = [], []
    for cell, some in runs.groupby(CELL, sort=False):
        scores = some.pivot_table("F", "trial", "method")
        peers = [name for name in PEERS if name in scores]
        if "TVClust" not in scores or not peers:
            continue
        row: dict[str, Any] = {name: scores[name].mean() for name in ("TVClust", *peers)}
        for name in peers:
            apart = (scores["TVClust"] - scores[name]).dropna()
            row[f"above {name}"] = apart.mean()
            row[f"± above {name}"] = apart.sem() if len(apart) > 1 else np.nan
        rows.append(row)
        index.append(cell)
    if not rows:
        return pd.DataFrame()
    return pd.DataFrame(rows, index=pd.MultiIndex.from_tuples(index, names=CELL))


def losses(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the cells where TVClust is below either K-means by over an error of the difference."""
    table = differences(runs)
    lost = np.zeros(len(table), bool)
    for name in PEERS:
        if f"above {name}" in table:
            error = table[f"± above {name}"].fillna(0.0)  # of one trial there is none
            lost |= (table[f"above {name}"] < -error).to_numpy()
    return table[lost]
