"""Two lists of pairs: {"must": [[i, j], …], "cannot": [[i, j], …]}.

The lists may have any name that stands for a kind, in the singular or plural, with or without
"link", "pairs" or "constraints": may, must_link, ML, matches, cannot_link_pairs …
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from maylink.errors import LinkFileError
from maylink.io.links.bad_lines import Place
from maylink.io.links.collect import Collector
from maylink.io.links.content import Content, JsonContent
from maylink.io.links.kinds import named_kind, plain
from maylink.io.links.layouts.base import LinkLayout, Options
from maylink.links import Links


class PairsLayout(LinkLayout):
    """A list of pairs for each kind."""

    name = "pairs"
    looks = 'a JSON object {"must": [[i, j], …], "cannot": [[i, j], …]}'
    reads = (JsonContent,)
    containers = ("json",)
    keeps_weights = False
    keeps_sources = False

    def fits(self, content: Content, options: Options) -> bool:
        """Say whether a list has the name of a kind."""
        return isinstance(content, JsonContent) and any(
            isinstance(value, list) and list_kind(key) for key, value in content.value.items()
        )

    def read(self, content: JsonContent, into: Collector, options: Options) -> Links:
        """Read the links of both lists."""
        for key, value in content.value.items():
            kind = list_kind(key)
            if kind:
                into.each(each_pair(key, value, into), partial(_add, into, kind))
        return into.links()

    def render(self, links: Links, rows: Sequence[Any]) -> JsonContent:
        """Write the lists "must" and "cannot"."""
        return JsonContent(
            {
                "must": [[rows[i], rows[j]] for i, j in links.may.tolist()],
                "cannot": [[rows[i], rows[j]] for i, j in links.may_not.tolist()],
            }
        )


def _add(into: Collector, kind: int, place: Place, pair: Sequence[Any]) -> None:
    into.add(place, pair[0], pair[1], kind)


def list_kind(key: str) -> int | None:
    """Return the kind that the name of a list stands for, None if it stands for none."""
    word = plain(key).removesuffix("-pairs").removesuffix("-constraints")
    for name in (word, word.removesuffix("s"), word.removesuffix("es")):
        kind = named_kind(name)
        if kind:
            return kind
    return None


def each_pair(key: str, pairs: Any, into: Collector) -> Iterator[tuple[Place, Sequence[Any]]]:
    """Yield the pairs of a list, with their places."""
    if not isinstance(pairs, list):
        raise LinkFileError(f"{into.name}: {key!r} is not a list of pairs")
    for k, pair in enumerate(pairs):
        place = f"{key}[{k}]"
        if isinstance(pair, dict):  # how dedupe writes a tuple
            pair = pair.get("__value__")
        if not isinstance(pair, list) or len(pair) != 2:
            into.fail(place, "not a pair [i, j]")
        yield place, pair
