"""How well each candidate of a choice predicted held-out links."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.errors import MaylinkError
from maylink.plots.style import COLOURS, new_axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

LOUDER = "data weight γ   (left: links speak louder, right: data do)"
MANY_LINES = 8  # above which candidates are marks without lines
SCORE = "log probability of a held-out link"
BARS: dict[str, Any] = {"elinewidth": 1, "capsize": 2, "alpha": 0.8, "zorder": 2}
WIDE = 8.0  # largest over least value at which an axis is logarithmic


def plot_selection(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how well each candidate predicted held-out links, and which one was chosen.

    Parameters
    ----------
    model : TVClust, RDPMeans or LinkSearchCV
        Fitted. An estimator must have chosen by held-out links (see its ``chosen_by_``). Of a
        search, the number that took most values is the axis, or the data weight if that was varied.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        A line for each family or each combination of the other parameters; of RDP-means a row for
        each candidate. Bars are one standard error. Hollow marks dropped out before the last fold,
        and stand as far from the choice, the ring, as they did on the links that both predicted.
        The title names the choice.

    Examples
    --------
    >>> import maylink as ml
    >>> data = ml.datasets.make_pattern("moons", n=100, rng=0)
    >>> links = ml.sample_links(data.y, rate=0.05, accuracy=0.9, rng=0)
    >>> model = ml.RDPMeans(random_state=0).fit(data.X, links=links)
    >>> ml.plots.plot_selection(model).get_xlabel()
    'log probability of a held-out link (right is better)'
    """
    race = _race_of(model)
    if ax is None:
        ax = new_axes()
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
            "or RDPMeans whose chosen_by_ is 'held-out links'"
        )
    return _race_of_rows(told) if "cluster_penalty" in told else _race_of_weights(told)


def _beside_the_choice(told: pd.DataFrame) -> NDArray[np.float64]:
    """Return scores; who dropped out was tried on fewer links, so it stands where it stood then."""
    best = float(told.loc[told["chosen"], "score"].iloc[0])
    return best - told["behind"].to_numpy(np.float64)


def _race_of_rows(told: pd.DataFrame) -> _Race:
    """Return the candidates of RDP-means: data weights, and penalties by themselves."""
    table = told.assign(x=np.arange(len(told), dtype=float), group="")
    table["score"] = _beside_the_choice(told)
    table["dropped"] = told["folds"] < told["folds"].max()
    words = [
        f"data weight {row.data_weight:g}"
        if row.by == "probability"
        else f"λ = {row.cluster_penalty:.3g} alone"
        for row in told.itertuples()
    ]
    best = told[told["chosen"]].iloc[0]
    chosen = words[int(np.argmax(told["chosen"]))]
    if best["by"] == "probability":
        chosen += f", λ = {best['cluster_penalty']:.3g}"
    return _Race(table, "", False, words, chosen)


def _race_of_weights(told: pd.DataFrame) -> _Race:
    from maylink.families.registry import covariances

    words = {family: f"{word} covariance" for word, family in covariances().items()}
    table = told.rename(columns={"data_weight": "x"})
    table["score"] = _beside_the_choice(told)
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
    behind = np.asarray(told["mean_behind_best"])
    table = pd.DataFrame(
        {
            "x": np.array(columns[by], float) if by else np.arange(size, dtype=float),
            "group": group if by else [""] * size,
            # Who dropped out was tried on fewer links: put it where it stood beside the choice.
            "score": search.best_score_ - (behind - behind[search.best_index_]),
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
    apart = np.diff(np.log(values) if logarithmic else values)
    if len(values) <= 12 and apart.min(initial=np.inf) > 0.06 * apart.sum():
        ax.set_xticks(values, [f"{value:.3g}" for value in values])
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
