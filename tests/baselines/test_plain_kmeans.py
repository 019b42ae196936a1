"""Plain K-means is that of scikit-learn, and ignores links."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from maylink import Links
from maylink.baselines.plain_kmeans import PlainKMeans
from maylink.metrics import adjusted_rand
from reference import all_partitions

X, Y = make_blobs(90, centers=3, n_features=2, random_state=0, cluster_std=0.8)
LINKS = Links.from_pairs(may=[(0, 1), (1, 2), (0, 1)], may_not=[(0, 1), (0, 2)], n=90)


def test_links_change_nothing():
    linked, plain = (PlainKMeans(3, random_state=1).fit(X, links=links) for links in (LINKS, None))
    assert linked.labels_.tolist() == plain.labels_.tolist()
    assert linked.objective_ == plain.objective_


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


def test_fewer_different_points_than_clusters():
    model = PlainKMeans(5, random_state=0).fit(np.repeat([[0.0], [1.0], [9.0]], 4, axis=0))
    assert model.labels_.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert model.objective_ == 0.0
