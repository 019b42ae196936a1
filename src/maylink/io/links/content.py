"""What a container holds once it is opened, whatever it may mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from maylink.io.links.collect import Place
from maylink.io.links.kinds import plain


@dataclass(frozen=True)
class TableContent:
    """Named columns and rows, each with its place in the file.

    ``words`` says that all cells were read as text, numbers among them; ``loose`` is how many of
    the last rows are blank lines, which may be rows or nothing.
    """

    columns: tuple[str, ...]
    rows: Iterable[tuple[Place, Sequence[Any]]]
    words: bool = False
    loose: int = 0

    def find(self, *names: str) -> int | None:
        """Return the position of the first of these columns that is there."""
        columns = [column_name(column) for column in self.columns]
        return next((columns.index(name) for name in names if name in columns), None)

    def ends(self, *pairs: tuple[str, str]) -> tuple[int, int] | None:
        """Return the positions of the two columns that name the rows of a link."""
        for names in pairs or ENDS:
            i, j = self.find(names[0]), self.find(names[1])
            if i is not None and j is not None:
                return i, j
        return None


@dataclass(frozen=True)
class GridContent:
    """Rows of cells without names."""

    rows: list[tuple[Place, Sequence[Any]]]
    words: bool = False

    @property
    def width(self) -> int | None:
        """Cells in each row; None if rows differ."""
        widths = {len(cells) for _, cells in self.rows}
        return widths.pop() if len(widths) == 1 else None


@dataclass(frozen=True)
class JsonContent:
    """A JSON object."""

    value: dict[str, Any]


@dataclass(frozen=True)
class ArrayContent:
    """A NumPy array or a sparse matrix."""

    values: Any


Content = TableContent | GridContent | JsonContent | ArrayContent
ENDS = (("i", "j"), ("id1", "id2"), ("id_1", "id_2"), ("left", "right"))
NOTHING = TableContent((*ENDS[0], "kind"), ())  # a file without links, whatever its layout
SPLINK_ENDS = ("unique_id_l", "unique_id_r")
LABEL_NAMES = ("label", "labels", "class", "cluster")


def column_name(column: Any) -> str:
    """Return a column's name as names are compared: small letters, underscores."""
    return plain(column).replace("-", "_")


def is_header(cells: Sequence[str], *names: str) -> bool:
    """Say whether the first row of a file names columns that links have, or one of ``names``."""
    table = TableContent(tuple(cells), ())
    has_score = table.find("match_probability", "match_weight", "clerical_match_score") is not None
    has_ends = table.ends(*ENDS, SPLINK_ENDS) is not None
    return has_ends or has_score or table.find(*LABEL_NAMES, *names) is not None


def summary(content: Content) -> str:
    """Say in a few words what the content is, for messages."""
    if isinstance(content, TableContent):
        return f"columns {_few(content.columns)}"
    if isinstance(content, JsonContent):
        return f"a JSON object with {_few(content.value)}"
    if isinstance(content, ArrayContent):
        return f"an array of shape {content.values.shape}"
    if not content.rows:
        return "no rows"
    _, cells = content.rows[0]
    return f"{len(content.rows)} rows without a known header, the first {_few(cells)}"


def _few(names: Iterable[Any]) -> str:
    listed = [str(name)[:30] for name in names]
    return ", ".join(listed[:8]) + ", …" * (len(listed) > 8) or "nothing in it"
