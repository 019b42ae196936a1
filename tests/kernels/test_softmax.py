"""Shares of linked points, one after the other."""

import numpy as np
from scipy.special import softmax

from maylink.kernels.softmax import lists_of, overlap, softmax_linked


def test_each_point_sees_the_new_responsibilities_of_those_before_it():
    rng = np.random.default_rng(0)
    scores, responsibilities = rng.normal(size=(3, 2)), softmax(rng.normal(size=(3, 2)), axis=1)
    # a chain 0 – 1 – 2 with pulls 2 and −1
    indptr, neighbour = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1])
    pull = np.array([2.0, 2.0, -1.0, -1.0])
    expected = responsibilities.copy()
    expected[0] = softmax(scores[0] + 2.0 * expected[1])
    expected[1] = softmax(scores[1] + 2.0 * expected[0] - expected[2])
    expected[2] = softmax(scores[2] - expected[1])
    links = indptr, neighbour, pull
    lists = lists_of(responsibilities, 100)
    softmax_linked(np.arange(3), scores, *links, np.ones(3, bool), responsibilities, lists)
    np.testing.assert_allclose(responsibilities, expected)


def test_unknown_neighbours_do_not_count():
    responsibilities = np.array([[0.9, 0.1], [0.5, 0.5]])
    links = np.array([0, 1, 2]), np.array([1, 0]), np.array([3.0, 3.0])
    known, lists = np.array([False, False]), lists_of(responsibilities, 100)
    softmax_linked(np.array([1]), np.zeros((1, 2)), *links, known, responsibilities, lists)
    np.testing.assert_allclose(responsibilities[1], [0.5, 0.5])


def test_points_alone_get_the_softmax_of_their_scores():
    from scipy.special import softmax, xlogy

    from maylink.kernels.softmax import entropy, softmax_unlinked

    rng = np.random.default_rng(0)
    scores = rng.normal(size=(5, 4)) * 300
    points = np.array([7, 0, 3, 9, 2])
    responsibilities = np.full((10, 4), 0.25)
    free = np.array([0, 4, 1, 3])
    lists = lists_of(responsibilities, 0)
    softmax_unlinked(points, free, scores, 1, 4, responsibilities, lists)
    expected = np.full((10, 4), 0.25)
    expected[points[free[1:]]] = softmax(scores[free[1:]], axis=1)
    np.testing.assert_allclose(responsibilities, expected, atol=1e-15)
    assert np.isclose(
        entropy(responsibilities, lists, 2, 8),
        -xlogy(responsibilities[2:8], responsibilities[2:8]).sum(),
    )


def test_many_clusters_give_what_a_dense_sum_gives():
    rng = np.random.default_rng(0)
    n, n_clusters = 40, 90  # room for 22 clusters in a list: rows have from 1 to all of them
    responsibilities = rng.random((n, n_clusters))
    responsibilities[rng.random((n, n_clusters)) < rng.random((n, 1))] = 0.0
    responsibilities[:, 0] += 1e-9
    responsibilities /= responsibilities.sum(axis=1, keepdims=True)
    scores = rng.normal(size=(n, n_clusters)) * rng.choice([1.0, 300.0], size=(n, 1))
    adjacent = np.triu(rng.random((n, n)) < 0.3, 1) * rng.normal(size=(n, n))
    adjacent = adjacent + adjacent.T
    expected = responsibilities.copy()
    for i in range(n):
        expected[i] = softmax(scores[i] + adjacent[i] @ expected)
    first, second = np.nonzero(adjacent)
    indptr = np.searchsorted(first, np.arange(n + 1))
    lists = lists_of(responsibilities, 100)
    assert lists.count.min() <= lists.cluster.shape[1] < lists.count.max()
    links = indptr, second, adjacent[first, second]
    softmax_linked(np.arange(n), scores, *links, np.ones(n, bool), responsibilities, lists)
    np.testing.assert_allclose(responsibilities, expected, rtol=1e-9, atol=1e-20)
    np.testing.assert_array_equal(lists.count, (responsibilities > 0).sum(axis=1))
    out = np.empty(first.size)
    overlap(responsibilities, lists, first, second, out)
    np.testing.assert_allclose(out, (expected[first] * expected[second]).sum(axis=1), atol=1e-15)


def test_lists_are_made_where_they_are_looked_at_often_enough():
    responsibilities = np.eye(8)
    assert lists_of(responsibilities, 8).count.tolist() == [1] * 8
    none = lists_of(responsibilities, 7)
    assert none.cluster.shape[1] < none.count.min()  # all clusters are gone through
