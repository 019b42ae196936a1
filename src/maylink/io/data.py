"""Reading data: a file becomes an array of numbers, and says what its columns are.

CSV, TSV, Parquet, NPY, NPZ (one dense array, or SciPy's sparse layout) and Matrix Market. What
cannot be used ends in one sentence that names the file, the line and column, and what to do.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from maylink.errors import FileError
from maylink.io.array_files import read_mtx, read_npy, read_npz
from maylink.io.cleaning import Table, clean_table
from maylink.io.formats import DTYPES, FORMATS, MISSING, check_choice, check_reading
from maylink.io.raw_table import RawTable, ReadOptions
from maylink.io.separated_text import read_csv, read_tsv
from maylink.io.table_builder import read_parquet_table

__all__ = ["DTYPES", "FORMATS", "MISSING", "Table", "read_data"]

STDIN = "-"

Reader = Callable[[str | Path, str, ReadOptions], RawTable]
_READERS: Mapping[str, Reader] = {
    "csv": read_csv,
    "tsv": read_tsv,
    "parquet": read_parquet_table,
    "npy": read_npy,
    "npz": read_npz,
    "mtx": read_mtx,
}


def read_data(
    path: str | Path,
    *,
    id: str | int | None = None,  # noqa: A002
    drop: str | int | Sequence[str | int] = (),
    missing: str = "error",
    text: str = "error",
    format: str | None = None,  # noqa: A002
    header: bool | None = None,
    sep: str | None = None,
    decimal: str = ".",
    encoding: str | None = None,
    keep_text: bool = False,
    dtype: str | None = None,
    labels: str | int | None = None,
    texts: str | Sequence[str] = (),
    numbers: bool = True,
    fewest: int = 2,
    words: bool = False,
    na: str | float | Sequence[Any] = (),
    marks: Mapping[str, str] = MappingProxyType({}),
) -> Table:
    r"""Read data from a file.

    Parameters
    ----------
    path : str or Path
        The file; "-" is CSV from standard input.
    id : str or int, optional
        The column that names the rows, by its name or its place from 0; "3" is a place where no
        column is called so. It is kept as text and is not part of the data.
    drop : str, int or list of them
        Columns to leave out.
    missing : {"error", "keep", "drop-rows", "drop-columns", "median"}, default "error"
        What to do about empty cells: complain, keep them as NaN, leave out their rows or their
        columns, or fill them with the median of the column.
    text : {"error", "drop"}, default "error"
        What to do about columns of words: complain, or leave them out. A word in a column of
        numbers is always an error.
    format : {"csv", "tsv", "parquet", "npy", "npz", "mtx"}, optional
        What the file is; its ending tells by default.
    header : bool, optional
        Whether the first line of a text file names the columns. By default it does unless all of
        it is numbers; where only a part is, say which.
    sep : str, optional
        What stands between cells of a text file; of comma, semicolon, tab and bar the one that the
        first line has most of.
    decimal : str, default "."
        The decimal mark of a text file.
    encoding : str, optional
        The encoding of a text file; by default UTF-8, or UTF-16 with a byte order mark.
    keep_text : bool, default False
        Whether to leave columns of words out of X, as ``text="drop"`` does, and keep what stands in
        them as ``Table.text``, so that others can show it.
    dtype : {"float64", "float32"}, optional
        What numbers are kept as; float32 takes half the memory and knows seven digits. Arrays of
        floats stay as they are by default, all else becomes float64.
    labels : str or int, optional
        A column of true labels, by its name or its place. It is kept as text in ``Table.labels``,
        and is not part of the data; empty cells in it are no missing cells.
    texts : str or list of str
        Columns to keep as ``Table.text``, by name, also where they hold numbers; other columns of
        words are kept, too. Only CSV, TSV and Parquet files have such columns.
    numbers : bool, default True
        Whether to read columns of numbers; without them X has no columns, and words are kept.
    fewest : int, default 2
        Rows that there must be: two to make clusters of, one to be put into those of a model.
    words : bool, default False
        Whether a column of numbers with words among them is a column of words, in place of an
        error; and whether there may be no column of numbers at all. Numbers as people write them
        are then read (:mod:`maylink.io.written_numbers`), and words are kept.
    na : str, number, or list of them
        Words, or numbers, that stand for missing cells in any column; case does not count.
    marks : mapping of str to str
        What is known of columns, by name, for ``words``: the decimal mark of one of numbers, whose
        cells are then read one by one; "" of one of words.

    Returns
    -------
    Table

    Raises
    ------
    FileError
        If the file cannot be read or holds what is not data. The message says where.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from maylink import read_data
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("who,height,children\nAda,1.65,3\nBob,1.8,0\nCyd,1.71,2\n")
    >>> table = read_data(path, id="who")
    >>> table
    Table(3 rows × 2 columns: 1 real, 1 whole)
    >>> table.ids
    array(['Ada', 'Bob', 'Cyd'], dtype='<U3')
    """
    check_choice("missing", missing, MISSING)
    check_choice("text", text, ("error", "drop"))
    check_reading(format, dtype, sep, decimal)
    text_columns = (texts,) if isinstance(texts, str) else tuple(texts)
    keep_text = keep_text or bool(text_columns) or not numbers or words
    options = ReadOptions(
        id=id,
        drop=(drop,) if isinstance(drop, (str, int)) else tuple(drop),
        text="drop" if keep_text else text,
        header=header,
        sep=sep,
        decimal=decimal,
        encoding=encoding,
        keep_text=keep_text,
        dtype=dtype,
        labels=labels,
        words=words,
        texts=text_columns,
        numbers=numbers,
        na=words_of(na),
        marks=marks,
    )
    name = "standard input" if str(path) == STDIN else str(path)
    reader = _reader(path, name, format)
    if (text_columns or not numbers) and reader not in (read_csv, read_tsv, read_parquet_table):
        raise FileError(f"{name}: has no columns of text; name a CSV, TSV or Parquet file")
    try:
        with _on_disk(path) as place:
            raw = reader(place, name, options)
            return clean_table(name, raw, missing, fewest, words=words)
    except OSError as error:
        raise FileError(f"{name}: cannot be read ({error.strerror or error})") from error
    except MemoryError as error:
        raise FileError(f"{name}: is too large for the memory of this machine") from error


def words_of(na: str | float | Sequence[Any]) -> tuple[str, ...]:
    """Return what stands for missing cells, as words."""
    return tuple(map(str, (na,) if np.isscalar(na) else na))  # type: ignore[arg-type]


@contextmanager
def _on_disk(path: str | Path) -> Iterator[str | Path]:
    """Yield the path; what comes through standard input goes to a temporary file."""
    if str(path) != STDIN:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "stdin"
        with place.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield place


def _reader(path: str | Path, name: str, format: str | None) -> Reader:  # noqa: A002
    if str(path) == STDIN and format not in (None, "csv", "tsv"):
        raise FileError(f"{name}: only text can be read from there, not {format}; name a file")
    if format is None and str(path) != STDIN:
        format = FORMATS.get(Path(path).suffix.lower())  # noqa: A001
        if format is None:
            raise FileError(
                f"{name}: the ending does not tell what it is; rename it to one of "
                f"{', '.join(FORMATS)}, or say format='csv'"
            )
    if str(path) != STDIN and Path(path).is_dir():
        raise FileError(f"{name}: is a folder; name a file")
    return _READERS[format or "csv"]
