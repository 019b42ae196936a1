"""Plain spectral clustering is that of scikit-learn, and ignores links."""

import warnings

import numpy as np
import pytest
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs

from maylink import Links
from maylink.baselines.plain_spectral import PlainSpectral, normalised_cut
from maylink.datasets import make_pattern
from maylink.errors import MaylinkError
from maylink.metrics import adjusted_rand

X, Y = make_blobs(90, centers=3, n_features=2, random_state=0, cluster_std=0.8)
LINKS = Links.from_pairs(may=[(0, 1), (1, 2), (0, 1)], may_not=[(0, 1), (0, 2)], n=90)


def test_links_change_nothing():
    linked, plain = (
        PlainSpectral(3, random_state=1).fit(X, links=links) for links in (LINKS, None)
    )
    assert linked.labels_.tolist() == plain.labels_.tolist()
    assert linked.objective_ == plain.objective_


@pytest.mark.parametrize("name", ["rings", "moons"])
def test_spectral_is_scikit_learns(name):
    data = make_pattern(name, rng=0)
    k = len(data.classes)
    ours = PlainSpectral(k, random_state=0).fit(data.X)
    theirs = SpectralClustering(k, affinity="nearest_neighbors", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert adjusted_rand(theirs.fit(data.X).labels_, ours.labels_) == 1.0
    assert adjusted_rand(data.y, ours.labels_) > 0.9


def test_an_affinity_may_be_given():
    W = np.exp(-np.square(X[:, None] - X).sum(axis=2))
    model = PlainSpectral(3, affinity="precomputed", random_state=0).fit(W)
    assert adjusted_rand(Y, model.labels_) > 0.9
    lopsided = W.copy()
    lopsided[2, 5] = 0.7
    with pytest.raises(MaylinkError, match=r"X\[2, 5\] = 0.7 differs from X\[5, 2\]"):
        PlainSpectral(3, affinity="precomputed").fit(lopsided)


@pytest.mark.parametrize("seed", range(3))
def test_the_normalised_cut_is_that_of_the_formula(seed):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((8, 8)) * (rng.random((8, 8)) < 0.6))
    W = W + W.T
    W[3] = W[:, 3] = 0.0  # a point that nothing is tied to
    labels = np.array([0, 0, 1, 3, 1, 1, 2, 2])
    expected = sum(
        W[np.ix_(labels == k, labels != k)].sum() / W[labels == k].sum() for k in (0, 1, 2)
    )
    assert normalised_cut(W, labels) == pytest.approx(expected)
    model = PlainSpectral(3, affinity="precomputed", random_state=0).fit(W)
    assert model.objective_ == pytest.approx(normalised_cut(W, model.labels_))


def test_fewer_different_points_than_clusters():
    model = PlainSpectral(5, random_state=0).fit(np.repeat([[0.0], [1.0], [9.0]], 4, axis=0))
    assert model.labels_.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert model.objective_ >= 0.0


def test_a_graph_in_more_parts_than_clusters_is_no_warning():
    far = np.repeat(100.0 * np.arange(6), 15)[:, None] + np.random.default_rng(0).normal(
        size=(90, 1)
    )
    assert PlainSpectral(2, random_state=0).fit(far).n_clusters_ == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"affinity": "rbf"}, "affinity: 'rbf' is not one of 'nearest_neighbors', 'precomputed'"),
        ({"n_neighbors": 0}, "n_neighbors: 0"),
    ],
)
def test_parameters_that_cannot_be(options, message):
    with pytest.raises(MaylinkError, match=message):
        PlainSpectral(3, **options).fit(X)
