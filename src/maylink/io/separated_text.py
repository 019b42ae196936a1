"""Text files of separated cells, CSV and the like: how one is written, and what it holds.

Rows are parsed some thousand at a time, so that the array itself is most of the memory it takes.
Lines are counted as an editor counts them, from 1, blank lines and lines inside quotes included.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Collection, Iterator
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from maylink.errors import FileError, counted
from maylink.io.decoding import HEAD_BYTES, encoding_of, not_decoded, open_text
from maylink.io.raw_table import ColumnPlaces, RawTable, ReadOptions, generated_names
from maylink.io.table_builder import TableBuilder, quote_cell

if TYPE_CHECKING:
    import pandas as pd

MISSING_CELLS = (
    "", "NA", "N/A", "#N/A", "NaN", "nan", "NAN", "null", "NULL", "None", "n/a", "<NA>", "?",
)  # fmt: skip
SEPARATORS = (",", ";", "\t", "|")


def read_tsv(path: str | Path, name: str, options: ReadOptions) -> RawTable:
    """Read a text file whose cells are separated by tabs, unless the options say otherwise."""
    return read_csv(path, name, replace(options, sep=options.sep or "\t"))


def read_csv(path: str | Path, name: str, options: ReadOptions) -> RawTable:
    """Read CSV and the like, some thousand rows at a time."""
    import pandas as pd

    text = SeparatedText(path, name, options)
    try:
        builder = _all_rows(text, "error")
    except UnicodeDecodeError as error:
        raise text.not_decoded() from error
    except pd.errors.ParserError as error:
        text.forbid_ragged()
        reason = " ".join(str(error).split())[:120]
        raise FileError(f"{name}: cannot be taken apart ({reason})") from error
    except pd.errors.ParserWarning:  # too many cells, harmless where the last is empty in all lines
        text.forbid_ragged(ends_empty=True)
        builder = _all_rows(text, "ignore")
    if builder.n == 0:
        raise FileError(f"{name}: there is a header but no rows; write them below it")
    return builder.table()


def _all_rows(
    text: SeparatedText, too_many: Literal["error", "ignore"], as_text: Collection[int] = ()
) -> TableBuilder:
    """Parse all rows; a line with too few cells is an error, ``too_many`` decides on the others.

    Columns of which some pieces are numbers and others words are parsed once more, as text: how a
    number was written cannot be told from its value.
    """
    import pandas as pd

    builder = TableBuilder(
        text.name, text.options, text.columns, lambda row: f"line {text.line_of(row)}", as_text
    )
    short = False
    with warnings.catch_warnings():
        warnings.simplefilter(too_many, pd.errors.ParserWarning)
        for frame in text.frames(builder.places, as_text):
            # A line that is too short ends in empty cells; so may one that is not.
            short = short or bool(frame.iloc[:, -1].isna().any())
            builder.add(frame)
    if builder.again:
        return _all_rows(text, too_many, builder.again)
    if short:
        text.forbid_ragged(ends_empty=too_many == "ignore")
    return builder


class SeparatedText:
    """A text file of separated cells: how it is written, and what stands in which line.

    Parameters
    ----------
    path : str or Path
        The file.
    name : str
        What the file is called in messages.
    options : ReadOptions
        How the file is to be read.
    """

    def __init__(self, path: str | Path, name: str, options: ReadOptions) -> None:
        self.path, self.name, self.options = path, name, options
        with open(path, "rb") as file:
            head = file.read(HEAD_BYTES)
        self.encoding = encoding_of(head, name, options.encoding)
        if not head.strip():
            raise FileError(f"{name}: is empty")
        try:
            self.sep = options.sep or self._separator()
            first = next((cells for _, cells in self._records()), None)
        except UnicodeError as error:
            raise self.not_decoded() from error
        if first is None:
            raise FileError(f"{name}: is empty")
        self.header = self._has_header(first) if options.header is None else options.header
        self.columns = self._names(first) if self.header else list(generated_names(len(first)))

    def frames(self, places: ColumnPlaces, as_text: Collection[int] = ()) -> Iterator[pd.DataFrame]:
        """Yield the rows, some thousand at a time; ids, true labels and texts stay text."""
        import pandas as pd

        missing = {column: list(MISSING_CELLS) for column in self.columns}
        texts = places.as_text(self.options.decimal)
        words = (*as_text, *texts, *([] if places.labels is None else [places.labels]))
        types: dict[str, Any] = {self.columns[place]: object for place in words}
        if places.id is not None:  # "NA" may name a row
            missing[self.columns[places.id]], types[self.columns[places.id]] = [""], object
        with self._open() as stream:
            if self.header:
                next(self._records(stream))
            try:
                yield from pd.read_csv(
                    stream, sep=self.sep, header=None, names=self.columns, index_col=False,
                    dtype=types, na_values=missing, keep_default_na=False, low_memory=False,
                    skipinitialspace=True, decimal=self.options.decimal,
                    chunksize=max(1, self.options.cells_at_once // len(self.columns)),
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

        With ``ends_empty``, lines may have one cell more, if that cell is empty in all lines.
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
                    f"{self.name}: line {line} has {counted(len(cells), 'cell')}, and "
                    f"{first} has {len(self.columns)}; give each line as many, in quotes where a "
                    f"cell holds {self.sep!r}"
                )

    def not_decoded(self) -> FileError:
        """Return the error about the first line that is not in the encoding."""
        with open(self.path, "rb") as file:
            return not_decoded(self.name, self.encoding, file)

    def _open(self) -> TextIOWrapper:
        return open_text(self.path, self.encoding)

    def _records(self, stream: Any = None) -> Iterator[tuple[int, list[str]]]:
        """Yield the cells of each line that is not blank, with the number of the line."""
        if stream is None:
            with self._open() as text:
                yield from self._records(text)
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
        cells = [cell.strip() for cell in first if cell.strip() not in MISSING_CELLS]
        numbers = [cell for cell in cells if self._is_number(cell)]
        if numbers and len(numbers) < len(cells):
            word = next(cell for cell in cells if not self._is_number(cell))
            raise FileError(
                f"{self.name}: the first line holds numbers ({numbers[0]}) and words "
                f"({quote_cell(word)}); say header=True if it names the columns, header=False if "
                "it is data"
            )
        return not numbers

    def _is_number(self, cell: str) -> bool:
        try:
            float(cell.replace(self.options.decimal, "."))
        except ValueError:
            return False
        return True

    def _names(self, first: list[str]) -> list[str]:
        options = self.options
        placed = {str(column) for column in (options.id, options.labels, *options.drop)}
        names = [cell.strip() for cell in first]
        for at, name in enumerate(names):
            if not name and str(at) not in placed:
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
