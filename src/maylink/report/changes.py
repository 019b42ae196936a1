"""What the links changed: the partition beside that of a fit without links."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from maylink.arrays import Index
from maylink.labels import crossed
from maylink.links import MAY
from maylink.metrics import adjusted_rand
from maylink.report.encoding import rounded
from maylink.report.inputs import ReportInputs

LARGEST = 24  # clusters of either partition in the table, at most
MATCHED = 1000  # clusters up to which old and new ones are matched, to count points that moved
PART = 0.1  # fraction of a cluster from which a piece of it is mentioned


def change_section(inputs: ReportInputs) -> dict[str, Any]:
    """Return both partitions in one table, merged and split clusters, and links that are obeyed."""
    if inputs.without_links is None:
        return {
            "missing": "There is nothing to compare with. Give the labels of the same method "
            "without links as without_links."
        }
    names, codes, sizes = np.unique(inputs.without_links, return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    old = np.argsort(order)[codes].astype(np.int64)
    table = _shared_points(old, inputs)
    n_unmoved = None
    if max(len(names), inputs.n_clusters) <= MATCHED:
        n_unmoved = table[linear_sum_assignment(-table)].sum()
    return {
        "names": [str(name) for name in names[order]],
        "table": table[:LARGEST, :LARGEST].tolist(),
        "largest": LARGEST,
        "moved": None if n_unmoved is None else int(inputs.n - n_unmoved),
        "rand": rounded(adjusted_rand(old, inputs.codes), 3),
        "merged": _rows_in_pieces(table.T, sizes[order][:MATCHED]),
        "split": _rows_in_pieces(table, inputs.sizes[:MATCHED]),
        "kept": _obeyed_links(inputs, old),
    }


def _shared_points(old: Index, inputs: ReportInputs) -> Index:
    """Count the points that each old cluster shares with each new one, of the largest clusters."""
    shape = np.minimum((int(old.max()) + 1, inputs.n_clusters), MATCHED)
    table = np.zeros(shape, np.int64)
    rows, columns, counts = crossed(old, inputs.codes)
    large = (rows < MATCHED) & (columns < MATCHED)
    table[rows[large], columns[large]] = counts[large]
    return table


def _rows_in_pieces(table: Any, sizes: Index) -> list[list[Any]]:
    """Return the rows that hold a large part of several columns, with those columns."""
    rows = []
    for row, counts in enumerate(table):
        parts = np.flatnonzero((counts >= PART * sizes) & (counts >= PART * counts.sum()))
        if len(parts) > 1:
            rows.append([row, parts[np.argsort(-counts[parts], kind="stable")].tolist()])
    return rows[:LARGEST]


def _obeyed_links(inputs: ReportInputs, old: Index) -> list[list[Any]]:
    """Count the links of each kind: all, those that the old partition obeys, and the new one."""
    links = inputs.links
    rows: list[list[Any]] = []
    for kind, name in ((MAY, "may"), (-MAY, "may-not")):
        of_kind = links.kind == kind
        if of_kind.any():
            i, j = links.i[of_kind], links.j[of_kind]
            obeyed = [(codes[i] == codes[j]) == (kind == MAY) for codes in (old, inputs.codes)]
            rows.append([name, int(of_kind.sum()), *(int(each.sum()) for each in obeyed)])
    return rows
