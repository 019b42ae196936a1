"""Tables of named columns, put together piece by piece into one array; and Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maylink.errors import FileError
from maylink.io.raw_table import ColumnPlaces, RawTable, ReadOptions, damaged
from maylink.io.written_numbers import WrittenNumbers, first_word, written_numbers

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
    except (ValueError, OSError) as error:
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
    """

    def __init__(
        self,
        name: str,
        options: ReadOptions,
        columns: Sequence[str],
        row_place: Callable[[int], str],
    ) -> None:
        self.name, self.options, self.columns = name, options, list(columns)
        self.row_place = row_place
        self.places = ColumnPlaces.of(name, options, self.columns)
        self.n = 0
        self._numeric = self.places.data(len(columns))  # places of the columns of numbers
        self._textual: list[int] = []  # places of the columns of words
        self._text: dict[str, list[str]] = {}
        self._mixed: dict[int, bool] = {}  # columns of numbers and words; whether they came late
        self._ids: list[NDArray[Any]] = []
        self._labels: list[str] = []
        self._X = np.empty((0, len(self._numeric)), options.dtype or np.float64)

    def add(self, frame: pd.DataFrame) -> None:
        """Add the next rows."""
        if self.options.na:
            frame = without_words(frame, self.options.na, but=self.places.id)
        if self.n == 0:
            self._leave_words_out(frame)
        if self.options.words:
            self._turn_into_words(frame)
        if self.places.id is not None:
            self._add_ids(frame.iloc[:, self.places.id])
        if self.places.labels is not None:
            self._labels += _as_words(frame.iloc[:, self.places.labels])
        if self.options.keep_text:
            for at in self._textual:
                self._text.setdefault(self.columns[at], []).extend(_as_words(frame.iloc[:, at]))
        end = self.n + len(frame)
        if end > len(self._X):  # in place: the pages move, the numbers are not copied
            self._X.resize((max(end, int(GROWTH * self.n)), len(self._numeric)), refcheck=False)
        with np.errstate(over="ignore"):  # cells that become infinite are refused later
            for place, at in enumerate(self._numeric):
                self._X[self.n : end, place] = self._numbers(frame.iloc[:, at], at)
        self.n = end

    def _leave_words_out(self, frame: pd.DataFrame) -> None:
        """Find the columns of words: those without a number among their first cells.

        Texts that are asked for are columns of words whatever they hold.
        """
        for at in list(self._numeric):
            if at in self.places.texts:
                self._numeric.remove(at)
                self._textual.append(at)
                continue
            values = frame.iloc[:, at]
            present = values.notna().to_numpy()
            if not present.any() or not np.isnan(_as_floats(values)[present]).all():
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

    def _turn_into_words(self, frame: pd.DataFrame) -> None:
        """Make columns of words of those in which a cell is no number."""
        for at in list(self._numeric):
            values = frame.iloc[:, at]
            wrong = np.isnan(_as_floats(values)) & values.notna().to_numpy()
            if wrong.any():
                self._mixed[at] = self.n > 0
                place = self._numeric.index(at)
                before = self._X[: self.n, place]
                self._text[self.columns[at]] = [
                    "" if np.isnan(value) else f"{value:.15g}" for value in before
                ]
                self._X = np.delete(self._X, place, axis=1)
                self._numeric.remove(at)
                self._textual.append(at)

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
        numbers = _as_floats(values)
        wrong = np.isnan(numbers) & values.notna().to_numpy()
        if wrong.any():
            raise self._not_a_number(values.tolist(), at, int(np.argmax(wrong)), self.n)
        return numbers

    def _not_a_number(
        self, cells: Sequence[Any], at: int, row: int, rows_before: int = 0
    ) -> FileError:
        cell = cells[row]
        return FileError(
            f"{self.name}: {self.row_place(rows_before + row)}, column {self.columns[at]!r}: "
            f"{quote_cell(cell)} is not a number{_hint(cell)}; mend the cell, say na=[…] if it "
            f"stands for a missing one, or leave the column out with drop=[{self.columns[at]!r}]"
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
            if cells is None or at in self.places.texts:
                continue
            numbers = written_numbers(cells, mark)
            few = at in self._mixed and sum(map(bool, cells)) < FEW_CELLS
            if numbers is None and few:
                raise self._not_a_number(cells, at, first_word(cells))
            if numbers is None:
                continue
            if numbers.wrong is not None:
                raise self._not_a_number(cells, at, numbers.wrong)
            if mark is None and numbers.decimal == "," and self._mixed.get(at):
                raise FileError(  # 1.230 of an earlier piece may be read as 1.23 already
                    f"{self.name}: column {self.columns[at]!r} has decimal commas; say decimal=','"
                )
            found[self.columns[at]] = numbers
        return found

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


def _as_floats(values: pd.Series[Any]) -> NDArray[np.float64]:
    """Return the numbers of a column, NaN where there is none."""
    import pandas as pd

    if values.dtype.kind not in "biuf":
        if not pd.api.types.is_string_dtype(values.dtype) and values.dtype != object:
            return np.full(len(values), np.nan)  # dates, categories
        values = pd.to_numeric(values, errors="coerce")
    return values.to_numpy(np.float64, na_value=np.nan)


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
