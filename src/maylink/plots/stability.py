"""How many clusters RDP-means finds over the cluster penalty λ, and how they change."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maylink.link_forms import LinksLike
from maylink.metrics import adjusted_rand
from maylink.parameters import as_generator, check_integer
from maylink.plots.style import COLOURS, tidy
from maylink.problem import Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from maylink.families import Family

SAME = 0.95  # adjusted Rand index from which two partitions count as one


def plot_stability(
    X: Any,
    *,
    links: LinksLike | None = None,
    family: Family | str = "gaussian",
    n_penalties: int = 40,
    max_clusters: int = 32,
    n_init: int = 4,
    random_state: Any = None,
    axes: Sequence[Axes] | None = None,
) -> tuple[Axes, Axes]:
    """Draw how many clusters RDP-means finds over the cluster penalty λ, and how they change.

    Where neighbouring penalties give the same clusters, there is a plateau; the widest one with
    more than one cluster is shaded, and the title names it.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        The data.
    links : Links, optional
        Links between the rows.
    family : str or Family, default "gaussian"
        What the data are.
    n_penalties : int, default 40
        How many penalties to try.
    max_clusters : int, default 32
        About the largest number of clusters: the least penalty is that of furthest-first for this
        number.
    n_init : int, default 4
        Runs at each penalty, in different orders.
    random_state : int, RandomState or Generator, optional
        Seed of the orders, the same at each penalty.
    axes : two Axes, optional
        Where to draw, above and below; a new figure by default.

    Returns
    -------
    (Axes, Axes)
        The number of clusters, and the adjusted Rand index between neighbours.

    See Also
    --------
    plot_penalty_path : the penalties that a fitted model tried, without any new run.

    Examples
    --------
    >>> import maylink as ml
    >>> data = ml.datasets.make_pattern("blobs", n=90, rng=0)
    >>> above, below = ml.plots.plot_stability(data.X, n_penalties=8, n_init=1, random_state=0)
    >>> above.get_ylabel()
    'clusters'
    """
    for name, value, least in (
        ("n_penalties", n_penalties, 2), ("max_clusters", max_clusters, 2), ("n_init", n_init, 1),
    ):  # fmt: skip
        check_integer(name, value, least)
    seed = int(as_generator(random_state).integers(2**31))
    problem = Problem.build(X, links, family)
    penalties = _penalties(problem, n_penalties, max_clusters)
    partitions = _partitions(X, problem, family, penalties, n_init, seed)
    sizes = np.array([len(np.unique(labels)) for labels in partitions])
    alike = np.array([adjusted_rand(a, b) for a, b in itertools.pairwise(partitions)])
    if axes is None:
        import matplotlib.pyplot as plt

        axes = plt.figure(figsize=(7.5, 5.0), layout="constrained").subplots(
            2, 1, sharex=True, height_ratios=(2, 1)
        )
    above, below = axes
    above.step(penalties, sizes, where="mid", color=COLOURS[0], lw=1.8)
    below.plot(np.sqrt(penalties[1:] * penalties[:-1]), alike, ".-", color=COLOURS[0], lw=1)
    plateau = _widest_plateau(penalties, sizes, alike)
    title = "no plateau with more than one cluster"
    if plateau is not None:
        first, last = plateau
        edges = np.sqrt(penalties[1:] * penalties[:-1])
        low = edges[first - 1] if first else penalties[0]
        high = edges[last] if last < len(edges) else penalties[-1]
        for ax in (above, below):
            ax.axvspan(low, high, color=COLOURS[1], alpha=0.25, lw=0)
        title = f"{sizes[first]} clusters over the widest plateau, λ from {low:.3g} to {high:.3g}"
    _label_axes(above, below, title, sizes)
    return above, below


def _penalties(problem: Problem, n_penalties: int, max_clusters: int) -> NDArray[np.float64]:
    """Return penalties, from small to large, between the ends of the penalty path of a fit."""
    from maylink.engines.cpu import CpuEngine
    from maylink.tuning import penalty

    engine = CpuEngine(problem.X, problem.family, None, problem.links)
    path = penalty.penalty_path(engine, min(max_clusters, problem.n))
    return np.unique(np.geomspace(path[-1], path[0], n_penalties))


def _partitions(
    X: Any,
    problem: Problem,
    family: Family | str,
    penalties: NDArray[np.float64],
    n_init: int,
    seed: int,
) -> list[NDArray[np.int64]]:
    """Return the partition of RDP-means at each penalty."""
    from maylink.estimators import RDPMeans

    model = RDPMeans(family, link_weight=None, n_init=n_init, random_state=seed)
    return [
        model.set_params(cluster_penalty=float(value)).fit(X, links=problem.links).labels_
        for value in penalties
    ]


def _widest_plateau(
    penalties: NDArray[np.float64], sizes: NDArray[np.int64], alike: NDArray[np.float64]
) -> tuple[int, int] | None:
    """Return the first and last of the penalties that leave the same few clusters longest."""
    same = (alike >= SAME) & (sizes[1:] == sizes[:-1])
    number = np.concatenate([[0], np.cumsum(~same)])
    runs = [np.flatnonzero(number == k) for k in range(int(number[-1]) + 1)]
    runs = [run for run in runs if len(run) > 1 and sizes[run[0]] > 1]
    if not runs:
        return None
    widest = max(runs, key=lambda run: penalties[run[-1]] / penalties[run[0]])
    return int(widest[0]), int(widest[-1])


def _label_axes(above: Axes, below: Axes, title: str, sizes: NDArray[np.int64]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    above.set_title(title, loc="left", fontsize=11)
    above.set(ylabel="clusters", xscale="log", yscale="log")
    ticks = [k for k in (1, 2, 3, 4, 5, 6, 8, 11, 16, 23, 32, 45, 64, 90, 128, 256, 512, 1024)
             if sizes.min() <= k <= sizes.max()]  # fmt: skip
    ticks = ticks or [int(sizes.min())]
    above.set_yticks(ticks, [str(k) for k in ticks])
    above.yaxis.set_minor_locator(NullLocator())
    above.set_ylim(sizes.min() / 1.2, sizes.max() * 1.2)
    below.set(
        xlabel="cluster penalty λ", ylabel="adjusted Rand,\nneighbours", xscale="log",
        ylim=(min(0.0, *below.get_ylim()), 1.05),
    )  # fmt: skip
    below.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    below.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    below.xaxis.set_minor_locator(NullLocator())
    for ax in (above, below):
        tidy(ax)
