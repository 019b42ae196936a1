"""What tests of data in chunks share."""

import os

import pytest

FAMILIES = [
    "gaussian", "diagonal-gaussian", "poisson", "multinomial", "bernoulli", "gamma",
    "von-mises-fisher", "product",
]  # fmt: skip
SLOW = pytest.mark.skipif(
    "MAYLINK_SLOW" not in os.environ, reason="starts processes: set MAYLINK_SLOW=1 to run it"
)
