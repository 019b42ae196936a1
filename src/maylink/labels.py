"""Labels of points, whatever they are, as whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.errors import MaylinkError

CHUNK = 100_000  # labels that are worked on together, to keep copies small


def label_codes(labels: Any, name: str = "labels") -> tuple[NDArray[np.int64], list[Any]]:
    """Return a code for each label, −1 for a missing one (None or NaN), and the labels by code."""
    import pandas as pd

    # A list may mix words and numbers, which an array would all turn into words.
    column = labels.array if hasattr(labels, "array") else labels
    column = np.array(column, dtype=object if isinstance(column, (list, tuple)) else None)
    if column.ndim != 1:
        raise MaylinkError(f"{name}: shape {column.shape}; give one label per point")
    codes, names = pd.factorize(column)
    return codes.astype(np.int64), list(names)


def complete_codes(labels: Any, name: str = "labels") -> NDArray[np.int64]:
    """Return a code for each label; none may be missing."""
    codes, _ = label_codes(labels, name)
    if (codes < 0).any():
        raise MaylinkError(f"{name}[{int(np.argmax(codes < 0))}] is missing")
    return codes


def crossed(
    first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of codes that points have in two partitions, and how many points each."""
    n = int(second.max(initial=0)) + 1
    keys, counts = np.unique(first * n + second, return_counts=True)
    return keys // n, keys % n, counts


def size_ranks(sizes: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rank of each cluster by its size, the largest 0; of equal ones the first."""
    return np.argsort(np.argsort(-sizes, kind="stable")).astype(np.int64)


def first_appearance(labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number labels of 0 or more by where they first appear; also return the old number of each."""
    first = np.full(int(labels.max(initial=-1)) + 1, labels.size)
    for high in range(labels.size, 0, -CHUNK):  # backwards: what is written last stays
        low = max(high - CHUNK, 0)
        first[labels[low:high][::-1]] = np.arange(high - 1, low - 1, -1)
    old = np.argsort(first, kind="stable")[: int((first < labels.size).sum())]
    return renumbered(labels, old), old


def renumbered(labels: NDArray[np.int64], old: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the labels ``old[0]``, ``old[1]``, … the numbers 0, 1, …; there may be no others."""
    number = np.empty(int(old.max(initial=-1)) + 1, np.int64)
    number[old] = np.arange(old.size)
    return number[labels]
