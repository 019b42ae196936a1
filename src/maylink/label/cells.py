"""The cells of a file as people read them, whatever clusters are made of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.io.columns import column_names
from maylink.io.data import Table, read_data
from maylink.tables.kinds import ANSWERS, kind_of_numbers, kind_of_words

LOOKED_AT = 5_000  # rows that tell what a column is
GROUPED_FROM = 10_000  # whole numbers whose digits are grouped: years are not
DIGITS = 6  # of a number that are shown
LARGE = 1e15  # from which on numbers are written with powers of ten
CENTS = 2  # digits after the decimal mark that are always shown


class Cells(NamedTuple):
    """The columns of a file, as text.

    Parameters
    ----------
    columns : dict of str to array of str
        The cells of each column, by its name, in the order of the file; "" where there is none.
    kinds : dict of str to str
        What each column holds: a kind of the glossary, "label" where its name says so.
    """

    columns: dict[str, NDArray[Any]]
    kinds: dict[str, str]


def read_cells(path: str | Path, table: Table, reading: Mapping[str, Any]) -> Cells:
    r"""Read the cells of all columns but the id and those to drop, for the rows of a table.

    Parameters
    ----------
    path : str or Path
        The file that the table was read from.
    table : Table
        Its rows are those that cells are for.
    reading : mapping
        How the file is written: settings of :func:`maylink.read_data`.

    Returns
    -------
    Cells

    Examples
    --------
    >>> import tempfile
    >>> from maylink import read_data
    >>> from maylink.label.cells import read_cells
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("who,pay,zip\nAda,43120.0,01234\nBob,1.123456789,09876\n")
    >>> cells = read_cells(path, read_data(path, id="who"), {})
    >>> {name: column.tolist() for name, column in cells.columns.items()}
    {'pay': ['43,120', '1.12346'], 'zip': ['01234', '09876']}
    """
    names = column_names(path, **reading)
    if names is None:  # an array
        columns = _columns_of_array(table)
    else:
        wanted = [name for name in names if name != table.id_name]
        read = read_data(path, texts=wanted, numbers=False, missing="keep", **dict(reading))
        columns = {name: read.text[name][table.rows] for name in wanted}
    decimal = str(reading.get("decimal", "."))
    kinds = {name: _kind(name, column, decimal) for name, column in columns.items()}
    for name, kind in kinds.items():
        if kind in ("number", "count"):
            shown = [format_number(cell, decimal) for cell in columns[name]]
            columns[name] = np.array(shown, object)
    return Cells(columns, kinds)


def format_number(cell: str, decimal: str = ".") -> str:
    """Return a number as a person likes to read it; what is none stays as it is.

    Examples
    --------
    >>> from maylink.label.cells import format_number
    >>> [format_number(cell) for cell in ("43120.0", "2018", "12345.67", "-.0012345678", "007")]
    ['43,120', '2018', '12,345.67', '−0.00123457', '007']
    """
    try:
        value = float(cell.replace(decimal, "."))
    except ValueError:
        return cell
    digits = cell.lstrip("+-")
    if not np.isfinite(value) or (digits[:1] == "0" and digits[1:2].isdigit()):
        return cell
    places = len(digits.partition(decimal)[2]) if digits.replace(decimal, "").isdecimal() else 9
    if abs(value) < LARGE and (value == round(value) or abs(value) >= 10**DIGITS):
        places = 0
    comma = "," if abs(value) >= GROUPED_FROM else ""
    text = f"{value:{comma}.{places}f}" if places <= CENTS else f"{value:.{DIGITS}g}"
    return text.replace("-", "−").replace("e−0", "e−").replace("e+0", "e+")


def _columns_of_array(table: Table) -> dict[str, NDArray[Any]]:
    dense = table.X.toarray() if hasattr(table.X, "toarray") else np.asarray(table.X)
    return {
        name: np.array([f"{value:.15g}" for value in dense[:, at]], object)
        for at, name in enumerate(table.columns)
    }


def _kind(name: str, column: NDArray[Any], decimal: str) -> str:
    """Return what a column holds, as its first cells and its name tell."""
    import pandas as pd

    if name.strip().lower() in ANSWERS:
        return "label"
    cells = column[:LOOKED_AT]
    plain = pd.Series([cell.replace(decimal, ".") or None for cell in cells], dtype=object)
    numbers = pd.to_numeric(plain, errors="coerce").to_numpy(np.float64)
    if np.isnan(numbers)[plain.notna().to_numpy()].any():
        return kind_of_words(cells).kind
    return kind_of_numbers(numbers).kind
