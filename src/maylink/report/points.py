"""The points that the page knows one by one: all of a few thousand, some of many."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Index
from maylink.links import MAY
from maylink.report.encode import Names, as_bytes, packed, rounded, shortened
from maylink.report.material import Material
from maylink.report.plane import Plane

MOST = 4_000
EACH = 20  # points of every cluster that are always there, if it has so many
FEW_COLUMNS = 24  # up to which all columns of a point are shown
UNUSUAL = 8  # columns of a point that are shown otherwise
TOGETHER = 256  # rows that are looked at together
CHARACTERS = 1_200_000  # of all texts
MOST_LINKS = 40_000


class Shown(NamedTuple):
    """Rows of the points that the page knows, in order."""

    rows: Index

    def at(self, rows: Any) -> Index:
        """Return where rows stand among them, −1 for those that do not."""
        asked = np.asarray(rows, np.int64)
        place = np.minimum(np.searchsorted(self.rows, asked), len(self.rows) - 1)
        return np.where(self.rows[place] == asked, place, -1)


def choose(material: Material, wanted: Index) -> Shown:
    """Choose the points: all, or the wanted ones, those linked to them, and a sample."""
    n = material.n
    if n <= MOST:
        return Shown(np.arange(n))
    rng = np.random.default_rng(0)
    chosen = np.zeros(n, bool)
    chosen[wanted] = True
    order = rng.permutation(n)
    by_cluster = order[np.argsort(material.codes[order], kind="stable")]
    starts = np.cumsum(material.sizes) - material.sizes
    rank = np.arange(n) - np.repeat(starts, material.sizes)
    few = by_cluster[rank < max(1, min(EACH, MOST // (4 * material.n_clusters)))]
    links = material.links
    near = np.concatenate([links.j[chosen[links.i]], links.i[chosen[links.j]]]).astype(np.int64)
    for rows in (few, rng.permutation(np.unique(near)), order):
        fresh = rows[~chosen[rows]]
        chosen[fresh[: max(0, MOST - int(chosen.sum()))]] = True
    return Shown(np.flatnonzero(chosen))


def encode(material: Material, plane: Plane, shown: Shown, names: Names) -> dict[str, Any]:
    """Return the points for the page."""
    rows = shown.rows
    told: dict[str, Any] = {
        "size": len(rows),
        "x": packed(plane.x[rows], "u2"),
        "y": packed(plane.y[rows], "u2"),
        "cluster": packed(material.codes[rows], "u4"),
        "degree": packed(np.minimum(material.links.degree[rows], 65_535), "u2"),
        "ids": [shortened(str(material.ids[row]), 80) for row in rows],
        "values": values_of(material, rows, names),
        "text": texts_of(material, rows),
    }
    if material.sure is not None:
        told["sure"] = as_bytes(material.sure[rows])
    return told


def values_of(material: Material, rows: Index, names: Names) -> list[list[float | int | None]]:
    """Return for each row its columns, number and value in turn.

    Of many columns those that are furthest from their means, in standard units, each weighed by how
    much it tells clusters apart.
    """
    d = material.X.shape[1]
    out = []
    for low in range(0, len(rows), TOGETHER):
        values = material.rows(rows[low : low + TOGETHER])
        if d <= FEW_COLUMNS:
            order = np.broadcast_to(np.arange(d), values.shape)
        else:
            away = np.abs(values - material.mean) / material.deviation * material.telling
            order = np.argsort(-away, axis=1, kind="stable")[:, :UNUSUAL]
        for row, best in zip(values, order, strict=True):
            cells: list[float | int | None] = []
            for column in best:
                cells += [names(column), rounded(row[column])]
            out.append(cells)
    return out


def texts_of(material: Material, rows: Index) -> list[tuple[str, list[str]]]:
    """Return the texts of some rows with their names, shortened so that the page stays small."""
    most = CHARACTERS // max(1, len(rows) * len(material.text))
    most = min(max(most, 40), 600)
    return [
        (shortened(name, 80), [shortened(words[row], most) for row in rows])
        for name, words in material.text.items()
    ]


def links_of(material: Material, shown: Shown) -> dict[str, Any]:
    """Return the links both of whose points the page knows, as many as may be."""
    links = material.links
    a, b = shown.at(links.i), shown.at(links.j)
    inside = np.flatnonzero((a >= 0) & (b >= 0))[:MOST_LINKS]
    return {
        "size": len(inside),
        "a": packed(a[inside], "u2"),
        "b": packed(b[inside], "u2"),
        "may": packed(links.kind[inside] == MAY, "u1"),
    }
