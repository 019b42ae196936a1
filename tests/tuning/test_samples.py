"""Samples of points: rich in links, and of whole groups where clusters hold a few points each."""

import numpy as np
import pytest

import maylink as ml
from maylink.datasets import make_two_view
from maylink.metrics import pair_f
from maylink.problem import Problem
from maylink.tuning import samples
from maylink.tuning.few_points import groups_of_few
from zoo import true_links


def groups(n_groups, of_group, d=6, seed=0):
    """Places far from each other, with a few points at each."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_groups), of_group)
    return rng.normal(size=(n_groups, d))[y] + 0.02 * rng.normal(size=(len(y), d)), y


def test_a_sample_keeps_many_links():
    draw = make_two_view(5000, links_per_point=1, rng=0)
    problem = Problem.build(draw.X, draw.links)
    rows = samples.sample_rows(problem, 400, np.random.default_rng(0))
    assert len(rows) == len(set(rows.tolist())) == 400
    assert rows.mean() == pytest.approx(2500, abs=300)  # from all over the data
    assert problem.rows(rows).links.n_links >= 100  # 400 random rows would keep 16
    bare = Problem.build(draw.X)
    assert len(samples.sample_rows(bare, 400, np.random.default_rng(0))) == 400


@pytest.mark.parametrize("of_group", [2, 3, 5, 7])
def test_points_of_small_clusters_are_sampled_together(of_group):
    X, y = groups(400, of_group)
    links = true_links(y, 100, 0)
    rows = samples.sampled(Problem.build(X, links), 300, np.random.default_rng(0))
    assert 290 <= rows.n <= 300
    at = np.flatnonzero((X[:, None, 0] == rows.X[:, 0]).any(axis=1))
    whole = np.bincount(y[at], minlength=400)
    assert (whole > 0).sum() - (whole == of_group).sum() <= 0.02 * len(at)
    assert rows.links.n_links >= 10  # 300 random rows of 2,000 would keep 2


def test_a_sample_of_large_clusters_is_of_single_points():
    X, _ = groups(5, 200)
    assert groups_of_few(X) is None
    assert samples.sampled(Problem.build(X), 100, np.random.default_rng(0)).n == 100


def test_one_far_point_changes_no_group():
    X, y = groups(300, 4)
    far = np.vstack([X, np.full((1, 6), 1e6)])
    assert pair_f(np.append(y, 300), groups_of_few(far)) > 0.99


def test_a_sample_smaller_than_a_group_is_of_single_points():
    X, _ = groups(100, 2)
    assert samples.sampled(Problem.build(X), 1, np.random.default_rng(0)).n == 1


def test_long_chains_of_neighbours_are_no_group():
    line = np.arange(300.0)[:, None] ** 1.01
    X = np.vstack([line * [1.0, 0.0], np.repeat(line * [1.0, 1.0] + 900.0, 2, axis=0)])
    found = groups_of_few(X)
    assert found is not None
    assert np.bincount(found).max() <= 12


@pytest.mark.parametrize("estimator", [ml.TVClust, ml.RDPMeans])
@pytest.mark.parametrize("n_links", [0, 400])
def test_clusters_of_a_few_points_are_found_beyond_the_sample(estimator, n_links):
    """Before, 8,000 records of 4,000 people were 13 clusters."""
    X, y = groups(400, 2)
    links = true_links(y, n_links, 0) if n_links else None
    model = estimator(tuning=ml.Tuning(sample_size=300), random_state=0).fit(X, links=links)
    assert pair_f(y, model.labels_) > 0.9
