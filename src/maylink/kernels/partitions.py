"""Move points between the clusters of one partition to bring it nearer to many others."""

from __future__ import annotations

import numpy as np

from maylink.kernels.compile import compiled


@compiled()
def descend(draws, n_labels, price, order, limit, labels):
    """Lower Σ_draws of ``Σ f(n_k) + Σ f(n_l) − 2 Σ f(n_kl)`` by moving single points.

    Parameters
    ----------
    draws : in, (M, n) partitions, each with labels 0 … n_labels − 1
    n_labels : in, the largest number of labels of a draw
    price : in, (n + 2,) f(0), f(1), …
    order : in, (n,) the order of visits
    limit : in, the largest number of clusters
    labels : in and out, (n,) 0 … limit − 1, or −1 for points that have no cluster as yet

    Returns
    -------
    int
        Number of passes over the points.
    """
    n_draws = draws.shape[0]
    together = np.zeros((limit, n_draws, n_labels), np.int32)
    size = np.zeros(limit, np.int64)
    for i in range(labels.size):
        if labels[i] >= 0:
            size[labels[i]] += 1
            for m in range(n_draws):
                together[labels[i], m, draws[m, i]] += 1
    passes = 0
    moved = True
    while moved and passes < 1000:
        moved = False
        passes += 1
        for p in range(order.size):
            i = order[p]
            current = labels[i]
            if current >= 0:
                size[current] -= 1
                for m in range(n_draws):
                    together[current, m, draws[m, i]] -= 1
            best, least = -1, np.inf
            tried_empty = False
            for k in range(limit):
                if size[k] == 0:
                    if tried_empty:
                        continue
                    tried_empty = True
                cost = n_draws * (price[size[k] + 1] - price[size[k]])
                for m in range(n_draws):
                    shared = together[k, m, draws[m, i]]
                    cost -= 2.0 * (price[shared + 1] - price[shared])
                # by more than rounding, which could move points in circles
                if cost < least - 1e-9 * n_draws or (
                    k == current and cost <= least + 1e-9 * n_draws
                ):
                    best, least = k, cost
            if current >= 0 and size[current] == 0 and size[best] == 0:
                best = current
            size[best] += 1
            for m in range(n_draws):
                together[best, m, draws[m, i]] += 1
            if best != current:
                labels[i] = best
                moved = True
    return passes
