"""Sizes of clusters and normalising sums, against their definitions."""

from math import log

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from maylink.model.partition_priors import Microclustering
from maylink.model.partition_sums import log_all_partitions, log_renewal, negative_binomial


@pytest.mark.parametrize(("mean_size", "shape"), [*Microclustering().components, (60.0, 0.2)])
def test_sizes_have_the_mean_that_was_asked_for(mean_size, shape):
    m = np.arange(1.0, 40_000.0)
    r, log_p, constant = negative_binomial(mean_size, shape)
    mu = np.exp(gammaln(m + r) + m * log_p + constant - gammaln(m + 1.0))
    assert mu.sum() == pytest.approx(1.0, abs=1e-10)
    assert mu @ m == pytest.approx(mean_size, rel=1e-9)


def test_many_points_renew_at_the_limit():
    for n in (10_000, 1_000_000):
        assert log_renewal(3.0, 2.0, n) == pytest.approx(-np.log(3.0), abs=1e-11)
    assert log_renewal(3.0, 2.0, 4) != pytest.approx(-np.log(3.0), abs=1e-4)


@pytest.mark.parametrize("cost", [0.0, 3.0, 8.0, 40.0])
def test_all_partitions_are_counted(cost):
    """Against Stirling numbers of the second kind, S(n, K) = K S(n − 1, K) + S(n − 1, K − 1)."""
    row = [1]
    for n in range(301):
        logs = [log(one) - cost * k for k, one in enumerate(row) if one]
        assert log_all_partitions(n, cost) == pytest.approx(logsumexp(logs), abs=1e-9)
        both = zip([*row, 0], [0, *row], strict=True)
        row = [k * one + before for k, (one, before) in enumerate(both)]


def test_all_partitions_of_many_points_are_counted():
    """Against the sum of all terms."""
    n, cost = 1_000_000, 8.0
    k = np.arange(1.0, n)
    terms = n * np.log(k) - cost * k - gammaln(k + 1.0)
    expected = logsumexp(terms) - np.exp(-cost)
    assert log_all_partitions(n, cost) == pytest.approx(expected, rel=1e-13)
