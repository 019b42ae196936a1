"""Which links look wrong, and what sets the two points of each apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Index
from maylink.links import MAY
from maylink.report.encoding import ColumnNumbers, rounded, shortened
from maylink.report.inputs import ReportInputs
from maylink.report.points import FEW_COLUMNS, ROWS_AT_A_TIME, PagePoints

if TYPE_CHECKING:
    import pandas as pd

LISTED = 500  # links at most
COMPARED_COLUMNS = 12  # of a pair, where there are many


class SuspectLinks(NamedTuple):
    """The links that look most wrong, the worst first."""

    table: pd.DataFrame
    n_wrong: int | None  # links more likely wrong than right; None: the model does not judge them
    limit: float  # probability of being wrong above which a link is a suspect

    @property
    def ends(self) -> Index:
        """Rows of the data that the links join."""
        return np.unique(self.table[["i", "j"]].to_numpy(np.int64))


def find_suspect_links(inputs: ReportInputs, limit: float) -> SuspectLinks:
    """Return the links that look most wrong.

    A model that does not judge links, or was not fitted to these, has still followed some of them
    and not others: the others are returned.
    """
    table = _judged_by_model(inputs)
    if table is not None:
        return SuspectLinks(table.head(LISTED), int((table["wrong"] > limit).sum()), limit)
    ignored = inputs.links.to_frame()[~_followed(inputs)]
    heaviest = ignored.sort_values("weight", ascending=False, kind="stable")
    return SuspectLinks(heaviest.head(LISTED), None, limit)


def _judged_by_model(inputs: ReportInputs) -> pd.DataFrame | None:
    """Return the links as the model judges them; None where it does not, or judges other links."""
    suspect_links = getattr(inputs.model, "suspect_links", None)
    if suspect_links is None:
        return None
    table: pd.DataFrame = suspect_links()
    of_model, of_report = (
        frame[["i", "j", "kind"]].to_numpy(object)
        for frame in (table.sort_index(), inputs.links.to_frame())
    )
    return table if np.array_equal(of_model, of_report) else None


def _followed(inputs: ReportInputs) -> NDArray[np.bool_]:
    """Say of each link whether the clusters agree with it."""
    links = inputs.links
    same = inputs.codes[links.i] == inputs.codes[links.j]
    return np.asarray(same == (links.kind == MAY))


def suspect_section(
    inputs: ReportInputs, suspects: SuspectLinks, points: PagePoints, columns: ColumnNumbers
) -> dict[str, Any]:
    """Return the links that look wrong, each with what sets its two points apart."""
    if not inputs.links.n_links:
        return {"missing": "The report was given no links."}
    differences = _differences(inputs, suspects.table, columns)
    first, second = (points.positions(suspects.table[end]).tolist() for end in ("i", "j"))
    rows = []
    for at, (_, link) in enumerate(suspects.table.iterrows()):
        row = {
            "a": first[at],
            "b": second[at],
            "may": link["kind"] == "may",
            "weight": rounded(link["weight"]),
            "source": shortened(str(link["source"]), 80),
            "cells": differences[at],
        }
        if suspects.n_wrong is not None:
            row["wrong"] = rounded(link["wrong"], 3)
        rows.append(row)
    return {
        "wrong": suspects.n_wrong,
        "links": inputs.links.n_links,
        "ignored": int((~_followed(inputs)).sum()),
        "columns": inputs.X.shape[1],
        "limit": suspects.limit,
        "rows": rows,
    }


def _differences(
    inputs: ReportInputs, table: pd.DataFrame, columns: ColumnNumbers
) -> list[list[list[float | int | None]]]:
    """Return for each pair the columns that differ most: number, both values, standard units.

    Where there are many columns, a difference counts more in columns that tell clusters apart.
    """
    pairs = []
    many = inputs.X.shape[1] > FEW_COLUMNS
    most = COMPARED_COLUMNS if many else FEW_COLUMNS
    i, j = table["i"].to_numpy(np.int64), table["j"].to_numpy(np.int64)
    for low in range(0, len(table), ROWS_AT_A_TIME):
        first, second = (inputs.rows(end[low : low + ROWS_AT_A_TIME]) for end in (i, j))
        gap = np.abs(first - second) / inputs.deviation
        weighted = gap * inputs.separation if many else gap
        order = np.argsort(-weighted, axis=1, kind="stable")[:, :most]
        for at, best in enumerate(order):
            pairs.append(
                [
                    [
                        columns(c),
                        inputs.shown(c, first[at, c]),
                        inputs.shown(c, second[at, c]),
                        rounded(gap[at, c], 2),
                    ]
                    for c in best
                ]
            )
    return pairs
