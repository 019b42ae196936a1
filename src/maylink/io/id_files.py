"""Files of ids: one id for each row of an array, in its order."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from maylink.errors import FileError
from maylink.io.decoding import decode

ID_COLUMNS = ("id", "ids", "unique_id", "record_id")


def read_ids(path: str | Path, column: str | None = None) -> list[str]:
    r"""Read the ids of rows: a line each, or a column of a CSV, TSV, Parquet or NPY file.

    Parameters
    ----------
    path : str or Path
        The file.
    column : str, optional
        The column of ids; by default ``id``, or the only one. A first line that is called so is
        no id.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "ids.txt"
    >>> _ = path.write_text("id\na17\nb4\n")
    >>> read_ids(path)
    ['a17', 'b4']
    """
    name, suffix = str(path), Path(path).suffix.lower()
    try:
        if suffix == ".npy":
            return [str(value) for value in np.load(path, allow_pickle=False).ravel().tolist()]
        if suffix in (".parquet", ".pq"):
            return _of_parquet(path, name, column)
        text = decode(Path(path).read_bytes(), name, None)
        rows = list(csv.reader(text.splitlines(), delimiter="\t" if suffix == ".tsv" else ","))
    except OSError as error:
        raise FileError(f"{name}: cannot be read ({error.strerror or error})") from error
    except (ValueError, csv.Error) as error:
        raise FileError(f"{name}: is no file of ids ({str(error)[:80]})") from error
    rows = [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
    if not rows:
        raise FileError(f"{name}: is empty")
    first = [cell.lower() for cell in rows[0]]
    known = next((key for key in _wanted(column) if key.lower() in first), None)
    if known is None and (len(first) > 1 or column is not None):
        raise FileError(f"{name}: there is no column {column or 'id'!r} (found: {rows[0][:6]})")
    at = 0 if known is None else first.index(known.lower())
    return [row[at] if at < len(row) else "" for row in rows[known is not None :]]


def _wanted(column: str | None) -> tuple[str, ...]:
    return ID_COLUMNS if column is None else (column,)


def _of_parquet(path: str | Path, name: str, column: str | None) -> list[str]:
    import pandas as pd

    frame = pd.read_parquet(path)
    known = next((key for key in _wanted(column) if key in frame.columns), None)
    if known is None and (len(frame.columns) != 1 or column is not None):
        found = [str(key) for key in frame.columns[:6]]
        raise FileError(f"{name}: there is no column {column or 'id'!r} (found: {found})")
    return [str(value) for value in frame[known or frame.columns[0]].tolist()]
