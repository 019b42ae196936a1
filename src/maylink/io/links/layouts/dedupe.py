"""The training file of dedupe: {"distinct": [[record, record], …], "match": […]}.

A record has the fields of a row. The field that holds the row's id is ``id``, ``unique_id`` or
``record_id``, or what ``id_column`` names.
"""

from __future__ import annotations

from typing import Any

from maylink.io.links.bad_lines import Place
from maylink.io.links.collect import Collector
from maylink.io.links.content import Content, JsonContent, column_name
from maylink.io.links.layouts.base import LinkLayout, Options
from maylink.io.links.layouts.pairs import each_pair, list_kind
from maylink.links import Links

LISTS = ("match", "distinct")
ID_FIELDS = ("id", "unique_id", "record_id")


class DedupeLayout(LinkLayout):
    """Pairs of records, marked by a person."""

    name = "dedupe"
    looks = 'a JSON object {"distinct": [[record, record], …], "match": […]} (dedupe)'
    reads = (JsonContent,)

    def fits(self, content: Content, options: Options) -> bool:
        """Say whether these two lists are all there is."""
        return isinstance(content, JsonContent) and 0 < len(content.value) == sum(
            isinstance(content.value.get(name), list) for name in LISTS
        )

    def read(self, content: JsonContent, into: Collector, options: Options) -> Links:
        """Read the links; each record is taken for its id."""
        for key, value in content.value.items():
            kind = list_kind(key)
            if kind:
                for place, records in each_pair(key, value, into):
                    i, j = (_id(record, place, into, options.id_column) for record in records)
                    into.add(place, i, j, kind)
        return into.links()


def _id(record: Any, place: Place, into: Collector, field: str | None) -> Any:
    if not isinstance(record, dict):
        return record
    if field is not None and field in record:
        return record[field]
    names = {column_name(name): name for name in record}
    key = next((names[name] for name in ID_FIELDS if field is None and name in names), None)
    if key is None:
        into.fail(
            place,
            f"the record has no field {field or 'id'!r} (found: {', '.join(record)}); name the "
            "field that tells its row with id_column=",
        )
    return record[key]
