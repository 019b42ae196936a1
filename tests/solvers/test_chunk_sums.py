"""Work on chunks: rows go in blocks, and the sums are those of all rows at once."""

import numpy as np
import pytest

from maylink.problem import Problem
from maylink.solvers.chunk_sums import (
    ENTRIES,
    SoftRule,
    add_sizes,
    add_sums,
    chunk_cluster_sums,
    chunk_labels,
    chunk_responsibilities,
    chunk_sums,
    renormalised,
    sums_of,
    without_rows,
)
from maylink.solvers.partition_weights import weights_given_alpha
from maylink.solvers.variational import VariationalSettings, known_alpha
from zoo import draw

X, _ = draw("gaussian", 12, 0)
PROBLEM = Problem.build(X)
LINKED = np.array([0, 5, 11])
UNLINKED = np.delete(np.arange(12), LINKED)


def rule_of(width):
    """A rule of so many clusters; three hold points."""
    family, settings = PROBLEM.family, VariationalSettings(alpha=1.0)
    statistics = family.cluster_statistics(X, np.arange(12) % 3, width)
    weights = weights_given_alpha(statistics.size, known_alpha(settings), settings.partition_prior)
    return SoftRule(family, settings, family.posterior(PROBLEM.prior, statistics), weights)


def test_few_rows_of_many_clusters_go_at_a_time():
    """So many clusters that a block has room for five rows; there are three blocks."""
    width = ENTRIES // 5
    rule = rule_of(width)
    in_blocks = chunk_sums(PROBLEM.family, X, rule, None)
    at_once = sums_of(PROBLEM.family, X, rule.responsibilities(X))
    for ours, theirs in zip(in_blocks.statistics, at_once.statistics, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
    assert in_blocks.entropy == pytest.approx(at_once.entropy)
    nobody = np.empty(0, np.int64)
    labels = np.arange(12) % 7
    assert chunk_labels(X, width, labels, nobody, nobody).tolist() == labels.tolist()


def test_rows_come_back_in_their_order():
    rule, columns = rule_of(8), np.array([2, 0])
    whole = rule.responsibilities(X)
    linked = np.full((3, 8), 1.0 / 8.0)
    unlinked = without_rows(X, LINKED)
    assert unlinked.tolist() == X[UNLINKED].tolist()
    labels = chunk_labels(unlinked, rule, None, LINKED, np.array([7, 7, 7]))
    assert labels[LINKED].tolist() == [7, 7, 7]
    assert labels[UNLINKED].tolist() == whole[UNLINKED].argmax(axis=1).tolist()
    both = chunk_responsibilities(X, rule, None, LINKED, linked, columns)
    assert both[LINKED].tolist() == [[0.5, 0.5]] * 3
    np.testing.assert_allclose(both[UNLINKED], renormalised(whole, columns)[UNLINKED])
    np.testing.assert_allclose(both.sum(axis=1), 1.0)


def test_sums_of_points_are_weighed_by_responsibilities():
    rule, columns = rule_of(8), np.array([0, 1, 2])
    sums = chunk_cluster_sums(PROBLEM.family, X, rule, None, columns)
    weights = renormalised(rule.responsibilities(X), columns)
    np.testing.assert_allclose(sums.points, weights.T @ PROBLEM.family.points(X))
    np.testing.assert_allclose(sums.statistics.size, weights.sum(axis=0))


def test_a_chunk_without_unlinked_rows_adds_nothing():
    nothing = chunk_sums(PROBLEM.family, X[:0], rule_of(8), None)
    some = chunk_sums(PROBLEM.family, X, rule_of(8), None)
    assert nothing is None
    assert add_sums([nothing, nothing]) is None
    assert add_sums([nothing, some]).entropy == some.entropy
    assert add_sizes([np.array([1, 2]), np.array([0, 0, 3])]).tolist() == [1, 2, 3]
