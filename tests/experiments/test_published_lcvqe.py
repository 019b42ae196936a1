"""LCVQE as published: K-means without links, and where a point of a may-not link goes."""

import numpy as np
from sklearn.cluster import KMeans

from maylink.baselines.kernels.quantisation import reassign_to_second
from maylink.baselines.quantisation import by_feature
from maylink.experiments import published_lcvqe
from maylink.links import Links
from maylink.metrics import pair_f

CENTERS = np.array([[0.0], [10.0], [30.0]])


def asked(X, may, may_not):
    """Labels after the links have been asked, nearest centres first."""
    X = np.array(X)[:, None]
    labels = np.abs(X - CENTERS.T).argmin(axis=1)
    i, j = np.array([*may, *may_not]).T
    total, count = np.zeros((3, 1)), np.zeros(3)
    reassign_to_second(X, by_feature(CENTERS), i, j, len(may), labels, total, count)
    return labels.tolist(), total[:, 0].tolist(), count.tolist()


def test_without_links_it_is_k_means():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(m, 1, (30, 2)) for m in (0, 10, 20)])
    labels = published_lcvqe.fit(X, Links(90, [], [], []), 3, rng, X[[0, 30, 60]])
    expected = KMeans(3, init=X[[0, 30, 60]], n_init=1).fit(X).labels_
    assert pair_f(expected, labels) == 1.0


def test_the_farther_point_goes_to_its_second_nearest_centre():
    assert asked([1.0, 2.0], [], [(0, 1)])[0] == [0, 1]


def test_a_point_that_was_moved_there_already_stays_and_the_link_is_violated():
    # The first link sends point 1 to cluster 1, where point 2 is; the second finds it there.
    assert asked([1.0, 4.0, 10.0], [], [(0, 1), (1, 2)])[0] == [0, 1, 1]


def test_a_violated_may_link_pulls_with_half_a_point():
    labels, total, count = asked([0.0, 30.0], [(0, 1)], [])
    assert labels == [0, 2]
    assert total == [15.0, 0.0, 0.0]
    assert count == [0.5, 0.0, 0.5]
