"""Responsibilities: updates of points without links and, one after the other, of linked points.

Where clusters are many, a point has a share in a few of them and in all others none. So shares that
no sum of shares would notice are 0, and lists name the clusters in which a point has a share: what
links add is added there alone.
"""

from __future__ import annotations

from math import exp, log
from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Array
from maylink.kernels.compile import compiled

NOTHING = -60.0  # log of a share of the largest one below which a share is 0: 1e-26
MOST_LISTED = 32
LONGEST = 0.25  # of the clusters: to go through a longer list takes as long as through all of them


class ShareLists(NamedTuple):
    """The clusters in which each point has a share; where these do not fit, only their number."""

    cluster: Any  # (n, room), the first ``count`` of a row in ascending order
    count: Any  # (n,)


def lists_of(responsibilities: Array, n_looks: int) -> ShareLists:
    """Return the clusters in which each point has a share; none where that would not pay.

    Parameters
    ----------
    responsibilities : array of shape (n, K)
        What the points have.
    n_looks : int
        How often a list will be looked at. To make all lists takes a look at each point.
    """
    n, n_clusters = responsibilities.shape
    room = min(MOST_LISTED, int(LONGEST * n_clusters)) if n_looks >= n else 0
    lists = ShareLists(np.empty((n, room), np.int32), np.full(n, n_clusters, np.int32))
    if room:
        list_rows(responsibilities, lists)
    return lists


@compiled(allocates=False)
def list_rows(responsibilities, lists):
    """Write the lists of all rows."""
    for i in range(responsibilities.shape[0]):
        list_row(responsibilities, i, lists)


@compiled(allocates=False, inner=True)
def list_row(responsibilities, i, lists):
    """Write the list of row i."""
    found = 0
    for k in range(responsibilities.shape[1]):
        if responsibilities[i, k] > 0.0:
            if found < lists.cluster.shape[1]:
                lists.cluster[i, found] = k
            found += 1
    lists.count[i] = found


@compiled(allocates=False)
def softmax_linked(points, scores, indptr, neighbour, pull, known, responsibilities, lists):
    """Give each of the points the responsibilities ``∝ exp(score + Σ_j pull_ij φ_j)``, in order.

    Parameters
    ----------
    points : in, (m,) points to visit; ``scores`` goes with its positions
    scores : in, (m, K)
    indptr, neighbour, pull : in, the links of every point and what each adds
    known : in and out, (n,) whether the responsibilities of a neighbour count as yet
    responsibilities : in and out, (n, K)
    lists : in and out, the lists of all rows
    """
    n_clusters = scores.shape[1]
    room = lists.cluster.shape[1]
    for p in range(points.size):
        i = points[p]
        for k in range(n_clusters):
            responsibilities[i, k] = scores[p, k]
        for e in range(indptr[i], indptr[i + 1]):
            j = neighbour[e]
            if known[j] and lists.count[j] <= room:
                for f in range(lists.count[j]):
                    k = lists.cluster[j, f]
                    responsibilities[i, k] += pull[e] * responsibilities[j, k]
            elif known[j]:
                for k in range(n_clusters):
                    responsibilities[i, k] += pull[e] * responsibilities[j, k]
        normalise(responsibilities, i, lists)
        known[i] = True


@compiled(allocates=False, inner=True)
def normalise(responsibilities, i, lists):
    """Replace the log weights in row i by the probabilities that they stand for; list the row."""
    n_clusters = responsibilities.shape[1]
    room = lists.cluster.shape[1]
    top = other = -np.inf  # two at a time: a comparison waits for the one before it
    for k in range(0, n_clusters - 1, 2):
        top = max(top, responsibilities[i, k])
        other = max(other, responsibilities[i, k + 1])
    top = max(max(top, other), responsibilities[i, n_clusters - 1])
    total = 0.0
    found = 0
    for k in range(n_clusters):
        below = responsibilities[i, k] - top
        if below < NOTHING:
            responsibilities[i, k] = 0.0
        else:
            responsibilities[i, k] = exp(below)
            total += responsibilities[i, k]
            if found < room:
                lists.cluster[i, found] = k
            found += 1
    lists.count[i] = found if room else n_clusters
    if found <= room:
        for f in range(found):
            responsibilities[i, lists.cluster[i, f]] /= total
    else:
        for k in range(n_clusters):
            responsibilities[i, k] /= total


@compiled(allocates=False)
def overlap(responsibilities, lists, i, j, out):
    """Write Σ_k φ_ik φ_jk of each pair, at most 1."""
    for e in range(i.size):
        total = 0.0
        if lists.count[i[e]] <= lists.cluster.shape[1]:
            for f in range(lists.count[i[e]]):
                k = lists.cluster[i[e], f]
                total += responsibilities[i[e], k] * responsibilities[j[e], k]
        else:
            for k in range(responsibilities.shape[1]):
                total += responsibilities[i[e], k] * responsibilities[j[e], k]
        out[e] = total if total < 1.0 else 1.0


@compiled(allocates=False)
def softmax_unlinked(points, free, scores, low, high, responsibilities, lists):
    """Give some points of a list the responsibilities ``∝ exp(score)``, and list them.

    Scores go with the list; ``free[low … high − 1]`` are the positions in it.
    """
    n_clusters = scores.shape[1]
    for f in range(low, high):
        p = free[f]
        i = points[p]
        for k in range(n_clusters):
            responsibilities[i, k] = scores[p, k]
        normalise(responsibilities, i, lists)


@compiled(allocates=False)
def entropy(responsibilities, lists, low, high):
    """Return −Σ φ log φ over the rows low … high − 1."""
    total = 0.0
    for i in range(low, high):
        is_listed = lists.count[i] <= lists.cluster.shape[1]
        for f in range(lists.count[i] if is_listed else responsibilities.shape[1]):
            share = responsibilities[i, lists.cluster[i, f] if is_listed else f]
            if share > 0.0:
                total -= share * log(share)
    return total
