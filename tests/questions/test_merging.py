"""Merging as long as it pays, against SciPy."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from maylink.kernels.merge_tree import ENERGY, log_shrinkages
from maylink.metrics import adjusted_rand
from maylink.questions.merging import Mergers, MergingRule


@pytest.mark.parametrize("seed", range(5))
def test_groups_are_those_of_average_linkage(seed):
    rng = np.random.default_rng(seed)
    alike = rng.random((12, 12))
    alike = (alike + alike.T) / 2.0
    np.fill_diagonal(alike, 1.0)
    theirs = fcluster(linkage(squareform(1.0 - alike), "average"), 0.45, "distance")
    assert adjusted_rand(theirs, Mergers.by_average(alike, np.ones(12)).groups(0.55)) == 1.0


def test_larger_pieces_count_more():
    alike = np.array([[1.0, 0.95, 0.2], [0.95, 1.0, 0.9], [0.2, 0.9, 1.0]])
    large_first = Mergers.by_average(alike, np.array([9.0, 1.0, 1.0]))
    assert large_first.groups(0.5).max() == 1  # .27 on average
    large_second = Mergers.by_average(alike, np.array([1.0, 9.0, 1.0]))
    assert large_second.groups(0.5).max() == 0  # .83


def test_shrinkages_of_many_columns_are_sums_of_logs():
    precision = np.random.default_rng(0).random(400) * 1e-6  # their product is below all numbers
    found = np.empty(1_000)
    log_shrinkages(precision, found)
    expected = [np.log(precision / (precision + size)).sum() for size in range(1_000)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_rule_merges_the_same_whatever_it_merged_before():
    rng = np.random.default_rng(0)
    near = rng.random((20, 20))
    rule = MergingRule(ENERGY, rng.integers(1, 9, 20) + 0.0, near + near.T, rng.random((20, 3)),
                       np.array([0.1, 1.0, 10.0]))  # fmt: skip
    first = rule.mergers()
    known = np.unique(first.scores)
    rule.set_heights(known, np.log(1.0 + np.arange(1, len(known) + 1)))
    votes = rng.normal(0.0, 3.0, (20, 20))
    votes += votes.T
    with_votes, without = rule.mergers(votes, 1.0, 0.5), rule.mergers(np.zeros((20, 20)), 1.0, 0.5)
    assert not np.array_equal(with_votes.children, without.children)
    for one, other in ((with_votes, rule.mergers(votes, 1.0, 0.5)), (without, rule.mergers())):
        np.testing.assert_array_equal(one.children, other.children)
        np.testing.assert_array_equal(one.scores, other.scores)
