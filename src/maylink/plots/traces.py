"""The course of a fit: draws of a sampler by chain, or the bound by sweep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maylink.errors import MaylinkError
from maylink.plots.objective import plot_objective
from maylink.plots.style import GREY, colour_of, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DASHES: tuple[Any, ...] = (
    "-", (0, (1, 1)), (0, (4, 2)), (0, (8, 3)), (0, (4, 1, 1, 1)), (0, (8, 2, 2, 2)),
    (0, (4, 1, 1, 1, 1, 1)), (0, (1, 4)),
)  # fmt: skip
MOST_SOURCES = len(DASHES)  # in the panels of p and q


def plot_traces(model: Any, *, axes: Sequence[Axes] | None = None) -> list[Axes]:
    """Draw log joint, clusters, α, p and q of every draw; of a variational fit, the bound.

    Chains that move in the same band agree. A chain that stays apart, or a trend, means that more
    draws are needed (``model.diagnostics()`` has the figures).

    Parameters
    ----------
    model : TVClust
        Fitted.
    axes : sequence of Axes, optional
        Where to draw: five for a sampler with links, three without links, one for a variational
        fit. A new figure by default.

    Returns
    -------
    list of Axes
        A colour is a chain in every panel; in those of p and q a dash pattern is a source.

    Examples
    --------
    >>> import maylink as ml
    >>> draw = ml.datasets.make_two_view(40, 2, rng=0)
    >>> model = ml.TVClust("gaussian", covariance="full", data_weight=1.0, random_state=0)
    >>> len(ml.plots.plot_traces(model.fit(draw.X)))
    1
    """
    if not hasattr(model, "chain_lengths_"):
        if not hasattr(model, "bounds_"):
            raise MaylinkError(f"model: {type(model).__name__} has no draws; give a fitted TVClust")
        return [plot_objective(model, ax=None if axes is None else axes[0])]
    from matplotlib.ticker import MaxNLocator

    draws = model.draws_
    panels: dict[str, NDArray[Any]] = {
        "log joint": draws.log_joint,
        "clusters": draws.n_clusters,
        "α": draws.alpha,
    }
    if draws.p.shape[1]:
        panels |= {"p": draws.p, "q": draws.q}
    panel_axes = _new_axes(len(panels)) if axes is None else list(axes)
    if len(panel_axes) < len(panels):
        raise MaylinkError(f"axes: {len(panel_axes)} axes, but {len(panels)} panels to draw")
    panel_axes = panel_axes[: len(panels)]
    for ax, (name, values) in zip(panel_axes, panels.items(), strict=True):
        _draw_chains(ax, values, model.chain_lengths_)
        ax.set_ylabel(name)
        tidy(ax)
        if name == "clusters":
            ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    panel_axes[-1].set_xlabel("draw, after warm-up")
    _add_legends(panel_axes, model.chain_lengths_, model.posterior_.links.sources)
    chains = sum(length > 0 for length in model.chain_lengths_)
    title = f"{len(draws.alpha):,} draws of {chains} chain{'s' * (chains != 1)}"
    tidy(panel_axes[0], title, grid=None)
    return panel_axes


def _new_axes(count: int) -> list[Axes]:
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(7.5, 1.0 + 1.35 * count), layout="constrained")
    return list(figure.subplots(count, 1, sharex=True))


def _draw_chains(ax: Axes, values: NDArray[Any], lengths: Sequence[int]) -> None:
    """Draw one line a chain, or one for each chain and source."""
    ends = np.cumsum(lengths)
    for chain, (end, length) in enumerate(zip(ends, lengths, strict=True)):
        part = values[end - length : end]
        if part.ndim == 1:
            ax.plot(part, color=colour_of(chain), lw=0.8, alpha=0.85)
            continue
        for source in range(min(part.shape[1], MOST_SOURCES)):
            ax.plot(part[:, source], color=colour_of(chain), ls=DASHES[source], lw=0.9, alpha=0.75)


def _add_legends(axes: list[Axes], lengths: Sequence[int], sources: Sequence[Any]) -> None:
    """Say which colour is which chain, and which dashes are which source."""
    from matplotlib.lines import Line2D

    chains = [
        Line2D([], [], color=colour_of(chain), label=f"chain {chain + 1}")
        for chain, length in enumerate(lengths)
        if length
    ]
    named = [
        Line2D([], [], color=GREY, ls=dashes, label=str(source))
        for dashes, source in zip(DASHES, sources, strict=False)
    ]
    panels = [(axes[0], chains), *([(axes[3], named)] if len(axes) > 3 else [])]
    for ax, marks in panels:
        if len(marks) > 1:
            ax.legend(
                handles=marks, frameon=False, fontsize=9, loc="upper left",
                bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0,
            )  # fmt: skip
