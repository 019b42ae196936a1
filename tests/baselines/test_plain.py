"""Methods without links: they are scikit-learn's, they ignore links, and odd input is answered."""

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from maylink import Links
from maylink.baselines.plain import PlainKMeans, PlainSpectral, normalised_cut
from maylink.datasets import make_pattern
from maylink.errors import LinksError, MaylinkError
from maylink.metrics import adjusted_rand
from reference import all_partitions

X, Y = make_blobs(90, centers=3, n_features=2, random_state=0, cluster_std=0.8)
LINKS = Links.from_pairs(may=[(0, 1), (1, 2), (0, 1)], may_not=[(0, 1), (0, 2)], n=90)
both = pytest.mark.parametrize("cls", [PlainKMeans, PlainSpectral])


@both
@pytest.mark.parametrize("seed", range(3))
def test_links_change_nothing(cls, seed):
    linked = cls(3, random_state=seed).fit(X, links=LINKS)
    plain = cls(3, random_state=seed).fit(X)
    assert linked.labels_.tolist() == plain.labels_.tolist()
    assert linked.objective_ == plain.objective_


@both
def test_links_are_checked_though(cls):
    with pytest.raises(LinksError, match="made for 5 points"):
        cls(3).fit(X, links=Links.empty(5))


# ---------------------------------------------------------------------- K-means


def test_k_means_is_scikit_learns():
    ours = PlainKMeans(3, n_init=5, random_state=0).fit(X)
    theirs = KMeans(3, n_init=10, random_state=1).fit(X)
    assert adjusted_rand(theirs.labels_, ours.labels_) == 1.0
    assert ours.objective_ == pytest.approx(theirs.inertia_)
    assert ours.predict(X).tolist() == ours.labels_.tolist()


def test_the_objective_is_the_sum_of_squares():
    model = PlainKMeans(4, random_state=0).fit(X)
    expected = np.square(X - model.cluster_centers_[model.labels_]).sum()
    assert model.objective_ == pytest.approx(expected)
    assert model.objective_path_.tolist() == [model.objective_]
    for k in range(4):
        np.testing.assert_allclose(model.cluster_centers_[k], X[model.labels_ == k].mean(axis=0))


def test_k_means_reaches_the_best_of_all_partitions():
    """Never below the optimum of 7 points in 3 clusters; with ten starts there on every seed."""
    for seed in range(10):
        small = np.random.default_rng(seed).normal(size=(7, 2))
        best = min(
            sum(
                np.square(small[z == k] - small[z == k].mean(axis=0)).sum()
                for k in range(max(z) + 1)
            )
            for z in map(np.array, all_partitions(7))
            if max(z) < 3
        )
        assert PlainKMeans(3, random_state=seed).fit(small).objective_ >= best - 1e-9
        restarted = PlainKMeans(3, n_init=10, random_state=seed).fit(small)
        assert restarted.objective_ == pytest.approx(best)


def test_a_limit_on_sweeps_is_told():
    hard = np.random.default_rng(0).normal(size=(500, 2))
    with pytest.warns(ConvergenceWarning, match="had not settled within max_sweeps"):
        model = PlainKMeans(12, max_sweeps=2, random_state=0).fit(hard)
    assert model.n_iter_ == 2


# ---------------------------------------------------------------------- spectral


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
    for wrong, message in ((X, r"shape \(90, 2\)"), (-W, r"X\[0, 0\] = -1")):
        with pytest.raises(MaylinkError, match=message):
            PlainSpectral(3, affinity="precomputed").fit(wrong)
    lopsided = W.copy()
    lopsided[2, 5] = 0.7
    with pytest.raises(MaylinkError, match=r"X\[2, 5\] = 0.7: .*symmetric"):
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


# ---------------------------------------------------------------------- odd input


@both
@pytest.mark.parametrize("n_clusters", [1, 2, 4])
@pytest.mark.parametrize("scale", [0.0, 1e8, -1e-8])
def test_all_points_equal_are_one_cluster_without_a_warning(cls, n_clusters, scale):
    model = cls(n_clusters, random_state=0).fit(np.full((30, 3), scale))
    assert model.n_clusters_ == 1


@both
def test_fewer_different_points_than_clusters(cls):
    model = cls(5, random_state=0).fit(np.repeat([[0.0], [1.0], [9.0]], 4, axis=0))
    assert model.labels_.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert model.objective_ >= 0.0


@both
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_points_in_as_many_clusters_as_there_may_be(cls, n):
    few = np.random.default_rng(n).normal(size=(n, 2))
    for n_clusters in range(1, n + 1):
        model = cls(n_clusters, random_state=0).fit(few)
        assert model.labels_.shape == (n,)
        assert 1 <= model.n_clusters_ <= n_clusters
        assert np.isfinite(model.objective_)
    assert cls(n).fit(few).n_clusters_ == n


@both
@pytest.mark.parametrize("factor", [1e8, 1e-8])
def test_the_unit_of_the_data_does_not_matter(cls, factor):
    plain, scaled = (cls(3, random_state=0).fit(data) for data in (X, factor * X))
    assert adjusted_rand(plain.labels_, scaled.labels_) == 1.0


@both
@pytest.mark.parametrize(
    "data",
    [
        np.arange(12.0)[:, None],
        np.column_stack([X[:, 0], np.full(90, 3.7)]),
        np.random.default_rng(0).normal(size=(6, 40)),
    ],
    ids=["one feature", "a constant feature", "more features than points"],
)
def test_shapes(cls, data):
    model = cls(3, random_state=0).fit(data)
    assert model.n_clusters_ == 3
    assert np.isfinite(model.objective_)


def test_a_graph_in_more_parts_than_clusters_is_no_warning():
    far = np.repeat(100.0 * np.arange(6), 15)[:, None] + np.random.default_rng(0).normal(
        size=(90, 1)
    )
    assert PlainSpectral(2, random_state=0).fit(far).n_clusters_ == 2


@both
def test_same_seed_same_labels(cls):
    hard = np.random.default_rng(0).normal(size=(80, 2))
    one, two = (cls(5, random_state=3).fit(hard).labels_.tolist() for _ in range(2))
    assert one == two


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (PlainKMeans(0), "n_clusters: 0"),
        (PlainKMeans(91), "n_clusters: 91"),
        (PlainKMeans(n_init=0), "n_init: 0"),
        (PlainKMeans(max_sweeps=1.5), "max_sweeps: 1.5"),
        (PlainSpectral(2.0), "n_clusters: 2.0"),
        (PlainSpectral(affinity="rbf"), "affinity: 'rbf'"),
        (PlainSpectral(n_neighbors=0), "n_neighbors: 0"),
    ],
)
def test_bad_parameters(model, message):
    with pytest.raises(MaylinkError, match=message):
        model.fit(X)
