"""Lines ``i j ±1``, without a header: two rows, the kind and, if wanted, weight and source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maylink.errors import LinkFileError
from maylink.io.links.bad_lines import Place
from maylink.io.links.collect import Collector
from maylink.io.links.content import Content, GridContent
from maylink.io.links.kinds import LETTERS, kind_of, plain
from maylink.io.links.layouts.base import LinkLayout, Options
from maylink.io.links.layouts.table import link_rows
from maylink.links import Links


class TextLayout(LinkLayout):
    """One line a link."""

    name = "text"
    looks = "lines 'i j ±1' without a header[, with weight and source]"
    reads = (GridContent,)
    containers = ("txt",)

    def fits(self, content: Content, options: Options) -> bool:
        """Say whether the first line is a link."""
        if not isinstance(content, GridContent):
            return False
        first, *others = (cells for _, cells in content.rows[:2])
        # columns may be called y and t: such a first line is a link if the next one is alike
        alike = len(first) < 3 or all(_has_letter(first) <= _has_letter(cells) for cells in others)
        return alike and is_link(first, options)

    def read(self, content: GridContent, into: Collector, options: Options) -> Links:
        """Read the links; lines of two rows are of the kind that the options name."""

        def take(place: Place, cells: Sequence[Any]) -> None:
            if len(cells) == 2 and options.kind is not None:
                into.add(place, cells[0], cells[1], options.kind)
            elif 3 <= len(cells) <= 5:
                into.add(place, *cells)
            else:
                into.fail(place, f"{len(cells)} cells; a line is 'i j ±1 [weight [source]]'")

        into.each(content.rows, take)
        return into.links(words=content.words)

    def render(self, links: Links, rows: Sequence[Any]) -> GridContent:
        """Write weight and source only where they say something."""
        named = links.sources not in ((), (0,))
        width = 5 if named else 4 if (links.weight != 1).any() else 3
        lines: list[tuple[int | str, Sequence[Any]]] = []
        for k, (i, j, kind, weight, source) in enumerate(link_rows(links)):
            cells = [rows[i], rows[j], f"{kind:+d}", weight, links.sources[source]][:width]
            words = [str(cell) for cell in cells]
            for word in words:
                if word.split() != [word] or word.startswith("#"):
                    raise LinkFileError(
                        f"links: {word!r} at link {k} cannot stand in a line of words; write CSV"
                    )
            lines.append((k, words))
        return GridContent(lines)


def is_link(cells: Sequence[Any], options: Options) -> bool:
    """Say whether cells could be a link."""
    if len(cells) == 2:
        return options.kind is not None
    return 3 <= len(cells) <= 5 and kind_of(cells[2]) is not None


def _has_letter(cells: Sequence[Any]) -> bool:
    return len(cells) > 2 and plain(cells[2]) in LETTERS
