"""Sizes of the clusters, and the columns that set each apart from all other points.

Columns are compared in standard units: (mean in the cluster − mean of the rest) / standard
deviation. Counts are compared by the binary logarithm of the ratio of the column's fractions, half
a count added to each, and ordered by that over its standard error: a rare word tells little.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maylink.arrays import Array
from maylink.report.encoding import ColumnNumbers, rounded, shortened
from maylink.report.inputs import LARGEST, ReportInputs

LISTED_COLUMNS = 12  # of a cluster, at most


def cluster_sizes(inputs: ReportInputs) -> list[dict[str, Any]]:
    """Return the name and the size of each cluster."""
    return [
        {"name": shortened(name, 60), "size": int(size)}
        for name, size in zip(inputs.names, inputs.sizes, strict=True)
    ]


def profile_section(inputs: ReportInputs, columns: ColumnNumbers) -> dict[str, Any]:
    """Return the columns that set each cluster apart most, directions left out.

    Of each column: its number, the difference, its mean in the cluster, and its mean outside.
    """
    if inputs.n_clusters < 2:
        return {"missing": "There is one cluster, so there is nothing to compare it with."}
    inside, outside = _means(inputs)
    if inputs.counted:
        difference, importance = _log_ratios(inputs)
    else:
        difference = importance = (inside - outside) / inputs.deviation
    importance = importance.copy()
    importance[:, list(inputs.directions)] = 0.0
    profiles = []
    for cluster in range(len(inside)):
        order = np.argsort(-np.abs(importance[cluster]), kind="stable")[:LISTED_COLUMNS]
        profiles.append(
            [
                [
                    columns(c),
                    rounded(difference[cluster, c]),
                    *(inputs.shown(c, table[cluster, c]) for table in (inside, outside)),
                ]
                for c in order
                if importance[cluster, c] != 0
            ]
        )
    return {
        "ratios": inputs.counted,
        "clusters": profiles,
        "columns": inputs.X.shape[1] - len(inputs.directions),
        "most": LISTED_COLUMNS,
    }


def _means(inputs: ReportInputs) -> tuple[Array, Array]:
    """Return the means of the columns in each cluster, and outside it."""
    sums, present = inputs.sums, inputs.present
    inside, cells = sums[:LARGEST], present[:LARGEST]
    rest = np.maximum(present.sum(axis=0) - cells, 1.0)
    return inside / cells, (sums.sum(axis=0) - inside) / rest


def _log_ratios(inputs: ReportInputs) -> tuple[Array, Array]:
    """Return the log ratio of each column in each cluster, and that over its standard error."""
    sums = inputs.sums
    inside = sums[:LARGEST] + 0.5
    outside = sums.sum(axis=0) - sums[:LARGEST] + 0.5
    ratio = np.log2(inside / inside.sum(axis=1, keepdims=True)) - np.log2(
        outside / outside.sum(axis=1, keepdims=True)
    )
    return ratio, ratio / np.sqrt(1.0 / inside + 1.0 / outside)
