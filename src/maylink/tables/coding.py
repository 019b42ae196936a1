"""Columns of a table as numbers: what each becomes, so that later rows become the same.

Numbers and counts stay as they are; dates are days since 1970; yes and no are 1 and 0; a category
becomes a column of zeros and ones for each of its words. Cells that are missing, and words that
were not there when the code was made, are NaN in all columns of their cell.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.errors import FileError, no_column, not_one_of
from maylink.io.written_numbers import WrittenNumbers, cells_as_numbers, first_word, written_numbers
from maylink.tables.kinds import (
    ANSWERS,
    COLUMN_KINDS,
    DIGIT_DATE,
    MEASURED,
    MODELLED,
    Recognised,
    days_of,
    form_of_dates,
    in_digits,
    kind_of_numbers,
    kind_of_words,
)
from maylink.tables.text import TextView

logger = logging.getLogger("maylink")

ZERO_ONE = ("0", "1")
DIRECTIONS = 16  # of a text beside other columns: enough for a dozen topics, and not too many
YES = frozenset({"yes", "true", "y", "t", "1", "ja", "oui", "si", "sí", "on", "present"})


class ColumnBlock(NamedTuple):
    """The coded columns that one column of a table became."""

    kind: str
    columns: tuple[int, ...]


@dataclass(frozen=True)
class ColumnCode:
    """What a column is, and how its cells become numbers.

    Parameters
    ----------
    name : str
        Of the column.
    kind : str
        One of :data:`~maylink.tables.COLUMN_KINDS`.
    why : str
        In words.
    levels : tuple of str
        The categories; of yes-no the word of no, then that of yes.
    form : str
        Of dates that are words, and of dates of eight digits.
    view : TextView, optional
        What turns words into directions, of a column of the kind "words".
    decimal : str, optional
        The decimal mark of a column whose cells are numbers, also where these are levels; "" of a
        column of words. Of dates, and in models of before, it is None: what cells are, they tell.
    """

    name: str
    kind: str
    why: str
    levels: tuple[str, ...] = ()
    form: str = ""
    view: TextView | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        if self.form == ",":  # of a model of before
            object.__setattr__(self, "form", "")
            object.__setattr__(self, "decimal", ",")

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the coded columns; none of a column that is set aside."""
        if self.kind not in MODELLED:
            return ()
        if self.kind == "category":
            return tuple(f"{self.name}={level}" for level in self.levels)
        if self.kind == "yes-no":
            return (f"{self.name}={self.levels[1]}",)
        if self.view is not None:
            return tuple(f"{self.name}~{at}" for at in range(self.view.directions.shape[1]))
        return (self.name,)

    def encode(self, cells: NDArray[Any]) -> Array:
        """Return the coded columns of some cells, shape (n, number of features)."""
        if self.decimal or self.kind in ("number", "count"):
            cells = _numbers(cells, self.name, self.decimal or ".")
        numeric = cells.dtype.kind in "fiu"  # a date in numbers is one of eight digits, or days
        if self.kind == "date" and (not numeric or self.form == DIGIT_DATE or in_digits(cells)):
            return self._days(cells_as_words(cells))[:, None]
        if self.kind in MEASURED:
            return np.asarray(cells, np.float64)[:, None]
        words = np.array(cells_as_words(cells), object)
        if self.view is not None:
            rows = self.view.rows(words.tolist())
            rows[words == ""] = np.nan
            return rows
        words, levels = alike(words), alike(self.levels)
        known = np.isin(words, levels)
        new = int(((words != "") & ~known).sum())
        if new:
            logger.info("column %s: %d cells with words that the fit had not", self.name, new)
        coded = np.asarray(words[:, None] == levels, np.float64)
        coded[~known] = np.nan
        return coded if self.kind == "category" else coded[:, 1:]

    def _days(self, words: list[str]) -> Array:
        """Return days of dates in the form of the fit, or in one that begins with the year.

        What begins with the year has one meaning only; 03/04/2024 may be a day of March or April.
        """
        seen = [word for word in words if word]
        days = days_of(words, self.form) if self.form else np.full(len(words), np.nan)
        other = [word for word, day in zip(words, days, strict=True) if word and np.isnan(day)]
        if not other:
            return days
        form = DIGIT_DATE if all(map(str.isdecimal, other)) else form_of_dates(other)
        if form and (not self.form or form.startswith("%Y")):
            return np.where(np.isnan(days), days_of(words, form), days)
        if len(other) < len(seen):
            return days
        example = date(2024, 3, 31).strftime(self.form or "%Y-%m-%d")
        raise FileError(
            f"column {self.name!r}, row {words.index(seen[0])}: {seen[0][:40]!r} is not a date as "
            f"{example}, and no other cell is; write dates so, or as 2024-03-31"
        )


