"""How well each candidate of a choice predicted held-out links."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.errors import MaylinkError
from maylink.families.registry import covariances
from maylink.plots.style import COLOURS, new_axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

WEIGHT_AXIS = "data weight γ   (left: links count more, right: data do)"
MANY_LINES = 8  # above which candidates are drawn as marks without lines
SCORE = "log probability of a held-out link"
BARS: dict[str, Any] = {"elinewidth": 1, "capsize": 2, "alpha": 0.8, "zorder": 2}
WIDE_RANGE = 8.0  # largest over least value at which an axis is logarithmic
TITLES = {
    "neighbours": "Held-out neighbours chose",
    "evidence": "Held-out links told no more than a guess; without them",
}
"""What the title says of a choice that judged links did not make, by ``chosen_by_``."""


def plot_selection(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how well each candidate predicted held-out links, and which one was chosen.

    Parameters
    ----------
    model : TVClust, RDPMeans or LinkSearchCV
        Fitted. An estimator must have held links out, judged ones or, without any, those of
        neighbours; its ``chosen_by_`` says what they were good for. Of a search, the number that
        took most values is the axis, or the data weight if that was varied.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        A line for each family or each combination of the other parameters; of RDP-means at a given
        penalty a row for each candidate. Bars are one standard error. The ring is the choice, and
        the title names it.
        Hollow marks are candidates that dropped out before the last fold; they are as far from the
        ring as their scores were on the links that both predicted.

    Examples
    --------
    >>> import maylink as ml
    >>> data = ml.datasets.make_pattern("moons", n=100, rng=0)
    >>> links = ml.sample_links(data.y, rate=0.05, accuracy=0.9, rng=0)
    >>> model = ml.RDPMeans(n_clusters_hint=4, random_state=0).fit(data.X, links=links)
    >>> ml.plots.plot_selection(model).get_xlabel()
    'log probability of a held-out link (right is better)'
    """
    candidates = _candidates_of(model)
    if ax is None:
        ax = new_axes()
    if candidates.numeric:
        groups = _draw_lines(ax, candidates)
    else:
        groups = []
        _draw_rows(ax, candidates)
    words = TITLES.get(getattr(model, "chosen_by_", ""), "Held-out links chose")
    title = textwrap.fill(f"{words}: {candidates.chosen}", 72)
    ax.set_title(title, loc="left" if candidates.numeric else "right", fontsize=11)
    ax.spines[["top", "right"]].set_visible(False)
    _add_legend(ax, candidates, groups)
    return ax


class _Candidates(NamedTuple):
    """The candidates of a choice; the table has x, group, score, error, dropped and chosen."""

    table: pd.DataFrame
    axis: str  # the name of x
    numeric: bool  # whether x is a number; otherwise x counts the candidates
    names: list[str]  # of the candidates that x counts
    chosen: str  # name of the choice


def _candidates_of(model: Any) -> _Candidates:
    if getattr(model, "cv_results_", None) is not None:
        return _candidates_of_search(model)
    selection = getattr(model, "selection_", None)
    if selection is None or "score" not in selection:
        raise MaylinkError(
            "model: no links were held out to choose by; give a fitted LinkSearchCV, or a TVClust "
            "or RDPMeans whose chosen_by_ is 'held-out links'"
        )
    if "cluster_penalty" in selection:
        return _candidates_of_rdp_means(selection)
    return _candidates_of_tvclust(selection)


def _comparable_scores(selection: pd.DataFrame) -> NDArray[np.float64]:
    """Return scores that can be compared.

    A candidate that dropped out was tried on fewer links. Its score is that of the choice minus
    what it was behind on the links that both predicted.
    """
    best = float(selection.loc[selection["chosen"], "score"].iloc[0])
    return best - selection["behind"].to_numpy(np.float64)


def _candidates_of_rdp_means(selection: pd.DataFrame) -> _Candidates:
    """Return the candidates of RDP-means: data weights, and penalties by themselves."""
    table = selection.assign(x=np.arange(len(selection), dtype=float), group="")
    table["score"] = _comparable_scores(selection)
    table["dropped"] = selection["folds"] < selection["folds"].max()
    names = [
        f"data weight {row.data_weight:g}"
        if row.by == "probability"
        else f"λ = {row.cluster_penalty:.3g} alone"
        for row in selection.itertuples()
    ]
    best = selection[selection["chosen"]].iloc[0]
    chosen = names[int(np.argmax(selection["chosen"]))]
    if best["by"] == "probability":
        chosen += f", λ = {best['cluster_penalty']:.3g}"
    return _Candidates(table, "", False, names, chosen)


def _candidates_of_tvclust(selection: pd.DataFrame) -> _Candidates:
    """Return the candidates of TVClust: data weights by family."""
    words = {family: f"{word} covariance" for word, family in covariances().items()}
    table = selection.rename(columns={"data_weight": "x"})
    table["score"] = _comparable_scores(selection)
    table["group"] = [words.get(name, name) for name in selection["family"]]
    table["dropped"] = selection["folds"] < selection["folds"].max()
    best = table[selection["chosen"]].iloc[0]
    chosen = f"{best['group']}, data weight {best['x']:g}"
    return _Candidates(table, WEIGHT_AXIS, True, [], chosen)


