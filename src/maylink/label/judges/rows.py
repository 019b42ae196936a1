"""What judges see of the rows: their cells by column, and the same as a text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.arrays import Matrix
from maylink.errors import MaylinkError, not_one_of
from maylink.io.data import Table
from maylink.label.judges.words import AskedPair
from maylink.row_ids import missing

EMPTY = "(empty)"


class ShownRows:
    """Rows as judges see them.

    Parameters
    ----------
    columns : mapping of str to array of shape (n,)
        The cells, by column.
    numbers : CSR matrix of shape (n, d), optional
        Numbers of which most are 0; a row shows those that are not.
    number_names : sequence of str
        The columns of ``numbers``.

    Examples
    --------
    >>> from maylink.label.judges.rows import ShownRows
    >>> rows = ShownRows.of({"name": ["Ann", "Bob"], "born": [1970.0, float("nan")]})
    >>> rows.row(1)
    {'name': 'Bob', 'born': None}
    >>> print(rows.pair(0, 1).texts[0])
    name: Ann
    born: 1970
    """

    def __init__(
        self,
        columns: Mapping[str, NDArray[Any]],
        numbers: Matrix | None = None,
        number_names: Sequence[str] = (),
    ) -> None:
        self._cells = dict(columns)
        self._numbers = numbers
        self._number_names = tuple(number_names)
        lengths = {len(column) for column in self._cells.values()}
        lengths |= set() if numbers is None else {numbers.shape[0]}
        if len(lengths) != 1:
            raise MaylinkError("rows: give columns of one length, at least one of them")
        (self.n,) = lengths

    @classmethod
    def of(cls, X: Any) -> ShownRows:
        """Return rows of data frames, tables, arrays, mappings of columns, or lists of texts.

        Parameters
        ----------
        X : DataFrame, Table, array, sparse matrix, mapping, or list of str or of mappings
            What judges are to see.
        """
        if isinstance(X, ShownRows):
            return X
        if isinstance(X, Table):
            return cls.of_table(X)
        if hasattr(X, "columns") and hasattr(X, "iloc"):
            names = [str(name) for name in X.columns]
            cells = [_cells_of(X.iloc[:, at]) for at in range(len(names))]
            return cls(dict(zip(names, cells, strict=True)))
        if isinstance(X, Mapping):
            return cls({str(name): np.asarray(column, object) for name, column in X.items()})
        if sparse.issparse(X):
            csr = sparse.csr_array(X)
            return cls({}, csr, [f"x{at}" for at in range(csr.shape[1])])
        return cls._of_sequence(X)

    @classmethod
    def _of_sequence(cls, X: Any) -> ShownRows:
        listed = list(X)
        if listed and all(isinstance(row, Mapping) for row in listed):
            names = list(dict.fromkeys(str(name) for row in listed for name in row))
            columns = {}
            for name in names:
                columns[name] = np.empty(len(listed), object)
                columns[name][:] = [row.get(name) for row in listed]
            return cls(columns)
        if listed and all(isinstance(row, str) for row in listed):
            return cls({"text": np.array(listed, object)})
        array = np.asarray(X)
        if array.ndim != 2:
            raise MaylinkError(
                "rows: give a data frame, a table, an array of rows and columns, or a list of texts"
            )
        return cls({f"x{at}": array[:, at] for at in range(array.shape[1])})

    @classmethod
    def of_table(cls, table: Table, at: NDArray[Any] | None = None) -> ShownRows:
        """Return the rows of a table; of a coded one, the columns that stand there as they came.

        Parameters
        ----------
        table : Table
            The rows.
        at : array of int, optional
            Which of them; all by default.
        """
        where: Any = slice(None) if at is None else at
        words = {name: cells[where] for name, cells in table.text.items()}
        if sparse.issparse(table.X):
            return cls(words, sparse.csr_array(table.X)[where], table.columns)
        places = {name: place for place, name in enumerate(table.columns)}
        columns = {}
        for name in table.kinds:
            if name in words:
                columns[name] = words[name]
            elif name in places:
                columns[name] = table.X[where, places[name]]
        return cls(columns or {name: table.X[where, place] for name, place in places.items()})

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are shown."""
        return (*self._cells, *self._number_names)

    def cells(self) -> Iterator[Any]:
        """Yield all that the rows hold, as values that have a fingerprint."""
        yield {name: [_plain(cell) for cell in column] for name, column in self._cells.items()}
        yield self._numbers
        yield self._number_names

    def showing(self, names: Sequence[str]) -> ShownRows:
        """Return the same rows with some of their columns, in this order.

        Parameters
        ----------
        names : sequence of str
            The columns.
        """
        for name in names:
            if name not in self.columns:
                raise MaylinkError(f"show: {not_one_of(name, self.columns[:20])}")
        cells = {name: self._cells[name] for name in names if name in self._cells}
        rest = [name for name in names if name not in cells]
        if self._numbers is None or not rest:
            return ShownRows(cells)
        places = [self._number_names.index(name) for name in rest]
        return ShownRows(cells, self._numbers[:, places], rest)

    def without(self, names: Sequence[str]) -> ShownRows:
        """Return the same rows without some of their columns."""
        return self.showing([name for name in self.columns if name not in names])

    def row(self, i: int) -> dict[str, Any]:
        """Return the cells of a row by column, as values that JSON has."""
        cells = {name: _plain(column[i]) for name, column in self._cells.items()}
        if self._numbers is not None:
            row = self._numbers[[i]].tocoo()
            order = np.argsort(row.coords[1])
            for at, value in zip(row.coords[1][order], row.data[order], strict=True):
                cells[self._number_names[at]] = _plain(value)
        return cells

    def pair(self, i: int, j: int) -> AskedPair:
        """Return a pair as it is put to a judge."""
        a, b = self.row(i), self.row(j)
        return AskedPair(i, j, a, b, (text_of(a), text_of(b)))


def text_of(row: Mapping[str, Any]) -> str:
    r"""Return a row as a text, a line a column.

    Examples
    --------
    >>> text_of({"name": "Ann", "born": None})
    'name: Ann\nborn: (empty)'
    """
    return "\n".join(f"{name}: {EMPTY if cell is None else cell}" for name, cell in row.items())


def _cells_of(series: Any) -> NDArray[Any]:
    """Return the cells of a column of a data frame; floats as they are, with their precision."""
    is_float = isinstance(series.dtype, np.dtype) and series.dtype.kind == "f"
    return np.asarray(series.to_numpy() if is_float else series.to_numpy(object))


def _plain(cell: Any) -> Any:
    """Return a cell as JSON has it: whole numbers without a point, None where it is empty."""
    if isinstance(cell, np.float32 | np.float16):
        cell = float(str(cell))  # seven digits, and not those that a double adds
    if isinstance(cell, np.generic):
        cell = cell.item()
    if missing(cell):
        return None
    if isinstance(cell, bool | int):
        return cell
    if isinstance(cell, float) and math.isfinite(cell):
        return int(cell) if cell.is_integer() and abs(cell) < 2**53 else cell
    return str(cell).strip()
