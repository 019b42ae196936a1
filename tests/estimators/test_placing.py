"""New points among merged clusters: the nearest part counts, links have a say."""

import numpy as np
import pytest

from maylink import Links, RDPMeans, sample_links
from maylink.estimators.placing import divergences, place, settled
from maylink.families import as_family
from maylink.metrics import pair_f
from maylink.result import Parts
from zoo import draw, example, pieces

FAMILIES = ["diagonal-gaussian", "poisson", "multinomial", "bernoulli", "gamma"]


@pytest.fixture(scope="module")
def merged():
    """A fit whose clusters were merged, the points that it has not seen, and all classes."""
    X, y = pieces(480)
    links = sample_links(y[:240], rate=0.05, accuracy=0.9, rng=0)
    model = RDPMeans("diagonal-gaussian", random_state=0).fit(X[:240], links=links)
    assert model.n_clusters_ < len(model.result_.parts.centers)
    return model, X[240:], y


def drawn(name, seed=0):
    """Points, a family, five parts of three clusters and a cluster for each point."""
    X, _ = draw(name, 60, seed)
    family = as_family(example(name)).adapt(X)
    rng = np.random.default_rng(seed)
    parts = Parts.build(family.points(X[rng.permutation(60)[:5]]), np.array([2, 0, 1, 0, 2]))
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
    each = divergences(X, family, 1, Parts(parts.centers, np.arange(5)))
    found = divergences(X, family, 1, parts)
    for k in range(3):
        np.testing.assert_array_equal(found[:, k], each[:, parts.cluster == k].min(axis=1))
    np.testing.assert_array_equal(place(X, family, 1, parts), found.argmin(axis=1))


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


@pytest.mark.parametrize("name", FAMILIES)
def test_parts_settle_within_their_clusters(name):
    X, family, parts = drawn(name)
    labels = np.random.default_rng(1).integers(0, 3, 60)
    found, chosen = settled(X, family, 1, parts, labels)
    np.testing.assert_array_equal(found.cluster[chosen], labels)
    each = divergences(X, family, 1, Parts(found.centers, np.arange(len(found.centers))))
    for p, center in enumerate(found.centers):
        np.testing.assert_allclose(center, family.points(X[chosen == p]).mean(axis=0))
    for i, k in enumerate(labels):
        rivals = np.flatnonzero(found.cluster == k)
        assert each[i, chosen[i]] == each[i, rivals].min()


def test_a_part_that_nobody_chooses_is_gone():
    family = as_family("diagonal-gaussian")
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    parts = Parts(family.adapt(X).points(np.array([[0.0], [90.0], [5.0]])), np.array([0, 0, 1]))
    found, chosen = settled(X, family.adapt(X), 1, parts, np.array([0, 0, 1, 1]))
    assert found.are_whole
    assert chosen.tolist() == [0, 0, 1, 1]
