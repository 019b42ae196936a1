"""What readers of data are asked for, and what they hand on before anyone has checked it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from numpy.typing import NDArray

from maylink.arrays import Matrix
from maylink.errors import FileError, no_column
from maylink.io.written_numbers import WrittenNumbers

PlaceInFile = Callable[[int, int], str]
"""Tells where a row and a column of X are in the file; column −1 asks for the row alone."""


@dataclass(frozen=True)
class ReadOptions:
    """How a file of data is to be read; see :func:`maylink.read_data`."""

    id: str | int | None = None
    drop: tuple[str | int, ...] = ()
    text: str = "error"
    header: bool | None = None
    sep: str | None = None
    decimal: str = "."
    encoding: str | None = None
    keep_text: bool = False
    dtype: str | None = None
    labels: str | int | None = None
    words: bool = False
    texts: tuple[str, ...] = ()
    numbers: bool = True
    na: tuple[str, ...] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    cells_at_once: int = 400_000
    """Cells of a text file that are parsed together: enough for speed, little beside the array."""


class RawTable(NamedTuple):
    """What a reader of a format hands on."""

    X: Matrix
    columns: tuple[str, ...]
    place: PlaceInFile
    ids: NDArray[Any] | None = None
    text_columns: tuple[str, ...] = ()
    text: Mapping[str, NDArray[Any]] | None = None  # the cells of text columns, where wanted
    id_name: str | None = None
    labels: NDArray[Any] | None = None
    order: tuple[str, ...] = ()  # names of all columns, as the file has them
    without_numbers: bool = False  # as the user wants it
    written: Mapping[str, WrittenNumbers] | None = None  # numbers that were written as words


def generated_names(count: int) -> tuple[str, ...]:
    """Return names for columns that have none."""
    return tuple(f"x{at}" for at in range(count))


def column_place(name: str, column: str | int, columns: Sequence[str], purpose: str) -> int:
    """Return the place of a column that is given by its name or its place."""
    if isinstance(column, str) and column in columns:
        return columns.index(column)
    place = int(column) if isinstance(column, str) and column.isdecimal() else column
    if isinstance(place, int) and 0 <= place < len(columns):
        return place
    raise FileError(f"{name}: {no_column(column, columns, f' for {purpose}')}")


class ColumnPlaces(NamedTuple):
    """The places of the columns that are not part of the data."""

    id: int | None
    labels: int | None
    drop: frozenset[int]
    texts: tuple[int, ...] = ()
    marks: Mapping[int, str] = MappingProxyType({})

    @classmethod
    def of(cls, name: str, options: ReadOptions, columns: Sequence[str]) -> ColumnPlaces:
        """Return where the columns are that the options name.

        A decimal comma that the user names, or that a column had before, is one.
        """
        marks = {
            columns.index(column): mark and ("," if options.decimal == "," else mark)
            for column, mark in options.marks.items()
            if column in columns
        }
        return cls(
            None if options.id is None else column_place(name, options.id, columns, "id"),
            None
            if options.labels is None
            else column_place(name, options.labels, columns, "labels"),
            frozenset(column_place(name, column, columns, "drop") for column in options.drop),
            tuple(column_place(name, column, columns, "text") for column in options.texts),
            marks,
        )

    def as_text(self, decimal: str) -> list[int]:
        """Return the places of columns that stay text where numbers have some decimal mark."""
        return [*self.texts, *(at for at, mark in self.marks.items() if mark != decimal)]

    def data(self, count: int) -> list[int]:
        """Return the places of the columns that are left, of so many."""
        others = {self.id, self.labels, *self.drop}
        return [at for at in range(count) if at not in others]


def damaged(name: str, format: str, error: Exception) -> FileError:  # noqa: A002
    """Return the error about a file that is not of its format."""
    message = " ".join(str(error).split())[:120] or type(error).__name__
    if "allow_pickle" in message and "Object arrays" in message:
        return FileError(
            f"{name}: holds Python objects, which could run foreign code; save plain numbers"
        )
    if "allow_pickle" in message:  # NumPy took the file for a pickle
        message = "its first bytes are those of something else"
    return FileError(f"{name}: is not a {format} file, or is damaged ({message})")
