"""Table 2: each method by accuracy of the links, averaged over data sets and rates.

Paper: Table 2. Protocol: those of ``--protocol``, on :mod:`maylink.experiments.grid`.
Command: ``python -m maylink.experiments table2``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maylink.experiments import grid, paper_scores
from maylink.experiments.averages import beside_print
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.figures import dots

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Table 2: by accuracy of the links"


def cells(plan: RunPlan) -> list[Cell]:
    """Return the runs that the table is made of."""
    return grid.cells(plan)


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return our means beside the printed ones, a table for each protocol."""
    return {
        str(protocol): beside_print(part, ["method", "p"], paper_scores.TABLE_2)
        for protocol, part in runs.groupby("protocol", sort=False)
    }


def figure(runs: pd.DataFrame) -> Any:
    """Draw F by accuracy, printed figures as open marks."""
    return dots(runs, "p", paper_scores.TABLE_2)
