"""Partial labels: one label a row, empty where it is unknown.

Every pair of labelled rows makes a link, so 1000 labels make half a million; ``sample`` draws some
of them. A label has one vote on each group, however many links it makes (see
:meth:`maylink.Links.from_labels`). Unknown is an empty cell, −1, NaN or null. In a file of one
column a blank line is a row with no label; blank lines at its end count only as far as there are
rows for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maylink.errors import LinkFileError
from maylink.io.links.bad_lines import Place
from maylink.io.links.collect import Collector, shown
from maylink.io.links.content import (
    ID_COLUMNS,
    LABEL_NAMES,
    ArrayContent,
    Content,
    TableContent,
    column_name,
    few,
)
from maylink.io.links.layouts.base import LinkLayout, Options
from maylink.links import Links
from maylink.row_ids import missing

UNKNOWN = ("-1", "-1.0", "nan", "null")


class LabelsLayout(LinkLayout):
    """A column of labels, alone or beside others."""

    name = "labels"
    looks = "a column of labels, some of them empty"
    reads = (ArrayContent, TableContent)

    def fits(self, content: Content, options: Options) -> bool:
        """Say whether there is such a column."""
        if isinstance(content, ArrayContent):
            return bool(content.values.ndim == 1)
        return isinstance(content, TableContent) and _column(content, options) is not None

    def read(
        self, content: TableContent | ArrayContent, into: Collector, options: Options
    ) -> Links:
        """Read the labels and make links of them."""
        if isinstance(content, ArrayContent):
            if content.values.ndim != 1:
                raise LinkFileError(f"{into.name}: holds a matrix, and labels are one column")
            labels = [_label(value) for value in np.asarray(content.values).tolist()]
        else:
            labels = self._of_table(content, into, options)
        if into.n is not None and len(labels) != into.n:
            raise LinkFileError(f"{into.name}: {len(labels)} labels for {into.n} rows")
        return Links.from_labels(
            labels, sample=options.sample, rng=options.rng, source=into.default_source
        )

    def _of_table(self, content: TableContent, into: Collector, options: Options) -> list[Any]:
        column = _column(content, options)
        if column is None:
            raise LinkFileError(
                f"{into.name}: no column {options.label_column or 'label'!r} (found: "
                f"{few(content.columns)}); label_column= names it"
            )
        names = (column_name(options.id_column),) if options.id_column else ID_COLUMNS
        key = content.find(*names)
        if into.has_ids and key is not None:
            by_id: dict[int, Any] = {}
            place_of: dict[int, Any] = {}

            def take(place: Place, cells: Sequence[Any]) -> None:
                row = into.row(cells[key], place, content.columns[key])
                if row in place_of:
                    other = place_of[row]
                    into.refuse(
                        place, f"id {shown(cells[key])} stands there twice, see {other} too"
                    )
                place_of[row] = place
                by_id[row] = _label(cells[column])

            into.each(content.rows, take, len(content.columns))
            return [by_id.get(row) for row in range(len(by_id) if into.n is None else into.n)]
        labels = [_label(_whole_row(content, into, *row)[column]) for row in content.rows]
        rows = len(labels) - content.loose if into.n is None else into.n
        return labels[: max(rows, len(labels) - content.loose)]


def _whole_row(
    content: TableContent, into: Collector, place: Place, cells: Sequence[Any]
) -> Sequence[Any]:
    """Return the cells; a row left out would give the labels of all that follow to others."""
    if len(cells) != len(content.columns):
        into.refuse(place, f"{len(cells)} cells where the header has {len(content.columns)}")
    return cells


def _column(content: TableContent, options: Options) -> int | None:
    if options.label_column is not None:
        return content.find(column_name(options.label_column))
    return content.find(*LABEL_NAMES)


def _label(value: Any) -> Any:
    if missing(value) or str(value).strip().lower() in UNKNOWN:
        return None
    return value.strip() if isinstance(value, str) else value
