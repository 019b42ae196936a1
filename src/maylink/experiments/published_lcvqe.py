"""LCVQE as the printed figures have it, which is not quite LCVQE.

The code that the authors used sends the farther point of a violated may-not link to the second
nearest of *all* centres, in place of the nearest other one. Where an earlier link has moved the
point there already, it stays, and the link stays violated; see
:func:`maylink.baselines.kernels.quantisation.reassign_to_second`. It starts from random points and
ends when labels repeat.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maylink.baselines.quantisation import by_feature
from maylink.links import MAY, Links

MAX_SWEEPS = 500


def fit(
    X: NDArray[np.float64],
    links: Links,
    k: int,
    rng: np.random.Generator,
    centers: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """Return the cluster of each point; each link is asked twice, in a random order of links."""
    from maylink.baselines.kernels.quantisation import add_points, nearest, reassign_to_second

    X = np.ascontiguousarray(X)
    shuffled = rng.permutation(links.n_links)
    order = np.repeat(shuffled[np.argsort(links.kind[shuffled] != MAY, kind="stable")], 2)
    i, j = links.i[order].astype(np.int64), links.j[order].astype(np.int64)
    i[1::2], j[1::2] = j[1::2], i[1::2].copy()
    n_may = 2 * int((links.kind == MAY).sum())
    if centers is None:
        centers = X[rng.choice(len(X), k, replace=False)]
    labels, before = np.zeros(len(X), np.int64), np.empty(0, np.int64)
    for _ in range(MAX_SWEEPS):
        if np.array_equal(labels, before):
            break
        before = labels
        labels = np.empty(len(X), np.int64)
        total, count = np.zeros_like(centers), np.zeros(k)
        nearest(X, by_feature(centers), labels)
        reassign_to_second(X, by_feature(centers), i, j, n_may, labels, total, count)
        add_points(X, labels, total, count)
        some = count > 0
        centers = np.where(some[:, None], total / np.where(some, count, 1.0)[:, None], centers)
    return labels
