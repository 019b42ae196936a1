"""Responsibilities: updates of points without links and, one after the other, of linked points."""

from __future__ import annotations

from math import exp, log

import numpy as np

from maylink.kernels.compile import compiled

NOTHING = -745.2  # the exponential of less is 0


@compiled(allocates=False)
def softmax_linked(points, scores, indptr, neighbour, pull, known, responsibilities):
    """Give each of the points the responsibilities ``∝ exp(score + Σ_j pull_ij φ_j)``, in order.

    Parameters
    ----------
    points : in, (m,) points to visit; ``scores`` goes with its positions
    scores : in, (m, K)
    indptr, neighbour, pull : in, the links of every point and what each adds
    known : in and out, (n,) whether the responsibilities of a neighbour count as yet
    responsibilities : in and out, (n, K)
    """
    n_clusters = scores.shape[1]
    for p in range(points.size):
        i = points[p]
        for k in range(n_clusters):
            responsibilities[i, k] = scores[p, k]
        for e in range(indptr[i], indptr[i + 1]):
            j = neighbour[e]
            if known[j]:
                for k in range(n_clusters):
                    responsibilities[i, k] += pull[e] * responsibilities[j, k]
        normalise(responsibilities, i)
        known[i] = True


@compiled(allocates=False, inner=True)
def normalise(responsibilities, i):
    """Replace the log weights in row i by the probabilities that they stand for."""
    top = -np.inf
    for k in range(responsibilities.shape[1]):
        if responsibilities[i, k] > top:
            top = responsibilities[i, k]
    total = 0.0
    for k in range(responsibilities.shape[1]):
        below = responsibilities[i, k] - top
        responsibilities[i, k] = 0.0 if below < NOTHING else exp(below)  # which is slow at 0
        total += responsibilities[i, k]
    for k in range(responsibilities.shape[1]):
        responsibilities[i, k] /= total


@compiled(allocates=False)
def overlap(responsibilities, i, j, out):
    """Write Σ_k φ_ik φ_jk of each pair, at most 1."""
    for e in range(i.size):
        total = 0.0
        for k in range(responsibilities.shape[1]):
            total += responsibilities[i[e], k] * responsibilities[j[e], k]
        out[e] = total if total < 1.0 else 1.0


@compiled(allocates=False)
def softmax_unlinked(points, free, scores, low, high, responsibilities):
    """Give some points of a list the responsibilities ``∝ exp(score)``.

    Scores go with the list; ``free[low … high − 1]`` are the positions in it.
    """
    n_clusters = scores.shape[1]
    for f in range(low, high):
        p = free[f]
        i = points[p]
        for k in range(n_clusters):
            responsibilities[i, k] = scores[p, k]
        normalise(responsibilities, i)


@compiled(allocates=False)
def entropy(responsibilities, low, high):
    """Return −Σ φ log φ over the rows low … high − 1."""
    total = 0.0
    for i in range(low, high):
        for k in range(responsibilities.shape[1]):
            if responsibilities[i, k] > 0.0:
                total -= responsibilities[i, k] * log(responsibilities[i, k])
    return total
