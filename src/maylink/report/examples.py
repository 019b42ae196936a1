"""Rows that stand for each cluster: those nearest to its mean, in standard units."""

from __future__ import annotations

import numpy as np

from maylink.arrays import Index
from maylink.report.inputs import LARGEST, ReportInputs

EXAMPLES = 3  # rows of a cluster
LOOKED_AT = 500  # members of a cluster among which they are sought, at most


def example_rows(inputs: ReportInputs) -> list[Index]:
    """Return the rows of the examples of each of the largest clusters, the most typical first."""
    rng = np.random.default_rng(0)
    means = inputs.sums / inputs.present
    rows = []
    for cluster in range(min(inputs.n_clusters, LARGEST)):
        members = np.flatnonzero(inputs.codes == cluster)
        if members.size > LOOKED_AT:
            members = np.sort(rng.choice(members, LOOKED_AT, replace=False))
        apart = (inputs.rows(members) - means[cluster]) / inputs.deviation
        away = np.nan_to_num(apart, nan=1.0) ** 2  # a gap is as far as a usual cell
        away = away.sum(axis=1)
        rows.append(members[np.argsort(away, kind="stable")[:EXAMPLES]].astype(np.int64))
    return rows
