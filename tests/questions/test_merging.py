"""Merging as long as it pays, against SciPy."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from maylink.metrics import adjusted_rand
from maylink.questions.merging import Mergers


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
