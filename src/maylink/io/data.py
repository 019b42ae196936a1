"""Reading data: a file becomes an array of numbers, and says what its columns are.

CSV, TSV, Parquet, NPY, NPZ (one dense array, or SciPy's sparse layout) and Matrix Market. Text is
read in pieces, so that the array itself is most of the memory it takes. What cannot be used ends in
one sentence that names the file, the line and column, and what to do.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.arrays import Matrix
from maylink.errors import FileError

FORMATS = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".txt": "csv", ".parquet": "parquet",
    ".pq": "parquet", ".npy": "npy", ".npz": "npz", ".mtx": "mtx",
}  # fmt: skip
MISSING = ("error", "drop-rows", "drop-columns", "median")
DTYPES = ("float64", "float32")
STDIN = "-"
Where = Callable[[int, int], str]


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
        The ids of all of them.
    id_name : str or None
        What the id column is called.
    labels : array of str of shape (n,) or None
        The true labels, where a column of them was given; empty cells are "".
    n_filled : int
        Missing cells that were filled with the median of their column.
    """

    X: Matrix
    columns: tuple[str, ...]
    ids: NDArray[Any] | None
    kinds: Mapping[str, str]
    rows: NDArray[np.int64]
    text: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    n_file: int = 0
    file_ids: NDArray[Any] | None = None
    id_name: str | None = None
    labels: NDArray[Any] | None = None
    n_filled: int = 0

    def __repr__(self) -> str:
        found = list(self.kinds.values())
        kinds = ", ".join(f"{found.count(kind)} {kind}" for kind in sorted(set(found)))
        n, d = self.X.shape
        return f"Table({n} rows × {d} columns: {kinds})"


class Read(NamedTuple):
    """What a reader of a format hands on."""

    X: Matrix
    columns: tuple[str, ...]
    where: Where  # tells of a row and a column of X where they are in the file
    ids: NDArray[Any] | None = None
    text: tuple[str, ...] = ()  # columns of words
    words: Mapping[str, NDArray[Any]] | None = None  # what stands in them, where it is kept
    id_name: str | None = None
    labels: NDArray[Any] | None = None


class Wish(NamedTuple):
    """How the user wants a file to be read."""

    id: str | int | None
    drop: tuple[str | int, ...]
    text: str
    header: bool | None
    sep: str | None
    decimal: str
    encoding: str | None
    keep_text: bool = False
    dtype: str | None = None
    labels: str | int | None = None


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
    fewest: int = 2,
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
    missing : {"error", "drop-rows", "drop-columns", "median"}, default "error"
        What to do about empty cells: complain, leave out their rows or their columns, or fill them
        with the median of the column.
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
        The encoding of a text file; UTF-8, with or without a mark, by default.
    keep_text : bool, default False
        Whether to leave columns of words out of X, as ``text="drop"`` does, and keep what stands in
        them as ``Table.text``, so that others can show it.
    dtype : {"float64", "float32"}, optional
        What numbers are kept as; float32 takes half the memory and knows seven digits. Arrays of
        floats stay as they are by default, all else becomes float64.
    labels : str or int, optional
        A column of true labels, by its name or its place. It is kept as text in ``Table.labels``,
        and is not part of the data; empty cells in it are no missing cells.
    fewest : int, default 2
        Rows that there must be: two to make clusters of, one to be put into those of a model.

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
    _check_choice("missing", missing, MISSING)
    _check_choice("text", text, ("error", "drop"))
    _check_choice("format", format, (None, *dict.fromkeys(FORMATS.values())))
    _check_choice("dtype", dtype, (None, *DTYPES))
    left_out = (drop,) if isinstance(drop, (str, int)) else tuple(drop)
    text = "drop" if keep_text else text
    wish = Wish(id, left_out, text, header, sep, decimal, encoding, keep_text, dtype, labels)
    name = "standard input" if str(path) == STDIN else str(path)
    reader = _reader(path, name, format)
    try:
        with _on_disk(path) as place:
            return _finished(name, reader(place, name, wish), missing, fewest)
    except OSError as error:
        raise FileError(f"{name}: cannot be read ({error.strerror or error})") from error
    except MemoryError as error:
        raise FileError(f"{name}: is too large for the memory of this machine") from error


@contextmanager
def _on_disk(path: str | Path) -> Iterator[str | Path]:
    """Yield the path; what comes through standard input is put into a file for a while."""
    if str(path) != STDIN:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "stdin"
        with place.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield place


