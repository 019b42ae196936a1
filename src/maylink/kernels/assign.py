"""Scores of points against centres, ``D = φ(t) + c − ⟨t, θ⟩``, and each point's nearest centre.

A score is summed over the features in one fixed order, so it is the same to the last bit wherever
and in whatever company it is computed: in a sweep, in a prediction, on one thread or on many.
"""

from __future__ import annotations

import numpy as np

from maylink.kernels.compile import compiled

# May fuse and reorder the sum over features, which vectorises it; infinities and NaN stay intact.
FAST = {"contract", "nsz", "reassoc"}


@compiled(fastmath=FAST)
def assign_dense(T, phi, theta, c, root, rows, slot, best, value, scores):
    """Score dense points.

    Parameters
    ----------
    T : in, (n, s) float32 or float64
    phi : in, (n,)
    theta, c : in, (K, s) and (K,)
    root : in, bool; compare √D in place of D
    rows : in, (m,) the points to score
    slot : in, (m,) the row of ``scores`` for all scores of a point, or −1 to keep only the best
    best, value : out, (m,) the nearest centre, the first of equals, and its score
    scores : out, (…, K or more)
    """
    for p in range(rows.size):
        i = rows[p]
        least = np.inf
        nearest = 0
        for k in range(theta.shape[0]):
            dot = 0.0
            for j in range(T.shape[1]):
                dot += T[i, j] * theta[k, j]
            score = max(phi[i] + c[k] - dot, 0.0)
            if root:
                score = np.sqrt(score)
            if score < least:
                least = score
                nearest = k
            if slot[p] >= 0:
                scores[slot[p], k] = score
        best[p] = nearest
        value[p] = least


@compiled(fastmath=FAST)
def assign_csr(indptr, indices, data, phi, theta_columns, c, root, rows, slot, best, value, scores):
    """Score sparse points; as :func:`assign_dense`, with θ by columns, shape (s, K)."""
    n_clusters = c.size
    dot = np.empty(n_clusters)
    for p in range(rows.size):
        i = rows[p]
        dot[:] = 0.0
        for at in range(indptr[i], indptr[i + 1]):
            weight = data[at]
            column = indices[at]
            for k in range(n_clusters):
                dot[k] += weight * theta_columns[column, k]
        least = np.inf
        nearest = 0
        for k in range(n_clusters):
            score = max(phi[i] + c[k] - dot[k], 0.0)
            if root:
                score = np.sqrt(score)
            if score < least:
                least = score
                nearest = k
            if slot[p] >= 0:
                scores[slot[p], k] = score
        best[p] = nearest
        value[p] = least
