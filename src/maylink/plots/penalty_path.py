"""The penalty path of a fit: clusters and log probability over the cluster penalty λ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maylink.errors import MaylinkError
from maylink.plots.style import COLOURS, new_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_penalty_path(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the cluster penalties that a fit tried: clusters found, and how probable they are.

    The objective itself cannot be compared, since λ is part of it; the exact log probability of the
    partition can, and the fit chose by it.

    Parameters
    ----------
    model : RDPMeans or DPMeans
        Fitted with ``cluster_penalty="auto"``, the penalty chosen by probability. Where held-out
        links chose it, use :func:`plot_selection`.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        Log probability against the left, clusters as steps against the right. The ring is the
        choice.

    See Also
    --------
    plot_stability : runs at many more penalties, and shows where clusters stay the same.

    Examples
    --------
    >>> import maylink as ml
    >>> data = ml.datasets.make_pattern("blobs", n=90, rng=0)
    >>> model = ml.DPMeans(random_state=0).fit(data.X)
    >>> ml.plots.plot_penalty_path(model).get_xlabel()
    'cluster penalty λ'
    """
    steps = sorted(getattr(model, "penalty_path_", None) or [], key=lambda step: step.penalty)
    if not steps:
        raise MaylinkError(
            "model: no penalties were tried by probability; give an RDPMeans or DPMeans that was "
            "fitted with cluster_penalty='auto' and without links, or use plot_selection or "
            "plot_stability"
        )
    penalties, sizes, scores = (
        np.array([getattr(step, name) for step in steps])
        for name in ("penalty", "n_clusters", "log_joint")
    )
    if ax is None:
        ax = new_axes()
    ax.plot(penalties, scores, "o-", color=COLOURS[0], lw=1.6, ms=5)
    chosen = int(np.argmin(np.abs(np.log(penalties / model.cluster_penalty_))))
    ax.plot(penalties[chosen], scores[chosen], "o", mfc="none", mec="black", ms=13, mew=1.6)
    ax.set(xlabel="cluster penalty λ", xscale="log")
    ax.set_ylabel("log probability", color=COLOURS[0])
    tidy(ax, f"{sizes[chosen]} clusters at λ = {penalties[chosen]:.3g}")
    _draw_sizes(ax, penalties, sizes)
    return ax


def _draw_sizes(ax: Axes, penalties: Any, sizes: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    right = ax.twinx()
    right.step(penalties, sizes, where="mid", color=COLOURS[5], lw=1.4)
    right.set_ylabel("clusters (steps)", color=COLOURS[5])
    right.set_ylim(0, max(sizes) * 1.1)
    right.yaxis.set_major_locator(MaxNLocator(integer=True))
    right.spines[["top"]].set_visible(False)