def _candidates_of_search(search: Any) -> _Candidates:
    """Return the candidates of a search, over its data weight or the number with most values."""
    import pandas as pd

    results = search.cv_results_
    columns = {
        name.removeprefix("param_"): list(column)
        for name, column in results.items()
        if name.startswith("param_")
    }
    n_values = {
        name: len(set(column))
        for name, column in columns.items()
        if all(_is_number(value) for value in column) and len(set(column)) > 1
    }
    weights = [name for name in n_values if name.split("__")[-1] == "data_weight"]
    by = (weights or sorted(n_values, key=lambda name: -n_values[name]) or [""])[0]
    names = [", ".join(_parameter(k, v) for k, v in row.items()) for row in results["params"]]
    varied = [name for name, column in columns.items() if len({repr(v) for v in column}) > 1]
    groups = [
        ", ".join(_parameter(k, v) for k, v in row.items() if k in varied and k != by)
        for row in results["params"]
    ]
    size = len(names)
    chosen = np.arange(size) == search.best_index_
    behind = np.asarray(results["mean_behind_best"])
    table = pd.DataFrame(
        {
            "x": np.array(columns[by], float) if by else np.arange(size, dtype=float),
            "group": groups if by else [""] * size,
            "score": search.best_score_ - (behind - behind[search.best_index_]),
            "error": results["std_error_test_score"],
            "dropped": (results["n_folds"] < search.n_splits_) & ~chosen,
            "chosen": chosen,
        }
    )
    axis = WEIGHT_AXIS if weights else by.split("__")[-1]
    return _Candidates(table, axis, bool(by), names, names[search.best_index_])


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, (int, float, np.integer, np.floating))
    return is_number and not isinstance(value, bool) and bool(np.isfinite(value))


def _parameter(name: str, value: Any) -> str:
    """Return a parameter as text: its name without the step of a pipeline, and its value."""
    text = f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)
    return f"{name.split('__')[-1].replace('_', ' ')} {text}"


def _draw_lines(ax: Axes, candidates: _Candidates) -> list[str]:
    """Draw scores over a number, a line for each group; return the groups that have one."""
    from matplotlib.ticker import NullLocator

    table = candidates.table
    values = np.unique(table["x"])
    wide = candidates.axis == WEIGHT_AXIS or values[-1] >= WIDE_RANGE * values[0]
    logarithmic = values[0] > 0 and wide
    groups = list(dict.fromkeys(table["group"]))
    lines = len(groups) <= MANY_LINES
    for number, group in enumerate(groups):
        part = table[table["group"] == group].sort_values("x", kind="stable")
        colour = COLOURS[number % len(COLOURS)] if lines else COLOURS[0]
        shift = number - (len(groups) - 1) / 2.0  # bars must not cover each other
        at = part["x"] * 1.06**shift if lines and logarithmic else part["x"]
        if lines:
            ax.plot(at, part["score"], color=colour, lw=1.2, alpha=0.6, zorder=1)
        ax.errorbar(at, part["score"], part["error"], fmt="none", ecolor=colour, **BARS)
        _draw_marks(ax, at, part["score"], part, colour)
    if logarithmic:
        ax.set_xscale("log")
    gaps = np.diff(np.log(values) if logarithmic else values)
    if len(values) <= 12 and gaps.min(initial=np.inf) > 0.06 * gaps.sum():
        ax.set_xticks(values, [f"{value:.3g}" for value in values])
        ax.xaxis.set_minor_locator(NullLocator())
    ax.set(xlabel=candidates.axis.replace("_", " "), ylabel=f"{SCORE}\n(higher is better)")
    ax.grid(axis="y", alpha=0.3)
    return groups if lines else []


def _draw_rows(ax: Axes, candidates: _Candidates) -> None:
    """Draw scores of candidates that no number orders, a row for each."""
    table = candidates.table
    ax.errorbar(table["score"], table["x"], None, table["error"], fmt="none", ecolor=COLOURS[0],
                **BARS)  # fmt: skip
    _draw_marks(ax, table["score"], table["x"], table, COLOURS[0])
    ax.set_yticks(table["x"], candidates.names)
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.set_xlabel(f"{SCORE} (right is better)")
    ax.grid(axis="x", alpha=0.3)


def _draw_marks(ax: Axes, x: Any, y: Any, table: pd.DataFrame, colour: str) -> None:
    for dropped, face in ((False, colour), (True, "white")):
        some = (table["dropped"] == dropped).to_numpy()
        ax.plot(x[some], y[some], "o", color=colour, mfc=face, ms=6, zorder=3)
    chosen = table["chosen"].to_numpy(bool)
    ax.plot(x[chosen], y[chosen], "o", color="black", mfc="none", ms=14, mew=1.6, zorder=4)


def _add_legend(ax: Axes, candidates: _Candidates, groups: list[str]) -> None:
    """Explain lines and marks beside the picture, where the legend covers nothing."""
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], color=COLOURS[number % len(COLOURS)], marker="o", label=group)
        for number, group in enumerate(groups)
        if group
    ]
    if candidates.table["dropped"].any():
        marks.append(
            Line2D([], [], color="grey", ls="", marker="o", mfc="white", label="dropped out early")
        )
    marks.append(
        Line2D([], [], color="black", ls="", marker="o", mfc="none", ms=11, mew=1.6, label="chosen")
    )
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    if not candidates.numeric:  # the names of the rows need the room
        place = {"loc": "upper right", "bbox_to_anchor": (1.0, -0.16), "ncol": len(marks)}
    ax.legend(handles=marks, frameon=False, fontsize=9, borderaxespad=0.0, **place)
