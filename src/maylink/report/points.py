"""The points that the page knows one by one: all of a few thousand, or a sample of more."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Index
from maylink.links import MAY
from maylink.report.encoding import ColumnNumbers, as_bytes, packed, shortened
from maylink.report.inputs import ReportInputs
from maylink.report.projection import Projection

PER_CLUSTER = 20  # points of every cluster that are always there, if it has so many
FEW_COLUMNS = 24  # up to which all columns of a point are shown
UNUSUAL_COLUMNS = 8  # of a point that are shown where there are more
ROWS_AT_A_TIME = 256  # that are made dense together
CHARACTERS = 1_200_000  # of all texts of a page, about
MOST_LINKS = 40_000


class PagePoints(NamedTuple):
    """Rows of the points that the page knows, in ascending order."""

    rows: Index

    def positions(self, rows: Any) -> Index:
        """Return the position of each row among the points of the page, −1 if it is not there."""
        wanted = np.asarray(rows, np.int64)
        at = np.minimum(np.searchsorted(self.rows, wanted), len(self.rows) - 1)
        return np.where(self.rows[at] == wanted, at, -1)


def choose_points(inputs: ReportInputs, required: Index, most: int) -> PagePoints:
    """Choose the points: all, or the required rows, points linked to them, and a sample."""
    n = inputs.n
    if n <= most:
        return PagePoints(np.arange(n))
    rng = np.random.default_rng(0)
    chosen = np.zeros(n, bool)
    chosen[required] = True
    order = rng.permutation(n)
    by_cluster = order[np.argsort(inputs.codes[order], kind="stable")]
    starts = np.cumsum(inputs.sizes) - inputs.sizes
    rank = np.arange(n) - np.repeat(starts, inputs.sizes)
    of_each = by_cluster[rank < max(1, min(PER_CLUSTER, most // (4 * inputs.n_clusters)))]
    links = inputs.links
    linked = np.concatenate([links.j[chosen[links.i]], links.i[chosen[links.j]]]).astype(np.int64)
    for rows in (of_each, rng.permutation(np.unique(linked)), order):
        fresh = rows[~chosen[rows]]
        chosen[fresh[: max(0, most - int(chosen.sum()))]] = True
    return PagePoints(np.flatnonzero(chosen))


def encode_points(
    inputs: ReportInputs, projection: Projection, points: PagePoints, columns: ColumnNumbers
) -> dict[str, Any]:
    """Return the points for the page."""
    rows = points.rows
    encoded: dict[str, Any] = {
        "size": len(rows),
        "x": packed(projection.x[rows], "u2"),
        "y": packed(projection.y[rows], "u2"),
        "cluster": packed(inputs.codes[rows], "u4"),
        "degree": packed(np.minimum(inputs.links.degree[rows], 65_535), "u2"),
        "ids": [shortened(str(inputs.ids[row]), 80) for row in rows],
        "values": _values(inputs, rows, columns),
        "text": _texts(inputs, rows),
    }
    if inputs.certainty is not None:
        encoded["sure"] = as_bytes(inputs.certainty[rows])
    return encoded


def _values(
    inputs: ReportInputs, rows: Index, columns: ColumnNumbers
) -> list[list[float | int | None]]:
    """Return for each row its columns, number and value in turn.

    Of many columns those that are furthest from their means, in standard units, each weighted by
    how much it tells clusters apart.
    """
    d = inputs.X.shape[1]
    cells_of_rows = []
    for low in range(0, len(rows), ROWS_AT_A_TIME):
        values = inputs.rows(rows[low : low + ROWS_AT_A_TIME])
        if d <= FEW_COLUMNS:
            order = np.broadcast_to(np.arange(d), values.shape)
        else:
            unusual = np.abs(values - inputs.mean) / inputs.deviation * inputs.separation
            order = np.argsort(-unusual, axis=1, kind="stable")[:, :UNUSUAL_COLUMNS]
        for row, best in zip(values, order, strict=True):
            cells: list[float | int | None] = []
            for column in best:
                cells += [columns(column), inputs.shown(column, row[column])]
            cells_of_rows.append(cells)
    return cells_of_rows


def _texts(inputs: ReportInputs, rows: Index) -> list[tuple[str, list[str]]]:
    """Return the texts of some rows by column, shortened so that the page stays small."""
    most = CHARACTERS // max(1, len(rows) * len(inputs.text))
    most = min(max(most, 40), 600)
    return [
        (shortened(name, 80), [shortened(words[row], most) for row in rows])
        for name, words in inputs.text.items()
    ]


def encode_links(inputs: ReportInputs, points: PagePoints) -> dict[str, Any]:
    """Return the links between points that the page knows, at most ``MOST_LINKS``."""
    links = inputs.links
    first, second = points.positions(links.i), points.positions(links.j)
    inside = np.flatnonzero((first >= 0) & (second >= 0))[:MOST_LINKS]
    return {
        "size": len(inside),
        "a": packed(first[inside], "u2"),
        "b": packed(second[inside], "u2"),
        "may": packed(links.kind[inside] == MAY, "u1"),
    }
