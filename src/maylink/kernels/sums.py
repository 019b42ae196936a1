"""Sums of the points of each cluster, in double precision.

Threads share the clusters out, not the points: every cluster is summed by one thread in the order
of the points, so the sums are the same to the last bit whatever the number of threads.
"""

from __future__ import annotations

from maylink.kernels.compile import compiled


@compiled()
def sums_dense(T, labels, thread, n_threads, total):
    """Add the rows of the clusters k ≡ thread (mod n_threads) into ``total`` (K, s)."""
    for i in range(labels.size):
        k = labels[i]
        if k % n_threads == thread:
            for j in range(T.shape[1]):
                total[k, j] += T[i, j]


@compiled()
def sums_csr(indptr, indices, data, labels, thread, n_threads, total):
    """As :func:`sums_dense`, for sparse points."""
    for i in range(labels.size):
        k = labels[i]
        if k % n_threads == thread:
            for at in range(indptr[i], indptr[i + 1]):
                total[k, indices[at]] += data[at]
