"""Which points go together: the probability of each pair to share a cluster, as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Index
from maylink.errors import MaylinkError
from maylink.model.partitions import check_matrix, coclustering
from maylink.parameters import check_integer
from maylink.plots.style import by_size, colour_of, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMED = 25  # clusters that are named beside the map, at most


def plot_coclustering(model: Any, *, max_points: int = 500, ax: Axes | None = None) -> Axes:
    """Draw the probability of each pair of points to share a cluster, ordered by cluster.

    Blocks on the diagonal are clusters. The model is not sure of a pale block; colour outside the
    blocks shows which clusters could as well be one.

    Parameters
    ----------
    model : TVClust or MRFDPMixture
        Fitted. The probabilities come from the draws of the sampler, or from the responsibilities
        of the variational fit.
    max_points : int, default 500
        With more points, a sample of so many is drawn, in the proportions of the clusters; at most
        5,000.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import maylink as ml
    >>> draw = ml.datasets.make_two_view(60, 3, rng=0)
    >>> model = ml.TVClust("gaussian", covariance="full", data_weight=1.0, random_state=0)
    >>> ax = ml.plots.plot_coclustering(model.fit(draw.X, links=draw.links))
    >>> ax.images[0].get_array().shape
    (60, 60)
    """
    check_integer("max_points", max_points, 2)
    check_matrix(min(max_points, len(getattr(model, "labels_", ()))))
    together = _pair_probabilities(model)
    codes = by_size(model.labels_)
    rows = _rows_by_cluster(codes, max_points)
    size = len(rows)
    first, second = np.triu_indices(size, 1)
    matrix = np.eye(size)
    matrix[first, second] = matrix[second, first] = together(rows[first], rows[second])
    if ax is None:
        ax = new_axes(6.2, 5.2)
    image = ax.imshow(matrix, cmap="Blues", vmin=0.0, vmax=1.0, interpolation="nearest")
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.85)
    bar.set_label("probability of sharing a cluster")
    bar.outline.set_visible(False)
    _frame_clusters(ax, codes[rows], np.asarray(model.labels_)[rows])
    title = f"{size:,} points by cluster"
    if size < len(codes):
        title = f"a sample of {size:,} of {len(codes):,} points, by cluster"
    ax.set_title(title, loc="left", fontsize=11)
    return ax


def _pair_probabilities(model: Any) -> Any:
    """Return a function of two arrays of rows that returns the probability of each pair."""
    posterior = getattr(model, "posterior_", None)
    if posterior is not None:
        return posterior.together
    draws = getattr(model, "draws_", None)
    if isinstance(draws, np.ndarray):
        return lambda i, j: coclustering(draws, i, j)
    raise MaylinkError(
        f"model: {type(model).__name__} tells no probability of pairs, or is not fitted; give a "
        "fitted TVClust"
    )


def _rows_by_cluster(codes: Index, most: int) -> Index:
    """Return rows by cluster, the largest first; evenly spaced ones where there are too many."""
    order = np.argsort(codes, kind="stable")
    if len(order) <= most:
        return order
    return order[np.linspace(0, len(order) - 1, most).round().astype(np.int64)]


def _frame_clusters(ax: Axes, codes: Index, labels: NDArray[Any]) -> None:
    from matplotlib.patches import Rectangle

    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    sizes = np.diff(np.append(starts, len(codes)))
    for start, size in zip(starts, sizes, strict=True):
        corner = (start - 0.5, start - 0.5)
        ax.add_patch(
            Rectangle(corner, size, size, fill=False, lw=1.6, ec=colour_of(int(codes[start])))
        )
    large = np.argsort(-sizes, kind="stable")[:NAMED]
    large = np.sort(large[sizes[large] >= 0.02 * len(codes)])
    middles = starts[large] + sizes[large] / 2.0 - 0.5
    ax.set_yticks(middles, [f"cluster {label}" for label in labels[starts[large]]])
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
