"""Data in chunks: dask arrays, dask DataFrames and Parquet files; rows stay where they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Index
from maylink.errors import DomainError, MaylinkError
from maylink.families.base import Family
from maylink.families.columns import (
    SAMPLE,
    VARIANCE,
    Columns,
    add_chunk,
    add_squares,
    columns_of,
    needed_of_columns,
    sample_rows,
)
from maylink.families.kinds import Values, look_at, seen_together
from maylink.io.parquet import read_parquet
from maylink.runtime.dask import compute, is_dask, tree


def in_chunks(X: Any) -> bool:
    """Say whether X is a dask array, a dask DataFrame or the path of Parquet files."""
    return isinstance(X, str | Path) or is_dask(X)


def as_chunks(X: Any) -> Any:
    """Turn data in chunks into a dask array of shape (n, d) whose chunks are whole rows.

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

    sizes = [int(size) for size in X.chunks[0]]
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    blocks = X.to_delayed().ravel().tolist()
    check, dtype = delayed(check_chunk, pure=False), float_type(X)
    chunks = [
        check(block, int(start), dtype)
        for block, start, size in zip(blocks, starts, sizes, strict=True)
        if size
    ]
    return chunks, [size for size in sizes if size]


def check_chunk(block: Any, start: int, dtype: Any) -> NDArray[Any]:
    """Return a chunk row by row in memory, as float32 or float64, or say what is wrong with it."""
    rows = np.ascontiguousarray(block, dtype)
    if not np.isfinite(rows).all():
        at, column = (int(v) for v in np.argwhere(~np.isfinite(rows))[0])
        word = "NaN" if np.isnan(rows[at, column]) else "infinity"
        raise DomainError(
            f"X[{start + at}, {column}] is {word}; drop the row or fill the cell first"
        )
    return rows


def map_chunks(X: Any, work: Callable[[NDArray[Any]], Any], width: int | None = None) -> Any:
    """Return what ``work(rows)`` makes of each chunk, computed when somebody asks for it.

    Parameters
    ----------
    X : dask array of shape (n, d)
        Rows.
    work : callable
        Returns an array of shape (m,), or (m, width) where a width is given; a worker calls it.
    width : int, optional
        Columns of the result.

    Returns
    -------
    dask array
    """
    import dask.array
    from dask import delayed

    dtype, shared = float_type(X), delayed(work, traverse=False)
    apply = delayed(_apply, pure=False)
    starts = np.concatenate([[0], np.cumsum(X.chunks[0])])
    kind = np.int64 if width is None else np.float64
    columns = () if width is None else (width,)
    blocks = zip(X.to_delayed().ravel(), starts[:-1], X.chunks[0], strict=True)
    parts = [
        dask.array.from_delayed(apply(shared, block, int(start), dtype), (size, *columns), kind)
        for block, start, size in blocks
        if size
    ]
    return dask.array.concatenate(parts)


def float_type(X: Any) -> np.dtype[Any]:
    """Return the precision that data are computed in."""
    return np.dtype(np.float32 if X.dtype == np.float32 else np.float64)


def _apply(work: Callable[[NDArray[Any]], Any], block: Any, start: int, dtype: Any) -> Any:
    return work(check_chunk(block, start, dtype))


def gathered(chunks: list[Any], sizes: list[int], rows: Index) -> NDArray[Any]:
    """Return some rows, by their sorted numbers among all."""
    from dask import delayed

    starts = np.concatenate([[0], np.cumsum(sizes)])
    cuts = np.searchsorted(rows, starts)
    take = delayed(take_rows, pure=False)
    parts = [
        take(chunk, rows[low:high] - start)
        for chunk, low, high, start in zip(chunks, cuts[:-1], cuts[1:], starts[:-1], strict=True)
        if high > low
    ]
    return np.concatenate(compute(parts)[0])


def take_rows(chunk: NDArray[Any], rows: Index) -> NDArray[Any]:
    """Return some rows of a chunk; runs on the workers."""
    return chunk[rows]


def look_at_chunks(X: Any) -> Values:
    """Look at the values of all rows of a dask array."""
    from dask import delayed

    look = delayed(_look, pure=False)
    parts = [look(block) for block in X.to_delayed().ravel()]
    values: Values = compute([tree(seen_together, parts)])[0][0]
    return values


def _look(block: Any) -> Values:
    return look_at(np.asarray(block, np.float64))


def columns_of_chunks(
    chunks: list[Any], sizes: list[int], families: list[Family], dtype: Any
) -> Columns:
    """Check all rows and see what they are like: a pass, and one for variances or a sample each."""
    from dask import delayed

    n, starts = sum(sizes), np.concatenate([[0], np.cumsum(sizes)])
    add, shared = delayed(add_chunk, pure=False), delayed(families, traverse=False)
    sums: Any = None
    for chunk, start in zip(chunks, starts[:-1], strict=True):
        sums = add(sums, chunk, int(start), shared)
    (sums,) = compute([sums])[0]
    squares: Any = None
    needs = needed_of_columns(families)
    if VARIANCE in needs:
        add, means = delayed(add_squares, pure=False), sums.total / n
        squares = np.zeros_like(sums.total)
        for chunk in chunks:
            squares = add(squares, chunk, means)
        (squares,) = compute([squares])[0]
    sample = gathered(chunks, sizes, sample_rows(n)) if SAMPLE in needs else None
    return columns_of(sums, squares, n, dtype, sample)
