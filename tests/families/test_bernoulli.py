"""Bits, against SciPy and numerical integration."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import logit
from sklearn.metrics import log_loss

from maylink.errors import DomainError
from maylink.families import Bernoulli
from maylink.families.bernoulli import Betas

PRIOR = Betas(np.array([0.5, 2.0]), np.array([1.5, 0.7]))
X = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])


def test_likelihood_is_scipys():
    share = np.array([0.2, 0.7])
    expected = stats.bernoulli(share).logpmf(X).sum(axis=1)
    np.testing.assert_allclose(Bernoulli().log_likelihood(X, logit(share)[None])[:, 0], expected)


def test_predictive_is_scipys_beta_binomial():
    expected = stats.betabinom(1, PRIOR.a, PRIOR.b).logpmf(X).sum(axis=1)
    np.testing.assert_allclose(Bernoulli().log_predictive(X, PRIOR), expected)


def test_marginal_by_numerical_integration():
    family = Bernoulli()
    total = 0.0
    for j in range(2):
        value, _ = integrate.quad(
            lambda p, j=j: (
                stats.beta.pdf(p, PRIOR.a[j], PRIOR.b[j]) * stats.bernoulli.pmf(X[:, j], p).prod()
            ),
            0,
            1,
        )
        total += np.log(value)
    statistics = family.cluster_statistics(X, np.zeros(3, np.int64), 1)
    assert family.log_marginal(statistics, PRIOR)[0] == pytest.approx(total)


def test_divergence_without_smoothing_is_scikit_learns_log_loss():
    share = np.array([[0.2, 0.7]])
    D = Bernoulli(smoothing=0.0).divergence(X, share)[:, 0]
    expected = [2 * log_loss(row, share[0], labels=[0, 1]) for row in X]
    np.testing.assert_allclose(D, expected)


def test_default_prior_is_one_bit_shared_like_the_data():
    prior = Bernoulli().default_prior(X)
    np.testing.assert_allclose(prior.a + prior.b, 1.0)
    np.testing.assert_allclose(prior.a, (X.sum(axis=0) + 0.5) / 4)


def test_other_values_are_refused():
    for value in (0.5, 2.0):
        with pytest.raises(DomainError, match="zeros and ones"):
            Bernoulli().adapt(np.array([[0.0, value]]))
    with pytest.raises(DomainError, match="smoothing"):
        Bernoulli(smoothing=-0.1).adapt(X)
