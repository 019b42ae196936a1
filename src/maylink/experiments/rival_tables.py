"""What the runs of :mod:`maylink.experiments.rivals` say, and where TVClust and RDP-means lose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maylink.experiments.rival_programs import OURS, RIVALS

if TYPE_CHECKING:
    import pandas as pd

CELL = ["data", "pairs", "links", "p"]
TIE = 0.005  # F: differences up to this are a tie


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the summary, where we lose, what failed, and F, ARI, seconds and memory."""
    if runs.empty:
        return {}
    runs = with_columns(runs)
    found = {
        "all cells; F and ARI over unlinked pairs, of the fits that ended": summary(runs),
        "mean F by links, with how many of the fits ended": by_links(runs),
        "mean F by data": by_data(runs, "F_unlinked", ".3f"),
        "mean ARI by data": by_data(runs, "ARI_unlinked", ".3f"),
        "median seconds of a fit": by_data(runs, "fit_seconds", ".3g"),
        "memory at the peak, MB": by_data(runs, "peak_mb", ".0f"),
        "losses: cells where a rival is above both TVClust and RDP-means": losses(runs),
        "why there was no fit": failures(runs),
    }
    return {caption: table for caption, table in found.items() if len(table)}


def with_columns(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with how pairs are drawn, and how many links there are, in two columns."""
    words = runs["variant"].str.split(" ")
    runs = runs.assign(pairs=words.str[0], links=words.str[1])
    for name in ("fit_seconds", "peak_mb"):
        if name not in runs:
            runs[name] = np.nan
    return runs


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Return one row a method: what it is given, how well it does, what it costs, who wins."""
    import pandas as pd

    rows = {}
    ours = {name: runs[runs["method"] == name].set_index([*CELL, "trial"]) for name in OURS}
    for name, some in runs.groupby("method", sort=False):
        rival = RIVALS[str(name)]
        row: dict[str, Any] = {
            "links": rival.links,
            "k told": rival.told_k,
            "ended": f"{some['F_unlinked'].notna().sum()} of {len(some)}",
            "F": some["F_unlinked"].mean(),
            "ARI": some["ARI_unlinked"].mean(),
            "median s": some["fit_seconds"].median(),
            "most MB": some["peak_mb"].max(),
        }
        theirs = some.set_index([*CELL, "trial"])["F_unlinked"]
        for our, frame in ours.items():
            if len(frame) and name != our:
                row[f"against {our}"] = won_tied_lost(theirs, frame["F_unlinked"])
        rows[name] = row
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method").fillna("–")


def won_tied_lost(theirs: pd.Series[float], ours: pd.Series[float]) -> str:
    """Return how often a method is above another, level and below; no fit is below every fit."""
    apart = theirs.fillna(-1.0) - ours.reindex(theirs.index).fillna(-1.0)
    won, lost = int((apart > TIE).sum()), int((apart < -TIE).sum())
    return f"{won}/{len(apart) - won - lost}/{lost}"


def by_links(runs: pd.DataFrame) -> pd.DataFrame:
    """Return mean F by how pairs are drawn and how often links are right."""
    kinds = runs["pairs"] + " " + runs["p"].map("{:g}".format)
    groups = runs.assign(kind=kinds).groupby(["method", "kind"], sort=False)["F_unlinked"]
    text = groups.agg(lambda f: _share(f.mean(), int(f.notna().sum()), len(f)))
    return text.unstack("kind", sort=False)


def _share(mean: float, ended: int, count: int) -> str:
    if not ended:
        return "–"
    return f"{mean:.3f}" + (f" ({ended}/{count})" if ended < count else "")


def by_data(runs: pd.DataFrame, column: str, form: str) -> pd.DataFrame:
    """Return a score of every method by data set, written in a form."""
    how = "mean" if column.endswith("unlinked") else "median"
    values = runs.groupby(["method", "data"], sort=False)[column].agg(how)
    return values.unstack("data", sort=False).map(
        lambda value: "–" if np.isnan(value) else f"{value:{form}}"
    )


def losses(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the cells where the best rival is above the better of ours, and by how much."""
    import pandas as pd

    rows, index = [], []
    for cell, some in runs.groupby(CELL, sort=False):
        means = some.groupby("method", sort=False)["F_unlinked"].mean().dropna()
        mine, rest = means[means.index.isin(OURS)], means[~means.index.isin(OURS)]
        if len(mine) and len(rest) and rest.max() > mine.max() + TIE:
            best = str(rest.idxmax())
            rows.append({"rival": best, "its F": rest.max(), **mine.to_dict()})
            index.append(cell)
    if not rows:
        return pd.DataFrame()
    return pd.DataFrame(rows, index=pd.MultiIndex.from_tuples(index, names=CELL))


def failures(runs: pd.DataFrame) -> pd.DataFrame:
    """Return in a word why a method has no fit, how often, and where first."""
    import pandas as pd

    failed = runs[runs["failure"].notna()]
    if failed.empty:
        return pd.DataFrame()
    words = failed["failure"].map(reason)
    where = failed["data"] + ", " + failed["pairs"] + ", p = " + failed["p"].map("{:g}".format)
    groups = failed.assign(why=words, where=where).groupby(["method", "why"], sort=False)["where"]
    return pd.DataFrame({"fits": groups.size(), "first": groups.first()})


def reason(failure: str) -> str:
    """Return the exception of a failure; whatever else it is, as it is."""
    head, _, rest = failure.partition(": ")
    return rest if head == "missing" else head
