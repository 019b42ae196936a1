"""What neighbours say of new points, beside plain loops over all distances."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from maylink.families import Gaussian
from maylink.model.known_neighbours import GraphSpace, KnownNeighbours


def known(n=60, d=3, k=4, count=5, p=0.8, q=0.7, form=np.asarray):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(n, d)), rng.permutation(np.arange(n) % k)
    family = Gaussian().adapt(X)
    rows = form(family.neighbour_rows(X))
    return KnownNeighbours(
        GraphSpace(family, family.neighbour_scales(X)), rows, labels, count, p, q
    ), X


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("d", [2, 20])
def test_log_odds_are_those_of_the_formula(form, d):
    neighbours, X = known(d=d, form=form)
    new = np.random.default_rng(1).normal(size=(7, d))
    expected = np.empty((7, 4))
    for row, distance in enumerate(cdist(new, X)):
        near = neighbours.labels[np.argsort(distance)[:5]]
        for cluster in range(4):
            share = (neighbours.labels == cluster).mean()
            expected[row, cluster] = (near == cluster).sum() * np.log(0.8 / 0.3)
            expected[row, cluster] -= 5 * share * np.log(0.7 / 0.2)
    np.testing.assert_allclose(neighbours.log_odds(new), expected)


def test_a_graph_that_says_nothing_changes_nothing():
    """At p = 1 − q a point's neighbours are as likely in any cluster."""
    neighbours, X = known(p=0.5, q=0.5)
    np.testing.assert_allclose(neighbours.log_odds(X[:3]), 0.0, atol=1e-12)


def test_there_are_never_more_neighbours_than_points():
    neighbours, X = known(n=4, count=9)
    assert neighbours.log_odds(X[:2]).shape == (2, 4)


def test_directions_are_those_of_the_fit():
    X = np.random.default_rng(0).normal(size=(30, 5))
    family = Gaussian().adapt(X)
    directions = np.eye(5)[:2]
    shift = np.array([1.0, -1.0])
    rows = GraphSpace(family, family.neighbour_scales(X), directions, shift).rows(X[:4])
    np.testing.assert_allclose(rows, family.neighbour_rows(X)[:4, :2] - shift)
