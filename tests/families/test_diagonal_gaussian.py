"""A variance for each feature, against SciPy."""

import numpy as np
import pytest
from scipy import integrate, sparse, stats
from sklearn.preprocessing import StandardScaler

from maylink.families import DiagonalGaussian
from maylink.families.columns import expected_clusters
from maylink.families.gaussian import NormalGamma

X = np.random.default_rng(0).normal(size=(20, 3)) * [1.0, 10.0, 100.0]


def test_points_are_scikit_learns_standardised_data():
    points = DiagonalGaussian().adapt(X).points(X)
    np.testing.assert_allclose(points, StandardScaler().fit_transform(X))


def test_likelihood_is_scipys():
    center, variance = np.array([1.0, -2.0, 0.5]), np.array([0.5, 1.0, 3.0])
    theta = np.append(center / variance, -0.5 / variance)[None]
    expected = stats.norm(center, np.sqrt(variance)).logpdf(X).sum(axis=1)
    np.testing.assert_allclose(DiagonalGaussian().log_likelihood(X, theta)[:, 0], expected)


def test_predictive_is_a_product_of_scipys_t():
    rate = np.array([1.0, 2.0, 3.0])
    prior = NormalGamma(np.zeros(3), np.array(0.3), np.array(2.5), rate)
    scale = np.sqrt(rate * (0.3 + 1) / (2.5 * 0.3))
    expected = stats.t(df=5.0, scale=scale).logpdf(X).sum(axis=1)
    np.testing.assert_allclose(DiagonalGaussian().log_predictive(X, prior), expected)


def test_marginal_by_numerical_integration():
    points = np.array([[0.3], [1.9], [-0.4]])
    prior = NormalGamma(np.array([0.5]), np.array(0.3), np.array(2.5), np.array([1.7]))

    mu, precision = np.linspace(-40, 40, 8001), np.geomspace(1e-4, 1e2, 1001)[:, None]
    density = stats.gamma.pdf(precision, 2.5, scale=1 / 1.7)
    density = density * stats.norm.pdf(mu, 0.5, (0.3 * precision) ** -0.5)
    for point in points[:, 0]:
        density = density * stats.norm.pdf(point, mu, precision**-0.5)
    value = integrate.simpson(integrate.simpson(density, mu, axis=1), precision[:, 0])
    family = DiagonalGaussian()
    statistics = family.cluster_statistics(points, np.zeros(3, np.int64), 1)
    assert family.log_marginal(statistics, prior)[0] == pytest.approx(np.log(value), abs=1e-4)


def test_default_prior_expects_the_variances_shared_out():
    prior = DiagonalGaussian().default_prior(X)
    np.testing.assert_allclose(prior.rate, X.var(axis=0) / expected_clusters(20) ** (2 / 3))
    np.testing.assert_allclose(prior.mean, X.mean(axis=0))


def test_constant_features_have_no_say():
    with_constant = np.column_stack([X, np.full(20, 7.0)])
    family, plain = DiagonalGaussian().adapt(with_constant), DiagonalGaussian().adapt(X)
    np.testing.assert_allclose(
        family.divergence(with_constant, family.points(with_constant)),
        plain.divergence(X, plain.points(X)),
        atol=1e-9,
    )


def test_sparse_statistics():
    binary = sparse.csr_array((np.random.default_rng(0).random((20, 3)) < 0.4) * X)
    family = DiagonalGaussian().adapt(binary)
    expected = np.hstack([binary.toarray(), binary.toarray() ** 2])
    np.testing.assert_allclose(family.statistics(binary).toarray(), expected)
