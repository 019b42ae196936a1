"""Data in chunks: the same constants and priors as of data in memory, without Dask."""

import numpy as np
import pytest

from maylink.errors import DomainError, MaylinkError
from maylink.families import Product, all_families
from maylink.families.columns import (
    PRIOR_ROWS,
    VARIANCE,
    add_chunk,
    add_squares,
    column_means,
    column_variances,
    columns_of,
    needed_of_columns,
    prior_rows,
    sample_rows,
)
from maylink.families.registry import check_chunks
from zoo import draw, example

IN_CHUNKS = sorted(name for name, cls in all_families().items() if cls.in_chunks)


def columns(family, X, size):
    """What the rows are like, seen some at a time; chunks without rows among them."""
    starts = range(0, len(X), size)
    chunks = [X[low : low + size] for low in starts]
    sums = add_chunk(None, X[:0], 0, [family])
    for chunk, start in zip(chunks, starts, strict=True):
        sums = add_chunk(sums, chunk, start, [family])
        sums = add_chunk(sums, X[:0], start + len(chunk), [family])
    squares = None
    if VARIANCE in needed_of_columns([family]):
        squares = np.zeros(X.shape[1])
        for chunk in chunks:
            squares = add_squares(squares, chunk, sums.total / len(X))
    return columns_of(sums, squares, len(X), X.dtype, X[sample_rows(len(X))])


def numbers(thing):
    """Every number in a prior, or in a family's settings."""
    if isinstance(thing, (list, tuple)):
        return np.concatenate([np.empty(0), *(numbers(part) for part in thing)])
    if hasattr(thing, "__dict__"):
        return numbers([value for key, value in vars(thing).items() if key != "name"])
    return np.empty(0) if thing is None else np.ravel(thing).astype(np.float64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 7, 50])
@pytest.mark.parametrize("name", IN_CHUNKS)
def test_constants_and_priors_are_those_of_data_in_memory(name, size, dtype):
    X = draw(name, 50, 0)[0].astype(dtype)
    family = example(name)
    whole = columns(family, X, size)
    # NumPy adds single columns, and single precision, in another order.
    exact = family.kind != "mixed"
    tolerance = 0.0 if exact else 1e-6
    ours, theirs = family.adapt_columns(whole), family.adapt(X)
    np.testing.assert_allclose(numbers(ours), numbers(theirs), rtol=tolerance, atol=tolerance)
    prior = ours.prior_of_columns(whole, X)
    expected = theirs.default_prior(X)
    np.testing.assert_allclose(numbers(prior), numbers(expected), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", IN_CHUNKS)
def test_some_rows_place_nearly_the_prior_that_all_would_place(name):
    """Nearly: of data in memory a quarter of these rows is asked for medians."""
    X = draw(name, PRIOR_ROWS + 500, 0)[0]
    family = example(name).adapt(X)
    ours = family.prior_of_columns(columns(family, X, 9000), X[prior_rows(len(X))])
    np.testing.assert_allclose(numbers(ours), numbers(family.default_prior(X)), atol=0.02)


def test_means_and_variances_are_those_of_numpy_to_the_bit():
    X = np.random.default_rng(0).normal(1e6, 1.0, (20_000, 3)).astype(np.float32)
    X[:, 1] = 0.1
    whole = columns(example("diagonal-gaussian"), X, 999)
    np.testing.assert_array_equal(column_means(whole), column_means(X))
    np.testing.assert_array_equal(whole.variances, column_variances(X))


def test_a_bad_row_is_told_by_its_number_among_all():
    X = np.ones((30, 2))
    X[23, 1] = -1.0
    with pytest.raises(DomainError, match=r"X\[23, 1\] = -1"):
        columns(example("poisson"), X, 10)


@pytest.mark.parametrize("name", sorted(set(all_families()) - set(IN_CHUNKS)))
def test_a_family_that_needs_all_data_in_one_place_says_so(name):
    with pytest.raises(MaylinkError, match=f"'{name}' takes what it needs from all data in one"):
        check_chunks(example(name))


def test_a_product_can_what_its_parts_can():
    check_chunks(Product([("gaussian", [0]), ("poisson", [1])]))
    check_chunks(Product([(Product([("gamma", [0])]), [1]), ("poisson", [0])]))
    check_chunks(Product([("poisson", [0]), ("von-mises-fisher", [1, 2])]))
    with pytest.raises(MaylinkError, match="'full-gaussian' takes what it needs"):
        check_chunks(Product([("poisson", [0]), ("full-gaussian", [1, 2])]))
