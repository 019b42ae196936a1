"""What the figures of the experiments share: the colour of a method, marks by group, one legend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maylink.experiments import printed
from maylink.experiments.protocols import METHODS

if TYPE_CHECKING:
    import pandas as pd


def color_of(method: str) -> Any:
    """Return the colour of a method, the same in every figure."""
    import matplotlib.pyplot as plt

    names = [*METHODS, "spectral", "seeded K-means", "constrained K-means"]
    return plt.get_cmap("tab20")(names.index(method) if method in names else 19)


def dots(runs: pd.DataFrame, by: str, figures: dict[Any, printed.Scores]) -> Any:
    """Draw mean F of every method, a panel for each protocol and a group of marks for each value.

    Printed figures of the same method stand beside as open marks.
    """
    import matplotlib.pyplot as plt
    import numpy as np

    protocols = list(dict.fromkeys(runs["protocol"]))
    methods = list(dict.fromkeys(runs["method"]))
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
            color = color_of(method)
            at = np.arange(len(values)) + 0.8 * (number / max(1, len(methods) - 1) - 0.5)
            axis.plot(at, [means.get((method, v), np.nan) for v in values], "o", color=color,
                      label=method, ms=5)  # fmt: skip
            shown = [figures[method, v].f if (method, v) in figures else np.nan for v in values]
            axis.plot(at, shown, "o", mfc="none", color=color, ms=8)
        axis.set(title=protocol, ylabel="F", ylim=(0, 1.02), xlim=(-0.6, len(values) - 0.4))
        axis.set_xticks(range(len(values)), [str(value) for value in values])
        axis.grid(axis="y", alpha=0.3)
    marks = {name: mark for axis in axes[:, 0]
             for mark, name in zip(*axis.get_legend_handles_labels(), strict=True)}  # fmt: skip
    drawing.legend(marks.values(), marks, fontsize=7, loc="outside right center")
    return drawing
