"""A table of links: columns i, j, kind and, if wanted, weight and source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maylink.errors import LinkFileError
from maylink.io.links.bad_lines import Place
from maylink.io.links.collect import Collector
from maylink.io.links.content import ENDS, KIND_COLUMNS, SPLINK_ENDS, Content, TableContent, few
from maylink.io.links.layouts.base import LinkLayout, Options
from maylink.links import COLUMNS, KIND_NAMES, Links


class TableLayout(LinkLayout):
    """One row a link."""

    name = "table"
    looks = "a table with columns i, j, kind[, weight, source]"
    reads = (TableContent,)
    containers = ("csv", "tsv", "json", "jsonl", "parquet")

    def fits(self, content: Content, options: Options) -> bool:
        """Say whether two columns name rows."""
        return isinstance(content, TableContent) and content.ends(*ENDS, SPLINK_ENDS) is not None

    def read(self, content: TableContent, into: Collector, options: Options) -> Links:
        """Read the links; without a column ``kind`` all are of the kind that the options name."""
        ends = content.ends(*ENDS, SPLINK_ENDS)
        kind = content.find(*KIND_COLUMNS)
        if ends is None or (kind is None and options.kind is None):
            wanted = "i and j" if ends is None else "kind"
            raise LinkFileError(
                f"{into.name}: no column {wanted} (found: {few(content.columns)}); links need the "
                "columns i, j and kind, or kind= for all of them"
            )
        (i, j), weight, source = ends, content.find("weight"), content.find("source")
        into.unused = content.others(i, j, kind, weight, source)

        def take(place: Place, cells: Sequence[Any]) -> None:
            into.add(
                place,
                cells[i],
                cells[j],
                options.kind if kind is None else cells[kind],
                None if weight is None else cells[weight],
                None if source is None else cells[source],
            )

        into.each(content.rows, take, len(content.columns))
        return into.links(words=content.words)

    def render(self, links: Links, rows: Sequence[Any]) -> TableContent:
        """Write all five columns."""
        return TableContent(
            COLUMNS,
            [
                (k, [rows[i], rows[j], KIND_NAMES[kind], weight, links.sources[source]])
                for k, (i, j, kind, weight, source) in enumerate(link_rows(links))
            ],
        )


def link_rows(links: Links) -> zip[tuple[int, int, int, float, int]]:
    """Return i, j, kind, weight and position of the source of each link, as plain numbers."""
    columns = (links.i, links.j, links.kind, links.weight, links.source)
    return zip(*(column.tolist() for column in columns), strict=True)