def _check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    if value not in choices:
        told = ", ".join(repr(choice) for choice in choices if choice is not None)
        raise FileError(f"{name}: {value!r} is not one of {told}")


def _reader(path: str | Path, name: str, format: str | None) -> Callable[..., Read]:  # noqa: A002
    if str(path) == STDIN and format not in (None, "csv", "tsv"):
        raise FileError(f"{name}: only text can be read from there, not {format}; name a file")
    if format is None and str(path) != STDIN:
        format = FORMATS.get(Path(path).suffix.lower())  # noqa: A001
        if format is None:
            known = ", ".join(FORMATS)
            raise FileError(
                f"{name}: the ending does not tell what it is; rename it to one of {known}, or say "
                "format='csv'"
            )
    if str(path) != STDIN and Path(path).is_dir():
        raise FileError(f"{name}: is a folder; name a file")
    return _READERS[format or "csv"]


# ---------------------------------------------------------------------- what all formats share


def _finished(name: str, read: Read, missing: str, fewest: int) -> Table:
    """Check the numbers, answer missing ones, and name the kinds of columns."""
    n, d = read.X.shape
    if n == 0:
        raise FileError(
            f"{name}: there are no rows; give {'one' if fewest == 1 else 'two'} or more"
        )
    if d == 0:
        raise FileError(f"{name}: there is no column of numbers; give one or more")
    if n < fewest:
        raise FileError(f"{name}: there is only one row; give two or more")
    rows: NDArray[np.int64] = np.arange(n)
    _forbid_infinite(name, read)
    _forbid_repeated_ids(name, read)
    file_ids = read.ids
    n_filled = _cells(read.X, np.isnan)[0].size if missing == "median" else 0
    read, rows = _without_missing(name, read, rows, missing)
    kinds = {column: _kind(read.X, at) for at, column in enumerate(read.columns)}
    kinds |= dict.fromkeys(read.text, "text")
    words = {column: cells[rows] for column, cells in (read.words or {}).items()}
    labels = None if read.labels is None else read.labels[rows]
    return Table(
        read.X, read.columns, read.ids, kinds, rows, words, n, file_ids, read.id_name, labels,
        n_filled,
    )  # fmt: skip


