"""How reliable each source of links is: posterior densities of p and q."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maylink.arrays import Array
from maylink.errors import MaylinkError
from maylink.model.reliability import count_links, good_and_bad
from maylink.model.source_prior import source_prior
from maylink.plots.style import COLOURS, GREY, new_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWS = 100  # of a sampler that the density is averaged over, at most
LEAST = 1e-12  # the least weight of a part of a mixture that can be seen
HEIGHT = 0.72  # of a density, in rows
FILLS = (("p", COLOURS[0]), ("q", COLOURS[5]))


def plot_reliability(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the posterior of p and q of each source of links.

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
        95% interval. A source with p = q = ½ carries no information.

    Notes
    -----
    The densities are Beta distributions. Those of a sampler are means over draws of the partition,
    each of which has a Beta distribution.

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
    fixed = getattr(model, "reliability", None) is not None  # so there is no density
    low = min(0.5, float(table[["p_low", "q_low"]].to_numpy().min()))
    grid = np.linspace(max(0.0, low - 0.05), 1.0, 800)
    densities = None if fixed else _densities(model, grid)
    for row in range(size):
        base = size - 1 - row
        ax.axhline(base, color="#DDDDDD", lw=0.8, zorder=0)
        if densities is not None:
            _draw_densities(ax, grid, densities[:, row], base)
        _draw_intervals(ax, table.iloc[row], base)
    ax.axvline(0.5, color=GREY, lw=1, ls=":")
    ax.set_yticks(range(size), [str(source) for source in table.index[::-1]])
    ax.set(xlim=(grid[0], 1.005), ylim=(-0.35, size - 0.1), xlabel="probability of being right")
    _add_legend(ax)
    tidy(ax, "Reliability of each source, with 95% intervals", grid=None)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return ax


def _draw_densities(ax: Axes, grid: Array, densities: Array, base: float) -> None:
    """Draw the densities of p and q above a line, scaled by the higher of the two."""
    highest = max(float(densities.max()), 1e-300)
    for density, (_, colour) in zip(densities / highest, FILLS, strict=True):
        top = base + HEIGHT * np.where(density > 1e-3, density, np.nan)
        ax.fill_between(grid, base, top, color=colour, alpha=0.3, lw=0)
        ax.plot(grid, top, color=colour, lw=1.3)


def _draw_intervals(ax: Axes, row: Any, base: float) -> None:
    """Draw mean and interval of p and q below a line."""
    for at, (name, colour) in enumerate(FILLS):
        below = base - 0.08 - 0.1 * at
        ends = [float(row[f"{name}_low"]), float(row[f"{name}_high"])]
        ax.plot(ends, [below] * 2, color=colour, lw=2.2, solid_capstyle="round")
        ax.plot(float(row[name]), below, "o", color=colour, ms=5)


def _densities(model: Any, grid: Array) -> Array:
    """Return the posterior densities of p and q by source, shape (2, sources, grid)."""
    from scipy.special import betaln, xlog1py, xlogy

    posterior = model.posterior_
    prior = source_prior(model.reliability_prior, posterior.links.sources)
    draws = getattr(posterior, "draws", None)
    if draws is not None:
        labels = draws.labels
        spaced = labels[:: max(1, len(labels) // DRAWS)]
        counts_of_draws = [count_links(posterior.links, draw.astype(np.int64)) for draw in spaced]
    else:
        counts_of_draws = [posterior.counts]
    total = np.zeros((2, len(posterior.links.sources), len(grid)))
    for counts in counts_of_draws:
        for at, votes in enumerate(good_and_bad(counts)):
            weight, right, wrong = prior.betas(*votes)
            for source, seen in enumerate((weight > LEAST).T):
                share, a, b = (part[seen, source, None] for part in (weight, right, wrong))
                logs = xlogy(a - 1.0, grid) + xlog1py(b - 1.0, -grid) - betaln(a, b)
                total[at, source] += (share * np.exp(logs)).sum(axis=0)
    return np.asarray(np.nan_to_num(total / len(counts_of_draws), posinf=0.0))


def _add_legend(ax: Axes) -> None:
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
