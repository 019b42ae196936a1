"""What a container holds once it is opened, whatever it may mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from maylink.errors import LinkFileError
from maylink.io.links.bad_lines import Place
from maylink.io.links.kinds import YES_NO, kind_of, named_kind, plain


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
        """Return the positions of the two columns that name the rows of a link.

        Columns a and b may be anything: they count only beside an answer, and if there is no id.
        """
        judged = self.find(*JUDGED) is not None
        weak = not judged or self.find(*ID_COLUMNS) is not None
        for names in pairs or ENDS:
            if weak and names == WEAK_ENDS:
                continue
            i, j = self.find(names[0]), self.find(names[1])
            if i is not None and j is not None:
                return i, j
        return None

    def others(self, *used: int | None) -> tuple[str, ...]:
        """Return the columns that are none of these."""
        return tuple(column for at, column in enumerate(self.columns) if at not in used)

    def renamed(
        self, columns: Mapping[str, str], displaced: Iterable[str], name: str
    ) -> TableContent:
        """Return the table with the columns that the user names under the names known here.

        Others that have a name of ``displaced`` are put in brackets, so that nobody finds them.
        """
        names, hidden = [column_name(column) for column in self.columns], set(displaced)
        new = [f"({c})" if key in hidden else c for c, key in zip(self.columns, names, strict=True)]
        for known, given in columns.items():
            key = column_name(given)
            if key not in names:
                raise LinkFileError(f"{name}: no column {given!r} (found: {few(self.columns)})")
            exact = given in self.columns
            new[self.columns.index(given) if exact else names.index(key)] = known
        return replace(self, columns=tuple(new))


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
WEAK_ENDS = ("a", "b")
ENDS = (
    *(("i", "j"), ("id1", "id2"), ("id_1", "id_2"), ("id_a", "id_b"), ("id_l", "id_r")),
    *(("left_id", "right_id"), ("id_left", "id_right"), ("ltable_id", "rtable_id")),
    *(("record_a", "record_b"), ("record_1", "record_2"), ("left", "right"), WEAK_ENDS),
)
ID_COLUMNS = ("id", "unique_id", "record_id")
NOTHING = TableContent((*ENDS[0], "kind"), ())  # a file without links, whatever its layout
SPLINK_ENDS = ("unique_id_l", "unique_id_r")
KIND_COLUMNS = ("kind", "type", "link", "constraint")
ANSWER_COLUMNS = (
    *("answer", "verdict", "judgement", "judgment", "decision", "same", "is_same", "same_entity"),
    *("match", "is_match", "matched", "matches", "duplicate", "is_duplicate", "together", "label"),
    *("must_link", "may_link"),
)
APART_COLUMNS = (  # yes is may-not in them
    *("different", "is_different", "apart", "not_same", "distinct", "is_distinct", "non_match"),
    *("no_match", "not_match", "cannot", "cannot_link", "may_not", "may_not_link"),
)
JUDGED = (*KIND_COLUMNS, *ANSWER_COLUMNS, *APART_COLUMNS)
KIND_NAMES = ("same", "match", "together")  # words of kind that name a column, too
LABEL_NAMES = ("label", "labels", "class", "cluster", "cluster_id")


def column_name(column: Any) -> str:
    """Return a column's name as names are compared: small letters, underscores."""
    return plain(column).replace("-", "_")


def is_header(cells: Sequence[str], second: Sequence[str], *names: str) -> bool:
    """Say whether the first row of a file names columns that links have, or one of ``names``.

    A row with a kind in it that is no name of a column is a link: "a b must". Words such as
    "different" are both; such a word is a name if the second row answers it by yes or no.
    """
    table = TableContent(tuple(cells), ())
    for at, cell in enumerate(cells[2:], start=2):
        if named_kind(cell) is None or plain(cell) in KIND_NAMES:
            continue
        if column_name(cell) not in JUDGED or len(second) <= at or not _answers(second[at]):
            return False
    has_score = table.find("match_probability", "match_weight", "clerical_match_score") is not None
    has_ends = table.ends(*ENDS, SPLINK_ENDS) is not None
    return has_ends or has_score or table.find(*LABEL_NAMES, *names) is not None


def _answers(cell: str) -> bool:
    """Say whether a cell answers a question, and does not itself say what a pair is."""
    return kind_of(cell) is None or kind_of(cell, YES_NO) is not None


def summary(content: Content) -> str:
    """Say in a few words what the content is, for messages."""
    if isinstance(content, TableContent):
        return f"columns {few(content.columns)}"
    if isinstance(content, JsonContent):
        return f"a JSON object with {few(content.value)}"
    if isinstance(content, ArrayContent):
        return f"an array of shape {content.values.shape}"
    if not content.rows:
        return "no rows"
    _, cells = content.rows[0]
    return f"{len(content.rows)} rows without a known header, the first {few(cells)}"


def few(names: Iterable[Any]) -> str:
    """Return the first few of some names, for messages."""
    listed = [str(name)[:20] for name in names]
    return ", ".join(listed[:6]) + ", …" * (len(listed) > 6) or "nothing in it"
