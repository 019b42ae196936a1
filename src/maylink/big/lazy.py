"""Predictions for big data: a dask array that computes a chunk when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from maylink.big.data import as_big, checked
from maylink.families import Family


def by_chunk(
    model: Any, X: Any, work: Callable[..., Any], clusters: Any, width: int | None = None
) -> Any:
    """Return what ``work(rows, family, clusters)`` makes of each chunk.

    Parameters
    ----------
    model : estimator
        Fitted; its family is used.
    X : dask array, dask DataFrame or path of Parquet files
        Rows.
    work : callable
        Returns an array of shape (m,), or (m, width) where a width is given.
    clusters
        What it knows about the clusters, centres for example.
    width : int, optional
        Columns of the result.

    Returns
    -------
    dask array
    """
    import dask.array
    from dask import delayed

    X = as_big(X)
    validate_data(model, X, reset=False, skip_check_array=True)
    dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
    family = delayed(model.family_, traverse=False)
    known = delayed(clusters, traverse=False)
    apply = delayed(_applied, pure=False)
    starts = np.concatenate([[0], np.cumsum(X.chunks[0])])
    kind = np.int64 if width is None else np.float64
    columns = () if width is None else (width,)
    parts = [
        dask.array.from_delayed(
            apply(work, block, int(start), dtype, family, known), (size, *columns), kind
        )
        for block, start, size in zip(X.to_delayed().ravel(), starts[:-1], X.chunks[0], strict=True)
        if size
    ]
    return dask.array.concatenate(parts)


def _applied(
    work: Callable[..., Any], block: Any, start: int, dtype: Any, family: Family, clusters: Any
) -> Any:
    rows = checked(block, start, dtype)
    family.check(rows)
    return work(rows, family, clusters)
