"""Points in the colours of their clusters, with links as lines; many columns by PCA."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from maylink.errors import MaylinkError
from maylink.links import Links
from maylink.plots.style import COLOURS, by_size, colour_of, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = ("o", "s", "^", "D")
NAMED = 12  # clusters in the legend, at most


def plot_partition(
    X: Any,
    labels: ArrayLike,
    *,
    links: Links | None = None,
    link_colour: str = "#B00020",
    link_alpha: float = 0.25,
    legend: bool | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw points in the colours of their clusters, with links as lines.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Points of the plane as they are, with the names of a data frame's columns; of more columns
        the first two principal components, of the columns in standard units.
    labels : array-like of shape (n,)
        A partition, numbers or names. The largest cluster gets the first colour; from the ninth
        cluster on colours come again with another marker.
    links : Links, optional
        Links to draw.
    link_colour, link_alpha : str, float
        Colour and opacity of the links.
    legend : bool, optional
        Whether to name the twelve largest clusters and tell their sizes; by default in a new
        figure.
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
    points, names = _on_plane(X)
    legend = ax is None if legend is None else legend
    if ax is None:
        ax = new_axes(6.4, 4.8)
    if links is not None:
        from matplotlib.collections import LineCollection

        segments = list(np.stack([points[links.i], points[links.j]], axis=1))
        ax.add_collection(
            LineCollection(segments, colors=link_colour, alpha=link_alpha, linewidths=0.6)
        )
    numbers = by_size(labels)
    for first in range(0, int(numbers.max()) + 1, len(COLOURS)):
        some = (numbers >= first) & (numbers < first + len(COLOURS))
        colours = np.array(COLOURS)[numbers[some] % len(COLOURS)]
        x, y = points[some].T
        ax.scatter(x, y, c=colours.tolist(), s=9, linewidths=0, zorder=2, marker=_marker(first))
    if legend:
        _add_legend(ax, np.asarray(labels), numbers)
    ax.set(xticks=[], yticks=[], xlabel=names[0], ylabel=names[1])
    if title is not None:
        ax.set_title(title)
    for side in ax.spines.values():
        side.set_color("#CCCCCC")
    return ax


def _on_plane(X: Any) -> tuple[NDArray[np.float64], tuple[str, str]]:
    """Return points of the plane, and the names of both axes."""
    data = X.toarray() if sparse.issparse(X) else np.asarray(X)
    if data.ndim != 2 or data.shape[1] < 2:
        raise MaylinkError(f"X: shape {data.shape}; give two columns or more")
    if data.shape[1] == 2:
        names = [str(name) for name in getattr(X, "columns", ("", ""))]
        return np.asarray(data, np.float64), (names[0], names[1])
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import StandardScaler

    model = PCA(2, random_state=0)
    points = model.fit_transform(StandardScaler().fit_transform(np.asarray(data, np.float64)))
    first, second = (
        f"{name} component ({share:.0%} of the variance)"
        for name, share in zip(("first", "second"), model.explained_variance_ratio_, strict=True)
    )
    return np.asarray(points), (first, second)


def _marker(number: int) -> str:
    """Return the marker of a cluster by its number: another one after each eight colours."""
    return MARKERS[number // len(COLOURS) % len(MARKERS)]


def _add_legend(ax: Axes, labels: NDArray[Any], numbers: NDArray[np.int64]) -> None:
    """Name the largest clusters, and count the others."""
    from matplotlib.lines import Line2D

    _, rows, sizes = np.unique(numbers, return_index=True, return_counts=True)
    marks = []
    for number, (row, size) in enumerate(zip(rows[:NAMED], sizes[:NAMED], strict=True)):
        look: dict[str, Any] = {"marker": _marker(number), "color": colour_of(number), "ms": 5}
        marks.append(Line2D([], [], ls="", label=f"{labels[row]} ({size:,})", **look))
    if len(sizes) > NAMED:
        marks.append(Line2D([], [], ls="", label=f"{len(sizes) - NAMED:,} more"))
    ax.legend(
        handles=marks, frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0.0, handletextpad=0.2,
    )  # fmt: skip
