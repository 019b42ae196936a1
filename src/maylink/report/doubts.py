"""How reliable the sources of links are, and which links look wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.analysis.methods import WRONG
from maylink.arrays import Index
from maylink.links import MAY
from maylink.report.encode import Names, rounded, shortened
from maylink.report.material import Material
from maylink.report.points import FEW_COLUMNS, TOGETHER, Shown

if TYPE_CHECKING:
    import pandas as pd

LISTED = 500  # links at most
DIFFERENT = 12  # columns of a pair that are compared, where there are many


def reliability(material: Material) -> dict[str, Any]:
    """Return p and q of each source: mean, interval, votes."""
    table = getattr(material.model, "reliability_", None)
    if table is None:
        name = type(material.model).__name__
        return {"missing": f"{name} does not learn how reliable links are; TVClust does."}
    if not len(table):
        return {"missing": "The fit had no links, so there is no source to judge."}
    return {
        "sources": [
            {
                "name": shortened(str(source), 80),
                **{
                    which: [
                        rounded(row[f"{which}{end}"]) for end in ("", "_low", "_high", "_votes")
                    ]
                    for which in ("p", "q")
                },
            }
            for source, row in table.iterrows()
        ]
    }


class Doubtful(NamedTuple):
    """The links that look most wrong."""

    table: pd.DataFrame
    wrong: int | None  # how many of all are rather wrong than right; None: the fit does not tell


def doubtful(material: Material) -> Doubtful:
    """Return the links that look most wrong.

    A model that does not tell, or has not seen these links, has followed some of them and not
    others: those others are returned.
    """
    table = _judged(material)
    if table is not None:
        return Doubtful(table.head(LISTED), int((table["wrong"] > WRONG).sum()))
    ignored = material.links.to_frame()[~_obeyed(material)]
    return Doubtful(
        ignored.sort_values("weight", ascending=False, kind="stable").head(LISTED), None
    )


def _judged(material: Material) -> pd.DataFrame | None:
    """Return the links as the model judges them; None where it does not, or judges other links."""
    suspects = getattr(material.model, "suspect_links", None)
    if suspects is None:
        return None
    table: pd.DataFrame = suspects()
    own, given = (
        frame[["i", "j", "kind"]].to_numpy(object)
        for frame in (table.sort_index(), material.links.to_frame())
    )
    return table if np.array_equal(own, given) else None


def _obeyed(material: Material) -> NDArray[np.bool_]:
    links = material.links
    same = material.codes[links.i] == material.codes[links.j]
    return np.asarray(same == (links.kind == MAY))


def ends_of(table: pd.DataFrame) -> Index:
    """Return the rows that the links join."""
    return np.unique(table[["i", "j"]].to_numpy(np.int64))


def doubts(material: Material, found: Doubtful, shown: Shown, names: Names) -> dict[str, Any]:
    """Return the links that look wrong, each with what sets its two points apart."""
    if not material.links.n_links:
        return {"missing": "The report was given no links."}
    table, judged = found.table, found.wrong is not None
    told: dict[str, Any] = {
        "wrong": found.wrong,
        "links": material.links.n_links,
        "ignored": int((~_obeyed(material)).sum()),
        "columns": material.X.shape[1],
        "limit": WRONG,
    }
    a, b = (shown.at(table[end]).tolist() for end in ("i", "j"))
    rows = []
    for at, (_, link) in enumerate(table.iterrows()):
        row = {
            "a": a[at],
            "b": b[at],
            "may": link["kind"] == "may",
            "weight": rounded(link["weight"]),
            "source": shortened(str(link["source"]), 80),
        }
        rows.append(row | ({"wrong": rounded(link["wrong"], 3)} if judged else {}))
    for row, cells in zip(rows, _differences(material, table, names), strict=True):
        row["cells"] = cells
    return told | {"rows": rows}


def _differences(
    material: Material, table: pd.DataFrame, names: Names
) -> list[list[list[float | int | None]]]:
    """Return for each pair the columns that differ most: number, both values, standard units.

    Of many columns those that differ and tell clusters apart.
    """
    out = []
    many = material.X.shape[1] > FEW_COLUMNS
    most = DIFFERENT if many else FEW_COLUMNS
    i, j = table["i"].to_numpy(np.int64), table["j"].to_numpy(np.int64)
    for low in range(0, len(table), TOGETHER):
        first, second = (material.rows(end[low : low + TOGETHER]) for end in (i, j))
        gap = np.abs(first - second) / material.deviation
        weighed = gap * material.telling if many else gap
        order = np.argsort(-weighed, axis=1, kind="stable")[:, :most]
        for at, best in enumerate(order):
            out.append(
                [
                    [
                        names(c),
                        rounded(first[at, c]),
                        rounded(second[at, c]),
                        rounded(gap[at, c], 2),
                    ]
                    for c in best
                ]
            )
    return out
