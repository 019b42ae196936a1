"""Pictures of partitions, links and choices, in matplotlib; needs the extra ``maylink[plots]``."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maylink.errors import MaylinkError
from maylink.links import Links

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from maylink.families import Family

# Eight colours that colour-blind readers can tell apart (Okabe & Ito), black last.
COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000",
)  # fmt: skip


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
        How to draw them.
    title : str, optional
        Title of the picture.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
    """
    points = np.asarray(X)
    if points.ndim != 2 or points.shape[1] != 2:
        raise MaylinkError(f"X: shape {points.shape}; only points of the plane can be drawn")
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.figure().subplots()
    if links is not None:
        from matplotlib.collections import LineCollection

        segments = list(np.stack([points[links.i], points[links.j]], axis=1))
        ax.add_collection(
            LineCollection(segments, colors=link_colour, alpha=link_alpha, linewidths=0.6)
        )
    colours = np.array(COLOURS)[_by_size(labels) % len(COLOURS)]
    ax.scatter(points[:, 0], points[:, 1], c=colours.tolist(), s=9, linewidths=0, zorder=2)
    ax.set(xticks=[], yticks=[])
    if title is not None:
        ax.set_title(title)
    for side in ax.spines.values():
        side.set_color("#CCCCCC")
    return ax


# ---------------------------------------------------------------------- what was chosen

LOUDER = "data weight γ   (left: links speak louder, right: data do)"
MANY_LINES = 8  # above which candidates are marks without lines
SCORE = "log probability of a held-out link"
BARS: dict[str, Any] = {"elinewidth": 1, "capsize": 2, "alpha": 0.8, "zorder": 2}
WIDE = 8.0  # largest over least value at which an axis is logarithmic


