"""Points of the plane in the colours of their clusters, with links as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from maylink.errors import MaylinkError
from maylink.links import Links
from maylink.plots.style import COLOURS, by_size, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_partition(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    links: Links | None = None,
    link_colour: str = "#B00020",
    link_alpha: float = 0.25,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw points of the plane in the colours of their clusters, with links as lines.

    Parameters
    ----------
    X : array-like of shape (n, 2)
        Points; project data of more features first.
    labels : array-like of shape (n,)
        A partition. The largest cluster gets the first colour; from the eighth on colours repeat.
    links : Links, optional
        Links to draw.
    link_colour, link_alpha : str, float
        Colour and opacity of the links.
    title : str, optional
        Title of the picture.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import maylink as ml
    >>> data = ml.datasets.make_pattern("moons", n=100, rng=0)
    >>> links = ml.sample_links(data.y, rate=0.02, accuracy=1.0, rng=0)
    >>> ax = ml.plots.plot_partition(data.X, data.y, links=links, title="moons")
    >>> ax.get_title()
    'moons'
    """
    points = np.asarray(X)
    if points.ndim != 2 or points.shape[1] != 2:
        raise MaylinkError(f"X: shape {points.shape}; only points of the plane can be drawn")
    if ax is None:
        ax = new_axes(6.4, 4.8)
    if links is not None:
        from matplotlib.collections import LineCollection

        segments = list(np.stack([points[links.i], points[links.j]], axis=1))
        ax.add_collection(
            LineCollection(segments, colors=link_colour, alpha=link_alpha, linewidths=0.6)
        )
    colours = np.array(COLOURS)[by_size(labels) % len(COLOURS)]
    ax.scatter(points[:, 0], points[:, 1], c=colours.tolist(), s=9, linewidths=0, zorder=2)
    ax.set(xticks=[], yticks=[])
    if title is not None:
        ax.set_title(title)
    for side in ax.spines.values():
        side.set_color("#CCCCCC")
    return ax
