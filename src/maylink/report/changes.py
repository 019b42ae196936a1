"""What the links changed: the partition beside one that was made without them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from maylink.arrays import Index
from maylink.labels import crossed
from maylink.links import MAY
from maylink.metrics import adjusted_rand
from maylink.report.encode import rounded
from maylink.report.material import Material

LARGEST = 24  # clusters of either partition in the table, at most
MATCHED = 1000  # clusters up to which old and new ones are matched to count who moved
PART = 0.1  # share of a cluster from which a piece of it is worth a word


def changes(material: Material) -> dict[str, Any]:
    """Return both partitions in one table, which clusters were merged or split, and links kept."""
    if material.before is None:
        return {
            "missing": "There is nothing to compare with. Give the labels of the same method "
            "without links as without_links."
        }
    names, codes, sizes = np.unique(material.before, return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    old = np.argsort(order)[codes].astype(np.int64)
    table = _table(old, material)
    few = max(len(names), material.n_clusters) <= MATCHED
    best = table[linear_sum_assignment(-table)].sum() if few else None
    return {
        "names": [str(name) for name in names[order]],
        "table": table[:LARGEST, :LARGEST].tolist(),
        "largest": LARGEST,
        "moved": None if best is None else int(material.n - best),
        "rand": rounded(adjusted_rand(old, material.codes), 3),
        "merged": _pieces(table.T, sizes[order][:MATCHED]),
        "split": _pieces(table, material.sizes[:MATCHED]),
        "kept": _kept(material, old),
    }


def _table(old: Index, material: Material) -> Index:
    """Return how many points each old cluster shares with each new one, of the largest ones."""
    shape = np.minimum((int(old.max()) + 1, material.n_clusters), MATCHED)
    table = np.zeros(shape, np.int64)
    before, now, counts = crossed(old, material.codes)
    few = (before < MATCHED) & (now < MATCHED)
    table[before[few], now[few]] = counts[few]
    return table


def _pieces(table: Any, sizes: Index) -> list[list[Any]]:
    """Return the rows that hold a good part of several columns, with those columns."""
    found = []
    for row, counts in enumerate(table):
        parts = np.flatnonzero((counts >= PART * sizes) & (counts >= PART * counts.sum()))
        if len(parts) > 1:
            found.append([row, parts[np.argsort(-counts[parts], kind="stable")].tolist()])
    return found[:LARGEST]


def _kept(material: Material, old: Index) -> list[list[Any]]:
    """Return the links of each kind, how many the old partition follows, and the new one."""
    links = material.links
    out = []
    for kind, name in ((MAY, "may"), (-MAY, "may-not")):
        some = links.kind == kind
        if some.any():
            same = (codes[links.i[some]] == codes[links.j[some]] for codes in (old, material.codes))
            out.append([name, int(some.sum()), *(int((s == (kind == MAY)).sum()) for s in same)])
    return out
