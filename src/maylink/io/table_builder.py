"""Tables of named columns, put together piece by piece into one array; and Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maylink.errors import FileError
from maylink.io.raw_table import ColumnPlaces, RawTable, ReadOptions, damaged
from maylink.io.written_numbers import (
    WrittenNumbers,
    cells_as_numbers,
    first_word,
    units_of,
    written_numbers,
)

if TYPE_CHECKING:
    import pandas as pd

SHORT = 16  # characters up to which a name takes less memory in an array of text than by itself
HEAD = 100  # cells of a column that are looked at for decimal commas
FEW_CELLS = 20  # among which any word is
GROWTH = 1.125  # of the array, when it is full


def read_parquet_table(path: str | Path, name: str, options: ReadOptions) -> RawTable:
    """Read a Parquet file into memory."""
    import pandas as pd

    with open(path, "rb"):  # a file that is not there must not be taken for a missing package
        pass
    try:
        frame = pd.read_parquet(path)
    except ImportError as error:
        raise FileError(
            f"{name}: reading Parquet needs pyarrow: pip install 'maylink[parquet]'"
        ) from error
    except (ValueError, OSError, LookupError, TypeError, AttributeError) as error:
        # pandas trusts its own notes in the file, whatever they are
        raise damaged(name, "Parquet", error) from error
    columns = [str(column) for column in frame.columns]
    builder = TableBuilder(name, options, columns, lambda row: f"row {row}")
    builder.add(frame)
    return builder.table()


class TableBuilder:
    """Takes a table piece by piece and puts it together into one array.

    Parameters
    ----------
    name : str
        What the file is called in messages.
    options : ReadOptions
        How the file is to be read.
    columns : sequence of str
        Names of all columns of the file.
    row_place : function
        Tells where a row, from 0, is in the file.
    as_text : collection of int
        Places of columns that come as text in every piece.
    """

    def __init__(
        self,
        name: str,
        options: ReadOptions,
        columns: Sequence[str],
        row_place: Callable[[int], str],
        as_text: Collection[int] = (),
    ) -> None:
        self.name, self.options, self.columns = name, options, list(columns)
        self.row_place = row_place
        self.places = ColumnPlaces.of(name, options, self.columns)
        self.n = 0
        self.again: set[int] = set()
        """Columns of words of which a piece came as numbers: what stood there is not known."""
        self._as_text = {*as_text, *self.places.as_text(options.decimal)}
        self._numeric = self.places.data(len(columns))  # places of the columns of numbers
        self._textual: list[int] = []  # places of the columns of words
        self._text: dict[str, list[str]] = {}
        self._ids: list[NDArray[Any]] = []
        self._labels: list[str] = []
        self._X = np.empty((0, len(self._numeric)), options.dtype or np.float64)

    def add(self, frame: pd.DataFrame) -> None:
        """Add the next rows."""
        if self.options.na:
            frame = without_words(frame, self.options.na, but=self.places.id)
        if self.n == 0:
            self._leave_words_out(frame)
        if self.places.id is not None:
            self._add_ids(frame.iloc[:, self.places.id])
        if self.places.labels is not None:
            self._labels += _as_words(frame.iloc[:, self.places.labels])
        if self.options.keep_text:
            for at in self._textual:
                values = frame.iloc[:, at]
                if values.dtype.kind in "biuf" and values.notna().any():
                    self.again.add(at)
                self._text.setdefault(self.columns[at], []).extend(_as_words(values))
        end = self.n + len(frame)
        if end > len(self._X):  # in place: the pages move, the numbers are not copied
            self._X.resize((max(end, int(GROWTH * self.n)), len(self._numeric)), refcheck=False)
        with np.errstate(over="ignore"):  # cells that become infinite are refused later
            for place, at in enumerate(self._numeric):
                self._X[self.n : end, place] = self._numbers(frame.iloc[:, at], at)
        self.n = end

    def _leave_words_out(self, frame: pd.DataFrame) -> None:
        """Find the columns of words: those without a number among their first cells.

        Where words may be among numbers, one word is enough. Texts that are asked for are columns
        of words whatever they hold.
        """
        for at in list(self._numeric):
            values = frame.iloc[:, at]
            parsed = values.dtype.kind in "biuf"  # in a Parquet file
            if at in self.places.texts or (at in self._as_text and not parsed):
                self._numeric.remove(at)
                self._textual.append(at)
                continue
            present = values.notna().to_numpy()
            wrong = np.isnan(self._as_floats(values))[present]
            if not (wrong.any() if self.options.words else wrong.size and wrong.all()):
                continue
            row = int(np.argmax(present))
            cell = values.iloc[row]
            # Numbers with decimal commas are not words, and must not be dropped silently.
            commas = all(map(_hint, values[present].head(HEAD))) and not self.options.words
            if self.options.text == "error" or commas:
                raise FileError(
                    f"{self.name}: column {self.columns[at]!r} holds words, not numbers "
                    f"({self.row_place(row)}: {quote_cell(cell)}){_hint(cell)}; leave it out with "
                    f"drop=[{self.columns[at]!r}], name it as id, or leave all such columns out "
                    "with text='drop'"
                )
            self._numeric.remove(at)
            self._textual.append(at)
        if not self.options.numbers:
            self._numeric = []
        self._X = np.empty((0, len(self._numeric)), self._X.dtype)

    def _add_ids(self, values: pd.Series[Any]) -> None:
        empty = values.isna().to_numpy()
        if empty.any():
            place = self.row_place(self.n + int(np.argmax(empty)))
            raise FileError(
                f"{self.name}: {place} has no id in column "
                f"{self.columns[self.places.id or 0]!r}; an id names each row"
            )
        self._ids.append(_as_names([str(value) for value in values.tolist()]))

    def _numbers(self, values: pd.Series[Any], at: int) -> NDArray[np.float64]:
        numbers = self._as_floats(values)
        wrong = np.isnan(numbers) & values.notna().to_numpy()
        if wrong.any() and self.options.words:
            self.again.add(at)
        elif wrong.any():
            raise self._not_a_number(values.tolist(), at, int(np.argmax(wrong)), self.n)
        return numbers

    def _as_floats(self, values: pd.Series[Any]) -> NDArray[np.float64]:
        """Return the numbers of a column, NaN where there is none."""
        import pandas as pd

        if values.dtype.kind not in "biuf":
            if not pd.api.types.is_string_dtype(values.dtype) and values.dtype != object:
                return np.full(len(values), np.nan)  # dates, categories
            if self.options.decimal == ",":  # and the point marks thousands
                marks = str.maketrans({",": ".", ".": ","})
                values = values.map(str, na_action="ignore").str.translate(marks)
            values = pd.to_numeric(values, errors="coerce")
        return values.to_numpy(np.float64, na_value=np.nan)

    def _not_a_number(
        self, cells: Sequence[Any], at: int, row: int, rows_before: int = 0
    ) -> FileError:
        column = self.columns[at]
        ways = ["mend the cell", "say na=[…] if it stands for a missing one"]
        if not self.places.marks.get(at):  # where a model asks for the column, it cannot go
            ways.append(f"leave the column out with drop=[{column!r}]")
        return FileError(
            f"{self.name}: {self.row_place(rows_before + row)}, column {column!r}: "
            f"{not_a_number(cells[row])}; {', '.join(ways[:-1])}, or {ways[-1]}"
        )

    def _read_written_numbers(self) -> dict[str, WrittenNumbers]:
        """Return the columns of words that are numbers as people write them, or words for gaps.

        Raises
        ------
        FileError
            About a word in a column whose other cells are nearly all numbers.
        """
        mark = None if self.options.decimal == "." else self.options.decimal
        found = {}
        for at in self._textual if self.options.words else ():
            cells = self._text.get(self.columns[at])
            known = self.places.marks.get(at)
            if cells is None or at in self.places.texts or known == "":
                continue
            numbers = cells_as_numbers(cells, known) if known else written_numbers(cells, mark)
            if numbers is None and self._has_few_numbers(cells):
                raise self._not_a_number(cells, at, first_word(cells))
            if numbers is None:
                continue
            if numbers.wrong is not None:
                raise self._not_a_number(cells, at, numbers.wrong)
            found[self.columns[at]] = numbers
        return found

    def _has_few_numbers(self, cells: Sequence[str]) -> bool:
        """Whether there are few cells, and plain numbers among them."""
        import pandas as pd

        some = [cell for cell in cells if cell]
        if len(some) >= FEW_CELLS:
            return False
        return not np.isnan(self._as_floats(pd.Series(some, dtype=object))).all()

    def _turn_into_numbers(self, found: Mapping[str, WrittenNumbers]) -> None:
        """Put columns of words that are numbers where they belong."""
        for name, numbers in found.items():
            at = self.columns.index(name)
            place = sum(other < at for other in self._numeric)
            self._X = np.insert(self._X, place, numbers.values, axis=1)
            self._numeric.insert(place, at)
            self._textual.remove(at)
            del self._text[name]

    def table(self) -> RawTable:
        """Return all rows."""
        self._X.resize((self.n, len(self._numeric)), refcheck=False)
        written = self._read_written_numbers()
        self._turn_into_numbers(written)
        columns = tuple(self.columns[at] for at in self._numeric)

        def place(row: int, column: int) -> str:
            return self.row_place(row) + f", column {columns[column]!r}" * (column >= 0)

        has_ids, has_labels = self.places.id is not None, self.places.labels is not None
        return RawTable(
            self._X,
            columns,
            place,
            ids=np.concatenate(self._ids) if has_ids else None,
            text_columns=tuple(self.columns[at] for at in self._textual),
            text={column: np.array(cells, object) for column, cells in self._text.items()},
            id_name=self.columns[self.places.id or 0] if has_ids else None,
            labels=np.array(self._labels, object) if has_labels else None,
            order=tuple(self.columns),
            without_numbers=not self.options.numbers,
            written=written,
        )


def without_words(frame: pd.DataFrame, words: Sequence[str], but: int | None = None) -> Any:
    """Return a frame in which cells that hold one of some words are missing.

    Parameters
    ----------
    frame : DataFrame
        Cells of any kind.
    words : sequence of str
        Words, or numbers as words; blanks around them and case do not count.
    but : int, optional
        The place of a column that stays as it is.
    """
    small = {word.strip().lower() for word in words}
    numbers = [value for value in map(_as_float, small) if value is not None]
    columns = {}
    for at, name in enumerate(frame.columns):
        values = frame.iloc[:, at]
        if at != but and values.dtype.kind in "iuf":
            values = values.mask(values.isin(numbers))
        elif at != but and values.dtype.kind != "b":
            values = values.mask(values.astype(str).str.strip().str.lower().isin(small))
        columns[name] = values
    return type(frame)(columns)


def _as_float(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _as_names(words: list[str]) -> NDArray[Any]:
    """Return names as an array: short ones side by side, long ones as objects, which are larger."""
    if max(map(len, words), default=0) <= SHORT:
        names = np.array(words, str)
        if names.tolist() == words:  # zeros at the end of a name would be lost
            return names
    return np.array(words, object)


def _as_words(values: pd.Series[Any]) -> list[str]:
    """Return the cells of a column as text, "" where there is none."""
    cells = values.astype(object)
    return list(cells.where(cells.notna(), "").astype(str))


def quote_cell(cell: Any) -> str:
    """Return a cell as messages quote it."""
    text = str(cell)
    return repr(text if len(text) <= 40 else text[:39] + "…")


def _hint(cell: Any) -> str:
    """Say what a cell may be meant to be."""
    text = str(cell)
    if text.count(",") == 1 and text.replace(",", "").strip(" -+").isdigit():
        return " (with a decimal comma, say decimal=',')"
    return ""


def not_a_number(cell: Any) -> str:
    """Say that a cell is not a number, and what it may be meant to be."""
    hint = _hint(cell) or " of the unit of the others" * bool(units_of([str(cell).strip()]))
    return f"{quote_cell(cell)} is not a number{hint}"
