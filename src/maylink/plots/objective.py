"""The objective of a fit, or its bound, sweep by sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.errors import MaylinkError
from maylink.plots.style import COLOURS, GREY, new_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_objective(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the objective, or the bound, after each sweep of the best run.

    Parameters
    ----------
    model : RDPMeans, DPMeans, variational TVClust or a baseline
        Fitted.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        A ring marks the sweep whose partition is the result. Where link weights grew, they are
        drawn too, against the right axis: values at different weights belong to different
        objectives, so the line may rise.

    Examples
    --------
    >>> import maylink as ml
    >>> data = ml.datasets.make_pattern("blobs", n=90, rng=0)
    >>> model = ml.DPMeans(random_state=0).fit(data.X)
    >>> ml.plots.plot_objective(model).get_ylabel()
    'objective'
    """
    from matplotlib.ticker import MaxNLocator

    path = _values_by_sweep(model)
    if ax is None:
        ax = new_axes()
    sweeps = np.arange(len(path.values))
    ax.plot(sweeps, path.values, ".-", color=COLOURS[0], lw=1.6, ms=5)
    ax.plot(path.best, path.values[path.best], "o", mfc="none", mec="black", ms=12, mew=1.6)
    ax.set(xlabel="sweep", ylabel=path.name)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    value = f"{path.values[path.best]:,.6g}".replace("-", "−")
    tidy(ax, f"{path.name} {value} after sweep {path.best}")
    if path.weights is not None:
        largest = max(float(np.abs(path.values[: path.best + 1]).max()), 1e-300)
        # Growing weights make later values many times as large.
        ax.set_yscale("symlog", linthresh=10.0 ** np.ceil(np.log10(largest)))
        _draw_weights(ax, sweeps, path.weights)
    return ax


class SweepValues(NamedTuple):
    """Values by sweep."""

    name: str
    values: NDArray[np.float64]
    best: int  # the sweep whose partition is the result
    weights: NDArray[np.float64] | None = None  # of links, where they grew


def _values_by_sweep(model: Any) -> SweepValues:
    bounds = getattr(model, "bounds_", None)
    if bounds is not None:
        return SweepValues("bound on the log probability", np.asarray(bounds), len(bounds) - 1)
    if hasattr(model, "kept_sweep_"):
        trace = model.trace_
        weights = trace["xi_may"].to_numpy(np.float64)
        grew = getattr(model, "link_weight_", None) is not None and np.ptp(weights) > 0
        best = int(model.kept_sweep_) % len(trace)
        return SweepValues(
            "objective", trace["objective"].to_numpy(), best, weights if grew else None
        )
    values = getattr(model, "objective_path_", None)
    if values is not None:
        return SweepValues("objective", np.asarray(values), len(values) - 1)
    hint = "; plot_traces draws its draws" if hasattr(model, "draws_") else ""
    raise MaylinkError(
        f"model: {type(model).__name__} tells no objective by sweep, or is not fitted{hint}"
    )


def _draw_weights(ax: Axes, sweeps: NDArray[np.int64], weights: NDArray[np.float64]) -> None:
    right = ax.twinx()
    right.plot(sweeps, weights, "--", color=GREY, lw=1)
    right.set_yscale("log")
    right.set_ylabel("weight of a may link (dashed)", color=GREY)
    right.tick_params(colors=GREY)
    right.spines[["top"]].set_visible(False)
