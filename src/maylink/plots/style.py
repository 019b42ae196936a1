"""Colours, figures and axes that all pictures share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maylink.labels import size_ranks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Eight colours that colour-blind readers can tell apart (Okabe & Ito), black last.
COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000",
)  # fmt: skip
GREY = "#777777"


def colour_of(number: int) -> str:
    """Return a colour by its number; from the eighth on colours repeat."""
    return COLOURS[number % len(COLOURS)]


def new_axes(width: float = 7.5, height: float = 4.2) -> Axes:
    """Return the axes of a new figure."""
    import matplotlib.pyplot as plt

    return plt.figure(figsize=(width, height), layout="constrained").subplots()


def tidy(ax: Axes, title: str | None = None, *, grid: Literal["x", "y"] | None = "y") -> Axes:
    """Hide the upper and right frame, draw a grid, and set the title on the left."""
    ax.spines[["top", "right"]].set_visible(False)
    if grid is not None:
        ax.grid(axis=grid, alpha=0.3)
    if title is not None:
        ax.set_title(title, loc="left", fontsize=11)
    return ax


def by_size(labels: ArrayLike) -> NDArray[np.int64]:
    """Number the clusters by size, the largest 0."""
    _, codes, sizes = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)
    return size_ranks(sizes)[codes]
