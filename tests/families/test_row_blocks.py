"""Scores and sums of rows in blocks: those of all rows at once, on any number of threads."""

import numpy as np
import pytest
from scipy import sparse

from maylink.families import row_blocks
from maylink.families.row_blocks import affine_scores, in_blocks, weighted_sums
from maylink.runtime.threads import least_work


def with_squares(X):
    return np.hstack([X, np.square(X).sum(axis=1, keepdims=True)])


def constant(X):
    return np.full(X.shape[0], -1.5)


@pytest.fixture(params=[1, 5, 64], autouse=True)
def block(request, monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", request.param)


@pytest.mark.parametrize("n", [0, 1, 23])
def test_scores_are_affine_in_the_statistics(n):
    rng = np.random.default_rng(n)
    X, theta, partition = rng.normal(size=(n, 3)), rng.normal(size=(2, 4)), rng.normal(size=2)
    expected = with_squares(X) @ theta.T - partition - 1.5
    with least_work(1):
        found = affine_scores(with_squares, constant, X, theta, partition)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_sparse_rows_have_the_scores_and_sums_of_dense_ones():
    rng = np.random.default_rng(0)
    X = sparse.random_array((23, 4), density=0.4, format="csr", rng=rng)
    theta, partition = rng.normal(size=(2, 4)), rng.normal(size=2)
    found = affine_scores(lambda rows: rows, constant, X, theta, partition)
    np.testing.assert_allclose(found, X.toarray() @ theta.T - partition - 1.5)
    each = rng.dirichlet([1.0, 1.0], 23)
    np.testing.assert_allclose(
        weighted_sums(lambda rows: rows, constant, X, each)[1], each.T @ X.toarray()
    )


def test_sums_weigh_each_row_by_its_responsibility():
    rng = np.random.default_rng(0)
    X, each = rng.normal(size=(23, 3)), rng.dirichlet([1.0, 2.0, 3.0], 23)
    with least_work(1):
        size, total, base = weighted_sums(with_squares, constant, X, each)
    again = weighted_sums(with_squares, constant, X, each)  # on one thread
    assert all(np.array_equal(a, b) for a, b in zip((size, total, base), again, strict=True))
    np.testing.assert_allclose(size, each.sum(axis=0))
    np.testing.assert_allclose(total, each.T @ with_squares(X))
    np.testing.assert_allclose(base, -1.5 * each.sum(axis=0))


def test_blocks_come_back_in_order():
    with least_work(1):
        parts = in_blocks(lambda rows: list(range(23))[rows], 23, 1)
    assert [i for part in parts for i in part] == list(range(23))
