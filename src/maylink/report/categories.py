"""Columns of words with few values, crossed with the clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maylink.report.encoding import shortened
from maylink.report.inputs import ReportInputs
from maylink.tables.coding import spellings

MOST_VALUES = 12  # of a column that is crossed with clusters
FEWEST_ROWS = 3  # a value, on average: other columns are names or texts
CLUSTERS = 12  # in a table, at most


def category_columns(inputs: ReportInputs) -> list[str]:
    """Return the names of the columns of words that hold few values."""
    return [
        name
        for name, words in inputs.text.items()
        if 2 <= len(set(_values(words))) <= min(MOST_VALUES, inputs.n // FEWEST_ROWS)
    ]


def _values(words: Sequence[str]) -> list[str]:
    """Return the words of a column, each as most rows write it, as categories are compared."""
    trimmed = [word.strip() for word in words]
    usual = {word: first for first, some in spellings(trimmed).items() for word in some}
    return [usual.get(word, "") for word in trimmed]


def category_section(inputs: ReportInputs) -> dict[str, Any]:
    """Return, for each such column, how many rows of each cluster have each value."""
    names = category_columns(inputs)
    if not names:
        return {"missing": "No column of words holds a few values."}
    columns = []
    for name in names:
        values, codes = np.unique(np.array(_values(inputs.text[name]), object), return_inverse=True)
        order = np.argsort(-np.bincount(codes), kind="stable")
        table = np.zeros((inputs.n_clusters, len(values)), np.int64)
        np.add.at(table, (inputs.codes, np.argsort(order)[codes]), 1)
        columns.append(
            {
                "name": shortened(name, 80),
                "values": [shortened(str(values[at]), 40) or "(empty)" for at in order],
                "table": table[:CLUSTERS].tolist(),
            }
        )
    return {"columns": columns}
