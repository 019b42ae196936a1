"""Principal directions: those of a singular value decomposition, of dense and of sparse data."""

import numpy as np
import pytest
from scipy import sparse

from maylink.families.principal import principal_directions


def long_data(n, d, seed=0):
    """Data whose first directions are much longer than the others."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return 3.0 + (rng.normal(size=(n, d)) * 2.0 ** -np.arange(d)) @ turn


@pytest.mark.parametrize("shape", [(50, 8), (20, 40), (60, 700)])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_directions_are_those_of_a_singular_value_decomposition(shape, is_sparse):
    X = long_data(*shape)
    center = X.mean(axis=0)
    found = principal_directions(sparse.csr_array(X) if is_sparse else X, center, 5)
    expected = np.linalg.svd(X - center, full_matrices=False)[2][:5]
    np.testing.assert_allclose(np.abs(np.sum(found * expected, axis=1)), 1.0, atol=1e-6)
    np.testing.assert_allclose(found @ found.T, np.eye(5), atol=1e-9)


@pytest.mark.parametrize("d", [10, 600])
def test_directions_without_differences_are_left_out(d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) @ rng.normal(size=(3, d))
    assert principal_directions(X, X.mean(axis=0), 8).shape == (3, d)
    assert principal_directions(np.ones((4, d)), np.ones(d), 8).shape == (0, d)


def test_the_same_data_give_the_same_directions():
    X = long_data(60, 700)
    first, second = (principal_directions(X, X.mean(axis=0), 4) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_single_precision_is_enough():
    X = long_data(50, 8).astype(np.float32)
    found = principal_directions(X, X.mean(axis=0, dtype=np.float64), 2)
    assert found.dtype == np.float64
    expected = principal_directions(X.astype(float), X.mean(axis=0, dtype=np.float64), 2)
    np.testing.assert_allclose(np.abs(np.sum(found * expected, axis=1)), 1.0, atol=1e-4)
