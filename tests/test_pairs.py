"""Pairs by number: every pair once, drawn without repetition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maylink.pairs import draw_distinct, pair_keys, rank_pairs, unrank_pair, unrank_pairs


def test_keys_do_not_depend_on_the_order_of_a_pair():
    i, j = np.array([0, 5, 2], np.int32), np.array([5, 0, 1], np.int32)
    assert pair_keys(i, j, 6).tolist() == [5, 5, 8]
    large = np.array([2**31 - 2], np.int32)
    assert pair_keys(large, large - 1, 2**31 - 1).tolist() == [
        (2**31 - 3) * (2**31 - 1) + 2**31 - 2
    ]


@pytest.mark.parametrize(("population", "size"), [(50, 50), (10**12, 1000), (2 * 10**7, 10**5)])
def test_draw_distinct(population, size):
    drawn = draw_distinct(population, size, np.random.default_rng(0))
    assert drawn.size == np.unique(drawn).size == size
    assert 0 <= drawn.min() <= drawn.max() < population
    assert drawn.mean() == pytest.approx((population - 1) / 2, rel=0.1)
    assert not np.array_equal(drawn, np.sort(drawn))


@given(st.integers(2, 60))
def test_unrank_pairs_counts_every_pair_once(n):
    a, b = unrank_pairs(np.arange(n * (n - 1) // 2), n)
    assert rank_pairs(a, b, n).tolist() == list(range(n * (n - 1) // 2))
    pairs = [unrank_pair(rank, n) for rank in range(n * (n - 1) // 2)]
    assert pairs == list(zip(a.tolist(), b.tolist(), strict=True))
    expected = np.triu_indices(n, k=1)
    assert np.array_equal(a, expected[0])
    assert np.array_equal(b, expected[1])


@pytest.mark.parametrize("n", [10**5, 10**7, 2 * 10**9])
def test_unrank_pairs_is_exact_for_many_points(n):
    last = n * (n - 1) // 2 - 1
    start = np.array([0, n - 2, n - 1, last - 1, last, last // 2, last // 3])
    a, b = unrank_pairs(start, n)
    rank = [
        int(x) * (2 * n - int(x) - 1) // 2 + int(y) - int(x) - 1 for x, y in zip(a, b, strict=True)
    ]
    assert rank == start.tolist()
    assert np.all((a < b) & (b < n))
