"""How wide clusters are expected to be: narrower where the data say so, and only there."""

from dataclasses import replace

import numpy as np
import pytest

from maylink import RDPMeans, TVClust
from maylink.families import as_family
from maylink.links import Links
from maylink.metrics import pair_f
from maylink.problem import Problem
from maylink.tuning.few_points import hold_few_points
from maylink.tuning.pieces import PieceView
from maylink.tuning.spread import SPREADS, same_spread, spread_fit, with_spread
from maylink.views.neighbours import NeighbourGraph

GAUSSIANS = ("gaussian", "diagonal-gaussian", "shared-gaussian", "full-gaussian")


def many_far_apart(seed=0):
    """Draw 30 clusters of ten points on a lattice whose places are ten deviations apart."""
    rng = np.random.default_rng(seed)
    places = 10.0 * np.argwhere(np.ones((6, 6)))
    y = np.repeat(np.arange(30), 10)
    return rng.permutation(places)[y] + rng.normal(size=(300, 2)), y


def view_of(X, name):
    problem = Problem(X, Links.empty(len(X)), as_family(name).adapt(X))
    return PieceView.of(problem, NeighbourGraph(problem, 0), np.random.default_rng(0))


@pytest.mark.parametrize("name", GAUSSIANS)
def test_spread_multiplies_what_holds_the_variances(name):
    X, _ = many_far_apart()
    family = as_family(name).adapt(X)
    usual, narrow = (replace(family, spread=one).default_prior(X) for one in (1.0, 0.1))
    changed = [
        field for field in usual._fields if not np.allclose(getattr(usual, field),
                                                            getattr(narrow, field))
    ]  # fmt: skip
    assert changed == [family.sized_by]
    ratio = np.diag(np.atleast_2d(getattr(narrow, family.sized_by))) / np.diag(
        np.atleast_2d(getattr(usual, family.sized_by))
    )
    assert np.allclose(ratio, 0.1)


def test_many_clusters_are_narrow_and_few_are_not():
    X, _ = many_far_apart()
    assert with_spread(view_of(X, "gaussian")).problem.family.spread < 0.3
    rng = np.random.default_rng(1)
    few = rng.normal(size=(200, 2)) + 6.0 * rng.integers(0, 2, 200)[:, None]
    assert with_spread(view_of(few, "gaussian")).problem.family.spread >= SPREADS[1]


def test_a_family_that_learns_stays_as_it_is():
    X, _ = many_far_apart()
    view = view_of(X, "plda")
    assert with_spread(view) is view
    assert same_spread(view.problem, view) is view.problem


@pytest.mark.parametrize("kind", [TVClust, RDPMeans])
def test_many_clusters_are_found_without_links(kind):
    X, y = many_far_apart()
    model = kind(random_state=0).fit(X)
    assert abs(model.n_clusters_ - 30) <= 1
    assert pair_f(y, model.labels_) > 0.98


def in_pairs(n_pairs=80, seed=0):
    """Draw points of which every two lie close together, in six dimensions."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_pairs), 2)
    return rng.normal(size=(n_pairs, 6))[y] + 0.05 * rng.normal(size=(y.size, 6)), y


@pytest.mark.parametrize("kind", [TVClust, RDPMeans])
def test_pairs_are_found_without_links(kind):
    X, y = in_pairs()
    assert pair_f(y, kind(random_state=0).fit(X).labels_) > 0.95


def test_neighbours_tell_of_few_points_and_of_nothing_else():
    rng = np.random.default_rng(0)
    clear = 8.0 * rng.normal(size=(5, 4))[rng.integers(0, 5, 300)] + rng.normal(size=(300, 4))
    flat = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 10))  # fewer dimensions than columns
    assert hold_few_points(in_pairs()[0])
    assert not any(hold_few_points(X) for X in (rng.random((300, 3)), clear, flat))
    assert not hold_few_points(np.ones((100, 3)))  # all points are equal
    assert not hold_few_points(rng.normal(size=(20, 3)))  # too few to tell


def test_pieces_are_made_anew_where_clusters_are_narrower():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(100), 5)
    X = rng.permutation(10.0 * np.argwhere(np.ones((20, 20))))[y] + rng.normal(size=(500, 2))
    _, fit = spread_fit(view_of(X, "gaussian"))
    assert fit.labels.max() + 1 > 60  # 52 from the pieces of wide clusters
