"""Whether clusters hold a few points each, as the distances to neighbours tell.

Where points lie evenly, the distances r_j of a point to its neighbours have
``E log(r_{j+1} / r_j) = 1 / (d j)`` in d dimensions. Where clusters hold j + 1 points, the next
neighbour is a stranger, and much further away. The number of dimensions is not known, so near
neighbours are compared with further ones.
"""

from __future__ import annotations

import numpy as np

from maylink.arrays import Matrix
from maylink.runtime.threads import one_thread

NEAR, FURTHER = 6, 24  # neighbours that may be of one cluster, and those that are looked at
LOOKED_AT = 400  # points whose neighbours are looked at
JUMP = 2.0  # times as far a step between near neighbours as between further ones
SAME = 1e-6  # of the largest distance: points that are nearer are as good as equal


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
    distance = np.maximum(distance, SAME * (distance.max() or 1.0))
    steps = np.log(distance[:, 1:] / distance[:, :-1]).mean(axis=0) * np.arange(1, FURTHER)
    return bool(steps[:NEAR].max() > JUMP * steps[FURTHER // 2 :].mean())
