"""The six patterns."""

import numpy as np
import pytest

from maylink.datasets import PATTERNS, make_pattern
from maylink.errors import DatasetError


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("n", [10, 301])
def test_shape_and_seed(name, n):
    data = make_pattern(name, n, rng=0)
    assert data.X.shape == (n, 2)
    assert len(data.y) == n
    assert set(data.y) == set(range(len(data.classes)))
    assert np.array_equal(data.X, make_pattern(name, n, rng=0).X)
    assert not np.array_equal(data.X, make_pattern(name, n, rng=1).X)


def test_there_are_six():
    assert len(PATTERNS) == 6


@pytest.mark.parametrize("name", ["rings", "cross"])
def test_means_of_some_patterns_tell_nothing(name):
    """Clusters whose means coincide, or nearly, are beyond any K-means without links."""
    data = make_pattern(name, 3000, rng=0)
    means = np.array([data.X[data.y == k].mean(axis=0) for k in set(data.y)])
    spread = data.X.std()
    assert np.linalg.norm(means - means.mean(axis=0), axis=1).max() < 0.2 * spread


def test_unknown_pattern():
    with pytest.raises(DatasetError, match="name: 'star' is not one of blobs"):
        make_pattern("star")
