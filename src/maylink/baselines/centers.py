"""Centres: where they start, the means that they move to, and what that costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist

from maylink.arrays import Array
from maylink.errors import MaylinkError
from maylink.parameters import check_choice

STARTS = ("k-means++", "random")


def check_init(init: Any) -> None:
    """Raise unless init is the name of a start or an array of finite centres."""
    if isinstance(init, str):
        check_choice("init", init, STARTS)
        return
    try:
        centers = np.asarray(init, np.float64)
    except (TypeError, ValueError):
        centers = np.full((1, 1), np.nan)
    if centers.ndim != 2 or not np.isfinite(centers).all():
        names = ", ".join(map(repr, STARTS))
        raise MaylinkError(f"init: give {names} or finite centres of shape (n_clusters, d)")


def initial_centers(X: Array, init: Any, n_clusters: int, rng: np.random.Generator) -> Array:
    """Return the centres to start from, shape (K, d): drawn, or those that are given."""
    if not isinstance(init, str):
        centers = np.array(init, np.float64)
        if centers.shape != (n_clusters, X.shape[1]):
            raise MaylinkError(
                f"init: centres of shape {centers.shape}; n_clusters={n_clusters} and the columns "
                f"of X ask for {(n_clusters, X.shape[1])}"
            )
        return centers
    if init == "random":
        return X[rng.choice(len(X), n_clusters, replace=False)]
    return plus_plus(X, X[:0], n_clusters, rng)


def plus_plus(X: Array, given: Array, n_clusters: int, rng: np.random.Generator) -> Array:
    """Add points of X to the given centres until there are K: greedy k-means++.

    Each time a few points are drawn, with chances proportional to the squared distance from the
    nearest centre so far, and the one that lowers the sum of these distances most is taken.

    References
    ----------
    Arthur, Vassilvitskii: k-means++: The Advantages of Careful Seeding, 2007.
    """
    centers = np.concatenate([given, np.empty((n_clusters - len(given), X.shape[1]))])
    count = len(given)
    if count == 0:
        centers[0] = X[rng.integers(len(X))]
        count = 1
    nearest = squared_distances(X, centers[:count]).min(axis=1)
    n_trials = 2 + int(np.log(n_clusters))
    for k in range(count, n_clusters):
        mass = np.cumsum(nearest)
        if mass[-1] > 0.0:
            drawn = np.searchsorted(mass, rng.random(n_trials) * mass[-1], side="right")
            drawn = np.minimum(drawn, len(X) - 1)
        else:  # every point has a centre where it stands
            drawn = rng.integers(len(X), size=1)
        closer = np.minimum(nearest, squared_distances(X[drawn], X))
        best = int(closer.sum(axis=1).argmin())
        centers[k], nearest = X[drawn[best]], closer[best]
    return centers


def cluster_means(X: Array, labels: NDArray[np.int64], centers: Array) -> Array:
    """Return the mean of each cluster; one without points keeps its centre."""
    size = np.bincount(labels, minlength=len(centers))
    join = sparse.csr_array(
        (np.ones(len(X)), (labels, np.arange(len(X)))), shape=(len(centers), len(X))
    )
    moved = np.array(centers)
    np.divide(join @ X, size[:, None], out=moved, where=size[:, None] > 0)
    return moved


def squared_distances(X: Array, centers: Array) -> Array:
    """Return ‖x_i − μ_k‖², shape (n, K), from differences: exact far from the origin as well."""
    return np.asarray(cdist(X, centers, "sqeuclidean"))


def distortion(X: Array, labels: NDArray[np.int64], centers: Array) -> float:
    """Return Σ_i ‖x_i − μ_z_i‖²."""
    return float(((X - centers[labels]) ** 2).sum())
