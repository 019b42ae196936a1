"""Sizes of the clusters, and what sets each apart from all other points.

Columns are compared in standard units: (mean in the cluster − mean of the rest) / standard
deviation. Counts are compared by the binary logarithm of the ratio of the column's shares, half a
count added to each, and ordered by that over its standard error: a rare word tells little.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maylink.arrays import Array
from maylink.report.encode import Names, rounded
from maylink.report.material import LARGEST, Material

TELLING = 12  # columns of a cluster at most


def sizes(material: Material) -> list[dict[str, Any]]:
    """Return the name and the size of each cluster."""
    return [
        {"name": str(label), "size": int(size)}
        for label, size in zip(material.labels, material.sizes, strict=True)
    ]


def profiles(material: Material, names: Names) -> dict[str, Any]:
    """Return the most telling columns of each cluster: number, difference, own mean, the rest's."""
    if material.n_clusters < 2:
        return {"missing": "There is one cluster, so there is nothing to compare it with."}
    own, rest = _means(material)
    difference, told = _ratios(material) if material.counted else _standard(material, own, rest)
    out = []
    for cluster in range(len(own)):
        order = np.argsort(-np.abs(told[cluster]), kind="stable")[:TELLING]
        out.append(
            [
                [names(c), *(rounded(v[cluster, c]) for v in (difference, own, rest))]
                for c in order
                if told[cluster, c] != 0
            ]
        )
    return {
        "ratios": material.counted,
        "clusters": out,
        "columns": material.X.shape[1],
        "most": TELLING,
    }


def _means(material: Material) -> tuple[Array, Array]:
    """Return the means of the columns in each cluster, and outside it."""
    sums = material.sums
    total = sums.sum(axis=0)
    some = material.sizes[:LARGEST, None]
    own = sums[:LARGEST]
    return own / some, (total - own) / np.maximum(material.n - some, 1)


def _standard(material: Material, own: Array, rest: Array) -> tuple[Array, Array]:
    difference = (own - rest) / material.deviation
    return difference, difference


def _ratios(material: Material) -> tuple[Array, Array]:
    sums = material.sums
    inside = sums[:LARGEST] + 0.5
    outside = sums.sum(axis=0) - sums[:LARGEST] + 0.5
    ratio = np.log2(inside / inside.sum(axis=1, keepdims=True)) - np.log2(
        outside / outside.sum(axis=1, keepdims=True)
    )
    return ratio, ratio / np.sqrt(1.0 / inside + 1.0 / outside)
