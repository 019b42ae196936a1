"""What the figures of the experiments share: how a method is drawn, marks by group, one legend."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from maylink.experiments.paper_scores import PaperScores

if TYPE_CHECKING:
    import pandas as pd


OURS = {
    "TVClust": "#c1121f",
    "TVClust, Gibbs": "#f08a24",
    "RDP-means": "#12409f",
    "RDP-means, k not told": "#3b9ae1",
}
OTHERS = {
    "K-means": ("0.25", "s"),
    "K-means, scaled": ("0.6", "s"),
    "HDBSCAN": ("#00b4d8", "X"),
    "DP-means": ("0.55", "D"),
    "spectral": ("0.7", "P"),
    "MPCKMeans": ("#2b8a3e", "^"),
    "LCVQE": ("#7b2cbf", "v"),
    "CVQE": ("#b388eb", "<"),
    "PCKMeans": ("#8ac926", ">"),
    "COP-KMeans": ("#0f766e", "X"),
    "constrained spectral": ("#b08900", "P"),
    "constrained 1-spectral": ("#6b4226", "p"),
    "MRF mixture": ("#d45087", "h"),
    "links alone": ("0.0", "*"),
    "seeded K-means": ("#5fb3b3", "d"),
    "constrained K-means": ("#1f7a8c", "H"),
    "COP-COBWEB": ("#4d908e", "8"),
    "supervised clustering": ("#e0a458", "d"),
}


def line_of(method: str) -> dict[str, Any]:
    """Return how the line of a method is drawn: ours broad and in front, others thin."""
    if method in OURS:
        return {"color": OURS[method], "marker": "o", "ms": 5, "lw": 2.2, "zorder": 3}
    color, marker = OTHERS.get(method, ("0.8", "o"))
    return {"color": color, "marker": marker, "ms": 4, "lw": 0.9, "zorder": 2}


def in_order(methods: Iterable[str]) -> list[str]:
    """Return the methods once each, as legends have them: ours first."""
    rank = {name: number for number, name in enumerate([*OURS, *OTHERS])}
    return sorted(dict.fromkeys(methods), key=lambda name: rank.get(name, len(rank)))


def dots(runs: pd.DataFrame, by: str, figures: dict[Any, PaperScores]) -> Any:
    """Draw mean F of every method, a panel for each protocol and a group of marks for each value.

    Printed figures of the same method stand beside as open marks.
    """
    import matplotlib.pyplot as plt
    import numpy as np

    protocols = list(dict.fromkeys(runs["protocol"]))
    methods = in_order(runs["method"])
    values = list(dict.fromkeys(runs[by]))
    drawing, axes = plt.subplots(
        len(protocols), 1, figsize=(9, 3.2 * len(protocols)), squeeze=False, layout="constrained"
    )
    for axis, protocol in zip(axes[:, 0], protocols, strict=True):
        part = runs[runs["protocol"] == protocol]
        means = part.groupby(["method", by])["F"].mean()
        for number, method in enumerate(methods):
            if method not in means.index.get_level_values(0):
                continue
            mark: dict[str, Any] = {**line_of(method), "ls": "none", "ms": 6}
            at = np.arange(len(values)) + 0.8 * (number / max(1, len(methods) - 1) - 0.5)
            ours = [means.get((method, value), np.nan) for value in values]
            axis.plot(at, ours, **mark, label=method)
            paper = [figures[method, v].f if (method, v) in figures else np.nan for v in values]
            axis.plot(at, paper, **{**mark, "ms": 10, "mfc": "none"})
        axis.set(title=protocol, ylabel="F", ylim=(0, 1.02), xlim=(-0.6, len(values) - 0.4))
        axis.set_xticks(range(len(values)), [str(value) for value in values])
        axis.grid(axis="y", alpha=0.3)
    marks = {name: mark for axis in axes[:, 0]
             for mark, name in zip(*axis.get_legend_handles_labels(), strict=True)}  # fmt: skip
    drawing.legend(marks.values(), marks, fontsize=7, loc="outside right center",
                   title="open: printed", title_fontsize=7)  # fmt: skip
    return drawing
