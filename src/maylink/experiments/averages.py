"""Averages over runs, and the paper's figures beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from maylink.errors import counted
from maylink.experiments.paper_scores import PaperScores

if TYPE_CHECKING:
    import pandas as pd

SCORES = {"F": "f", "ARI": "ari", "NMI": "nmi"}
"""The scores of the paper's tables: columns of runs, and fields of :class:`PaperScores`."""


def averaged(runs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return mean scores of the runs that did not fail, and the proportion of those that did."""
    groups = runs.groupby(by, sort=False)
    means = groups[["F", "ARI", "NMI", "F_unlinked", "ARI_unlinked", "K", "seconds"]].mean()
    means.insert(1, "± F", groups["F"].sem())
    means["failed"] = groups["F"].agg(lambda scores: scores.isna().mean())
    return means


def trials_of(runs: pd.DataFrame) -> str:
    """Say how many trials a cell has; "at most" where some have fewer."""
    cell = ("experiment", "protocol", "method", "data", "r", "p", "variant")
    sizes = runs.groupby([name for name in cell if name in runs])["trial"].nunique()
    most = int(sizes.max())
    return f"{'at most ' if sizes.min() < most else ''}{counted(most, 'trial')} a cell"


def beside_print(
    runs: pd.DataFrame, by: list[str], figures: Mapping[Any, PaperScores]
) -> pd.DataFrame:
    """Return the averages of the runs with the printed F, ARI and NMI beside them."""
    means = averaged(runs, by)
    for column, name in SCORES.items():
        values = [getattr(figures[key], name) if key in figures else None for key in means.index]
        means[f"printed {column}"] = values
    means["F − printed"] = means["F"] - means["printed F"].astype(float)
    return means
