"""Positive values, against SciPy and numerical integration."""

import numpy as np
import pytest
from scipy import integrate, sparse, stats

from maylink.errors import DomainError
from maylink.families import Gamma
from maylink.families.poisson import Gammas

PRIOR = Gammas(np.array([2.5, 3.0]), np.array([1.4, 0.6]))
X = np.array([[0.4, 3.0], [2.0, 1.0], [7.0, 0.2]])


@pytest.mark.parametrize("shape", [1.0, 2.5])
def test_likelihood_is_scipys(shape):
    rate = np.array([1.3, 4.0])
    expected = stats.gamma(shape, scale=1 / rate).logpdf(X).sum(axis=1)
    np.testing.assert_allclose(Gamma(shape).log_likelihood(X, -rate[None])[:, 0], expected)


@pytest.mark.parametrize("shape", [1.0, 2.5])
def test_predictive_is_scipys_beta_prime(shape):
    expected = stats.betaprime(shape, PRIOR.shape, scale=PRIOR.rate).logpdf(X).sum(axis=1)
    np.testing.assert_allclose(Gamma(shape).log_predictive(X, PRIOR), expected)


def test_marginal_by_numerical_integration():
    family = Gamma(2.5)
    total = 0.0
    for j in range(2):
        value, _ = integrate.quad(
            lambda rate, j=j: (
                stats.gamma.pdf(rate, PRIOR.shape[j], scale=1 / PRIOR.rate[j])
                * stats.gamma.pdf(X[:, j], 2.5, scale=1 / rate).prod()
            ),
            1e-12,
            80,
            limit=200,
        )
        total += np.log(value)
    statistics = family.cluster_statistics(X, np.zeros(3, np.int64), 1)
    assert family.log_marginal(statistics, PRIOR)[0] == pytest.approx(total)


def test_likelihood_ratio_is_shape_times_the_divergence():
    family = Gamma(2.5)
    means = np.array([[1.3, 4.0], [2.0, 0.5]])
    log_p = family.log_likelihood(X, -2.5 / means)
    np.testing.assert_allclose(np.diff(log_p), -2.5 * np.diff(family.divergence(X, means)))


@pytest.mark.parametrize("shape", [1.0, 2.5])
def test_default_prior_expects_the_mean_of_the_data(shape):
    """E x = shape · E(1/rate) = shape · b/(a − 1)."""
    prior = Gamma(shape).default_prior(X)
    np.testing.assert_allclose(shape * prior.rate / (prior.shape - 1), X.mean(axis=0))


def test_divergence_ignores_the_unit():
    family = Gamma()
    np.testing.assert_allclose(family.divergence(X * 1e9, X * 1e9), family.divergence(X, X))


def test_zeros_are_refused_also_in_sparse_data():
    with pytest.raises(DomainError, match=r"X\[0, 1\] = 0"):
        Gamma().adapt(np.array([[1.0, 0.0]]))
    with pytest.raises(DomainError, match="holds zeros"):
        Gamma().adapt(sparse.csr_array(np.array([[1.0, 0.0]])))
    with pytest.raises(DomainError, match="shape: 0"):
        Gamma(0.0).adapt(X)
