"""Tables of named columns, gathered piece by piece, and text files that hold them."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from maylink.errors import FileError
from maylink.io.data import Read, Wish, place_of, places_of

if TYPE_CHECKING:
    import pandas as pd

SHORT = 16  # characters up to which a name takes less memory in an array of text than by itself
HEAD = 100  # cells that tell what a column of words is
CELLS = 400_000  # that are read at a time
GROWTH = 1.125  # of the array, when it is full
EMPTY = (
    "", "NA", "N/A", "#N/A", "NaN", "nan", "NAN", "null", "NULL", "None", "n/a", "<NA>", "?",
)  # fmt: skip
SEPARATORS = (",", ";", "\t", "|")
MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}  # first bytes


class Gathered:
    """Pieces of a table, put together into one array.

    Parameters
    ----------
    name : str
        What the file is called in messages.
    wish : Wish
        How the user wants it.
    columns : sequence of str
        Names of all columns of the file.
    line : function
        Tells of a row, from 0, where it is in the file.
    """

    def __init__(
        self, name: str, wish: Wish, columns: Sequence[str], line: Callable[[int], str]
    ) -> None:
        self.name, self.wish, self.columns, self.line = name, wish, list(columns), line
        self.own, gone = places_of(name, wish, self.columns)
        self.truth: int | None = None  # the place of the true labels
        if wish.labels is not None:
            self.truth = place_of(name, wish.labels, self.columns, "labels")
        gone |= {at for at in (self.own, self.truth) if at is not None}
        self.used = [at for at in range(len(columns)) if at not in gone]
        self.words: list[int] = []
        self.kept: dict[str, list[str]] = {}
        self.ids: list[NDArray[Any]] = []
        self.labels: list[str] = []
        self.n = 0
        self.X = np.empty((0, len(self.used)), wish.dtype or np.float64)

    def add(self, frame: pd.DataFrame) -> None:
        """Add the next rows."""
        if self.n == 0:
            self._leave_words_out(frame)
        if self.own is not None:
            self._add_ids(frame.iloc[:, self.own])
        if self.truth is not None:
            self.labels += _as_words(frame.iloc[:, self.truth])
        if self.wish.keep_text:
            for at in self.words:
                self.kept.setdefault(self.columns[at], []).extend(_as_words(frame.iloc[:, at]))
        end = self.n + len(frame)
        if end > len(self.X):  # in place: the pages move, the numbers are not copied
            self.X.resize((max(end, int(GROWTH * self.n)), len(self.used)), refcheck=False)
        with np.errstate(over="ignore"):  # what becomes infinite is told of later
            for place, at in enumerate(self.used):
                self.X[self.n : end, place] = self._numbers(frame.iloc[:, at], at)
        self.n = end

    def _leave_words_out(self, frame: pd.DataFrame) -> None:
        """Find the columns of words: those whose first cells are none of them numbers."""
        for at in list(self.used):
            values = frame.iloc[:, at]
            given = values.notna().to_numpy()
            if not given.any() or not np.isnan(_as_floats(values)[given]).all():
                continue
            row = int(np.argmax(given))
            cell = values.iloc[row]
            # Numbers with decimal commas are no words, and must not be lost without a sound.
            if self.wish.text == "error" or all(map(_hint, values[given].head(HEAD))):
                raise FileError(
                    f"{self.name}: column {self.columns[at]!r} holds words, not numbers "
                    f"({self.line(row)}: {_shown(cell)}){_hint(cell)}; leave it out with "
                    f"drop=[{self.columns[at]!r}], name it as id, or leave all such columns out "
                    "with text='drop'"
                )
            self.used.remove(at)
            self.words.append(at)
        self.X = np.empty((0, len(self.used)), self.X.dtype)

    def _add_ids(self, values: pd.Series[Any]) -> None:
        empty = values.isna().to_numpy()
        if empty.any():
            raise FileError(
                f"{self.name}: {self.line(self.n + int(np.argmax(empty)))} has no id in column "
                f"{self.columns[self.own or 0]!r}; an id names each row"
            )
        self.ids.append(_as_names([str(value) for value in values.tolist()]))

    def _numbers(self, values: pd.Series[Any], at: int) -> NDArray[np.float64]:
        numbers = _as_floats(values)
        wrong = np.isnan(numbers) & values.notna().to_numpy()
        if wrong.any():
            row = int(np.argmax(wrong))
            cell = values.iloc[row]
            raise FileError(
                f"{self.name}: {self.line(self.n + row)}, column {self.columns[at]!r}: "
                f"{_shown(cell)} is not a number{_hint(cell)}; mend the cell, or leave the column "
                f"out with drop=[{self.columns[at]!r}]"
            )
        return numbers

    def read(self) -> Read:
        """Return all of it."""
        self.X.resize((self.n, len(self.used)), refcheck=False)
        columns = tuple(self.columns[at] for at in self.used)

        def where(row: int, column: int) -> str:
            return self.line(row) + f", column {columns[column]!r}" * (column >= 0)

        ids = None if self.own is None else np.concatenate(self.ids)
        words = {column: np.array(cells, object) for column, cells in self.kept.items()}
        names = tuple(self.columns[at] for at in self.words)
        labels = None if self.truth is None else np.array(self.labels, object)
        id_name = None if self.own is None else self.columns[self.own]
        return Read(self.X, columns, where, ids, names, words, id_name, labels)


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


def _shown(cell: Any) -> str:
    told = str(cell)
    return repr(told if len(told) <= 40 else told[:39] + "…")


def _hint(cell: Any) -> str:
    """Say what a cell may be meant to be."""
    told = str(cell)
    if told.count(",") == 1 and told.replace(",", "").strip(" -+").isdigit():
        return " (with a decimal comma, say decimal=',')"
    return ""


# ---------------------------------------------------------------------- text


def read_text(path: str | Path, name: str, wish: Wish) -> Read:
    """Read CSV, TSV and the like, some thousand rows at a time."""
    import pandas as pd

    text = Text(path, name, wish)
    try:
        gathered = _gathered(text, "error")
    except UnicodeDecodeError as error:
        raise text.not_decoded() from error
    except pd.errors.ParserError as error:
        text.forbid_ragged()
        told = " ".join(str(error).split())[:120]
        raise FileError(f"{name}: cannot be taken apart ({told})") from error
    except pd.errors.ParserWarning:  # cells too many; an empty one behind each line does no harm
        text.forbid_ragged(ends_empty=True)
        gathered = _gathered(text, "ignore")
    if gathered.n == 0:
        raise FileError(f"{name}: there is a header but no rows; give two or more")
    return gathered.read()


def _gathered(text: Text, too_many: Literal["error", "ignore"]) -> Gathered:
    """Gather all rows; lines with too few cells are an error, those with too many as told."""
    import pandas as pd

    gathered = Gathered(text.name, text.wish, text.columns, lambda row: f"line {text.line_of(row)}")
    short = False
    with warnings.catch_warnings():
        warnings.simplefilter(too_many, pd.errors.ParserWarning)
        for frame in text.frames(gathered.own, gathered.truth):
            # A line that is too short ends in empty cells; so may one that is not.
            short = short or bool(frame.iloc[:, -1].isna().any())
            gathered.add(frame)
    if short:
        text.forbid_ragged(ends_empty=too_many == "ignore")
    return gathered


class Text:
    """A text file of separated cells: how it is written, and what stands in which line."""

    def __init__(self, path: str | Path, name: str, wish: Wish) -> None:
        self.path, self.name, self.wish = path, name, wish
        with open(path, "rb") as file:
            head = file.read(65_536)
        self.encoding = wish.encoding or _encoding(head)
        if not head.strip():
            raise FileError(f"{name}: is empty")
        if b"\0" in head and not self.encoding.lower().startswith("utf-16"):
            raise FileError(f"{name}: holds zero bytes, so it is not text; say format=")
        try:
            self.sep = wish.sep or self._separator()
            first = next((cells for _, cells in self._records()), None)
        except UnicodeError as error:
            raise self.not_decoded() from error
        except LookupError as error:
            raise FileError(f"encoding: {wish.encoding!r} is not known") from error
        if first is None:
            raise FileError(f"{name}: is empty")
        self.header = self._has_header(first) if wish.header is None else wish.header
        self.columns = self._names(first) if self.header else [f"x{k}" for k in range(len(first))]

    def frames(self, own: int | None, truth: int | None) -> Iterator[pd.DataFrame]:
        """Yield the rows, some thousand at a time; ids and true labels are kept as text."""
        import pandas as pd

        empty = {column: list(EMPTY) for column in self.columns}
        types: dict[str, Any] = {} if truth is None else {self.columns[truth]: object}
        if own is not None:  # "NA" may name a row
            empty[self.columns[own]], types[self.columns[own]] = [""], object
        with self._open() as stream:
            if self.header:
                next(self._records(stream))
            try:
                yield from pd.read_csv(
                    stream, sep=self.sep, header=None, names=self.columns, index_col=False,
                    dtype=types, na_values=empty, keep_default_na=False, decimal=self.wish.decimal,
                    skipinitialspace=True, low_memory=False,
                    chunksize=max(1, CELLS // len(self.columns)),
                )  # fmt: skip
            except pd.errors.EmptyDataError:
                return

    def line_of(self, row: int) -> int:
        """Return the line, from 1, in which a row begins; rows count from 0, after the header."""
        for count, (line, _) in enumerate(self._records(), -int(self.header)):
            if count == row:
                return line
        return 0

    def forbid_ragged(self, ends_empty: bool = False) -> None:
        """Raise about the first line with more or fewer cells than there are columns.

        If it may end empty, one empty cell too many is none, unless another line has it full.
        """
        n = len(self.columns)
        if ends_empty:
            ends_empty = all(
                len(cells) <= n or not cells[n].strip() for _, cells in self._records()
            )
        for line, cells in self._records():
            if len(cells) != n + (ends_empty and len(cells) > n):
                first = "the header" if self.header else "the first"
                raise FileError(
                    f"{self.name}: line {line} has {len(cells)} cell{'s' * (len(cells) != 1)}, and "
                    f"{first} has {len(self.columns)}; give each line as many, in quotes where a "
                    f"cell holds {self.sep!r}"
                )

    def not_decoded(self) -> FileError:
        """Return an error about the first line that the encoding cannot be."""
        at = ""
        with open(self.path, "rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    line.decode(self.encoding)
                except UnicodeError:
                    at = f" in line {number}"
                    break
        told = "UTF-8" if self.encoding.startswith("utf-8") else self.encoding
        return FileError(
            f"{self.name}: is not {told}{at}; say which encoding it is, for example "
            "encoding='latin-1'"
        )

    def _open(self) -> io.TextIOWrapper:
        return open(self.path, encoding=self.encoding, newline="")

    def _records(self, stream: Any = None) -> Iterator[tuple[int, list[str]]]:
        """Yield the cells of each line that is not blank, with the number of the line."""
        if stream is None:
            with self._open() as own:
                yield from self._records(own)
            return
        reader = csv.reader(stream, delimiter=self.sep, skipinitialspace=True)
        line = 1
        try:
            for cells in reader:
                if len(cells) > 1 or (cells and cells[0].strip()):
                    yield line, cells
                line = reader.line_num + 1
        except csv.Error as error:
            raise FileError(f"{self.name}: line {line} cannot be taken apart ({error})") from error

    def _separator(self) -> str:
        with self._open() as stream:
            first = next((line for line in stream if line.strip()), "")
        outside = "".join(first.split('"')[::2])
        return max(SEPARATORS, key=outside.count)

    def _has_header(self, first: list[str]) -> bool:
        given = [cell.strip() for cell in first if cell.strip() not in EMPTY]
        numbers = [cell for cell in given if self._is_number(cell)]
        if numbers and len(numbers) < len(given):
            words = next(cell for cell in given if not self._is_number(cell))
            raise FileError(
                f"{self.name}: the first line holds numbers ({numbers[0]}) and words "
                f"({_shown(words)}); say header=True if it names the columns, header=False if it "
                "is data"
            )
        return not numbers

    def _is_number(self, cell: str) -> bool:
        try:
            float(cell.replace(self.wish.decimal, "."))
        except ValueError:
            return False
        return True

    def _names(self, first: list[str]) -> list[str]:
        asked = {str(wanted) for wanted in (self.wish.id, self.wish.labels, *self.wish.drop)}
        names = [cell.strip() for cell in first]
        for at, name in enumerate(names):
            if not name and str(at) not in asked:
                raise FileError(
                    f"{self.name}: column {at + 1} has no name (row numbers, perhaps); name it, or "
                    f"leave it out with drop=[{at}]"
                )
            if name and names.index(name) < at:
                raise FileError(
                    f"{self.name}: columns {names.index(name) + 1} and {at + 1} are both called "
                    f"{name!r}; rename one"
                )
        return [name or f"x{at}" for at, name in enumerate(names)]


def _encoding(head: bytes) -> str:
    return next((code for mark, code in MARKS.items() if head.startswith(mark)), "utf-8")
