"""Colouring against trying all assignments."""

from itertools import product

import numpy as np
import pytest

from maylink import Links
from maylink.baselines.colouring import ApartGraph, find_colouring, smaller_proof
from maylink.baselines.neighbourhoods import neighbourhoods


def graph_of(m, pairs):
    return ApartGraph.of(neighbourhoods(Links.from_pairs(may_not=pairs, n=m)))


def draw_graph(m, n_pairs, seed):
    rng = np.random.default_rng(seed)
    i = rng.integers(0, m, n_pairs)
    j = (i + rng.integers(1, m, n_pairs)) % m
    return list(zip(i.tolist(), j.tolist(), strict=True))


def can_be_coloured(nodes, pairs, K):
    inside = [(i, j) for i, j in pairs if i in nodes and j in nodes]
    nodes = sorted(nodes)
    for labels in product(range(K), repeat=len(nodes)):
        colour = dict(zip(nodes, labels, strict=True))
        if all(colour[i] != colour[j] for i, j in inside):
            return True
    return False


@pytest.mark.parametrize("K", [1, 2, 3, 4])
def test_finds_a_colouring_exactly_where_there_is_one(K):
    possible = []
    for seed in range(60):
        m = 5 + seed % 3
        pairs = draw_graph(m, (0, 2, 6, 12, 20, 30)[seed % 6], seed)
        cost = np.random.default_rng(seed).random((m, K))
        found = find_colouring(graph_of(m, pairs), cost, 10**6)
        possible.append(can_be_coloured(range(m), pairs, K))
        assert (found.labels is not None) == possible[-1]
        if found.labels is not None:
            assert all(found.labels[i] != found.labels[j] for i, j in pairs)
            assert found.labels.min() >= 0
            assert found.labels.max() < K
            assert found.impossible.size == 0
        else:
            assert not can_be_coloured(found.impossible.tolist(), pairs, K)
    assert 0 < sum(possible) < 60


@pytest.mark.parametrize("K", [1, 2, 3])
def test_the_smaller_proof_is_one_and_can_do_without_nobody(K):
    seen = 0
    for seed in range(40):
        pairs = draw_graph(7, 18, seed)
        graph = graph_of(7, pairs)
        impossible = find_colouring(graph, np.zeros((7, K)), 10**6).impossible
        if impossible.size:
            seen += 1
            proof = set(smaller_proof(graph, impossible, K).tolist())
            assert not can_be_coloured(proof, pairs, K)
            assert all(can_be_coloured(proof - {v}, pairs, K) for v in proof)
    assert seen >= 10


def test_a_planted_colouring_of_a_dense_graph_is_found():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 4, 300)
        i, j = rng.integers(0, 300, (2, 8000))
        apart = truth[i] != truth[j]
        pairs = np.column_stack([i[apart], j[apart]])
        labels = find_colouring(graph_of(300, pairs), rng.random((300, 4)), 10**6).labels
        assert (labels[pairs[:, 0]] != labels[pairs[:, 1]]).all()


def test_parts_do_not_cost_each_other():
    """Each triangle takes three steps; the last part, four that are all apart, has no colouring.

    Looking back into the triangles would try 6^30 colourings of them.
    """
    triangles = [(3 * t + a, 3 * t + b) for t in range(30) for a, b in ((0, 1), (1, 2), (0, 2))]
    last = [(i, 90 + j) for i, j in ((90, 1), (90, 2), (90, 3), (91, 2), (91, 3), (92, 3))]
    found = find_colouring(graph_of(94, triangles + last), np.zeros((94, 3)), 200)
    assert found.impossible.tolist() == [90, 91, 92, 93]


def test_out_of_steps_is_neither_found_nor_impossible():
    complete = [(i, j) for i in range(6) for j in range(i)]
    found = find_colouring(graph_of(6, complete), np.zeros((6, 4)), 2)
    assert found.labels is None
    assert found.impossible.size == 0
    assert find_colouring(graph_of(6, complete), np.zeros((6, 4)), 10**30).impossible.size == 6


def test_without_conflicts_everyone_gets_the_cheapest():
    cost = np.random.default_rng(0).random((20, 5))
    labels = find_colouring(graph_of(20, []), cost, 1).labels
    assert labels.tolist() == cost.argmin(axis=1).tolist()
