"""How reliable each source of links is: posterior densities of p and q."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maylink.arrays import Array
from maylink.errors import MaylinkError
from maylink.plots.style import COLOURS, GREY, new_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWS = 100  # of a sampler that the density is averaged over, at most
HEIGHT = 0.72  # of a density, in rows
FILLS = (("p", COLOURS[0]), ("q", COLOURS[5]))


def plot_reliability(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw what is known about p and q of each source of links.

    Parameters
    ----------
    model : TVClust
        Fitted with links.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        A row for each source: the posterior density of p and of q, and below it the mean and the
        95% interval. A source at ½ and ½ tells nothing.

    Notes
    -----
    The densities are Beta distributions; of a sampler, the mean of those that belong to its draws
    of the partition.

    Examples
    --------
    >>> import maylink as ml
    >>> draw = ml.datasets.make_two_view(60, 3, rng=0)
    >>> model = ml.TVClust("gaussian", covariance="full", data_weight=1.0, random_state=0)
    >>> ax = ml.plots.plot_reliability(model.fit(draw.X, links=draw.links))
    >>> len(ax.get_yticklabels())
    1
    """
    table = getattr(model, "reliability_", None)
    if table is None or not len(table):
        raise MaylinkError(
            f"model: {type(model).__name__} knows no reliability, or had no links; give a TVClust "
            "that was fitted with links"
        )
    size = len(table)
    if ax is None:
        ax = new_axes(7.5, 1.4 + 0.95 * size)
    known = getattr(model, "reliability", None) is not None
    low = min(0.5, float(table[["p_low", "q_low"]].to_numpy().min()))
    grid = np.linspace(max(0.0, low - 0.05), 1.0, 800)
    densities = None if known else _densities(model, grid)
    for row in range(size):
        base = size - 1 - row
        ax.axhline(base, color="#DDDDDD", lw=0.8, zorder=0)
        for at, (name, colour) in enumerate(FILLS):
            if densities is not None:
                own = densities[at, row] / max(float(densities[:, row].max()), 1e-300)
                top = base + HEIGHT * np.where(own > 1e-3, own, np.nan)
                ax.fill_between(grid, base, top, color=colour, alpha=0.3, lw=0)
                ax.plot(grid, top, color=colour, lw=1.3)
            below = base - 0.08 - 0.1 * at
            ends = [float(table[f"{name}_{end}"].iloc[row]) for end in ("low", "high")]
            ax.plot(ends, [below] * 2, color=colour, lw=2.2, solid_capstyle="round")
            ax.plot(float(table[name].iloc[row]), below, "o", color=colour, ms=5)
    ax.axvline(0.5, color=GREY, lw=1, ls=":")
    ax.set_yticks(range(size), [str(source) for source in table.index[::-1]])
    ax.set(xlim=(grid[0], 1.005), ylim=(-0.35, size - 0.1), xlabel="probability of being right")
    _name_both(ax)
    tidy(ax, "Reliability of each source, with 95% intervals", grid=None)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return ax


def _densities(model: Any, grid: Array) -> Array:
    """Return the posterior densities of p and q by source, shape (2, sources, grid)."""
    from scipy import stats

    from maylink.model.reliability import count_links

    right, wrong = model.reliability_prior
    posterior = model.posterior_
    if hasattr(model, "draws_"):
        labels = model.draws_.labels
        some = labels[:: max(1, len(labels) // DRAWS)]
        counted = [count_links(posterior.links, draw.astype(np.int64)) for draw in some]
    else:
        counted = [posterior.counts]
    total = np.zeros((2, len(posterior.links.sources), len(grid)))
    for counts in counted:
        p = stats.beta.pdf(grid, right + counts.may_same[:, None], wrong + counts.not_same[:, None])
        q = stats.beta.pdf(
            grid, right + counts.not_different[:, None], wrong + counts.may_different[:, None]
        )
        total += np.stack([p, q])
    return np.asarray(np.nan_to_num(total / len(counted), posinf=0.0))


def _name_both(ax: Axes) -> None:
    from matplotlib.lines import Line2D

    words = ("p: may, of one cluster", "q: may-not, of different clusters")
    marks = [
        Line2D([], [], color=colour, marker="o", ms=5, lw=2.2, label=text)
        for (_, colour), text in zip(FILLS, words, strict=True)
    ]
    ax.legend(
        handles=marks, frameon=False, fontsize=9, ncol=2, loc="upper left",
        bbox_to_anchor=(0.0, -0.18 if len(ax.get_yticks()) > 1 else -0.3), borderaxespad=0.0,
    )  # fmt: skip
