"""Simulated embeddings: unit length, unequal clusters that overlap, a seed."""

import numpy as np
import pytest

from maylink.datasets import make_embeddings
from maylink.errors import DatasetError


def test_shape_length_and_seed():
    data = make_embeddings(rng=0)
    assert data.X.shape == (1000, 384)
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=1), 1.0)
    assert len(data.classes) == 12
    again, other = make_embeddings(rng=0), make_embeddings(rng=1)
    assert np.array_equal(data.X, again.X)
    assert np.array_equal(data.y, again.y)
    assert not np.array_equal(data.X, other.X)


@pytest.mark.parametrize(("n", "k"), [(1000, 12), (30, 30), (7, 1)])
def test_sizes_are_unequal_and_none_is_empty(n, k):
    sizes = np.bincount(make_embeddings(n, 16, k, rng=0).y, minlength=k)
    assert sizes.sum() == n
    assert sizes.min() >= 1
    if n > 20 * k:
        assert sizes.max() > 4 * sizes.min()


def test_neighbours_are_of_one_cluster_more_often_the_further_clusters_are_apart():
    shares = []
    for apart in (0.0, 0.5, 1.0, 2.0):
        data = make_embeddings(400, 64, 5, apart=apart, rng=0)
        alike = data.X @ data.X.T
        np.fill_diagonal(alike, -1.0)
        shares.append((data.y[alike.argmax(axis=1)] == data.y).mean())
    assert shares == sorted(shares)
    assert shares[0] < 0.7
    assert 0.7 < shares[2] < 1.0


def test_more_clusters_than_points():
    with pytest.raises(DatasetError, match="n_clusters: 9 is not between 1 and n = 5"):
        make_embeddings(5, n_clusters=9)
