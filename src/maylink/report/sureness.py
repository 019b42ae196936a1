"""How sure each assignment is."""

from __future__ import annotations

from typing import Any

import numpy as np

from maylink.arrays import Index
from maylink.report.encode import rounded
from maylink.report.material import Material
from maylink.report.points import Shown

BINS = 20
LEAST = 50  # points in the table
SURE = 0.9
CERTAIN = 0.995  # from which a point is not worth a row


def least_sure(material: Material) -> Index:
    """Return the rows of the points that are least sure, the least first."""
    if material.sure is None:
        return np.zeros(0, np.int64)
    order = np.argsort(material.sure, kind="stable")[:LEAST]
    return order[material.sure[order] < CERTAIN].astype(np.int64)


def sureness(material: Material, shown: Shown) -> dict[str, Any]:
    """Return histograms by cluster and the least sure points."""
    if material.sure is None or material.responsibilities is None:
        name = type(material.model).__name__
        return {
            "missing": f"{name} gives each point to one cluster and does not say how sure that is; "
            "TVClust does."
        }
    step = np.minimum((material.sure * BINS).astype(np.int64), BINS - 1)
    bins = np.bincount(
        material.codes * BINS + np.maximum(step, 0), minlength=BINS * material.n_clusters
    )
    below = np.bincount(material.codes[material.sure < SURE], minlength=material.n_clusters)
    return {
        "bins": bins.reshape(-1, BINS).tolist(),
        "unsure": below.tolist(),
        "sampled": hasattr(material.model, "draws_"),
        "least": [_point(material, shown, int(row)) for row in least_sure(material)],
    }


def _point(material: Material, shown: Shown, row: int) -> dict[str, Any]:
    assert material.responsibilities is not None
    responsibilities = material.responsibilities[row].copy()
    own = int(material.codes[row])
    told: dict[str, Any] = {"point": int(shown.at(row)), "sure": rounded(responsibilities[own])}
    if material.n_clusters > 1:
        responsibilities[own] = -1.0
        told |= {"next": int(responsibilities.argmax()), "other": rounded(responsibilities.max())}
    return told
