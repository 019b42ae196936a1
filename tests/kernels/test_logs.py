"""Vectorised logarithms against NumPy's."""

import numpy as np

from maylink.kernels.compile import compiled
from maylink.kernels.logs import log_all


@compiled()
def logs_of(values, out):
    log_all(values, values.view(np.int64), values.size, out)


def test_logarithms_to_the_last_digits():
    rng = np.random.default_rng(0)
    values = np.concatenate(
        [
            10.0 ** rng.uniform(-300, 300, 1000),
            1.0 + 10.0 ** rng.uniform(-15, 0, 1000),
            [1.0, 2.0, 0.5, np.sqrt(2.0), np.sqrt(0.5), np.finfo(float).max],
        ]
    )
    out = np.empty(values.size)
    logs_of(values.copy(), out)
    np.testing.assert_allclose(out, np.log(values), rtol=2e-15, atol=4e-16)
