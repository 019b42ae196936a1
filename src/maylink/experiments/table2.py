"""Table 2: each method by accuracy of the links, averaged over data sets and rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maylink.experiments import grid, printed
from maylink.experiments.cells import Cell, Plan
from maylink.experiments.figures import dots
from maylink.experiments.table1 import beside_print

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Table 2: by accuracy of the links"


def cells(plan: Plan) -> list[Cell]:
    """Return the runs that the table is made of."""
    return grid.cells(plan)


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return our means beside the printed ones, a table for each protocol."""
    return {
        str(protocol): beside_print(part, ["method", "p"], printed.TABLE_2)
        for protocol, part in runs.groupby("protocol", sort=False)
    }


def figure(runs: pd.DataFrame) -> Any:
    """Draw F by accuracy, printed figures as open marks."""
    return dots(runs, "p", printed.TABLE_2)
