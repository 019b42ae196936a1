"""Partial labels: one label a row, empty where it is unknown.

Every pair of labelled rows makes a link, so 1000 labels make half a million; ``sample`` draws some
of them (see :meth:`maylink.Links.from_labels`). Unknown is an empty cell, −1, NaN or null. In a
file of one column a blank line is a row with no label; blank lines at its end count only as far as
there are rows for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maylink.errors import LinkFileError
from maylink.io.links.collect import Collector, missing
from maylink.io.links.content import LABEL_NAMES, Array, Content, Table, column_name
from maylink.io.links.layouts.base import Layout, Options
from maylink.links import Links

UNKNOWN = ("-1", "-1.0", "nan", "null")
ID_COLUMNS = ("id", "unique_id", "record_id")


class Labels(Layout):
    """A column of labels, alone or beside others."""

    name = "labels"
    looks = "a column of labels, some of them empty"
    reads = (Array, Table)

    def fits(self, content: Content, options: Options) -> bool:
        """Say whether there is such a column."""
        if isinstance(content, Array):
            return bool(content.values.ndim == 1)
        return isinstance(content, Table) and _column(content, options) is not None

    def read(self, content: Table | Array, into: Collector, options: Options) -> Links:
        """Read the labels and make links of them."""
        if isinstance(content, Array):
            found = [_label(value) for value in np.asarray(content.values).tolist()]
        else:
            found = self._of_table(content, into, options)
        if into.n is not None and len(found) != into.n:
            raise LinkFileError(f"{into.name}: {len(found)} labels for {into.n} rows")
        links = Links.from_labels(found, sample=options.sample, rng=options.rng)
        return into.sourced(links)

    def _of_table(self, content: Table, into: Collector, options: Options) -> list[Any]:
        column = _column(content, options)
        if column is None:
            raise LinkFileError(
                f"{into.name}: no column {options.label_column or 'label'!r} (found: "
                f"{', '.join(content.columns)}); label_column= names it"
            )
        names = (column_name(options.id_column),) if options.id_column else ID_COLUMNS
        key = content.find(*names)
        if into.has_ids and key is not None:
            by_id: dict[int, Any] = {}
            seen: dict[int, Any] = {}
            for place, cells in content.rows:
                row = into.row(cells[key], place, content.columns[key])
                if row in seen:
                    into.fail(place, f"id {cells[key]!r} stands there twice, see {seen[row]} too")
                seen[row] = place
                by_id[row] = _label(cells[column])
            return [by_id.get(row) for row in range(len(by_id) if into.n is None else into.n)]
        found = [_label(cells[column]) for _, cells in content.rows]
        rows = len(found) - content.loose if into.n is None else into.n
        return found[: max(rows, len(found) - content.loose)]


def _column(content: Table, options: Options) -> int | None:
    if options.label_column is not None:
        return content.find(column_name(options.label_column))
    return content.find(*LABEL_NAMES)


def _label(value: Any) -> Any:
    if missing(value) or str(value).strip().lower() in UNKNOWN:
        return None
    return value.strip() if isinstance(value, str) else value
