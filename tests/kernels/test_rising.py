"""Rising factorials against SciPy's logarithms of the gamma function."""

import numpy as np
import pytest
from scipy.special import gammaln

from maylink.kernels.compile import compiled
from maylink.kernels.rising import MOST_FACTORS, log_gamma_rise


@compiled()
def rise(a, count, sign):
    return log_gamma_rise(a, count, sign)


@pytest.mark.parametrize(
    "count", [0.0, 1.0, 2.0, 31.0, MOST_FACTORS, MOST_FACTORS + 1.0, 2.5, 900.0]
)
@pytest.mark.parametrize("a", [1e-3, 0.7, 40.0, 1e6, 1e12])
def test_up_and_down_are_differences_of_log_gammas(a, count):
    up = gammaln(a + count) - gammaln(a)
    digits = 1e-14 * abs(gammaln(a + count)) + 1e-12  # what the difference itself loses
    assert rise(a, count, 1.0) == pytest.approx(up, rel=1e-10, abs=digits)
    assert rise(a + count, count, -1.0) == pytest.approx(-up, rel=1e-10, abs=digits)


def test_small_counts_lose_no_digits_where_the_mass_is_large():
    assert rise(1e15, 3.0, 1.0) == pytest.approx(3.0 * np.log(1e15), rel=1e-15)
