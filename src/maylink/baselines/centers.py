"""Centres: initial ones, the means that they move to, what that costs, and when sweeps repeat."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from maylink.arrays import Array, Index
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
    """Return the centres to start from, shape (K, d): drawn, or those that the user gave."""
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


def plus_plus(X: Array, first: Array, n_clusters: int, rng: np.random.Generator) -> Array:
    """Add points of X to the first centres until there are K: greedy k-means++.

    Each time a few points are drawn, with chances proportional to the squared distance from the
    nearest centre so far. The one that lowers the sum of these distances most becomes a centre.

    References
    ----------
    Arthur, Vassilvitskii: k-means++: The Advantages of Careful Seeding, 2007.
    """
    centers = np.concatenate([first, np.empty((n_clusters - len(first), X.shape[1]))])
    count = len(first)
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


def cluster_means(X: Array, labels: Index, centers: Array) -> Array:
    """Return the mean of each cluster; one without points keeps its centre."""
    size = np.bincount(labels, minlength=len(centers))
    total = membership(labels, len(centers)) @ X
    return means_or(total, size.astype(np.float64), centers)


def means_or(total: Array, count: Array, centers: Array) -> Array:
    """Return ``total / count`` by cluster, and the old centre where the count is 0."""
    means = np.array(centers)
    np.divide(total, count[:, None], out=means, where=count[:, None] > 0)
    return means


def membership(group: Index, n_groups: int) -> sparse.csr_array:
    """Return the matrix of groups by points that is 1 where a point is in a group.

    Its product with data of points is their sum by group.
    """
    n = group.size
    return sparse.csr_array((np.ones(n), (group, np.arange(n))), shape=(n_groups, n))


def squared_distances(X: Array, centers: Array) -> Array:
    """Return ‖x_i − μ_k‖², shape (n, K), from differences: exact far from the origin as well."""
    return np.asarray(cdist(X, centers, "sqeuclidean"))


def distortion(X: Array, labels: Index, centers: Array) -> float:
    """Return Σ_i ‖x_i − μ_z_i‖²."""
    return float(((X - centers[labels]) ** 2).sum())


class Cycle:
    """Says when sweeps that need not descend may stop: at the best sweep of a cycle.

    A sweep whose labels and centres are those of an earlier one starts a cycle, which would repeat
    for ever. Most cycles are one sweep long.

    Parameters
    ----------
    tolerance : float, default 0
        Summed squared distance within which centres are the same.

    Attributes
    ----------
    path : list of floats
        The objective after each sweep.
    """

    def __init__(self, tolerance: float = 0.0) -> None:
        self.tolerance = tolerance
        self.path: list[float] = []
        self._last: dict[int, tuple[int, Array]] = {}
        self._best = -np.inf

    def ends(self, labels: Index, centers: Array, objective: float) -> bool:
        """Take note of a sweep; return whether it is the best one of a cycle."""
        self.path.append(objective)
        key = hash(labels.tobytes())
        sweep, before = self._last.get(key, (0, None))
        if before is not None and ((centers - before) ** 2).sum() <= self.tolerance:
            self._best = max(self._best, min(self.path[sweep + 1 :]))
        self._last[key] = (len(self.path) - 1, centers)
        return self.path[-1] <= self._best
