"""Pairs of points as whole numbers: one key per pair, and pairs drawn without repetition."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHUFFLED_AT_ONCE = 10_000_000  # up to here NumPy may shuffle the whole population to draw from it


def ordered(i: int, j: int) -> tuple[int, int]:
    """Return the two points of a pair, the lower one first."""
    return (i, j) if i < j else (j, i)


def pair_keys(i: NDArray[Any], j: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Return one number for each pair of n points, whatever its order: low · n + high."""
    low, high = np.minimum(i, j), np.maximum(i, j)
    keys: NDArray[np.int64] = low.astype(np.int64) * n + high
    return keys


def distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct ones of numbers of 0 or more, in order; np.unique is far slower."""
    ordered = np.sort(numbers)
    return ordered[np.diff(ordered, prepend=-1) > 0]


def draw_distinct(population: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw ``size`` different numbers below ``population``, in random order, in O(size) memory."""
    if population <= SHUFFLED_AT_ONCE or 3 * size > population:
        return rng.choice(population, size, replace=False)
    drawn = distinct(rng.integers(population, size=size))
    while drawn.size < size:
        more = rng.integers(population, size=size - drawn.size)
        drawn = distinct(np.concatenate([drawn, more]))
    return rng.permutation(drawn)


def rank_pairs(a: NDArray[Any], b: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Return the numbers 0 … n(n − 1)/2 − 1 that count the pairs a < b of n, row by row."""
    ranks: NDArray[np.int64] = a * (2 * n - a - 3) // 2 + b - 1
    return ranks


def unrank_pair(rank: int, n: int) -> tuple[int, int]:
    """Turn one number into the pair that it counts, as :func:`unrank_pairs` does of many."""
    left = n * (n - 1) // 2 - 1 - rank
    m = (isqrt(8 * left + 1) - 1) // 2
    return n - 2 - m, n - 1 - (left - m * (m + 1) // 2)


def unrank_pairs(rank: NDArray[np.int64], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Turn numbers 0 … n(n − 1)/2 − 1 into the pairs a < b that they count, row by row."""
    # Counted from the end, row n − 2 − m holds m + 1 pairs, so the triangular root gives m.
    # Rounding can put m one row off, which two comparisons correct.
    left = n * (n - 1) // 2 - 1 - rank
    m = ((np.sqrt(8.0 * left + 1.0) - 1.0) / 2.0).astype(np.int64)
    m -= m * (m + 1) // 2 > left
    m += (m + 1) * (m + 2) // 2 <= left
    return n - 2 - m, n - 1 - (left - m * (m + 1) // 2)
