"""Neighbours of points, and the links that they make."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from maylink.problem import Problem
from maylink.runtime.threads import least_work
from maylink.views import nearest as search_file
from maylink.views.nearest import NeighbourSearch
from maylink.views.neighbours import SOURCE, NeighbourGraph, nearest, neighbour_links

SMALL_TILES = NeighbourSearch(tile=(16, 32))


def blobs(n=300, d=12, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(5, size=n)
    return rng.normal(size=(5, d))[labels] * 3 + rng.normal(size=(n, d)), labels


def by_definition(rows, count):
    distance = cdist(rows, rows)
    np.fill_diagonal(distance, np.inf)
    return np.argsort(distance, axis=1, kind="stable")[:, :count]


# ---------------------------------------------------------------------- nearest


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("d", [3, 12])
def test_nearest_are_those_of_all_distances(form, d):
    X, _ = blobs(d=d)
    np.testing.assert_array_equal(nearest(form(X), 7, search=SMALL_TILES), by_definition(X, 7))


def test_single_precision_finds_the_same_points():
    X, _ = blobs()
    X = X.astype(np.float32)
    np.testing.assert_array_equal(nearest(X, 7), by_definition(X.astype(np.float64), 7))


@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_size_does_not_matter(factor):
    X, _ = blobs(n=60)
    np.testing.assert_array_equal(nearest(X * factor, 5), nearest(X, 5))


def test_points_far_from_zero_keep_their_neighbours():
    X, _ = blobs(n=60)
    np.testing.assert_array_equal(nearest(X + 1e6, 5), nearest(X, 5))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("d", [2, 12])
@pytest.mark.parametrize("doubles", [2, 40])
def test_a_point_is_never_its_own_neighbour(form, d, doubles):
    X = np.repeat(np.random.default_rng(0).normal(size=(4, d)), doubles, axis=0)
    near = nearest(form(X), 9, search=SMALL_TILES)
    assert near.shape == (len(X), min(9, len(X) - 1))
    assert not (near == np.arange(len(X))[:, None]).any()
    assert all(len(set(line)) == near.shape[1] for line in near)
    others = min(doubles - 1, 9)
    same = near[:, :others] // doubles == np.arange(len(X))[:, None] // doubles
    assert same.all()


@pytest.mark.parametrize("d", [2, 12])
def test_all_points_equal(d):
    near = nearest(np.ones((30, d)), 4)
    assert near.shape == (30, 4)
    assert not (near == np.arange(30)[:, None]).any()


@pytest.mark.parametrize(("n", "columns"), [(1, 0), (2, 1), (5, 4)])
@pytest.mark.parametrize("d", [2, 12])
def test_few_points_have_few_neighbours(n, columns, d):
    near = nearest(np.random.default_rng(0).normal(size=(n, d)), 10)
    assert near.shape == (n, columns)
    assert all(len({i, *line}) == columns + 1 for i, line in enumerate(near))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("d", [3, 12])
def test_threads_change_nothing(form, d):
    X = form(np.random.default_rng(0).integers(0, 3, size=(400, d)).astype(float))  # many ties
    with least_work(1):
        one, three = (nearest(X, 6, n_jobs=k, search=SMALL_TILES) for k in (1, 3))
    np.testing.assert_array_equal(one, three)


def test_many_points_without_an_index_are_told_of_it(monkeypatch):
    monkeypatch.setattr(search_file, "find_spec", lambda name: None)
    X, _ = blobs(n=100)
    with pytest.warns(UserWarning, match=r"all 4,950 pairs of 100 points .*maylink\[neighbours\]"):
        near = nearest(X, 5, search=NeighbourSearch(exact_rows=50))
    np.testing.assert_array_equal(near, by_definition(X, 5))


@pytest.mark.parametrize("doubles", [1, 60])
def test_an_index_finds_nearly_all_and_the_same_on_all_threads(doubles):
    pytest.importorskip("faiss")
    X = np.repeat(blobs(n=1800 // doubles)[0], doubles, axis=0)
    search = NeighbourSearch(exact_rows=100, tile=(16, 128))
    with least_work(1):
        one, three = (nearest(X, 8, n_jobs=k, search=search) for k in (1, 3))
    np.testing.assert_array_equal(one, three)
    assert not (one == np.arange(len(X))[:, None]).any()
    exact = nearest(X, 8)
    far = [np.linalg.norm(X[:, None] - X[near], axis=2).mean() for near in (one, exact)]
    assert far[0] <= 1.01 * far[1] + 1e-12


# ---------------------------------------------------------------------- links


def test_links_are_of_one_source_and_both_kinds_alike():
    X, labels = blobs()
    links = neighbour_links(nearest(X, 10), 4, np.random.default_rng(0))
    assert links.sources == (SOURCE,)
    assert links.n == len(X)
    assert len(links.may) == len(links.may_not)
    assert (links.i != links.j).all()
    pairs = {frozenset(pair) for pair in links.may.tolist()}
    named = {frozenset((i, int(j))) for i, line in enumerate(nearest(X, 4)) for j in line}
    assert pairs == named
    assert len(links.may) == len(pairs)
    right = labels[links.may[:, 0]] == labels[links.may[:, 1]]
    by_chance = labels[links.may_not[:, 0]] == labels[links.may_not[:, 1]]
    assert right.mean() > 0.9 > 0.3 > by_chance.mean()


def test_links_depend_on_the_seed_alone():
    near = nearest(blobs(n=80)[0], 5)
    drawn = [neighbour_links(near, 5, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


@pytest.mark.parametrize(("n", "count"), [(1, 3), (2, 3), (6, 0)])
def test_links_of_few_points(n, count):
    near = nearest(np.arange(float(n))[:, None], 3)
    links = neighbour_links(near, count, np.random.default_rng(0))
    expected = 1 if n == 2 else 0
    assert (len(links.may), len(links.may_not)) == (expected, expected)


@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_array])
def test_no_random_pair_of_equal_points_speaks_against_them(as_matrix):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 90)
    X = as_matrix(rng.normal(size=(3, 5))[group])
    links = NeighbourGraph(Problem.build(X, None, "gaussian"), 4).links(4, rng)
    against = links.kind < 0
    assert against.any()
    assert not (group[links.i] == group[links.j])[against].any()
    assert (group[links.i] == group[links.j])[~against].all()


def test_links_of_points_that_differ_are_those_of_the_graph():
    X = np.random.default_rng(0).normal(size=(80, 3))
    graph = NeighbourGraph(Problem.build(X, None, "gaussian"), 4)
    found = graph.links(4, np.random.default_rng(1))
    assert found == neighbour_links(graph.near, 4, np.random.default_rng(1))
