"""Counted answers: i, j and how many said yes and no, as columns votes_yes and votes_no.

The columns may have any words of kind, before or after a word of counting: n_same and n_different,
yes_votes and no_votes, may_count and may_not_count. Each pair makes a may link that weighs as many
votes as said yes, and a may-not link with those that said no. Pairs without any vote are left out
and counted.
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
from maylink.io.links.kinds import ZERO, named_kind
from maylink.io.links.layouts.answers import MODEL_COLUMNS
from maylink.io.links.layouts.base import LinkLayout, Options
from maylink.links import KIND_NAMES, Links
from maylink.row_ids import missing

COUNTING = ("votes", "vote", "n", "num", "count", "counts", "answers", "said")


class TalliesLayout(LinkLayout):
    """One row a pair, with the votes of both kinds."""

    name = "tallies"
    looks = "i, j, votes_yes, votes_no[, source]"
    reads = (TableContent,)

    def fits(self, content: Content, options: Options) -> bool:
        """Say whether two columns name rows and two others count votes."""
        if not isinstance(content, TableContent) or content.ends(*ENDS, SPLINK_ENDS) is None:
            return False
        if options.kind is not None or content.find(*JUDGED) is not None:
            return False  # the file says what the votes came to
        return _votes(content) is not None

    def read(self, content: TableContent, into: Collector, options: Options) -> Links:
        """Read one or two links of each pair."""
        ends, votes = content.ends(*ENDS, SPLINK_ENDS), _votes(content)
        if ends is None or votes is None:
            raise LinkFileError(
                f"{into.name}: no columns i, j, votes_yes and votes_no (found: "
                f"{few(content.columns)})"
            )
        source = content.find(*MODEL_COLUMNS)
        into.unused = content.others(*ends, *votes.values(), source)

        def take(place: Place, cells: Sequence[Any]) -> None:
            counts = {
                kind: _count(cells[at], place, content.columns[at], into)
                for kind, at in votes.items()
            }
            if not any(counts.values()):
                into.drop()
            for kind, count in counts.items():
                if count:
                    who = None if source is None else cells[source]
                    into.add(place, cells[ends[0]], cells[ends[1]], KIND_NAMES[kind], count, who)

        into.each(content.rows, take, len(content.columns))
        return into.links(words=content.words)


def _votes(content: TableContent) -> dict[int, int] | None:
    """Return where the votes of each kind stand; None unless there is one column for each."""
    found: dict[int, int] = {}
    for at, column in enumerate(content.columns):
        words = column_name(column).split("_")
        said = [word for word in words if word not in COUNTING]
        kind = named_kind("-".join(said)) if 0 < len(said) < len(words) else None
        if kind is None or kind == ZERO:
            continue
        if kind in found:
            return None
        found[kind] = at
    return found if len(found) == 2 else None


def _count(value: Any, place: Place, column: str, into: Collector) -> float:
    """Return how many votes a cell says; an empty cell says none."""
    if missing(value) or value == "":
        return 0.0
    count = into.number(value, place, column)
    if count < 0:
        into.fail(place, f"{column} = {count:g}; votes are 0 or more")
    return count
