"""Contraction of edges against a plain loop."""

import numpy as np
import pytest

from maylink.kernels.edge_contraction import contract_edges


def contract_plainly(n, edges):
    """Join the two clusters with the most votes between them, looking at all pairs each time."""
    clusters = [{i} for i in range(n)]
    while True:
        votes = {}
        for a in range(len(clusters)):
            for b in range(a):
                between = [
                    w
                    for i, j, w in edges
                    if (i in clusters[a] and j in clusters[b])
                    or (j in clusters[a] and i in clusters[b])
                ]
                votes[a, b] = sum(between)
        best = max(votes, key=votes.get, default=None)
        if best is None or votes[best] <= 0:
            return {frozenset(c) for c in clusters}
        a, b = best
        clusters[b] |= clusters.pop(a)


@pytest.mark.parametrize("seed", range(8))
def test_contraction_takes_the_most_votes_first(seed):
    """Real weights, so that no two are equal; dense, so that the table is made anew."""
    n = 22
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(n, 1)
    kept = rng.random(first.size) < rng.choice([0.1, 0.5, 1.0])
    first, second = first[kept], second[kept]
    net = rng.normal(rng.choice([-0.3, 0.0, 0.3]), size=first.size)
    root = contract_edges(n, first, second, net)
    found = {frozenset(np.flatnonzero(root == r).tolist()) for r in np.unique(root)}
    assert found == contract_plainly(
        n, list(zip(first.tolist(), second.tolist(), net, strict=True))
    )


def test_contraction_of_a_long_chain_and_of_a_star():
    n = 5000
    chain = np.arange(n - 1)
    assert np.unique(contract_edges(n, chain, chain + 1, np.ones(n - 1))).size == 1
    star = np.zeros(n - 1, np.int64)
    assert np.unique(contract_edges(n, star, chain + 1, np.ones(n - 1))).size == 1
