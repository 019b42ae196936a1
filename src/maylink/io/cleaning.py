"""From raw rows to a table: check cells, drop or fill missing ones, describe columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.arrays import Index, Matrix
from maylink.errors import FileError
from maylink.io.raw_table import RawTable
from maylink.io.written_numbers import WrittenNumbers

VALUES_AT_ONCE = 1_000_000  # that are tested together, so that tests make no large copies


@dataclass(frozen=True)
class Table:
    """Data as they were read.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        The numbers.
    columns : tuple of str
        The name of each column of X; ``x0``, ``x1``, … where the file has none.
    ids : array of str of shape (n,) or None
        The name of each row, where an id column was given.
    kinds : mapping of str to str
        What each column is: "real", "whole" (numbers), "binary" (0 and 1), "constant", or "text"
        for columns of words, which are not in X.
    rows : array of int of shape (n,)
        The place of each row in the file, from 0; rows that were dropped are not there.
    text : mapping of str to array of str of shape (n,)
        The columns of words, by name, where ``keep_text`` asked for them; empty cells are "".
    n_file : int
        Rows of the file, those that were dropped among them.
    file_ids : array of str of shape (n_file,) or None
        The ids of all rows of the file.
    id_name : str or None
        What the id column is called.
    labels : array of str of shape (n,) or None
        The true labels, where a column of them was given; empty cells are "".
    n_filled : int
        Missing cells that were filled with the median of their column.
    view : object or None
        What made X of texts or embeddings, where :mod:`maylink.views.tables` has done so.
    written : mapping of str to WrittenNumbers
        How columns of numbers were read that were written as $5 or 1,234, or with words for gaps.
    """

    X: Matrix
    columns: tuple[str, ...]
    ids: NDArray[Any] | None
    kinds: Mapping[str, str]
    rows: Index
    text: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    n_file: int = 0
    file_ids: NDArray[Any] | None = None
    id_name: str | None = None
    labels: NDArray[Any] | None = None
    n_filled: int = 0
    view: Any = None
    written: Mapping[str, WrittenNumbers] = field(default_factory=dict)

    def __repr__(self) -> str:
        kinds = list(self.kinds.values())
        counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds)))
        n, d = self.X.shape
        return f"Table({n} rows × {d} columns: {counts})"


def clean_table(
    name: str, raw: RawTable, missing: str, fewest: int, *, words: bool = False
) -> Table:
    """Check the numbers, drop or fill missing ones, and describe the columns.

    Parameters
    ----------
    name : str
        What the file is called in messages.
    raw : RawTable
        As a reader hands it on.
    missing : {"error", "keep", "drop-rows", "drop-columns", "median"}
        What to do about missing cells.
    fewest : int
        Rows that there must be, 1 or 2.
    words : bool
        Whether columns of words are enough.

    Returns
    -------
    Table
    """
    n, d = raw.X.shape
    if n == 0:
        raise FileError(
            f"{name}: there are no rows; give {'one' if fewest == 1 else 'two'} or more"
        )
    if d == 0 and not (words and raw.text) and not raw.without_numbers:
        raise FileError(f"{name}: there is no column of numbers; give one or more")
    if n < fewest:
        raise FileError(f"{name}: there is only one row; give two or more")
    _forbid_infinite(name, raw)
    _forbid_repeated_ids(name, raw)
    cleaned, rows, n_filled = _without_missing(name, raw, missing)
    kinds = {column: _kind(cleaned.X, at) for at, column in enumerate(cleaned.columns)}
    if raw.order:
        everything = kinds | dict.fromkeys(raw.text_columns, "text")
        kinds = {column: everything[column] for column in raw.order if column in everything}
    return Table(
        X=cleaned.X,
        columns=cleaned.columns,
        ids=cleaned.ids,
        kinds=kinds | dict.fromkeys(raw.text_columns, "text"),
        rows=rows,
        text={column: cells[rows] for column, cells in (raw.text or {}).items()},
        n_file=n,
        file_ids=raw.ids,
        id_name=raw.id_name,
        labels=None if raw.labels is None else raw.labels[rows],
        n_filled=n_filled,
        written=raw.written or {},
    )


# ---------------------------------------------------------------------- cells


def _blocks(X: Matrix) -> Iterator[tuple[int, Any]]:
    """Yield blocks of the stored values with the place at which each begins."""
    values = X.data if sparse.issparse(X) else X
    step = max(1, VALUES_AT_ONCE // max(1, values.size // max(1, len(values))))
    for start in range(0, len(values), step):
        yield start, values[start : start + step]


def _cells(X: Matrix, test: Callable[[Any], Any]) -> tuple[Index, Index]:
    """Return rows and columns of the cells that pass a test, row by row."""
    places = [np.argwhere(test(block)) + [start, 0][: block.ndim] for start, block in _blocks(X)]
    at = np.concatenate(places) if places else np.empty((0, 2), np.int64)
    if not sparse.issparse(X):
        return at[:, 0], at[:, 1]
    stored = at[:, 0]
    return np.searchsorted(X.indptr, stored, side="right") - 1, X.indices[stored].astype(np.int64)


def _forbid_infinite(name: str, raw: RawTable) -> None:
    row, column = _cells(raw.X, np.isinf)
    if row.size:
        place = raw.place(int(row[0]), int(column[0]))
        raise FileError(
            f"{name}: {place}: the cell is infinite; mend it, or leave its column out with drop"
        )


def _forbid_repeated_ids(name: str, raw: RawTable) -> None:
    if raw.ids is None:
        return
    hashes = np.sort(np.fromiter(map(hash, raw.ids), np.int64, len(raw.ids)))
    if np.all(hashes[1:] != hashes[:-1]):  # the usual case, in little memory
        return
    first_row: dict[str, int] = {}
    for row, value in enumerate(raw.ids):
        first = first_row.setdefault(value, row)
        if first != row:
            places = f"{raw.place(first, -1)} and {raw.place(row, -1)}"
            raise FileError(
                f"{name}: the id {str(value)!r} stands twice, in {places}; an id names one row"
            )


# ---------------------------------------------------------------------- missing cells


def _without_missing(name: str, raw: RawTable, missing: str) -> tuple[RawTable, Index, int]:
    """Return the data without missing cells, the rows that are left, and how many were filled."""
    n, d = raw.X.shape
    rows: Index = np.arange(n)
    row, column = _cells(raw.X, np.isnan)
    if row.size == 0 or missing == "keep":
        return raw, rows, 0
    counts = np.bincount(column, minlength=d)
    if missing == "error":
        raise _missing_cells(name, raw, row, column, counts)
    if missing == "median":
        return raw._replace(X=_filled(name, raw, row, column, counts)), rows, row.size
    if missing == "drop-rows":
        keep = np.setdiff1d(rows, row)
        if keep.size < 2:
            raise FileError(
                f"{name}: {keep.size} of {n} rows are without missing cells, which is too few; say "
                "missing='drop-columns' or missing='median'"
            )
        ids = None if raw.ids is None else raw.ids[keep]
        return raw._replace(X=raw.X[keep], ids=ids), keep, 0
    full = np.flatnonzero(counts == 0)
    if full.size == 0:
        raise FileError(
            f"{name}: every column has missing cells; say missing='drop-rows' or missing='median'"
        )
    columns = tuple(raw.columns[at] for at in full)
    return raw._replace(X=raw.X[:, full], columns=columns), rows, 0


def _missing_cells(name: str, raw: RawTable, row: Index, column: Index, counts: Index) -> FileError:
    """Return the error about missing cells: where they are, and what each remedy would leave."""
    n, d = raw.X.shape
    cells = [raw.place(int(r), int(c)) for r, c in zip(row[:3], column[:3], strict=True)]
    most = np.argsort(-counts, kind="stable")
    by_column = [f"{raw.columns[at]!r} {counts[at]}" for at in most[:5] if counts[at]]
    more = ", …" * int(np.count_nonzero(counts) > 5)
    left = n - np.unique(row).size
    return FileError(
        f"{name}: {row.size} cell{'s are' if row.size > 1 else ' is'} missing (first: "
        f"{'; '.join(cells)}; by column: {', '.join(by_column)}{more}); say missing='drop-rows' "
        f"(leaves {left} of {n}), 'drop-columns' (leaves {np.count_nonzero(counts == 0)} of {d}) "
        "or 'median'"
    )


def _filled(name: str, raw: RawTable, row: Index, column: Index, counts: Index) -> Matrix:
    """Return X with missing cells at the median of their column; a dense X is filled in place."""
    X = raw.X.tolil() if sparse.issparse(raw.X) else raw.X
    for at in np.flatnonzero(counts).tolist():
        values = _column(raw.X, at)
        if counts[at] == len(values):
            raise FileError(
                f"{name}: column {raw.columns[at]!r} is empty; leave it out with "
                f"drop=[{raw.columns[at]!r}]"
            )
        X[row[column == at], at] = np.nanmedian(values)
    return sparse.csr_array(X) if sparse.issparse(X) else X


# ---------------------------------------------------------------------- columns


def _column(X: Matrix, at: int) -> NDArray[Any]:
    return np.asarray(X[:, [at]].toarray().ravel() if sparse.issparse(X) else X[:, at])


def _kind(X: Matrix, at: int) -> str:
    values = _column(X, at)
    values = values[~np.isnan(values)]
    if not values.size:
        return "constant"
    low, high = values.min(), values.max()
    if low == high:
        return "constant"
    if np.any(values != np.rint(values)):
        return "real"
    return "binary" if (low, high) == (0, 1) else "whole"
