"""Counts by feature, against SciPy and numerical integration."""

import numpy as np
import pytest
from scipy import integrate, stats

from maylink.errors import DomainError
from maylink.families import Poisson
from maylink.families.poisson import Gammas

PRIOR = Gammas(np.array([1.5, 2.0]), np.array([0.4, 1.1]))
X = np.array([[0.0, 3.0], [2.0, 1.0], [7.0, 0.0]])


def test_likelihood_is_scipys():
    rate = np.array([1.3, 4.0])
    expected = stats.poisson(rate).logpmf(X).sum(axis=1)
    np.testing.assert_allclose(Poisson().log_likelihood(X, np.log(rate)[None])[:, 0], expected)


def test_predictive_is_scipys_negative_binomial():
    share = PRIOR.rate / (PRIOR.rate + 1)
    expected = stats.nbinom(PRIOR.shape, share).logpmf(X).sum(axis=1)
    np.testing.assert_allclose(Poisson().log_predictive(X, PRIOR), expected)


def test_marginal_by_numerical_integration():
    family = Poisson()
    total = 0.0
    for j in range(2):
        value, _ = integrate.quad(
            lambda rate, j=j: (
                stats.gamma.pdf(rate, PRIOR.shape[j], scale=1 / PRIOR.rate[j])
                * stats.poisson.pmf(X[:, j], rate).prod()
            ),
            0,
            60,
        )
        total += np.log(value)
    statistics = family.cluster_statistics(X, np.zeros(3, np.int64), 1)
    assert family.log_marginal(statistics, PRIOR)[0] == pytest.approx(total)


def test_likelihood_ratio_is_the_divergence():
    family = Poisson(smoothing=0.0)
    rates = np.array([[1.3, 4.0], [2.0, 0.5]])
    log_p = family.log_likelihood(X, np.log(rates))
    np.testing.assert_allclose(np.diff(log_p), -np.diff(family.divergence(X, rates)), atol=1e-9)


def test_a_feature_that_is_always_zero_is_harmless():
    silent = np.column_stack([X, np.zeros(3)])
    family = Poisson().adapt(silent)
    assert np.isfinite(family.divergence(silent, family.points(silent))).all()
    statistics = family.cluster_statistics(silent, np.array([0, 1, 1]), 2)
    assert np.isfinite(family.log_marginal(statistics, family.default_prior(silent))).all()


def test_default_prior_expects_the_mean_of_the_data():
    prior = Poisson().default_prior(X)
    np.testing.assert_allclose(prior.shape / prior.rate, X.mean(axis=0) + 0.5 / 3)
    np.testing.assert_allclose(prior.shape, 1.0)


def test_negative_smoothing_is_refused():
    with pytest.raises(DomainError, match="smoothing"):
        Poisson(smoothing=-0.1).adapt(X)
