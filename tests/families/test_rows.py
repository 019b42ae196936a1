"""Sums of the rows of clusters, against a loop over the clusters."""

import numpy as np
import pytest
from scipy import sparse

from maylink.families.rows import cluster_sums


@pytest.mark.parametrize("in_order", [0, 10**6])
@pytest.mark.parametrize("kind", [np.float64, np.float32, sparse.csr_array])
@pytest.mark.parametrize("shape", [(30, 4), (30,)])
def test_sums_are_those_of_a_loop(in_order, kind, shape):
    if kind is sparse.csr_array and len(shape) == 1:
        pytest.skip("sparse rows are a matrix")
    rng = np.random.default_rng(0)
    plain, labels = rng.normal(size=shape), rng.integers(0, 5, 30)
    labels[labels == 2] = 3  # an empty cluster
    rows = kind(plain) if kind is sparse.csr_array else plain.astype(kind)
    sums = cluster_sums(rows, labels, 6, in_order)
    dense = np.asarray(rows.toarray() if sparse.issparse(rows) else rows, np.float64)
    expected = np.array([dense[labels == k].sum(axis=0) for k in range(6)])
    assert sums.dtype == np.float64
    np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-12)
