"""Labels in chunks, numbered by first appearance."""

from __future__ import annotations

from typing import Any

import numpy as np

from maylink.arrays import Index
from maylink.runtime.dask import compute, persist


def by_first_appearance(labels: list[Any], sizes: list[int]) -> tuple[Any, Index]:
    """Number labels by first appearance, as a dask array; also return the old number of each.

    Parameters
    ----------
    labels : list of Delayed
        By chunk, each of 0 or more.
    sizes : list of int
        How many rows each chunk has.
    """
    import dask.array
    from dask import delayed

    parts = persist(labels)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    first_rows = [
        delayed(_first_rows, pure=False)(part, int(start))
        for part, start in zip(parts, starts[:-1], strict=True)
    ]
    first: dict[int, int] = {}
    for rows in compute(first_rows)[0]:
        for label, row in rows.items():
            first[label] = min(row, first.get(label, row))
    old = np.array(sorted(first, key=lambda label: first[label]), np.int64)
    number = np.full(int(old.max()) + 1, -1, np.int64)
    number[old] = np.arange(old.size)
    final = persist([delayed(np.take, pure=False)(number, part) for part in parts])
    columns = [
        dask.array.from_delayed(part, (size,), np.int64)
        for part, size in zip(final, sizes, strict=True)
    ]
    return dask.array.concatenate(columns), old


def _first_rows(labels: Index, start: int) -> dict[int, int]:
    """Return the first row of each label; runs on the workers."""
    values, first = np.unique(labels, return_index=True)
    return dict(zip(values.tolist(), (first + start).tolist(), strict=True))
