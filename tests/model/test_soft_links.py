"""Soft counts of links and expected logarithms of p and q."""

import numpy as np
import pytest

from maylink.model.reliability import LinkCounts, count_links
from maylink.model.soft_links import pair_responsibilities, reliabilities, soft_counts
from zoo import draw_pairs, links_of


def test_pair_responsibilities():
    responsibilities = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    together = pair_responsibilities(responsibilities, np.array([0, 0, 1]), np.array([1, 2, 2]))
    np.testing.assert_allclose(together, [0.5, 0.0, 0.5])


def test_counts_of_a_sure_partition_are_those_of_its_labels():
    links = links_of(draw_pairs(30, 80, seed=0), 30)
    labels = np.random.default_rng(0).integers(0, 3, 30)
    for ours, theirs in zip(
        soft_counts(links, np.eye(3)[labels]), count_links(links, labels), strict=True
    ):
        np.testing.assert_allclose(ours, theirs)


def test_expected_logarithms_are_those_of_beta_draws():
    counts = LinkCounts(*np.array([[7.0, 0.0], [2.5, 0.0], [4.0, 30.0], [1.0, 3.0]]))
    expected = reliabilities(counts, (9.0, 1.0))
    rng = np.random.default_rng(0)
    p = rng.beta(9.0 + counts.may_same, 1.0 + counts.not_same, (200_000, 2))
    q = rng.beta(9.0 + counts.not_different, 1.0 + counts.may_different, (200_000, 2))
    for ours, drawn in zip(expected, (p, 1.0 - p, q, 1.0 - q), strict=True):
        np.testing.assert_allclose(ours, np.log(drawn).mean(axis=0), atol=0.02)
    np.testing.assert_allclose(expected.may_weight, np.log(p / (1.0 - q)).mean(axis=0), atol=0.02)
    np.testing.assert_allclose(
        expected.may_not_weight, np.log(q / (1.0 - p)).mean(axis=0), atol=0.02
    )


def test_known_reliability_is_taken_as_it_is():
    counts = LinkCounts(*np.ones((4, 2)))
    expected = reliabilities(counts, known=(0.9, 0.8))
    assert np.exp(expected).tolist() == [
        pytest.approx([value] * 2) for value in (0.9, 0.1, 0.8, 0.2)
    ]
