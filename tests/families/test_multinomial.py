"""Counts, against SciPy, enumeration and numerical integration."""

import itertools

import numpy as np
import pytest
from scipy import integrate, sparse, stats

from maylink.errors import DomainError
from maylink.families import Multinomial
from maylink.families.multinomial import Dirichlet

PRIOR = Dirichlet(np.array([0.7, 1.5, 2.0]))
COMPOSITIONS = np.array([c for c in itertools.product(range(5), repeat=3) if sum(c) == 4], float)


def test_likelihood_is_scipys_and_sums_to_one():
    share = np.array([0.2, 0.3, 0.5])
    expected = stats.multinomial(4, share).logpmf(COMPOSITIONS)
    value = Multinomial().log_likelihood(COMPOSITIONS, np.log(share)[None])[:, 0]
    np.testing.assert_allclose(value, expected)
    assert np.exp(value).sum() == pytest.approx(1.0)


def test_predictive_is_scipys_dirichlet_multinomial():
    expected = stats.dirichlet_multinomial(PRIOR.concentration, 4).logpmf(COMPOSITIONS.astype(int))
    np.testing.assert_allclose(Multinomial().log_predictive(COMPOSITIONS, PRIOR), expected)


def test_marginal_by_numerical_integration():
    rows = np.array([[3.0, 1.0], [2.0, 5.0]])

    def integrand(share):
        both = [share, 1 - share]
        return stats.beta.pdf(share, 0.7, 1.5) * np.prod(
            [stats.multinomial.pmf(row, row.sum(), both) for row in rows]
        )

    value, _ = integrate.quad(integrand, 0, 1)
    family = Multinomial()
    statistics = family.cluster_statistics(rows, np.zeros(2, np.int64), 1)
    prior = Dirichlet(np.array([0.7, 1.5]))
    assert family.log_marginal(statistics, prior)[0] == pytest.approx(np.log(value))


def test_likelihood_ratio_is_total_times_the_divergence():
    """log p(x | a) − log p(x | b) = −Σx · (KL(x̄ ‖ a) − KL(x̄ ‖ b)) without smoothing."""
    family = Multinomial(smoothing=0.0)
    responsibilities = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    D = family.divergence(COMPOSITIONS, responsibilities)
    log_p = family.log_likelihood(COMPOSITIONS, np.log(responsibilities))
    np.testing.assert_allclose(np.diff(log_p), -4 * np.diff(D), atol=1e-9)


def test_rows_of_any_length_are_compared_by_proportions():
    family = Multinomial(smoothing=0.0)
    X = np.array([[1.0, 2.0, 3.0], [100.0, 200.0, 300.0]])
    np.testing.assert_allclose(family.divergence(X, family.points(X)), 0.0, atol=1e-12)


def test_sparse_rows_are_never_made_dense():
    X = sparse.random(50, 10_000, density=0.001, random_state=0, format="csr")
    family = Multinomial().adapt(X)
    T = family.points(X)
    assert sparse.issparse(T)
    assert T.nnz == X.nnz + 50


def test_default_prior_has_jeffreys_mass_spread_like_the_data():
    X = np.array([[8.0, 0.0, 1.0], [4.0, 2.0, 0.0]])
    prior = Multinomial().default_prior(X)
    assert prior.concentration.sum() == pytest.approx(1.5)
    share = X.mean(axis=0) + 0.25
    np.testing.assert_allclose(prior.concentration / 1.5, share / share.sum())


def test_empty_rows_need_smoothing():
    X = np.array([[1.0, 2.0], [0.0, 0.0]])
    assert np.isfinite(Multinomial().adapt(X).points(X)).all()
    with pytest.raises(DomainError, match=r"X\[1\] has no counts"):
        Multinomial(smoothing=0.0).adapt(X)
    with pytest.raises(DomainError, match="smoothing: -1"):
        Multinomial(smoothing=-1.0).adapt(X)
