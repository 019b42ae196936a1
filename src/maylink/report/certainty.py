"""How certain each assignment is: the probability of the cluster that a point is in."""

from __future__ import annotations

from typing import Any

import numpy as np

from maylink.arrays import Array, Index
from maylink.report.encoding import rounded
from maylink.report.inputs import ReportInputs
from maylink.report.points import PagePoints

BINS = 20
LISTED = 50  # points in the table, at most
CERTAIN = 0.9  # the page counts the points below
LISTED_BELOW = 0.995  # probability from which a point is not worth a row


def least_certain(inputs: ReportInputs) -> Index:
    """Return the rows of the least certain points, the least certain first."""
    if inputs.certainty is None:
        return np.zeros(0, np.int64)
    order = np.argsort(inputs.certainty, kind="stable")[:LISTED]
    return order[inputs.certainty[order] < LISTED_BELOW].astype(np.int64)


def certainty_section(inputs: ReportInputs, points: PagePoints) -> dict[str, Any]:
    """Return histograms by cluster, and the least certain points."""
    certainty, responsibilities = inputs.certainty, inputs.responsibilities
    if certainty is None or responsibilities is None:
        name = type(inputs.model).__name__
        return {
            "missing": f"{name} gives each point to one cluster and does not say how sure that is; "
            "TVClust does."
        }
    step = np.clip((certainty * BINS).astype(np.int64), 0, BINS - 1)
    bins = np.bincount(inputs.codes * BINS + step, minlength=BINS * inputs.n_clusters)
    below = np.bincount(inputs.codes[certainty < CERTAIN], minlength=inputs.n_clusters)
    return {
        "bins": bins.reshape(-1, BINS).tolist(),
        "unsure": below.tolist(),
        "sampled": hasattr(inputs.model, "draws_"),
        "least": [
            _point(responsibilities[row], int(inputs.codes[row]), int(points.positions(row)))
            for row in least_certain(inputs)
        ],
    }


def _point(responsibilities: Array, cluster: int, position: int) -> dict[str, Any]:
    """Return the probability of the cluster of a point, and of the next best one."""
    point: dict[str, Any] = {"point": position, "sure": rounded(responsibilities[cluster])}
    if len(responsibilities) > 1:
        others = responsibilities.copy()
        others[cluster] = -1.0
        point |= {"next": int(others.argmax()), "other": rounded(others.max())}
    return point
