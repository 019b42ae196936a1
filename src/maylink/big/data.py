"""What counts as big data, and what it must be like: rows in chunks of known sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.errors import DomainError, MaylinkError


def is_big(X: Any) -> bool:
    """Say whether X is a dask array, a dask DataFrame or the path of Parquet files."""
    return isinstance(X, str | Path) or is_dask(X)


def is_dask(X: Any) -> bool:
    """Say whether X is a dask array or a dask DataFrame, without importing Dask."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def as_big(X: Any) -> Any:
    """Turn big data into a dask array of shape (n, d) whose chunks are whole rows.

    Parameters
    ----------
    X : dask array, dask DataFrame, str or Path
        A path is that of a Parquet file or of a folder of them.

    Returns
    -------
    dask array of shape (n, d)

    Raises
    ------
    MaylinkError
        When chunks are cut along features or their sizes are not known.
    """
    if isinstance(X, str | Path):
        from maylink.io.parquet import read_parquet

        return read_parquet(X)
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array(lengths=True)
    if getattr(X, "ndim", 0) != 2 or not hasattr(X, "chunks"):
        raise MaylinkError(
            f"X: a {type(X).__name__} with {getattr(X, 'ndim', 'no')} dimensions; give a dask "
            "array of shape (n, d)"
        )
    if any(np.isnan(size) for sizes in X.chunks for size in sizes):
        raise MaylinkError("X: sizes of chunks are not known; call X.compute_chunk_sizes() first")
    if len(X.chunks[1]) > 1:
        raise MaylinkError(
            f"X: chunks are cut along features into {len(X.chunks[1])} parts; call "
            "X.rechunk({1: -1}) first"
        )
    if X.dtype.kind not in "fiub":
        raise MaylinkError(f"X: numbers are of type {X.dtype}; give float32, float64 or integers")
    if not isinstance(X._meta, np.ndarray):
        raise MaylinkError(
            f"X: chunks are of type {type(X._meta).__name__}; on Dask they must be NumPy arrays"
        )
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise MaylinkError(f"X: shape {X.shape}; there must be at least one row and one column")
    return X


def checked_chunks(X: Any) -> tuple[list[Any], list[int]]:
    """Return chunks with rows as Delayed, each checked when it is read, and their sizes."""
    from dask import delayed

    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    sizes = [int(size) for size in X.chunks[0]]
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    blocks = X.to_delayed().ravel().tolist()
    check = delayed(checked, pure=False)
    chunks = [
        check(block, int(start), dtype)
        for block, start, size in zip(blocks, starts, sizes, strict=True)
        if size
    ]
    return chunks, [size for size in sizes if size]


def checked(block: Any, start: int, dtype: Any) -> NDArray[Any]:
    """Return a chunk row by row in memory, as float32 or float64, or say what is wrong with it."""
    rows = np.ascontiguousarray(block, dtype)
    if not np.isfinite(rows).all():
        at, column = (int(v) for v in np.argwhere(~np.isfinite(rows))[0])
        word = "NaN" if np.isnan(rows[at, column]) else "infinity"
        raise DomainError(
            f"X[{start + at}, {column}] is {word}; drop the row or fill the cell first"
        )
    return rows
