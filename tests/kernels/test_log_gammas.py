"""Sums of differences of log Γ against SciPy's."""

import numpy as np
import pytest
from scipy.special import gammaln

from maylink.kernels.log_gammas import sums_of_rises


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("zeros", [0.0, 0.9])
def test_sums_to_the_last_digits(seed, zeros):
    rng = np.random.default_rng(seed)
    a = 10.0 ** rng.uniform(-8, 3, 50)
    counts = 10.0 ** rng.uniform(-3, 6, (30, 50)) * (rng.random((30, 50)) >= zeros)
    counts[:10] = rng.poisson(2.0, (10, 50))
    expected = (gammaln(a + counts) - gammaln(a)).sum(axis=1)
    size = (np.abs(gammaln(a + counts)) + np.abs(gammaln(a))).sum(axis=1)
    assert np.all(np.abs(sums_of_rises(counts, a) - expected) <= 1e-14 * size)


def test_one_number_around_eight_where_the_formula_changes():
    a = np.array([0.5])
    for count in (1e-9, 7.4, 7.499999999, 7.5, 7.6, 1e30):
        rise = sums_of_rises(np.array([[count]]), a)
        np.testing.assert_allclose(rise, gammaln(a + count) - gammaln(a), rtol=1e-13, atol=1e-14)


def test_no_counts_and_no_rows():
    assert sums_of_rises(np.zeros((2, 3)), np.ones(3)).tolist() == [0.0, 0.0]
    assert sums_of_rises(np.empty((0, 3)), np.ones(3)).shape == (0,)
