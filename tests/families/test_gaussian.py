"""One variance for all features, against SciPy and numerical integration."""

import numpy as np
import pytest
from scipy import integrate, stats

from maylink.errors import DomainError
from maylink.families import Gaussian, Statistics
from maylink.families.columns import expected_clusters
from maylink.families.gaussian import NormalGamma

PRIOR = NormalGamma(np.array([0.5]), np.array(0.3), np.array(2.5), np.array(1.7))
X = np.array([[0.3], [1.9], [-0.4]])


def one_cluster(family, X):
    return family.cluster_statistics(X, np.zeros(len(X), np.int64), 1)


def test_likelihood_is_scipys():
    center, variance = np.array([1.0, -2.0, 0.5]), 1.7
    theta = np.append(center / variance, -0.5 / variance)[None]
    points = np.random.default_rng(0).normal(size=(6, 3))
    expected = stats.multivariate_normal(center, variance * np.eye(3)).logpdf(points)
    np.testing.assert_allclose(Gaussian().log_likelihood(points, theta)[:, 0], expected)


def test_predictive_is_scipys_t():
    d = 3
    prior = NormalGamma(np.arange(d) * 1.0, np.array(0.3), np.array(2.5), np.array(1.7))
    shape = np.eye(d) * 1.7 * (0.3 + 1) / (2.5 * 0.3)
    points = np.random.default_rng(0).normal(size=(6, d))
    expected = stats.multivariate_t(np.arange(d), shape, df=5.0).logpdf(points)
    np.testing.assert_allclose(Gaussian().log_predictive(points, prior), expected)


def test_marginal_by_numerical_integration():
    mu, precision = np.linspace(-40, 40, 8001), np.geomspace(1e-4, 1e2, 1001)[:, None]
    density = stats.gamma.pdf(precision, 2.5, scale=1 / 1.7)
    density = density * stats.norm.pdf(mu, 0.5, (0.3 * precision) ** -0.5)
    for point in X[:, 0]:
        density = density * stats.norm.pdf(point, mu, precision**-0.5)
    value = integrate.simpson(integrate.simpson(density, mu, axis=1), precision[:, 0])
    family = Gaussian()
    assert family.log_marginal(one_cluster(family, X), PRIOR)[0] == pytest.approx(
        np.log(value), abs=1e-4
    )


def test_a_far_offset_costs_no_digits():
    """The marginal of data at 10⁸ equals that of the same data at 0."""
    rng = np.random.default_rng(0)
    near = rng.normal(size=(50, 2))
    labels = rng.integers(0, 3, 50)
    values = []
    for points in (near, near + 1e8):
        family = Gaussian().adapt(points)
        statistics = family.cluster_statistics(points, labels, 3)
        values.append(family.log_marginal(statistics, family.default_prior(points)))
    np.testing.assert_allclose(values[1], values[0], rtol=1e-6)


def test_default_prior_follows_the_scale_of_the_data():
    """Scaling the data by s shifts the marginal by −n d log s and no more."""
    points = np.random.default_rng(0).normal(size=(50, 2))
    labels = np.repeat([0, 1], 25)
    values = []
    for scale in (1.0, 1e-3, 1e6):
        family = Gaussian().adapt(points * scale)
        statistics = family.cluster_statistics(points * scale, labels, 2)
        total = family.log_marginal(statistics, family.default_prior(points * scale)).sum()
        values.append(total + points.size * np.log(scale))
    np.testing.assert_allclose(values[1:], values[0], rtol=1e-9)


def test_default_prior_is_placed_by_the_bulk_of_the_data():
    points = np.random.default_rng(0).normal(size=(500, 2))
    clean = Gaussian().default_prior(points)
    assert clean.rate == pytest.approx(points.var(axis=0).mean() / expected_clusters(500))
    spoilt = Gaussian().default_prior(np.vstack([points, [[1e9, -1e9]]]))
    assert spoilt.rate == pytest.approx(float(clean.rate), rel=0.1)
    np.testing.assert_allclose(spoilt.mean, clean.mean, atol=0.05)


def test_constant_features_become_exact_zeros():
    points = np.column_stack([np.full(7, 0.1), np.arange(7.0)])
    assert np.all(Gaussian().adapt(points).points(points)[:, 0] == 0.0)


@pytest.mark.parametrize(("scale", "word"), [(1e200, "overflow"), (1e-200, "vanish")])
def test_scales_whose_squares_are_lost_are_refused(scale, word):
    with pytest.raises(DomainError, match=word):
        Gaussian().adapt(np.random.default_rng(0).normal(size=(5, 2)) * scale)


@pytest.mark.parametrize("scale", [1e-140, 1e-30, 1e30, 1e140])
def test_other_scales_are_fine(scale):
    points = np.random.default_rng(0).normal(size=(5, 2))
    expected = Gaussian().adapt(points)
    family = Gaussian().adapt(points * scale)
    D = family.divergence(points * scale, family.points(points * scale))
    np.testing.assert_allclose(
        D / scale / scale, expected.divergence(points, expected.points(points)), atol=1e-12
    )


def test_statistics_of_no_points_in_a_cluster():
    family = Gaussian()
    statistics = family.cluster_statistics(X, np.array([0, 0, 2]), 3)
    assert isinstance(statistics, Statistics)
    assert family.log_marginal(statistics, PRIOR)[1] == pytest.approx(0.0)