def plot_selection(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how well each candidate predicted held-out links, and which one was chosen.

    Parameters
    ----------
    model : TVClust or LinkSearchCV
        Fitted. A TVClust must have chosen by held-out links (see its ``chosen_by_``). Of a search,
        the number that took most values is the axis, or the data weight if that was varied.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        A line for each family or each combination of the other parameters. Bars are one standard
        error. Hollow marks dropped out before the last fold, and stand as far from the choice, the
        ring, as they did on the links that both predicted. The title names the choice.
    """
    race = _race_of(model)
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.figure(figsize=(7.5, 4.2), layout="constrained").subplots()
    if race.numeric:
        groups = _draw_lines(ax, race)
    else:
        groups = []
        _draw_rows(ax, race)
    title = textwrap.fill(f"Held-out links chose: {race.chosen}", 72)
    ax.set_title(title, loc="left" if race.numeric else "right", fontsize=11)
    ax.spines[["top", "right"]].set_visible(False)
    _add_legend(ax, race, groups)
    return ax


class _Race(NamedTuple):
    """The candidates of a choice: x, group, score, error, dropped and chosen of each."""

    table: pd.DataFrame
    by: str  # what x is
    numeric: bool  # or else x counts the candidates, which ``words`` names
    words: list[str]
    chosen: str


def _race_of(model: Any) -> _Race:
    if getattr(model, "cv_results_", None) is not None:
        return _race_of_search(model)
    told = getattr(model, "selection_", None)
    if told is None or "score" not in told:
        raise MaylinkError(
            "model: no links were held out to choose by; give a fitted LinkSearchCV, or a TVClust "
            "whose chosen_by_ is 'held-out links'"
        )
    from maylink.estimators.choice import COVARIANCES

    words = {family: f"{word} covariance" for word, family in COVARIANCES.items()}
    table = told.rename(columns={"data_weight": "x"})
    # Who dropped out was tried on fewer links: put it where it stood beside the choice.
    table["score"] = told.loc[told["chosen"], "score"].iloc[0] - told["behind"]
    table["group"] = [words.get(name, name) for name in told["family"]]
    table["dropped"] = told["folds"] < told["folds"].max()
    best = table[told["chosen"]].iloc[0]
    return _Race(table, LOUDER, True, [], f"{best['group']}, data weight {best['x']:g}")


def _race_of_search(search: Any) -> _Race:
    import pandas as pd

    told = search.cv_results_
    columns = {
        name.removeprefix("param_"): list(column)
        for name, column in told.items()
        if name.startswith("param_")
    }
    numbers = {
        name: len(set(column))
        for name, column in columns.items()
        if all(_is_number(value) for value in column) and len(set(column)) > 1
    }
    weight = [name for name in numbers if name.split("__")[-1] == "data_weight"]
    by = (weight or sorted(numbers, key=lambda name: -numbers[name]) or [""])[0]
    words = [", ".join(_said(k, v) for k, v in params.items()) for params in told["params"]]
    varied = [name for name, column in columns.items() if len({repr(v) for v in column}) > 1]
    group = [
        ", ".join(_said(k, v) for k, v in params.items() if k in varied and k != by)
        for params in told["params"]
    ]
    size = len(words)
    chosen = np.arange(size) == search.best_index_
    table = pd.DataFrame(
        {
            "x": np.array(columns[by], float) if by else np.arange(size, dtype=float),
            "group": group if by else [""] * size,
            # Who dropped out was tried on fewer links: put it where it stood beside the choice.
            "score": search.best_score_ - told["mean_behind_best"],
            "error": told["std_error_test_score"],
            "dropped": (told["n_folds"] < search.n_splits_) & ~chosen,
            "chosen": chosen,
        }
    )
    axis = LOUDER if weight else by.split("__")[-1]
    return _Race(table, axis, bool(by), words, words[search.best_index_])


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, (int, float, np.integer, np.floating))
    return is_number and not isinstance(value, bool) and bool(np.isfinite(value))


def _said(name: str, value: Any) -> str:
    told = f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)
    return f"{name.split('__')[-1].replace('_', ' ')} {told}"


def _draw_lines(ax: Axes, race: _Race) -> list[str]:
    """Draw scores over a number, a line for each group; return the groups that have one."""
    from matplotlib.ticker import NullLocator

    values = np.unique(race.table["x"])
    logarithmic = values[0] > 0 and (race.by == LOUDER or values[-1] >= WIDE * values[0])
    groups = list(dict.fromkeys(race.table["group"]))
    lines = len(groups) <= MANY_LINES
    for number, group in enumerate(groups):
        part = race.table[race.table["group"] == group].sort_values("x", kind="stable")
        colour = COLOURS[number % len(COLOURS)] if lines else COLOURS[0]
        beside = number - (len(groups) - 1) / 2.0  # bars must not cover each other
        at = part["x"] * 1.06**beside if lines and logarithmic else part["x"]
        if lines:
            ax.plot(at, part["score"], color=colour, lw=1.2, alpha=0.6, zorder=1)
        ax.errorbar(at, part["score"], part["error"], fmt="none", ecolor=colour, **BARS)
        _draw_marks(ax, at, part["score"], part, colour)
    if logarithmic:
        ax.set_xscale("log")
    if len(values) <= 12:
        ax.set_xticks(values, [f"{value:g}" for value in values])
        ax.xaxis.set_minor_locator(NullLocator())
    ax.set(xlabel=race.by.replace("_", " "), ylabel=f"{SCORE}\n(higher is better)")
    ax.grid(axis="y", alpha=0.3)
    return groups if lines else []


def _draw_rows(ax: Axes, race: _Race) -> None:
    """Draw scores of candidates that no number orders, a row for each."""
    table = race.table
    ax.errorbar(table["score"], table["x"], None, table["error"], fmt="none", ecolor=COLOURS[0],
                **BARS)  # fmt: skip
    _draw_marks(ax, table["score"], table["x"], table, COLOURS[0])
    ax.set_yticks(table["x"], race.words)
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.set_xlabel(f"{SCORE} (right is better)")
    ax.grid(axis="x", alpha=0.3)


def _draw_marks(ax: Axes, x: Any, y: Any, table: pd.DataFrame, colour: str) -> None:
    for dropped, face in ((False, colour), (True, "white")):
        some = (table["dropped"] == dropped).to_numpy()
        ax.plot(x[some], y[some], "o", color=colour, mfc=face, ms=6, zorder=3)
    won = table["chosen"].to_numpy(bool)
    ax.plot(x[won], y[won], "o", color="black", mfc="none", ms=14, mew=1.6, zorder=4)


def _add_legend(ax: Axes, race: _Race, groups: list[str]) -> None:
    """Tell lines and marks beside the picture, where they cover nothing."""
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], color=COLOURS[number % len(COLOURS)], marker="o", label=group)
        for number, group in enumerate(groups)
        if group
    ]
    if race.table["dropped"].any():
        marks.append(
            Line2D([], [], color="grey", ls="", marker="o", mfc="white", label="dropped out early")
        )
    marks.append(
        Line2D([], [], color="black", ls="", marker="o", mfc="none", ms=11, mew=1.6, label="chosen")
    )
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    if not race.numeric:  # the names of the rows need the room
        place = {"loc": "upper right", "bbox_to_anchor": (1.0, -0.16), "ncol": len(marks)}
    ax.legend(handles=marks, frameon=False, fontsize=9, borderaxespad=0.0, **place)


# ---------------------------------------------------------------------- what λ does

SAME = 0.95  # adjusted Rand index from which two partitions count as one


def plot_stability(
    X: Any,
    *,
    links: Any = None,
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
        About the largest number of clusters to look at: the least penalty is that of
        furthest-first for this number.
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
    """
    from maylink.estimators.base import as_generator, check_integer
    from maylink.metrics import adjusted_rand

    for name, value, least in (
        ("n_penalties", n_penalties, 2), ("max_clusters", max_clusters, 2), ("n_init", n_init, 1),
    ):  # fmt: skip
        check_integer(name, value, least)
    seed = int(as_generator(random_state).integers(2**31))
    penalties, partitions = _partitions(X, links, family, (n_penalties, max_clusters), n_init, seed)
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
    _name_stability(above, below, title, sizes)
    return above, below


def _partitions(
    X: Any, links: Any, family: Family | str, range_: tuple[int, int], n_init: int, seed: int
) -> tuple[NDArray[np.float64], list[NDArray[np.int64]]]:
    """Return penalties, from small to large, and what RDP-means finds at each."""
    from maylink.engines.cpu import CpuEngine
    from maylink.estimators import RDPMeans
    from maylink.problem import Problem
    from maylink.solvers import penalty

    problem = Problem.build(X, links, family)
    n_penalties, max_clusters = range_
    engine = CpuEngine(problem.X, problem.family, None, problem.links)
    ladder = penalty.ladder(engine, min(max_clusters, problem.n))
    penalties = np.unique(np.geomspace(ladder[-1], ladder[0], n_penalties))
    model = RDPMeans(family, link_weight=None, n_init=n_init, random_state=seed)
    found = [
        model.set_params(cluster_penalty=float(value)).fit(X, links=problem.links).labels_
        for value in penalties
    ]
    return penalties, found


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


def _name_stability(above: Axes, below: Axes, title: str, sizes: NDArray[np.int64]) -> None:
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
        ax.grid(axis="y", alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)


def _by_size(labels: ArrayLike) -> NDArray[Any]:
    """Number the clusters by size, the largest 0."""
    _, codes, sizes = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)
    return np.argsort(np.argsort(-sizes, kind="stable"))[codes]
