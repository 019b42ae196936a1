"""Six patterns in the plane on which clustering without links is easy, hard or hopeless."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from maylink.arrays import Array
from maylink.datasets.loaders import Dataset
from maylink.errors import DatasetError

Rng = np.random.Generator


def make_pattern(name: str, n: int = 300, rng: np.random.Generator | int | None = None) -> Dataset:
    """Draw one of the six patterns.

    Parameters
    ----------
    name : str
        One of ``maylink.datasets.PATTERNS``: "blobs" of unequal size and spread, "stripes" that are
        long and close, "moons" that interlock, "rings" around each other, "spirals" wound into each
        other, and a "cross" of two stripes.
    n : int, default 300
        Number of points.
    rng : Generator or int, optional
        Source of randomness.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from maylink.datasets import make_pattern
    >>> make_pattern("rings", rng=0)
    Dataset(rings: 300 × 2, 3 classes, simulated)
    """
    if name not in _MAKERS:
        raise DatasetError(f"name: {name!r} is not one of {', '.join(PATTERNS)}")
    generator = np.random.default_rng(rng)
    maker, proportions = _MAKERS[name]
    k_true = len(proportions)
    y = np.repeat(np.arange(k_true), _sizes(n, proportions))
    X = np.vstack([maker(k, int((y == k).sum()), generator) for k in range(k_true)])
    order = generator.permutation(n)
    classes = tuple(str(k) for k in range(k_true))
    return Dataset(name, X[order], y[order], classes, "simulated")


def _sizes(n: int, proportions: tuple[float, ...]) -> np.ndarray:
    """Divide n by these proportions into sizes that sum to n."""
    ends = np.round(n * np.cumsum(proportions) / np.sum(proportions)).astype(int)
    return np.diff(ends, prepend=0)


def _blob(k: int, size: int, rng: Rng) -> Array:
    center = [(0.0, 0.0), (5.0, 1.0), (3.0, 5.5), (-2.0, 4.0)][k]
    return np.array(center) + (1.2, 0.9, 0.5, 0.3)[k] * rng.standard_normal((size, 2))


def _stripe(k: int, size: int, rng: Rng) -> Array:
    flat = rng.standard_normal((size, 2)) * (3.0, 0.25) + (0.0, 1.6 * k)
    return _turn(flat, np.pi / 6)


def _moon(k: int, size: int, rng: Rng) -> Array:
    angle = rng.uniform(0.0, np.pi, size)
    arc = np.column_stack([np.cos(angle), np.sin(angle)]) * (1.0, 1.0 - 2.0 * k)
    return arc + (1.0 * k, 0.5 * k) + 0.1 * rng.standard_normal((size, 2))


def _ring(k: int, size: int, rng: Rng) -> Array:
    angle = rng.uniform(0.0, 2.0 * np.pi, size)
    radius = (0.4, 2.0, 3.6)[k] + 0.15 * rng.standard_normal(size)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _spiral(k: int, size: int, rng: Rng) -> Array:
    turn = np.sqrt(rng.uniform(0.05, 1.0, size)) * 3.0 * np.pi
    angle = turn + np.pi * k
    arm = np.column_stack([turn * np.cos(angle), turn * np.sin(angle)]) / 3.0
    return arm + 0.12 * rng.standard_normal((size, 2))


def _bar(k: int, size: int, rng: Rng) -> Array:
    return _turn(rng.standard_normal((size, 2)) * (2.0, 0.2), np.pi / 4 * (1 - 2 * k))


def _turn(points: Array, angle: float) -> Array:
    cos, sin = np.cos(angle), np.sin(angle)
    return np.asarray(points @ np.array([[cos, sin], [-sin, cos]]))


# What draws a pattern, and the relative sizes of its clusters.
_MAKERS: dict[str, tuple[Callable[[int, int, Rng], Array], tuple[float, ...]]] = {
    "blobs": (_blob, (0.4, 0.3, 0.2, 0.1)),
    "stripes": (_stripe, (1.0, 1.0, 1.0)),
    "moons": (_moon, (1.0, 1.0)),
    "rings": (_ring, (1.0, 2.0, 3.0)),
    "spirals": (_spiral, (1.0, 1.0)),
    "cross": (_bar, (1.0, 1.0)),
}
PATTERNS = tuple(_MAKERS)
