"""Data in files of arrays: NPY, NPZ (one dense array, or SciPy's sparse layout), Matrix Market."""

from __future__ import annotations

from pathlib import Path
from tokenize import TokenError
from typing import Any
from zipfile import BadZipFile
from zlib import error as ZlibError  # noqa: N812

import numpy as np
from scipy import sparse

from maylink.errors import FileError
from maylink.io.matrix_market import read_matrix_market
from maylink.io.raw_table import ColumnPlaces, RawTable, ReadOptions, damaged, generated_names
from maylink.io.states import DOCUMENT


def read_npy(path: str | Path, name: str, options: ReadOptions) -> RawTable:
    """Read an NPY file."""
    try:
        with open(path, "rb") as file:
            array = np.load(file, allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, TokenError, BadZipFile) as error:
        raise damaged(name, "NPY", error) from error
    if not isinstance(array, np.ndarray):
        raise FileError(f"{name}: is not an NPY file but an archive; rename it to .npz")
    return _raw_table(name, array, options)


def read_npz(path: str | Path, name: str, options: ReadOptions) -> RawTable:
    """Read an NPZ file: a sparse matrix, a single array, or the one that is called X."""
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            names = list(file.files)
            if DOCUMENT in names:
                raise FileError(f"{name}: is a saved model, not data; maylink.load reads it")
            if {"indptr", "indices", "data", "shape"} <= set(names):
                return _raw_table(name, sparse.csr_array(sparse.load_npz(path)), options)
            chosen = "X" if "X" in names else names[0] if len(names) == 1 else None
            if chosen is None:
                shown = ", ".join(names[:8]) or "none"
                raise FileError(
                    f"{name}: holds {len(names)} arrays ({shown}); give one with a single array, "
                    "or with one that is called X"
                )
            return _raw_table(name, file[chosen], options)
    except FileError:
        raise
    except (ValueError, EOFError, BadZipFile, ZlibError, AttributeError, TypeError) as error:
        raise damaged(name, "NPZ", error) from error
    except (LookupError, RuntimeError, SyntaxError, TokenError) as error:
        raise damaged(name, "NPZ", error) from error


def read_mtx(path: str | Path, name: str, options: ReadOptions) -> RawTable:
    """Read a Matrix Market file."""
    data = Path(path).read_bytes()
    if not data[:14].lower().startswith(b"%%matrixmarket"):
        raise damaged(name, "Matrix Market", ValueError("it does not begin as one"))
    try:
        matrix = read_matrix_market(data)
    except (ValueError, EOFError, OverflowError, StopIteration) as error:
        raise damaged(name, "Matrix Market", error) from error
    return _raw_table(name, matrix.tocsr() if sparse.issparse(matrix) else matrix, options)


def _raw_table(name: str, X: Any, options: ReadOptions) -> RawTable:
    """Check an array without names of columns."""
    if options.id is not None:
        raise FileError(f"{name}: arrays have no id column; leave id out, or use a table")
    if X.ndim != 2:
        raise FileError(
            f"{name}: the array has shape {X.shape}; give rows × columns, two dimensions"
        )
    if X.dtype.kind not in "biuf":
        raise FileError(f"{name}: the array holds {X.dtype}, not real numbers")
    if options.dtype is not None or X.dtype not in (np.float32, np.float64):
        with np.errstate(over="ignore"):  # cells that become infinite are refused later
            X = X.astype(options.dtype or np.float64)
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        X.sum_duplicates()
    columns = generated_names(X.shape[1])
    places = ColumnPlaces.of(name, options, columns)
    labels = None
    if places.labels is not None:
        column = X[:, [places.labels]]
        cells = (column.toarray() if sparse.issparse(X) else column).ravel().tolist()
        labels = np.array(["" if cell != cell else str(cell) for cell in cells])
    data = places.data(len(columns))
    if len(data) < len(columns):
        X = X[:, data]
    return RawTable(
        X if sparse.issparse(X) else np.ascontiguousarray(X),
        tuple(columns[at] for at in data),
        lambda row, column: f"row {row}" + f", column {data[column]}" * (column >= 0),
        labels=labels,
    )
