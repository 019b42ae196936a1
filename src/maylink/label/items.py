"""What the page shows of a row, and of two rows beside each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from maylink.errors import MaylinkError, not_one_of
from maylink.label.cells import Cells
from maylink.label.differences import Piece, marked
from maylink.label.pictures import Pictures
from maylink.report.encoding import shortened

MOST_SHOWN = 12  # columns, unless the user names them
LONG = 80  # characters from which on a cell is a text to be read
MOST_LETTERS = 20_000  # of a cell
MOST_ON_BOARD = 280  # letters of a cell on a board
WHOLE_KINDS = ("number", "count", "date", "yes-no", "identifier")  # cells without words
HIDDEN_KINDS = ("label", "constant")  # an answer that would be copied; and what tells nothing
# What changes the direction of the text that follows, and other characters that are not seen:
UNSEEN = re.compile(
    r"[\u202a-\u202e\u2066-\u2069\u0000-\u0008\u000b-\u001f\u007f\u200b\ufeff\ud800-\udfff]"
)


class ShowError(MaylinkError):
    """A column to show that is not there."""


class Items:
    """The rows as the page shows them.

    Parameters
    ----------
    cells : Cells
        The columns of the file.
    shown : sequence of str
        The columns that are shown.
    names : array of shape (n,)
        What each row is called.
    named : bool
        Whether names are ids; otherwise they are numbers of rows.
    pictures : Pictures, optional
        Where rows have pictures.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.label.cells import Cells
    >>> from maylink.label.items import Items
    >>> cells = Cells({"town": np.array(["Oslo", "Bergen"], object)}, {"town": "text"})
    >>> items = Items(cells, ["town"], np.array(["a", "b"]), named=True)
    >>> items.pair(0, 1)["fields"][0]["a"]
    [('Oslo', True)]
    """

    def __init__(
        self,
        cells: Cells,
        shown: Sequence[str],
        names: NDArray[Any],
        *,
        named: bool,
        pictures: Pictures | None = None,
    ) -> None:
        self.cells, self.shown, self.names = cells, list(shown), names
        self.named, self.pictures = named, pictures

    def __len__(self) -> int:
        return len(self.names)

    def name(self, row: int) -> str:
        """Return what a row is called."""
        name = visible(shortened(str(self.names[row]), 80))
        return name if self.named else f"row {name}"

    def has_picture(self, row: int) -> bool:
        """Whether there is a picture of a row."""
        return self.pictures is not None and self.pictures.has(row)

    def item(self, row: int) -> dict[str, Any]:
        """Return a row by itself, as on a board."""
        fields = [
            {"name": visible(column), "text": visible(shortened(cell, MOST_ON_BOARD))}
            for column, cell in self._cells(row)
            if cell
        ]
        return self._heading(row) | {"fields": fields}

    def pair(self, i: int, j: int) -> dict[str, Any]:
        """Return two rows, field by field; where they differ is marked."""
        fields = []
        for (column, first), (_, second) in zip(self._cells(i), self._cells(j), strict=True):
            if not first and not second:
                continue
            pieces = self._pieces(column, visible(first), visible(second))
            fields.append(
                {
                    "name": visible(column),
                    "long": max(len(first), len(second)) > LONG,
                    "differs": first != second,
                    "a": pieces[0],
                    "b": pieces[1],
                }
            )
        return {"a": self._heading(i), "b": self._heading(j), "fields": fields}

    def _pieces(self, column: str, first: str, second: str) -> tuple[list[Piece], list[Piece]]:
        """Return two cells in pieces: texts word by word, numbers and the like as a whole."""
        if self.cells.kinds[column] not in WHOLE_KINDS:
            return marked(first, second)
        one, other = ([(cell, first != second)] if cell else [] for cell in (first, second))
        return one, other

    def _heading(self, row: int) -> dict[str, Any]:
        return {"row": row, "name": self.name(row), "picture": self.has_picture(row)}

    def _cells(self, row: int) -> list[tuple[str, str]]:
        return [
            (column, shortened(str(self.cells.columns[column][row]).strip(), MOST_LETTERS))
            for column in self.shown
        ]


class ShownColumns(NamedTuple):
    """The columns that are shown, and those that were left out for want of room."""

    shown: list[str]
    left_out: list[str]


def choose_columns(
    cells: Cells, wanted: Sequence[str] | None, *, beside: Sequence[str] = ()
) -> ShownColumns:
    """Return the columns to show: those that are wanted, or the first dozen, texts before others.

    Parameters
    ----------
    cells : Cells
        The columns that there are.
    wanted : sequence of str, optional
        The columns that the user names.
    beside : sequence of str
        Columns that are not shown unless they are wanted: what was dropped, and paths of pictures.
    """
    for column in wanted or ():
        if column not in cells.columns:
            raise ShowError(f"--show: {not_one_of(column, cells.columns)}")
    if wanted:
        return ShownColumns(list(dict.fromkeys(wanted)), [])
    usual = [
        column
        for column, kind in cells.kinds.items()
        if kind not in HIDDEN_KINDS and column not in beside
    ]
    first = sorted(usual, key=lambda column: cells.kinds[column] not in ("text", "words"))
    chosen = set(first[:MOST_SHOWN])
    return ShownColumns(
        [column for column in usual if column in chosen],
        [column for column in usual if column not in chosen],
    )


def visible(text: str) -> str:
    """Return a text in which characters that would not be seen, or turn others round, are named.

    Examples
    --------
    >>> from maylink.label.items import visible
    >>> visible("safe\u202etxt.exe")
    'safe⟨U+202E⟩txt.exe'
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", lines)
