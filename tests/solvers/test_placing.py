"""New points among merged clusters: the nearest part counts, links have a say."""

import numpy as np
import pytest

from maylink import Links, RDPMeans, sample_links
from maylink.families import as_family
from maylink.metrics import pair_f
from maylink.problem import Problem
from maylink.solvers.fit import Clustering, Parts
from maylink.solvers.placing import divergences, faithful, nearest_parts, place
from zoo import draw, example, pieces

FAMILIES = ["diagonal-gaussian", "poisson", "multinomial", "bernoulli", "gamma"]


@pytest.fixture(scope="module")
def merged():
    """A fit whose clusters were merged, the points that it has not seen, and all classes."""
    X, y = pieces(480)
    links = sample_links(y[:240], rate=0.05, accuracy=0.9, rng=0)
    model = RDPMeans("diagonal-gaussian", random_state=0).fit(X[:240], links=links)
    assert model.n_clusters_ < len(model.result_.state.parts.centers)
    return model, X[240:], y


def drawn(name, seed=0):
    """Points, a family, five parts of three clusters and a cluster for each point."""
    X, _ = draw(name, 60, seed)
    family = as_family(example(name)).adapt(X)
    rng = np.random.default_rng(seed)
    parts = Parts(family.points(X[rng.permutation(60)[:5]]), np.array([2, 0, 1, 0, 2]))
    return X, family, parts


def test_merged_clusters_are_predicted_by_their_parts(merged):
    model, X, y = merged
    labels = model.predict(X)
    assert pair_f(y[240:], labels) > 0.95
    one = ((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2).argmin(axis=1)
    assert pair_f(y[240:], one) < 0.8  # means of merged clusters lie among other clusters
    np.testing.assert_array_equal(model.transform(X).argmin(axis=1), labels)
    assert model.transform(X).shape == (240, model.n_clusters_)


def test_data_on_dask_are_predicted_alike(merged):
    da = pytest.importorskip("dask.array")
    model, X, _ = merged
    lazy = da.from_array(X, chunks=(70, 2))
    np.testing.assert_array_equal(model.predict(lazy).compute(), model.predict(X))
    np.testing.assert_array_equal(model.transform(lazy).compute(), model.transform(X))


@pytest.mark.parametrize("name", FAMILIES)
def test_a_cluster_is_as_near_as_its_nearest_part(name):
    X, family, parts = drawn(name)
    each = divergences(X, family, 1, Parts.one_each(parts.centers))
    by_cluster = divergences(X, family, 1, parts)
    for k in range(3):
        np.testing.assert_array_equal(by_cluster[:, k], each[:, parts.cluster == k].min(axis=1))
    chosen = place(X, family, 1, parts)
    np.testing.assert_array_equal(by_cluster[np.arange(60), chosen], by_cluster.min(axis=1))


@pytest.mark.parametrize("seed", range(5))
def test_with_links_nobody_would_rather_be_elsewhere(seed):
    X, family, parts = drawn("diagonal-gaussian", seed)
    rng = np.random.default_rng(seed)
    known, weights = rng.integers(0, 3, 20), (2.0, 3.0)
    ends = np.array([rng.choice(80, 2, replace=False) for _ in range(90)])
    links = Links(80, *ends.T, rng.choice([-1, 1], 90), rng.uniform(0.5, 2.0, 90))
    labels = place(X, family, 1, parts, links, known, weights)
    both, cost = np.append(known, labels), divergences(X, family, 1, parts)
    assert (labels != cost.argmin(axis=1)).any()
    for i, j, kind, weight in zip(links.i, links.j, links.kind, links.weight, strict=True):
        for a, b in ((i, j), (j, i)):
            if a >= 20:
                cost[a - 20, both[b]] -= weight * (weights[0] if kind > 0 else -weights[1])
    own = np.take_along_axis(cost, labels[:, None], axis=1)[:, 0]
    np.testing.assert_allclose(own, cost.min(axis=1), atol=1e-9)


def test_links_between_known_points_alone_change_nothing():
    X, family, parts = drawn("diagonal-gaussian")
    links = Links(64, [0, 1], [2, 3], [1, -1])
    labels = place(X, family, 1, parts, links, np.zeros(4, int), (5.0, 5.0))
    np.testing.assert_array_equal(labels, place(X, family, 1, parts))


@pytest.mark.parametrize("name", FAMILIES)
def test_a_point_sits_in_the_nearest_part_of_its_cluster(name):
    X, family, parts = drawn(name)
    labels = np.random.default_rng(1).integers(0, 3, 60)
    chosen = nearest_parts(X, family, 1, parts, labels)
    np.testing.assert_array_equal(parts.cluster[chosen], labels)
    each = divergences(X, family, 1, Parts.one_each(parts.centers))
    each[parts.cluster != labels[:, None]] = np.inf
    np.testing.assert_array_equal(chosen, each.argmin(axis=1))


def faithful_parts(X, labels, centers, cluster):
    """The parts of a merged clustering whose parts had these centres before."""
    problem = Problem.build(X, None, "diagonal-gaussian")
    points = problem.family.points(X)
    labels = np.asarray(labels)
    means = np.array([points[labels == k].mean(axis=0) for k in range(labels.max() + 1)])
    parts = Parts(problem.family.points(np.array(centers)), np.array(cluster))
    return problem.family, faithful(problem, Clustering(labels, means, parts), 1)


def test_parts_are_the_means_of_their_points():
    X = np.array([[0.0], [0.4], [10.0], [10.4], [20.0], [20.4]])
    labels, centers = [0, 0, 1, 1, 0, 0], [[3.0], [90.0], [10.1], [14.0]]
    family, clustering = faithful_parts(X, labels, centers, [0, 0, 1, 0])
    centers = family.units(clustering.parts.centers)  # nobody chose the part at 90
    np.testing.assert_allclose(centers, [[0.2], [10.2], [20.2]])
    assert clustering.parts.cluster.tolist() == [0, 1, 0]


def test_means_do_where_parts_are_no_truer():
    X = np.array([[0.0], [0.4], [6.0], [20.0], [20.4]])
    _, clustering = faithful_parts(X, [0, 0, 0, 1, 1], [[0.0], [6.0], [20.0]], [0, 0, 1])
    assert clustering.merged is None
    assert clustering.parts.are_whole
