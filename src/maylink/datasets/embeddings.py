"""Simulated embeddings: unit vectors of many numbers behind which lie few, in unequal clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.datasets.loaders import Dataset
from maylink.errors import DatasetError

HIDDEN = 128  # bends of the map; many more than hidden features, so that it is not linear
LARGEST = 8.0  # the largest cluster has so many times the points of the smallest


def make_embeddings(
    n: int = 1000,
    n_features: int = 384,
    n_clusters: int = 12,
    *,
    n_hidden_features: int = 8,
    apart: float = 1.0,
    noise: float = 0.5,
    rng: np.random.Generator | int | None = None,
) -> Dataset:
    """Draw vectors of unit length that look like the embeddings of a language model.

    Points lie in clusters of few hidden features, each long in directions of its own and with
    more far points than a Gaussian has. A random map that bends (sums of hyperbolic tangents)
    takes them to many features, where noise is added; all have a direction in common, as
    embeddings do. Clusters overlap, differ in size and are no Gaussians where one sees them.

    Parameters
    ----------
    n : int, default 1000
        Number of points.
    n_features : int, default 384
        Numbers in a vector.
    n_clusters : int, default 12
        True clusters; the largest has about eight times the points of the smallest.
    n_hidden_features : int, default 8
        Features before the map.
    apart : float, default 1
        How far clusters are apart; at 0 nothing but links tells them from each other.
    noise : float, default 0.5
        Length of the noise of a vector beside the length of what the map gives.
    rng : Generator or int, optional
        Source of randomness.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from maylink.datasets import make_embeddings
    >>> make_embeddings(200, n_features=64, n_clusters=5, rng=0)
    Dataset(embeddings: 200 × 64, 5 classes, simulated)
    """
    if not 1 <= n_clusters <= n:
        raise DatasetError(f"n_clusters: {n_clusters} is not between 1 and n = {n}")
    generator = np.random.default_rng(rng)
    y = generator.permutation(np.repeat(np.arange(n_clusters), _sizes(n, n_clusters)))
    X = _bend(_hidden(y, n_clusters, n_hidden_features, apart, generator), n_features, generator)
    length = np.sqrt(np.einsum("ij,ij->", X, X) / max(n, 1))
    for low in range(0, n, 10_000):  # noise in parts: not a second matrix of this size
        part = X[low : low + 10_000]
        part += noise * length / np.sqrt(n_features) * generator.standard_normal(part.shape)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    classes = tuple(str(k) for k in range(n_clusters))
    return Dataset("embeddings", X, y, classes, "simulated")


def _sizes(n: int, n_clusters: int) -> NDArray[np.int64]:
    """Divide n into unequal sizes of one or more that sum to n."""
    proportions = LARGEST ** -np.linspace(0.0, 1.0, n_clusters)
    ends = np.round((n - n_clusters) * np.cumsum(proportions) / proportions.sum()).astype(int)
    return np.asarray(1 + np.diff(ends, prepend=0), np.int64)


def _hidden(
    y: np.ndarray, n_clusters: int, n_features: int, apart: float, rng: np.random.Generator
) -> Array:
    """Draw the hidden features: long clusters with far points."""
    centers = apart * 1.6 * rng.standard_normal((n_clusters, n_features))
    shapes = rng.standard_normal((n_clusters, n_features, n_features)) / np.sqrt(n_features)
    far = np.sqrt(5.0 / rng.chisquare(5.0, (y.size, 1)))  # Student's t with five degrees
    spread = far * rng.standard_normal((y.size, n_features))
    hidden = np.empty_like(spread)
    for k in range(n_clusters):
        hidden[y == k] = centers[k] + spread[y == k] @ shapes[k]
    return hidden


def _bend(hidden: Array, n_features: int, rng: np.random.Generator) -> Array:
    """Map hidden features to many by sums of hyperbolic tangents, with a direction for all."""
    inward = rng.standard_normal((hidden.shape[1], HIDDEN)) / np.sqrt(hidden.shape[1])
    bent = np.tanh(hidden @ inward + rng.standard_normal(HIDDEN))
    outward = rng.standard_normal((HIDDEN, n_features)) / np.sqrt(HIDDEN * n_features)
    common = rng.standard_normal(n_features) / np.sqrt(n_features)
    return np.asarray(bent @ outward + 0.7 * common)
