"""Tables from files and data frames, with columns of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.arrays import Array, Matrix
from maylink.errors import DomainError, FileError, counted
from maylink.io.data import Table, read_data, words_of
from maylink.io.formats import check_choice
from maylink.io.table_builder import not_a_number, without_words
from maylink.io.written_numbers import cells_as_numbers, written_numbers
from maylink.tables.coding import TableCode, cells_as_words, make_code, spellings
from maylink.tables.kinds import MEASURED, MODELLED


@dataclass(frozen=True, repr=False)
class CodedTable(Table):
    """A table whose columns are recognised and coded as numbers; estimators take it as X.

    The attributes are those of :class:`~maylink.io.data.Table`; ``X`` and ``columns`` are coded,
    with NaN where cells are missing, and ``kinds`` tells of the columns as they came.

    Parameters
    ----------
    code : TableCode
        What each column is, why, and how its cells become numbers.
    merged : mapping of str to list of list of str
        Spellings that were taken for one word, by column of a category.
    unknown : mapping of str to list of str
        Cells that are no date, or a word that the fit had not, by column; they count as missing.
    """

    code: TableCode = field(default_factory=lambda: TableCode(()))
    merged: Mapping[str, list[list[str]]] = field(default_factory=dict)
    unknown: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Columns of free text, whose cells are in ``text``; they are not part of X."""
        return tuple(name for name, kind in self.kinds.items() if kind == "text")

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and coded columns."""
        return self.X.shape[0], self.X.shape[1]

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_gaps(self) -> int:
        """How many cells are missing, of columns that are not set aside."""
        firsts = [block.columns[0] for block in self.code.blocks]
        return int(np.isnan(self.X[:, firsts]).sum())

    @property
    def has_gaps(self) -> bool:
        """Whether cells are missing."""
        return self.n_gaps > 0

    def filled(self, labels: NDArray[Any] | None = None) -> Array:
        """Return X for those who know no gaps: these stand at the mean of their column.

        Parameters
        ----------
        labels : array of int of shape (n,), optional
            Clusters; gaps then stand at the mean of their cluster, where somebody has the column.
        """
        return np.asarray(filled(self.X, labels))

    def about(self) -> list[str]:
        """Return what columns were taken for, a line a kind."""
        lines = []
        for kind in dict.fromkeys(self.kinds.values()):
            some = [column for column in self.code.columns if column.kind == kind]
            names = ", ".join(column.name for column in some[:8]) + ", …" * (len(some) > 8)
            if kind in MODELLED:
                lines.append(f"{kind}: {names}")
            else:
                why = "; ".join(dict.fromkeys(column.why for column in some))
                lines.append(f"{kind}, set aside: {names} ({why})")
        return [*lines, *told_numbers(self), *self._told_spellings(), *self._told_unknown()]

    def _told_spellings(self) -> list[str]:
        lines = []
        for name, some in self.merged.items():
            shown = "; ".join(f"{', '.join(words[1:4])} as {words[0]}" for words in some[:3])
            lines.append(f"{name}: {self.kinds[name]}, {shown}{'; …' * (len(some) > 3)}")
        return lines

    def _told_unknown(self) -> list[str]:
        lines = []
        for name, some in self.unknown.items():
            words = list(dict.fromkeys(some))
            shown = ", ".join(repr(word[:40]) for word in words[:3]) + ", …" * (len(words) > 3)
            what = "no date" if self.kinds[name] == "date" else "new to the model"
            cells = counted(len(some), "cell")
            lines.append(f"{name}: {self.kinds[name]}, {cells} taken as missing, {what}: {shown}")
        return lines


def told_numbers(table: Table) -> list[str]:
    """Return how numbers were read that people had written with more than digits."""
    kinds = table.kinds if isinstance(table, CodedTable) else {}  # of columns as they came
    return [
        f"{name}: {kinds.get(name, 'number')}, {numbers.told()}"
        for name, numbers in table.written.items()
        if name in table.kinds
    ]


def read_table(
    source: Any,
    kinds: Mapping[str, str] | None = None,
    *,
    code: TableCode | None = None,
    na: str | float | Sequence[Any] = (),
    decimal: str = ".",
    **reading: Any,
) -> CodedTable:
    r"""Read a table with columns of any kind, from a file or a data frame.

    Parameters
    ----------
    source : path or DataFrame
        The table.
    kinds : mapping of str to str, optional
        What columns are, where the cells do not tell: "number", "count", "category", "yes-no",
        "date", "text", "identifier" or "constant". The last three are set aside.
    code : TableCode, optional
        The code of a table before, as ``model.table_code_``; columns are coded as there.
    na : str, number, or list of them
        Words, or numbers, that stand for missing cells in any column, as "unknown" or -99; case
        does not count. Among numbers the usual words are missing cells by themselves.
    decimal : {".", ","}, default "."
        The decimal mark. Where numbers are words, as 12,5, they tell it by themselves unless it is
        said to be the comma.
    **reading
        Of a file, as in :func:`maylink.read_data`. Missing cells are kept by default: families
        leave them out.

    Returns
    -------
    CodedTable
        What ``fit`` and ``predict`` take as X.

    Raises
    ------
    FileError
        If the file cannot be read, or a column is not of the kind that it is said to be.
    DomainError
        If all columns of a data frame are set aside.

    Examples
    --------
    >>> import pandas as pd
    >>> import maylink as ml
    >>> frame = pd.DataFrame({"height": [1.7, None, 1.65], "smokes": ["no", "yes", "no"]})
    >>> table = ml.read_table(frame)
    >>> table.kinds
    {'height': 'number', 'smokes': 'yes-no'}
    >>> table.columns, table.X[:, 1]
    (('height', 'smokes=yes'), array([0., 1., 0.]))
    """
    if hasattr(source, "columns") and hasattr(source, "iloc"):
        if reading:
            raise FileError(f"{next(iter(reading))}: is for files; a data frame is read already")
        check_choice("decimal", decimal, (".", ","))
        marks = marks_of(kinds, code)
        table = table_of_frame(source, words_of(na), decimal, read=code is None, marks=marks)
        return coded_table(table, kinds, code, of_frame=True)
    options: dict[str, Any] = {"missing": "keep", "words": True, "na": na, "decimal": decimal}
    options |= {"marks": marks_of(kinds, code), "fewest": 2 if code is None else 1}
    options |= reading
    path = source if isinstance(source, Path) else str(source)
    return coded_table(read_data(path, **options), kinds, code)


def marks_of(
    kinds: Mapping[str, str] | None = None, code: TableCode | None = None
) -> dict[str, str]:
    """Return what a reader should know of columns; ``marks`` of :func:`maylink.read_data`.

    Columns that are said to be anything but numbers or dates are words: "none" is then one, too.
    """
    if code is not None:
        return code.marks
    return {name: "" for name, kind in (kinds or {}).items() if kind not in MEASURED}


def table_of_frame(
    frame: Any,
    na: Sequence[str] = (),
    decimal: str = ".",
    *,
    read: bool = True,
    marks: Mapping[str, str] = MappingProxyType({}),
) -> Table:
    """Return a data frame as a table: numbers with NaN, and words with "".

    Parameters
    ----------
    frame : DataFrame
        Columns of any kind.
    na : sequence of str
        Words for missing cells.
    decimal : {".", ","}, default "."
        The decimal mark of numbers that are words; where it is the point, they tell.
    read : bool, default True
        Whether to read numbers as people write them; not where a code says how.
    marks : mapping of str to str
        As of :func:`marks_of`.
    """
    from pandas.api import types

    frame = without_words(frame, na) if na else frame
    mark = None if decimal == "." else decimal
    numbers: dict[str, Array] = {}
    words, written = {}, {}
    for name in map(str, frame.columns):
        values = frame.iloc[:, list(map(str, frame.columns)).index(name)]
        if types.is_datetime64_any_dtype(values.dtype):
            words[name] = _days_as_words(values)
        elif types.is_numeric_dtype(values.dtype) or types.is_bool_dtype(values.dtype):
            numbers[name] = values.to_numpy(np.float64, na_value=np.nan)
        else:
            cells = values.astype(object)
            words[name] = cells.where(cells.notna(), "").astype(str).to_numpy(object)
            found, known = None, marks.get(name)
            if known:
                found = cells_as_numbers(words[name].tolist(), mark or known)
            elif read and known is None and values.dtype != "category":
                found = written_numbers(words[name].tolist(), mark)
            if found is not None and found.wrong is not None:
                raise FileError(
                    f"column {name!r}, row {found.wrong}: "
                    f"{not_a_number(words[name][found.wrong])}; mend the cell, say na=[…] if it "
                    f"stands for a missing one, or say what the column is with kinds, for example "
                    "category"
                )
            if found is not None:
                numbers[name], written[name] = found.values, found
                del words[name]
    n = len(frame)
    if n == 0 or not (numbers or words):
        raise FileError("X: the data frame is empty; give rows and columns")
    X = np.column_stack(list(numbers.values())) if numbers else np.empty((n, 0))
    return Table(
        X=X,
        columns=tuple(numbers),
        ids=None,
        kinds={str(name): "" for name in frame.columns},
        rows=np.arange(n),
        text=words,
        n_file=n,
        written=written,
    )


def filled(X: Matrix, labels: NDArray[Any] | None = None) -> Matrix:
    """Return rows whose gaps stand at the mean of their column, or of that in their cluster."""
    if sparse.issparse(X):
        return X
    gaps = np.isnan(X)
    if not gaps.any():
        return X
    out = np.where(gaps, np.nanmean(X, axis=0), X)
    if labels is None:
        return out
    size = int(labels.max()) + 1
    total, count = np.zeros((size, X.shape[1])), np.zeros((size, X.shape[1]))
    np.add.at(total, labels, np.where(gaps, 0.0, X))
    np.add.at(count, labels, ~gaps)
    mean = total / np.maximum(count, 1.0)
    return np.where(gaps & (count[labels] > 0), mean[labels], out)


def cells_of(table: Table) -> dict[str, NDArray[Any]]:
    """Return the columns of a table by name: numbers with NaN, or words with ""."""
    numbers = {name: table.X[:, at] for at, name in enumerate(table.columns)}
    both = {**numbers, **table.text}
    return {name: both[name] for name in table.kinds if name in both}


def coded_table(
    table: Table,
    kinds: Mapping[str, str] | None = None,
    code: TableCode | None = None,
    *,
    of_frame: bool = False,
) -> CodedTable:
    """Return a table that was read with its words and gaps; parameters as in :func:`read_table`.

    ``of_frame`` says whether it came as a data frame, so that a refusal does not speak of files.
    """
    cells = cells_of(table)
    decimals = {name: numbers.decimal for name, numbers in table.written.items()}
    measured = {name for name, numbers in table.written.items() if numbers.measured}
    made = code or make_code(cells, kinds or {}, decimals, measured)
    if not made.features:
        raise (DomainError if of_frame else FileError)(_nothing_left(made, of_frame))
    X = made.encode(cells)
    return CodedTable(
        X=X,
        columns=made.features,
        ids=table.ids,
        kinds=made.kinds,
        rows=table.rows,
        text=table.text,
        n_file=table.n_file,
        file_ids=table.file_ids,
        id_name=table.id_name,
        labels=table.labels,
        n_filled=table.n_filled,
        written=table.written,
        code=made,
        merged={} if code is not None else _merged(made, cells),
        unknown=_unknown(made, cells, X),
    )


def _nothing_left(code: TableCode, of_frame: bool) -> str:
    """Say that all columns are set aside, and what to do about it."""
    told = ", ".join(f"{name} ({kind})" for name, kind in list(code.kinds.items())[:8])
    text = next((name for name, kind in code.kinds.items() if kind == "text"), None)
    way = "say what a column is with kinds, for example category"
    if of_frame and text is not None:
        way = f"cluster what texts say by fitting ml.text_features(X[{text!r}]), or {way}"
    return f"no column is left to make clusters of: {told}; {way}"


def _merged(code: TableCode, cells: Mapping[str, NDArray[Any]]) -> dict[str, list[list[str]]]:
    """Return the spellings that were taken for one word, by column."""
    found = {}
    for column in code.columns:
        if column.levels and cells[column.name].dtype.kind not in "fiu":
            words = spellings([str(cell).strip() for cell in cells[column.name]])
            found[column.name] = [some for some in words.values() if len(some) > 1]
    return {name: some for name, some in found.items() if some}


def _unknown(code: TableCode, cells: Mapping[str, NDArray[Any]], X: Array) -> dict[str, list[str]]:
    """Return the cells that say something and were not understood, by column."""
    found = {}
    used = [column for column in code.columns if column.features]
    for column, block in zip(used, code.blocks, strict=True):
        if column.kind in ("category", "yes-no", "date"):
            gaps = np.isnan(X[:, block.columns[0]])
            words = cells_as_words(cells[column.name][gaps])
            found[column.name] = [word for word in words if word]
    return {name: some for name, some in found.items() if some}


def _days_as_words(values: Any) -> NDArray[Any]:
    return np.asarray(values.dt.strftime("%Y-%m-%d %H:%M:%S").fillna("").to_numpy(object))
