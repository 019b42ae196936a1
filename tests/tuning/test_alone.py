"""Without links, clusters that overlap are found; links that say nothing change nothing."""

import os

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from maylink import RDPMeans, TVClust
from maylink.families import as_family
from maylink.links import Links
from maylink.problem import Problem
from maylink.solvers import loop
from maylink.solvers.variational import VariationalSettings, VariationalSolver
from maylink.tuning.alone import fit_alone
from maylink.tuning.pieces import PieceView
from maylink.views.neighbours import NeighbourGraph

slow = pytest.mark.skipif(
    "MAYLINK_SLOW" not in os.environ, reason="takes long: set MAYLINK_SLOW=1 to run it"
)
CENTERS = 3.5 * np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.87]])


def three_that_overlap(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 300)
    return CENTERS[y] + rng.normal(size=(300, 2)), y


def links_that_say_nothing(n, count, seed=0):
    """Draw links on random pairs, each may or may-not by the toss of a coin."""
    rng = np.random.default_rng(seed)
    pairs = rng.permuted(np.tile(np.arange(n), (count, 1)), axis=1)[:, :2]
    may = rng.random(count) < 0.5
    return Links.from_pairs(may=pairs[may], may_not=pairs[~may], n=n)


@pytest.mark.parametrize("seed", [4, pytest.param(5, marks=slow), pytest.param(12, marks=slow)])
@pytest.mark.parametrize("kind", [TVClust, RDPMeans])
def test_three_clusters_that_overlap_are_found_without_links(kind, seed):
    assert kind(random_state=0).fit(three_that_overlap(seed)[0]).n_clusters_ == 3


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", [TVClust, RDPMeans])
def test_ones_and_zeros_are_bits_without_links(kind, seed):
    """Narrow Gaussians around 0 and 1 would make dozens of clusters."""
    rng = np.random.default_rng(seed)
    y = np.arange(300) % 3
    X = (rng.random((300, 12)) < np.where(rng.random((3, 12)) < 0.5, 0.1, 0.9)[y]).astype(float)
    model = kind(random_state=0).fit(X)
    assert model.family_.name == "bernoulli"
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) > 0.8


def test_the_bound_is_at_least_that_of_one_cluster():
    X, _ = three_that_overlap(4)
    problem = Problem(X, Links.empty(300), as_family("gaussian").adapt(X))
    view = PieceView.of(problem, NeighbourGraph(problem, 0), np.random.default_rng(0))
    settings = VariationalSettings()
    alone = fit_alone(view, None, settings)
    solver = VariationalSolver(view.problem, view.problem.prior, settings)
    one = loop.run(solver, solver.init(np.zeros(300, np.int64)))
    assert alone.bound > one.objective + 5.0
    assert len(np.unique(alone.labels)) == 3


@pytest.mark.parametrize(
    "count", [pytest.param(20, marks=slow), 300, pytest.param(1200, marks=slow)]
)
@pytest.mark.parametrize("kind", [TVClust, RDPMeans])
def test_links_that_say_nothing_leave_the_clusters_of_the_data(kind, count):
    X = load_iris().data
    none = kind(random_state=0).fit(X)
    some = kind(random_state=0).fit(X, links=links_that_say_nothing(150, count))
    assert some.chosen_by_ == "evidence"
    same = (none.labels_[:, None] == none.labels_) == (some.labels_[:, None] == some.labels_)
    assert same.mean() > 0.97
