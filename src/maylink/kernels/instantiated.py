"""Draw clusters given the clusters' parameters: the ordered part of the instantiated sampler."""

from __future__ import annotations

import numpy as np

from maylink.kernels.compile import compiled
from maylink.kernels.gibbs import choose


@compiled()
def scan(rng, start, scores, fresh, links, pull, terms, labels, sizes, alive, weights, pulls):
    """Redraw the cluster of each point from ``start`` on, up to the first that opens a cluster.

    Parameters
    ----------
    rng : in and out, Generator
    start : in, int
    scores : in, (n, C) log likelihood of each point under the parameter of each slot
    fresh : in, (n,) log predictive probability of each point by itself
    links, pull : in
    terms : in, of the partition's prior
    labels, sizes : in and out, (n,) and (C,)
    alive : in, number of slots in use; slots of size 0 among them are dead
    weights, pulls : scratch, (C + 1,) and (C,) of which pulls are zeros, left as zeros

    Returns
    -------
    int
        The point that opens a cluster, its label being −1; n if none does.
    """
    n_clusters = 0
    for k in range(alive):
        n_clusters += sizes[k] > 0.5
    for i in range(start, labels.size):
        current = labels[i]
        sizes[current] -= 1.0
        n_clusters -= sizes[current] < 0.5
        for e in range(links.indptr[i], links.indptr[i + 1]):
            pulls[labels[links.neighbour[e]]] += pull[e]
        for k in range(alive):
            weights[k] = -np.inf
            if sizes[k] > 0.5:
                weights[k] = terms.join[int(sizes[k] + 0.5)] + scores[i, k] + pulls[k]
        weights[alive] = terms.opening[n_clusters] + fresh[i]
        for e in range(links.indptr[i], links.indptr[i + 1]):
            pulls[labels[links.neighbour[e]]] = 0.0
        chosen = choose(rng, weights, alive + 1)
        if chosen == alive:
            labels[i] = -1
            return i
        labels[i] = chosen
        sizes[chosen] += 1.0
    return labels.size