def _blocks(X: Matrix) -> Iterator[tuple[int, Any]]:
    """Yield pieces of the stored values with their places; tests on them make no large copies."""
    values = X.data if sparse.issparse(X) else X
    step = max(1, 1_000_000 // max(1, values.size // max(1, len(values))))
    for start in range(0, len(values), step):
        yield start, values[start : start + step]


def _cells(X: Matrix, test: Callable[[Any], Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows and columns of the cells that pass a test, row by row."""
    found = [np.argwhere(test(block)) + [start, 0][: block.ndim] for start, block in _blocks(X)]
    at = np.concatenate(found) if found else np.empty((0, 2), np.int64)
    if not sparse.issparse(X):
        return at[:, 0], at[:, 1]
    places = at[:, 0]
    return np.searchsorted(X.indptr, places, side="right") - 1, X.indices[places].astype(np.int64)


def _forbid_infinite(name: str, read: Read) -> None:
    row, column = _cells(read.X, np.isinf)
    if row.size:
        where = read.where(int(row[0]), int(column[0]))
        raise FileError(
            f"{name}: {where}: the cell is infinite; mend it, or leave its column out with drop"
        )


def _without_missing(
    name: str, read: Read, rows: NDArray[np.int64], missing: str
) -> tuple[Read, NDArray[np.int64]]:
    row, column = _cells(read.X, np.isnan)
    if row.size == 0:
        return read, rows
    n, d = read.X.shape
    counts = np.bincount(column, minlength=d)
    if missing == "error":
        _complain_missing(name, read, row, column, counts)
    if missing == "median":
        return read._replace(X=_filled(name, read, row, column, counts)), rows
    if missing == "drop-rows":
        keep = np.setdiff1d(rows, row)
        if keep.size < 2:
            raise FileError(
                f"{name}: {keep.size} of {n} rows are without missing cells, which is too few; say "
                "missing='drop-columns' or missing='median'"
            )
        ids = None if read.ids is None else read.ids[keep]
        return read._replace(X=read.X[keep], ids=ids), keep
    whole = np.flatnonzero(counts == 0)
    if whole.size == 0:
        raise FileError(
            f"{name}: every column has missing cells; say missing='drop-rows' or missing='median'"
        )
    columns = tuple(read.columns[at] for at in whole)
    return read._replace(X=read.X[:, whole], columns=columns), rows


def _complain_missing(
    name: str, read: Read, row: NDArray[np.int64], column: NDArray[np.int64], counts: Any
) -> None:
    n, d = read.X.shape
    cells = [read.where(int(r), int(c)) for r, c in zip(row[:3], column[:3], strict=True)]
    most = np.argsort(-counts, kind="stable")
    by_column = [f"{read.columns[at]!r} {counts[at]}" for at in most[:5] if counts[at]]
    more = ", …" * int(np.count_nonzero(counts) > 5)
    left = n - np.unique(row).size
    raise FileError(
        f"{name}: {row.size} cell{'s are' if row.size > 1 else ' is'} missing (first: "
        f"{'; '.join(cells)}; by column: {', '.join(by_column)}{more}); say missing='drop-rows' "
        f"(leaves {left} of {n}), 'drop-columns' (leaves {np.count_nonzero(counts == 0)} of {d}) "
        "or 'median'"
    )


def _filled(
    name: str, read: Read, row: NDArray[np.int64], column: NDArray[np.int64], counts: Any
) -> Matrix:
    X = read.X.tolil() if sparse.issparse(read.X) else read.X
    for at in np.flatnonzero(counts).tolist():
        values = _column(read.X, at)
        if counts[at] == len(values):
            raise FileError(
                f"{name}: column {read.columns[at]!r} is empty; leave it out with "
                f"drop=[{read.columns[at]!r}]"
            )
        X[row[column == at], at] = np.nanmedian(values)
    return sparse.csr_array(X) if sparse.issparse(X) else X


def _forbid_repeated_ids(name: str, read: Read) -> None:
    if read.ids is None:
        return
    marks = np.sort(np.fromiter(map(hash, read.ids), np.int64, len(read.ids)))
    if np.all(marks[1:] != marks[:-1]):  # the usual case, in little memory
        return
    seen: dict[str, int] = {}
    for row, value in enumerate(read.ids):
        first = seen.setdefault(value, row)
        if first != row:
            places = f"{read.where(first, -1)} and {read.where(row, -1)}"
            raise FileError(
                f"{name}: the id {str(value)!r} stands twice, in {places}; an id names one row"
            )


def _column(X: Matrix, at: int) -> NDArray[Any]:
    return np.asarray(X[:, [at]].toarray().ravel() if sparse.issparse(X) else X[:, at])


def _kind(X: Matrix, at: int) -> str:
    values = _column(X, at)
    low, high = values.min(), values.max()
    if low == high:
        return "constant"
    if np.any(values != np.rint(values)):
        return "real"
    return "binary" if (low, high) == (0, 1) else "whole"


def _names(count: int) -> tuple[str, ...]:
    return tuple(f"x{at}" for at in range(count))


def place_of(name: str, wanted: str | int, columns: Sequence[str], what: str) -> int:
    """Return the place of a column that is given by its name or its place."""
    if isinstance(wanted, str) and wanted in columns:
        return columns.index(wanted)
    place = int(wanted) if isinstance(wanted, str) and wanted.isdecimal() else wanted
    if isinstance(place, int) and 0 <= place < len(columns):
        return place
    found = ", ".join(map(repr, columns[:8])) + ", …" * (len(columns) > 8)
    raise FileError(f"{name}: there is no column {wanted!r} for {what}; the columns are {found}")


def places_of(name: str, wish: Wish, columns: Sequence[str]) -> tuple[int | None, set[int]]:
    """Return the place of the id column, and those of the columns to drop."""
    own = None if wish.id is None else place_of(name, wish.id, columns, "id")
    return own, {place_of(name, wanted, columns, "drop") for wanted in wish.drop}


# ---------------------------------------------------------------------- arrays


def _as_read(name: str, X: Any, wish: Wish) -> Read:
    """Check an array without names of columns."""
    if wish.id is not None:
        raise FileError(f"{name}: arrays have no id column; leave id out, or use a table")
    if X.ndim != 2:
        raise FileError(
            f"{name}: the array has shape {X.shape}; give rows × columns, two dimensions"
        )
    if X.dtype.kind not in "biuf":
        raise FileError(f"{name}: the array holds {X.dtype}, not real numbers")
    if wish.dtype is not None or X.dtype not in (np.float32, np.float64):
        with np.errstate(over="ignore"):  # what becomes infinite is told of later
            X = X.astype(wish.dtype or np.float64)
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        X.sum_duplicates()
    columns = _names(X.shape[1])
    _, gone = places_of(name, wish, columns)
    labels = None
    if wish.labels is not None:
        at = place_of(name, wish.labels, columns, "labels")
        labels = np.array(["" if cell != cell else str(cell) for cell in _column(X, at).tolist()])
        gone.add(at)
    keep = [at for at in range(X.shape[1]) if at not in gone]
    if gone:
        X = X[:, keep]
    return Read(
        X if sparse.issparse(X) else np.ascontiguousarray(X),
        tuple(columns[at] for at in keep),
        lambda row, column: f"row {row}" + f", column {keep[column]}" * (column >= 0),
        labels=labels,
    )


def _read_npy(path: str | Path, name: str, wish: Wish) -> Read:
    try:
        with open(path, "rb") as file:
            array = np.load(file, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise _broken(name, "NPY", error) from error
    if not isinstance(array, np.ndarray):
        raise FileError(f"{name}: is not an NPY file but an archive; rename it to .npz")
    return _as_read(name, array, wish)


def _read_npz(path: str | Path, name: str, wish: Wish) -> Read:
    from zipfile import BadZipFile
    from zlib import error as ZlibError  # noqa: N812

    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            names = list(file.files)
            if "maylink.json" in names:
                raise FileError(f"{name}: is a saved model, not data; maylink.load reads it")
            if {"indptr", "indices", "data", "shape"} <= set(names):
                return _as_read(name, sparse.csr_array(sparse.load_npz(path)), wish)
            chosen = "X" if "X" in names else names[0] if len(names) == 1 else None
            if chosen is None:
                told = ", ".join(names[:8]) or "none"
                raise FileError(
                    f"{name}: holds {len(names)} arrays ({told}); give one with a single array, or "
                    "with one that is called X"
                )
            return _as_read(name, file[chosen], wish)
    except FileError:
        raise
    except (ValueError, EOFError, BadZipFile, ZlibError, AttributeError, TypeError) as error:
        raise _broken(name, "NPZ", error) from error


def _read_mtx(path: str | Path, name: str, wish: Wish) -> Read:
    from scipy.io import mmread

    with open(path, "rb") as file:
        if not file.readline().lower().startswith(b"%%matrixmarket"):
            raise _broken(name, "Matrix Market", ValueError("it does not begin as one"))
    try:
        matrix = mmread(str(path))  # of an open file SciPy ends the program where it is damaged
    except (ValueError, EOFError, OverflowError, StopIteration) as error:
        raise _broken(name, "Matrix Market", error) from error
    return _as_read(name, matrix.tocsr() if sparse.issparse(matrix) else matrix, wish)


def _broken(name: str, format: str, error: Exception) -> FileError:  # noqa: A002
    if "allow_pickle" in str(error) and "Object arrays" in str(error):
        return FileError(
            f"{name}: holds Python objects, which could run foreign code; save plain numbers"
        )
    told = " ".join(str(error).split())[:120] or type(error).__name__
    if "allow_pickle" in told:  # NumPy took it for a pickle
        told = "its first bytes are those of something else"
    return FileError(f"{name}: is not a {format} file, or is damaged ({told})")


# ---------------------------------------------------------------------- tables


def _read_parquet(path: str | Path, name: str, wish: Wish) -> Read:
    import pandas as pd

    from maylink.io.tables import Gathered

    with open(path, "rb"):  # a file that is not there must not be taken for a missing package
        pass
    try:
        frame = pd.read_parquet(path)
    except ImportError as error:
        raise FileError(
            f"{name}: reading Parquet needs pyarrow: pip install 'maylink[parquet]'"
        ) from error
    except (ValueError, OSError) as error:
        raise _broken(name, "Parquet", error) from error
    columns = [str(column) for column in frame.columns]
    gathered = Gathered(name, wish, columns, lambda row: f"row {row}")
    gathered.add(frame)
    return gathered.read()


def _read_csv(path: str | Path, name: str, wish: Wish) -> Read:
    from maylink.io.tables import read_text

    return read_text(path, name, wish)


def _read_tsv(path: str | Path, name: str, wish: Wish) -> Read:
    return _read_csv(path, name, wish._replace(sep=wish.sep or "\t"))


_READERS: Mapping[str, Callable[[str | Path, str, Wish], Read]] = {
    "csv": _read_csv,
    "tsv": _read_tsv,
    "parquet": _read_parquet,
    "npy": _read_npy,
    "npz": _read_npz,
    "mtx": _read_mtx,
}
