"""Eigenvectors by Lanczos steps against all of them at once."""

import numpy as np
import pytest

from maylink.baselines.eigenvectors import greatest, smoothest
from maylink.baselines.graph import scaled_laplacian, similarity_graph


@pytest.fixture
def laplacian():
    graph = similarity_graph(np.random.default_rng(0).normal(size=(120, 3)))
    return scaled_laplacian(graph.weight, graph.degree)


def test_large_and_small_matrices_have_the_same_smooth_vectors(laplacian):
    all_values, all_vectors = smoothest(laplacian, 4, None)
    values, vectors = smoothest(laplacian, 4, np.random.default_rng(0), dense=10)
    np.testing.assert_allclose(values, all_values, atol=1e-9)
    np.testing.assert_allclose(np.abs(vectors.T @ all_vectors), np.eye(4), atol=1e-6)


def test_large_and_small_matrices_have_the_same_greatest_values(laplacian):
    expected = np.linalg.eigvalsh(laplacian.toarray())[::-1]
    for dense in (10, 500):
        values = greatest(laplacian, 5, np.random.default_rng(0), dense)
        np.testing.assert_allclose(values, expected[:5], atol=1e-9)


def test_more_values_than_there_are_and_a_matrix_of_zeros(laplacian):
    assert greatest(laplacian, 500, None).size == 120
    assert greatest(0.0 * laplacian.tocsr()[:3, :3], 2, None).tolist() == [0.0, 0.0]
