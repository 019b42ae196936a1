"""Correlation clustering of a signed graph: moves of single points.

Edges are pairs of points with their net votes: positive, may; negative, may-not.
"""

from __future__ import annotations

import numpy as np

from maylink.kernels.compile import compiled
from maylink.kernels.edge_contraction import SLACK


@compiled()
def move_points(indptr, neighbour, net, order, labels, size, free):
    """Move each point to the cluster with most net votes for it, or to a new one.

    Parameters
    ----------
    indptr, neighbour, net : in, the edges of each point as CSR
    order : in, the points to visit
    labels : in and out, (n,) 0 … n − 1
    size : in and out, (n,) points of each cluster
    free : in and out, (n + 1,) ``free[0]`` empty clusters, named at ``free[1:]``

    Returns
    -------
    int
        How many points moved.
    """
    n = labels.size
    pull, visitor, clusters = np.zeros(n), np.full(n, -1), np.empty(n, np.int64)
    n_moved = 0
    for i in order:
        home, n_near, votes = labels[i], 1, 0.0
        clusters[0], visitor[home], pull[home] = home, i, 0.0
        for e in range(indptr[i], indptr[i + 1]):
            k = labels[neighbour[e]]
            if visitor[k] != i:
                visitor[k], pull[k] = i, 0.0
                clusters[n_near] = k
                n_near += 1
            pull[k] += net[e]
            votes += abs(net[e])
        best, most = home, pull[home] + SLACK * votes
        for p in range(1, n_near):
            if pull[clusters[p]] > most:
                best, most = clusters[p], pull[clusters[p]]
        if most < 0.0 and size[home] > 1:
            best = free[free[0]]
            free[0] -= 1
        if best != home:
            labels[i] = best
            size[best] += 1
            size[home] -= 1
            if size[home] == 0:
                free[0] += 1
                free[free[0]] = home
            n_moved += 1
    return n_moved
