"""The sampler's kernel against the families' own marginals."""

import mpmath
import numpy as np
import pytest
from scipy import sparse

from maylink.errors import MaylinkError
from maylink.families import Family, FullGaussian, Gaussian, Multinomial, Product
from maylink.kernels.conjugate import make_clusters, prior_of, rows_of
from sampler_kernels import gain, log_bessel, put
from zoo import COLLAPSED, draw, example

CASES = [*COLLAPSED, "product with a full covariance"]


def problem_of(name):
    if name in COLLAPSED:
        X, _ = draw(name, 25, seed=1)
        return example(name).adapt(X), X
    X, _ = draw("product", 25, seed=1)
    X = np.column_stack([X, X[:, 0] + np.random.default_rng(0).normal(size=25)])
    parts = [("full-gaussian", [0, 3]), ("poisson", [2]), ("bernoulli", [1])]
    return Product(parts).adapt(X), X


def marginal(family, X, prior):
    """Log marginal without Σ log h(x)."""
    statistics = family.cluster_statistics(X, np.zeros(len(X), np.int64), 1)
    return float(family.log_marginal(statistics, prior)[0] - family.log_base(X).sum())


@pytest.mark.parametrize("name", CASES)
def test_points_added_one_by_one_give_the_marginal(name):
    family, X = problem_of(name)
    prior = family.default_prior(X)
    arrays, rows = prior_of(family.blocks(prior)), rows_of(family.likelihood_rows(X)).dense
    clusters, scratch = make_clusters(arrays, 1), np.empty(rows.shape[1])
    for i, x in enumerate(rows):
        change = gain(arrays, clusters, 0, x, 1.0, scratch)
        assert put(arrays, clusters, 0, x, 1.0, change, scratch)
        assert clusters.norm[0] == pytest.approx(marginal(family, X[: i + 1], prior), abs=1e-8)


@pytest.mark.parametrize("name", CASES)
def test_a_point_taken_out_leaves_the_marginal_of_the_others(name):
    family, X = problem_of(name)
    prior = family.default_prior(X)
    arrays, rows = prior_of(family.blocks(prior)), rows_of(family.likelihood_rows(X)).dense
    clusters, scratch = make_clusters(arrays, 1), np.empty(rows.shape[1])
    for x in rows:
        put(arrays, clusters, 0, x, 1.0, gain(arrays, clusters, 0, x, 1.0, scratch), scratch)
    for left in range(len(X) - 1, 0, -1):
        change = gain(arrays, clusters, 0, rows[left], -1.0, scratch)
        assert put(arrays, clusters, 0, rows[left], -1.0, change, scratch)
        assert clusters.norm[0] == pytest.approx(marginal(family, X[:left], prior), abs=1e-7)


def test_the_factor_of_a_full_covariance_is_that_of_the_posterior():
    X, _ = draw("full-gaussian", 12, seed=3)
    family = FullGaussian().adapt(X)
    prior = family.default_prior(X)
    arrays, rows = prior_of(family.blocks(prior)), rows_of(family.likelihood_rows(X)).dense
    clusters, scratch = make_clusters(arrays, 1), np.empty(3)
    for x in rows:
        put(arrays, clusters, 0, x, 1.0, gain(arrays, clusters, 0, x, 1.0, scratch), scratch)
    put(arrays, clusters, 0, rows[4], -1.0, 0.0, scratch)
    kept = np.delete(X, 4, axis=0)
    statistics = family.cluster_statistics(kept, np.zeros(11, np.int64), 1)
    expected = family.posterior(prior, statistics)
    factor = np.tril(clusters.factor[0].reshape(3, 3))
    np.testing.assert_allclose(factor @ factor.T, expected.scale[0], rtol=1e-9)
    np.testing.assert_allclose(clusters.total[0], expected.mean[0] - family.origin, atol=1e-9)


def test_sparse_rows_are_the_dense_ones():
    X = np.random.default_rng(0).poisson(0.5, (20, 6)).astype(float)
    thin = rows_of(Multinomial().likelihood_rows(sparse.csr_array(X)))
    assert thin.dense.shape == (0, 6)
    dense = sparse.csr_array((thin.data, thin.indices, thin.indptr), shape=X.shape).toarray()
    np.testing.assert_array_equal(dense, X)


@pytest.mark.parametrize("order", [0.0, 0.5, 3.0, 200.0])
@pytest.mark.parametrize("x", [0.0, 1e-3, 1.0, 30.0, 2000.0, 1e5, 3e9])
def test_bessel_function(order, x):
    """Against mpmath, log(I(x)/x^order) + order log 2."""
    with mpmath.workdps(40):
        if x == 0.0:
            exact = -mpmath.loggamma(order + 1)
        else:
            exact = mpmath.log(mpmath.besseli(order, x)) - order * mpmath.log(mpmath.mpf(x) / 2)
    assert log_bessel(order, x) == pytest.approx(float(exact), rel=1e-11, abs=1e-11)


def test_a_family_without_a_kernel_says_so():
    class Plain(Gaussian):
        name = "plain"
        blocks = Family.blocks

    with pytest.raises(MaylinkError, match="no kernel for 'plain'"):
        Plain().blocks(None)
