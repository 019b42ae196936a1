"""Pairs as splink exports them: unique_id_l, unique_id_r and match_probability.

Also read are ``match_weight``, the log2 of the odds, and the ``clerical_match_score`` of labelled
pairs; and, of any program such as dedupe, pairs with a ``probability`` or a ``score`` from 0 to 1.
How a probability becomes kind and weight is told in :mod:`maylink.io.links.votes`. Where
several data sets are linked, ids are unique only inside one; ids of the form
``dataset-__-id``, as splink itself joins them, are then looked up first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maylink.errors import LinkFileError
from maylink.io.links.bad_lines import Place
from maylink.io.links.collect import Collector
from maylink.io.links.content import (
    ENDS,
    JUDGED,
    SPLINK_ENDS,
    Content,
    TableContent,
    column_name,
    few,
)
from maylink.io.links.layouts.base import LinkLayout, Options
from maylink.io.links.votes import probabilities, vote
from maylink.links import Links

SCORES = ("match_probability", "clerical_match_score", "match_weight", "probability", "score")
SPLINK_SCORES = SCORES[:3]
LONG_ID = "{}-__-{}"  # as splink joins the name of a data set and an id


class SplinkLayout(LinkLayout):
    """Pairs with the probability that they are one."""

    name = "splink"
    looks = "a table with columns unique_id_l, unique_id_r and match_probability (splink)"
    reads = (TableContent,)
    containers = ("csv", "tsv", "json", "jsonl", "parquet")
    keeps_sources = False

    def fits(self, content: Content, options: Options) -> bool:
        """Say whether there is a score and neither kind nor answer."""
        if not isinstance(content, TableContent) or content.find("kind", "answer") is not None:
            return False
        if content.find(*SPLINK_SCORES) is not None:
            return True
        answered = content.find(*JUDGED) is not None
        ends = content.ends(SPLINK_ENDS, *ENDS) is not None
        return ends and not answered and content.find(*SCORES) is not None

    def read(self, content: TableContent, into: Collector, options: Options) -> Links:
        """Read the links; a pair at ½ says nothing and is left out."""
        name = options.id_column
        named = column_name(name) if name else ""
        ends = (
            content.ends((f"{named}_l", f"{named}_r")) if name else content.ends(SPLINK_ENDS, *ENDS)
        )
        score = content.find(*SCORES)
        if ends is None or score is None:
            raise LinkFileError(
                f"{into.name}: no columns {name or 'unique_id'}_l, {name or 'unique_id'}_r and "
                f"match_probability (found: {few(content.columns)}); id_column= names the id"
            )
        datasets = content.ends(("source_dataset_l", "source_dataset_r"))
        column = SCORES[[content.find(name) for name in SCORES].index(score)]

        def take(place: Place, cells: Sequence[Any]) -> None:
            value = into.number(cells[score], place, column)
            if column == "match_weight":
                value = 1.0 / (1.0 + 2.0 ** min(-value, 1000.0))
            if not 0 <= value <= 1:
                into.fail(place, f"{column} = {value:g} is not between 0 and 1")
            kind, weight = vote(value)
            if weight == 0:
                into.drop()
                return
            i, j = (cells[end] for end in ends)
            if datasets is not None:
                long_ids = [
                    LONG_ID.format(cells[dataset], cells[end])
                    for dataset, end in zip(datasets, ends, strict=True)
                ]
                i, j = (
                    long if into.knows(long) else short
                    for long, short in zip(long_ids, (i, j), strict=True)
                )
            into.add(place, i, j, kind, weight)

        into.each(content.rows, take, len(content.columns))
        return into.links()

    def render(self, links: Links, rows: Sequence[Any]) -> TableContent:
        """Write the probability that each link stands for."""
        columns = (links.i.tolist(), links.j.tolist(), probabilities(links).tolist())
        pairs = enumerate(zip(*columns, strict=True))
        return TableContent(
            ("match_probability", *SPLINK_ENDS),
            [(k, [p, rows[i], rows[j]]) for k, (i, j, p) in pairs],
        )
