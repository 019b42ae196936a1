"""Table 1: each method on each data set, averaged over rates and accuracies of links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maylink.experiments import grid, printed
from maylink.experiments.cells import Cell, Plan
from maylink.experiments.figures import dots
from maylink.experiments.tables import averaged

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Table 1: by data set"
SCORES = {"F": "f", "ARI": "ari", "NMI": "nmi"}


def cells(plan: Plan) -> list[Cell]:
    """Return the runs that the table is made of."""
    return grid.cells(plan)


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return our means beside the printed ones, a table for each protocol."""
    return {
        str(protocol): beside_print(part, ["method", "data"], printed.TABLE_1)
        for protocol, part in runs.groupby("protocol", sort=False)
    }


def figure(runs: pd.DataFrame) -> Any:
    """Draw F by data set, printed figures as open marks."""
    return dots(runs, "data", printed.TABLE_1)


# ---------------------------------------------------------------------- for Tables 1 to 3


def beside_print(
    runs: pd.DataFrame, by: list[str], figures: dict[Any, printed.Scores]
) -> pd.DataFrame:
    """Average the runs and put the printed figures beside: F with its error, ARI, NMI, K."""
    means = averaged(runs, by)
    for column, name in SCORES.items():
        values = [getattr(figures[key], name) if key in figures else None for key in means.index]
        means[f"printed {column}"] = values
    means["F − printed"] = means["F"] - means["printed F"].astype(float)
    return means
