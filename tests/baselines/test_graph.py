"""The graph of similar points against plain loops, and where points are few, equal or far."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph
from sklearn.datasets import make_blobs

from maylink.baselines import graph
from maylink.baselines.eigenvectors import smoothest
from maylink.errors import MaylinkError


def plain_graph(X, n_neighbors, joined):
    n = len(X)
    distance = np.array([[np.linalg.norm(a - b) for b in X] for a in X])
    near = [sorted((j for j in range(n) if j != i), key=lambda j: distance[i, j]) for i in range(n)]
    k = min(n_neighbors, n - 1)
    scale = [distance[i, near[i][min(k, 7) - 1]] for i in range(n)]
    W = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j and (joined or j in near[i][:k] or i in near[j][:k]):
                W[i, j] = max(np.exp(-(distance[i, j] ** 2) / (scale[i] * scale[j])), 1e-4)
    return W


@pytest.mark.parametrize("n_neighbors", [1, 9, 50])
@pytest.mark.parametrize("affinity", ["neighbours", "gaussian"])
def test_weights_against_plain_loops(n_neighbors, affinity):
    X = np.random.default_rng(n_neighbors).normal(size=(15, 3))
    found = graph.similarity_graph(X, affinity=affinity, n_neighbors=n_neighbors)
    expected = plain_graph(X, n_neighbors, affinity == "gaussian")
    np.testing.assert_allclose(found.weight.toarray(), expected, rtol=1e-8)
    np.testing.assert_allclose(found.degree, expected.sum(axis=1))
    assert found.volume == pytest.approx(expected.sum())


@pytest.mark.parametrize("affinity", ["neighbours", "gaussian"])
@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scale_does_not_matter(affinity, scale):
    X = np.random.default_rng(0).normal(size=(30, 2))
    plain = graph.similarity_graph(X, affinity=affinity).weight.toarray()
    moved = graph.similarity_graph(X * scale, affinity=affinity).weight.toarray()
    np.testing.assert_allclose(moved, plain, rtol=1e-6)


@pytest.mark.parametrize("affinity", ["neighbours", "gaussian"])
@pytest.mark.parametrize(
    "X",
    [
        np.zeros((1, 2)),
        np.zeros((2, 1)),
        np.ones((9, 3)),
        np.array([[0.0], [0.0], [0.0], [0.0], [1.0], [1e9]]),
    ],
)
def test_few_equal_and_far_points(X, affinity):
    found = graph.similarity_graph(X, affinity=affinity, n_neighbors=2)
    W = found.weight.toarray()
    assert np.isfinite(W).all()
    assert (W >= 0.0).all()
    assert (W == W.T).all()
    assert not W.diagonal().any()
    assert (found.degree > 0.0).all()


def test_clusters_far_apart_leave_the_graph_in_parts():
    X, y = make_blobs(60, centers=[[0, 0], [1000, 0]], random_state=0)
    found = graph.similarity_graph(X)
    assert csgraph.connected_components(found.weight)[0] == 2
    laplacian = graph.scaled_laplacian(found.weight, found.degree)
    values, vectors = smoothest(laplacian, 3, None)
    assert np.abs(values[:2]).max() < 1e-12 < values[2]
    side = vectors[:, :2] @ np.random.default_rng(0).normal(size=2) / np.sqrt(found.degree)
    for k in (0, 1):
        assert np.ptp(side[y == k]) < 1e-8


def test_points_without_neighbours():
    W = np.zeros((4, 4))
    W[0, 1] = W[1, 0] = 3.0
    W[2, 2] = 7.0  # the diagonal says nothing
    found = graph.similarity_graph(W, affinity="precomputed")
    assert found.degree.tolist() == [3.0, 3.0, 3.0, 3.0]
    assert found.weight.nnz == 2
    expected = np.zeros((4, 4))
    expected[:2, :2] = [[1, -1], [-1, 1]]
    np.testing.assert_allclose(
        graph.scaled_laplacian(found.weight, found.degree).toarray(), expected
    )
    assert graph.graph_of(sparse.csr_array((3, 3))).degree.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (np.ones((2, 3)), r"X: shape \(2, 3\) is not square"),
        (np.array([[0.0, -1.0], [-1.0, 0.0]]), r"X\[0, 1\] = -1 is negative; .*'precomputed'"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), r"X\[0, 1\] = 1 differs from X\[1, 0\] = 2"),
    ],
)
def test_weights_that_cannot_be(W, message):
    with pytest.raises(MaylinkError, match=message):
        graph.similarity_graph(W, affinity="precomputed")


def test_rounding_does_not_make_weights_asymmetric():
    W = np.array([[0.0, 1.0, 1e-14], [1.0, 0.0, 0.5], [0.0, 0.5, 0.0]])
    weight = graph.similarity_graph(W, affinity="precomputed").weight.toarray()
    assert (weight == weight.T).all()
