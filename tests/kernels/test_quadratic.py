"""Distances from many clusters at once against SciPy."""

import numpy as np
import pytest
from scipy.spatial.distance import mahalanobis

from maylink.kernels.quadratic import distances, pack_factors, pair_products
from sampler_kernels import gamma_ratio


@pytest.mark.parametrize(("d", "k"), [(1, 1), (3, 5), (8, 32), (17, 33)])
def test_distances_are_scipys(d, k):
    rng = np.random.default_rng(d)
    T = rng.normal(size=(7, d))
    means = rng.normal(size=(k, d))
    A = rng.normal(size=(k, d, d))
    scale = A @ A.transpose(0, 2, 1) + np.eye(d)
    out = np.empty((7, k))
    distances(T, pack_factors(np.linalg.cholesky(scale), means), k, 0, 7, out)
    for j in range(k):
        inverse = np.linalg.inv(scale[j])
        expected = [mahalanobis(t, means[j], inverse) ** 2 for t in T]
        np.testing.assert_allclose(out[:, j], expected, rtol=1e-9)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_pair_products(d):
    T = np.random.default_rng(0).normal(size=(6, d))
    first, second = np.triu_indices(d)
    out = np.empty((3, first.size))
    pair_products(T, 2, 5, out)
    np.testing.assert_array_equal(out, T[2:5, first] * T[2:5, second])


@pytest.mark.parametrize("d", [1, 2, 3, 8, 33, 100])
def test_ratio_of_gamma_functions(d):
    from scipy.special import gammaln

    for a in (0.5 * d + 0.25, 0.5 * d + 3.0, 1e4 + 0.5 * d):
        expected = gammaln(a) - gammaln(a - 0.5 * d)
        assert gamma_ratio(a, d) == pytest.approx(expected, rel=1e-11, abs=1e-9)
