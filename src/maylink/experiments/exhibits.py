"""The exhibits: every table and figure that ``python -m maylink.experiments`` can make.

An exhibit is a file of this folder with the functions of :class:`Exhibit`. A file that makes
its own runs has ``run(cell)``, too, which returns a
:class:`~maylink.experiments.scoring.RunResult`. Tables
1 to 3 share the runs of :mod:`maylink.experiments.grid`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol, cast

from maylink.experiments.cells import Cell, RunPlan

if TYPE_CHECKING:
    import pandas as pd

EXHIBITS = (
    "table1", "table2", "table3", "table4", "deviation", "patterns", "conventions", "reliability",
    "flipped", "heldout", "today", "harm", "annotators", "coverage", "questions",
    "rivals",
)  # fmt: skip
WHEN_NAMED = ("today", "harm", "annotators", "coverage", "questions", "rivals")
"""Exhibits that are made only when they are named: they take long and are not of the paper."""


class Exhibit(Protocol):
    """What every exhibit has."""

    TITLE: str

    def cells(self, plan: RunPlan) -> list[Cell]:
        """Return the runs that the exhibit is made of."""

    def tables(self, runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
        """Return its tables by caption."""

    def figure(self, runs: pd.DataFrame) -> Any:
        """Return its figure, a matplotlib one, or None."""


def load_exhibit(name: str) -> Exhibit:
    """Return the file of an exhibit."""
    return cast(Exhibit, importlib.import_module(f"maylink.experiments.{name}"))
