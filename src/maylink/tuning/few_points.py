"""Whether clusters hold a few points each, as the distances to neighbours tell.

Where points lie evenly, the distances r_j of a point to its neighbours have
``E log(r_{j+1} / r_j) = 1 / (d j)`` in d dimensions. Where clusters hold j + 1 points, the next
neighbour is a stranger, and much further away. The number of dimensions is not known, so near
neighbours are compared with further ones.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, issparse
from scipy.sparse.csgraph import connected_components

from maylink.arrays import Array, Index, Matrix
from maylink.runtime.threads import one_thread
from maylink.views.nearest import Neighbours, nearest

NEAR, FURTHER = 6, 24  # neighbours that may be of one cluster, and those that are looked at
LOOKED_AT = 400  # points whose neighbours are looked at
JUMP = 2.0  # times as far a step between near neighbours as between further ones
LARGEST = 2 * NEAR  # points of a group; points of larger ones stay by themselves
SMALL = 8  # points in a cluster on average, below which clusters are small
SAME = 1e-6  # of a usual distance: points that are nearer are as good as equal


def hold_few_points(rows: Matrix) -> bool:
    """Say whether neighbours tell of clusters of a few points each.

    Parameters
    ----------
    rows : array or sparse matrix of shape (n, d)
        Rows between which the Euclidean distance counts.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.tuning.few_points import hold_few_points
    >>> rng = np.random.default_rng(0)
    >>> places = rng.normal(size=(150, 4))
    >>> hold_few_points(places)
    False
    >>> hold_few_points(np.repeat(places, 2, axis=0) + 0.05 * rng.normal(size=(300, 4)))
    True
    """
    from sklearn.neighbors import NearestNeighbors

    n = rows.shape[0]
    if n < 2 * FURTHER:
        return False
    some = np.sort(np.random.default_rng(0).permutation(n)[:LOOKED_AT])
    with one_thread():
        search = NearestNeighbors(n_neighbors=FURTHER + 1).fit(rows)
        distance = search.kneighbors(rows[some])[0][:, 1:].astype(np.float64)
    steps = _steps(distance, distance.max()).mean(axis=0)
    return bool(steps[:NEAR].max() > JUMP * steps[FURTHER // 2 :].mean())


def are_small(labels: Index) -> bool:
    """Say whether clusters that were found hold a few points each.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.tuning.few_points import are_small
    >>> are_small(np.arange(10) // 2), are_small(np.zeros(10, int))
    (True, False)
    """
    return bool(labels.size < SMALL * (int(labels.max()) + 1))


def groups_of_few(rows: Matrix) -> Index | None:
    """Return groups of points that seem to be of one cluster, where clusters hold a few points.

    A point goes with its neighbours up to the largest step between their distances, if they go with
    it as well. The groups are rough: they tell which points to look at together.

    Parameters
    ----------
    rows : array or sparse matrix of shape (n, d)
        Rows between which the Euclidean distance counts.

    Returns
    -------
    array of int of shape (n,) or None
        The group of each point, 0 … G − 1; None where clusters hold more points.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.tuning.few_points import groups_of_few
    >>> rng = np.random.default_rng(0)
    >>> places = rng.normal(size=(150, 4))
    >>> groups_of_few(places) is None
    True
    >>> groups_of_few(np.repeat(places, 2, axis=0) + 1e-3 * rng.normal(size=(300, 4)))[:6]
    array([0, 0, 1, 1, 2, 2])
    """
    if not hold_few_points(rows):
        return None
    near = nearest(rows, NEAR + 1)
    n, count = near.shape
    distance = _distances(rows, near)
    steps = _steps(distance, np.median(distance[:, -1]))
    one, place = np.nonzero(np.arange(count) <= steps.argmax(axis=1)[:, None])
    goes = coo_array((np.ones(len(one)), (one, near[one, place])), shape=(n, n)).tocsr()
    groups: Index = connected_components(goes.multiply(goes.T), directed=False)[1]
    large = np.bincount(groups)[groups] > LARGEST
    groups = np.where(large, n + np.arange(n), groups)
    return np.unique(groups, return_inverse=True)[1].astype(np.int64)


def _steps(distance: Array, usual: float) -> Array:
    """Return j log(r_{j+1} / r_j) of the distances of each point to its neighbours."""
    apart = np.maximum(distance, SAME * (usual or 1.0))
    steps: Array = np.log(apart[:, 1:] / apart[:, :-1]) * np.arange(1, apart.shape[1])
    return steps


def _distances(rows: Matrix, near: Neighbours) -> Array:
    """Return the distance of each point to each of its neighbours."""
    found = np.empty(near.shape)
    for place in range(near.shape[1]):
        apart = rows - rows[near[:, place]]
        squares = apart.multiply(apart) if issparse(apart) else apart * apart
        found[:, place] = np.sqrt(np.asarray(squares.sum(axis=1), np.float64)).ravel()
    return found
