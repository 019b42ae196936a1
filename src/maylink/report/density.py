"""Counts of points on a grid, by cluster: what the page draws in place of too many single dots."""

from __future__ import annotations

from typing import Any

import numpy as np

from maylink.report.encoding import packed
from maylink.report.inputs import ReportInputs
from maylink.report.projection import STEPS, Projection

GRID = (160, 120)  # cells, across and down
COARSEST = 30  # cells down, below which the grid gets no coarser


def density(inputs: ReportInputs, projection: Projection, most_cells: int) -> dict[str, Any]:
    """Count the points of each cluster in each cell of a grid.

    The grid gets coarser until points fill at most ``most_cells`` cells, counted for each cluster.
    """
    across, down = GRID
    while True:
        column = np.minimum(projection.x * across // STEPS, across - 1)
        row = np.minimum((STEPS - projection.y) * down // STEPS, down - 1)
        size = across * down
        keys, counts = np.unique(inputs.codes * size + row * across + column, return_counts=True)
        if len(keys) <= most_cells or down <= COARSEST:
            break
        across, down = across // 2, down // 2
    starts = np.searchsorted(keys, np.arange(inputs.n_clusters + 1) * size)
    return {
        "across": across,
        "down": down,
        "start": starts.tolist(),
        "cell": packed(keys % size, "u2"),
        "count": packed(counts, "u4"),
    }