@dataclass(frozen=True)
class TableCode:
    """How the columns of a table become numbers; a model keeps it for later rows.

    Parameters
    ----------
    columns : tuple of ColumnCode
        In the order of the table.
    """

    columns: tuple[ColumnCode, ...]

    @property
    def kinds(self) -> dict[str, str]:
        """What each column is, by name."""
        return {column.name: column.kind for column in self.columns}

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the coded columns."""
        return tuple(name for column in self.columns for name in column.features)

    @property
    def blocks(self) -> tuple[ColumnBlock, ...]:
        """Which coded columns each column that is not set aside became."""
        out, first = [], 0
        for column in self.columns:
            last = first + len(column.features)
            if last > first:
                kind = "text" if column.view is not None else column.kind
                out.append(ColumnBlock(kind, tuple(range(first, last))))
            first = last
        return tuple(out)

    @property
    def marks(self) -> dict[str, str]:
        """What a reader must know of columns, by name: decimal marks of numbers, "" of words."""
        return {
            column.name: column.decimal or "" if column.features else ""
            for column in self.columns
            if column.decimal is not None or not column.features
        }

    def is_plain(self, numbers: Collection[str]) -> bool:
        """Whether columns of numbers stay as they are, of one kind, and all words are set aside.

        Parameters
        ----------
        numbers : collection of str
            The columns that came as numbers.
        """
        for column in self.columns:
            same = column.kind in ("number", "count", "constant") or column.levels == ZERO_ONE
            if not (same if column.name in numbers else not column.features):
                return False
        return not self.is_mixed

    @property
    def is_mixed(self) -> bool:
        """Whether columns are of several kinds, or of one that an array does not tell."""
        kinds = {"number" if block.kind == "date" else block.kind for block in self.blocks}
        return len(kinds) > 1 or "category" in kinds

    def encode(self, cells: Mapping[str, NDArray[Any]]) -> Array:
        """Return coded rows, NaN where a cell is missing, shape (n, number of features).

        Parameters
        ----------
        cells : mapping of str to array of shape (n,)
            Columns by name: numbers with NaN, or words with "".

        Raises
        ------
        FileError
            If a column is not there.
        """
        wanted = [column for column in self.columns if column.features]
        missing = [column.name for column in wanted if column.name not in cells]
        if missing:
            raise FileError(
                f"columns: the model asks for {missing[0]!r}, and the data have "
                f"{', '.join(map(repr, list(cells)[:8]))}; give the columns of the fit"
            )
        return np.hstack([column.encode(np.asarray(cells[column.name])) for column in wanted])


def make_code(
    cells: Mapping[str, NDArray[Any]],
    kinds: Mapping[str, str],
    decimals: Mapping[str, str] = MappingProxyType({}),
    measured: Collection[str] = (),
) -> TableCode:
    """Return the code of a table, its columns recognised where nobody says what they are.

    Parameters
    ----------
    cells : mapping of str to array of shape (n,)
        Columns by name: numbers with NaN, or words with "".
    kinds : mapping of str to str
        What columns are, where the user says.
    decimals : mapping of str to str
        The decimal marks of columns of numbers that were written as words.
    measured : collection of str
        Columns whose numbers have marks that those of identifiers do not have, as $5 and 405,782.
    """
    for name, kind in kinds.items():
        if name not in cells:
            raise FileError(f"kinds: {no_column(name, list(cells))}")
        if kind not in COLUMN_KINDS:
            raise FileError(f"kinds: {name}: {not_one_of(kind, COLUMN_KINDS)}")
    found = {
        name: _recognised(name, column, kinds.get(name), name in measured)
        for name, column in cells.items()
    }
    columns = [
        _column_code(name, column, found[name], decimals.get(name, "."))
        for name, column in cells.items()
    ]
    numbers = {name for name, column in cells.items() if column.dtype.kind in "fiu"}
    large = {name for name, one in found.items() if one.large}
    return TableCode(tuple(_beside_counts(columns, numbers - set(kinds), large)))


def _beside_counts(
    columns: list[ColumnCode], open_numbers: set[str], large: set[str]
) -> list[ColumnCode]:
    """Take for counts what stands beside counts, where there is nothing else.

    Zeros and ones are taken so; and columns of large whole numbers, if they are a fifth of all or
    fewer: words that nearly every text has are counted so.
    """
    used = [column for column in columns if column.features]
    counts = [column for column in used if column.kind == "count"]
    free = [column for column in used if column.name in open_numbers]
    larger = [column for column in free if column.name in large]
    others = [column for column in free if column.levels == ZERO_ONE]
    others += larger if 5 * len(larger) <= len(used) else []
    if not counts or len(others) + len(counts) < len(used):
        return columns
    return [
        replace(column, kind="count", levels=()) if column in others else column
        for column in columns
    ]


def _recognised(name: str, cells: NDArray[Any], given: str | None, measured: bool) -> Recognised:
    """Return what a column is, by its cells, its name, or the user."""
    if given is not None:
        return Recognised(given, "as given", _given_form(name, cells, given))
    numeric = cells.dtype.kind in "fiu"
    found = kind_of_numbers(cells) if numeric else kind_of_words(cells)
    if measured and found.kind == "identifier":
        return Recognised("number", "whole numbers with marks, as amounts have")
    measured = measured or (numeric and bool(np.any(cells % 1 > 0)))
    if name.strip().lower() in ANSWERS and found.kind != "constant" and not measured:
        return Recognised("label", "called so: an answer, not data")
    return found


def _column_code(name: str, cells: NDArray[Any], found: Recognised, number_mark: str) -> ColumnCode:
    """Return the code of a column; ``number_mark`` is the decimal mark if its cells are numbers."""
    decimal = number_mark if cells.dtype.kind in "fiu" else ""
    levels: tuple[str, ...] = ()
    if found.kind in ("category", "yes-no"):
        levels = tuple(sorted(spellings(cells_as_words(cells))))
        if found.kind == "yes-no":
            levels = tuple(sorted(levels, key=lambda word: (word.lower() in YES, word)))
            if len(levels) != 2:
                raise FileError(
                    f"kinds: {name}: yes-no has two values, and the column has {len(levels)}"
                )
        elif not levels:
            raise FileError(f"kinds: {name}: the column is empty; leave it out")
    if found.kind in ("number", "count"):
        decimal = decimal or _written(cells, name).decimal
    view = None
    if found.kind == "words":
        texts = [word for word in cells_as_words(cells) if word]
        view = TextView.of(texts, n_features=DIRECTIONS, columns=(name,))
    mark = None if found.kind == "date" else decimal
    return ColumnCode(name, found.kind, found.why, levels, found.form, view, mark)


def _given_form(name: str, cells: NDArray[Any], given: str) -> str:
    """Return the form of the dates of a column that is said to hold dates."""
    if given != "date":
        return ""
    words = [word for word in cells_as_words(cells) if word]
    if cells.dtype.kind in "fiu":
        return DIGIT_DATE if kind_of_numbers(cells).form else ""
    form = form_of_dates(words) if words else ""
    if not form:
        raise FileError(f"kinds: {name}: its cells are no dates of one form, as 2024-03-31")
    return form


def _numbers(cells: NDArray[Any], name: str, decimal: str) -> Array:
    """Return cells that are known to be numbers, with this decimal mark where they are words."""
    if cells.dtype.kind in "fiu":
        return cells.astype(np.float64)
    return _written(cells, name, decimal).values


def _written(cells: NDArray[Any], name: str, decimal: str | None = None) -> WrittenNumbers:
    """Return words as numbers, or say which cell is none; without a mark the column tells it."""
    words = cells_as_words(cells)
    known = decimal or ("" if any(words) else ".")
    numbers = cells_as_numbers(words, known) if known else written_numbers(words)
    wrong = first_word(words) if numbers is None else numbers.wrong
    if numbers is None or wrong is not None:
        raise FileError(
            f"column {name!r}, row {wrong}: {words[wrong or 0][:40]!r} is not a number; say what "
            "the column is, for example category"
        )
    return numbers


def spellings(words: Sequence[str]) -> dict[str, list[str]]:
    """Return the words of a category by how most rows write each, with all of its spellings.

    Blanks around a word, and large and small letters, make no other word.

    Examples
    --------
    >>> spellings(["red", "RED", "red", "blue", ""])
    {'red': ['red', 'RED'], 'blue': ['blue']}
    """
    together: dict[str, list[str]] = {}
    for word, _ in Counter(word for word in words if word).most_common():
        together.setdefault(word.lower(), []).append(word)
    return {some[0]: some for some in together.values()}


def alike(words: Iterable[str]) -> NDArray[Any]:
    """Return words in the form in which they are compared."""
    return np.array([word.lower() for word in words], object)


def cells_as_words(cells: NDArray[Any]) -> list[str]:
    """Return cells as words, "" where there is none; whole numbers without a point."""
    if cells.dtype.kind in "fiu":
        values = cells.astype(np.float64).tolist()
        return ["" if np.isnan(value) else repr(value).removesuffix(".0") for value in values]
    return [str(cell).strip() for cell in cells]
