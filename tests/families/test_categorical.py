"""Categories: two of them are a bit."""

import numpy as np
import pytest

from maylink.errors import DomainError
from maylink.families import Bernoulli, Categorical


def test_two_categories_are_a_bit():
    rng = np.random.default_rng(0)
    bit = rng.integers(0, 2, (20, 1)).astype(float)
    both = np.hstack([bit, 1 - bit])
    z = rng.integers(0, 3, 20)
    one, two = Bernoulli().adapt(bit), Categorical().adapt(both)
    np.testing.assert_allclose(
        one.log_marginal(one.cluster_statistics(bit, z, 3), one.unit_prior(1)),
        two.log_marginal(two.cluster_statistics(both, z, 3), two.unit_prior(2)),
    )
    np.testing.assert_allclose(
        one.divergence(bit, np.array([[0.25]])),
        two.divergence(both, two.centroid(_smoothed(np.array([[0.25, 0.75]])))),
        atol=1e-12,
    )


def _smoothed(share):
    return (share + 0.3) / 1.6


def test_a_row_has_one_category():
    with pytest.raises(
        DomainError, match=r"X\[1\] has 2 categories: the 'categorical' family needs"
    ):
        Categorical().check(np.array([[1.0, 0.0], [1.0, 1.0]]))
    with pytest.raises(DomainError, match=r"X\[0\] has 0 categories"):
        Categorical().check(np.zeros((1, 3)))
    with pytest.raises(DomainError, match=r"smoothing: 0\.0 is not above 0"):
        Categorical(smoothing=0.0).check(np.eye(2))
    with pytest.raises(DomainError, match=r"init\[0, 1\] = 2 is not between 0 and 1"):
        Categorical().check_centers(np.array([[0.0, 2.0]]))
