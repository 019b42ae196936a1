"""PCKMeans against plain NumPy, brute force, K-means and another implementation."""

from itertools import product

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from maylink import Links
from maylink.baselines.kernels.pck_means import move_centers, penalty, squares
from maylink.baselines.pck_means import PCKMeans, centers_from_links, signed_votes
from maylink.errors import MaylinkError
from maylink.kernels.conditional_modes import iterated_conditional_modes
from zoo import random_links, true_links

PEER = "active_semi_clustering.semi_supervised.pairwise_constraints"


def objective(X, links, labels, may, may_not):
    """J with each centre at the mean of its points."""
    total = sum(
        0.5 * ((X[labels == k] - X[labels == k].mean(axis=0)) ** 2).sum() for k in {*labels}
    )
    for i, j, kind, weight in zip(links.i, links.j, links.kind, links.weight, strict=True):
        if kind > 0 and labels[i] != labels[j]:
            total += may * weight
        if kind < 0 and labels[i] == labels[j]:
            total += may_not * weight
    return total


@pytest.mark.parametrize(
    ("seed", "link_weight"), [(0, "auto"), (1, 0.5), (2, (0.3, 2.0)), (3, (0.3, 2.0))]
)
def test_objective_is_the_formula_and_never_rises(seed, link_weight):
    X, _ = make_blobs(60, 3, centers=4, cluster_std=3.0, random_state=seed)
    links = random_links(60, 80, seed)
    model = PCKMeans(4, link_weight=link_weight, random_state=seed).fit(X, links=links)
    path = model.objective_path_
    assert np.all(np.diff(path) <= 1e-9 * path[0])
    assert model.objective_ == pytest.approx(
        objective(X, links, model.labels_, *model.link_weight_), rel=1e-10
    )
    for k, center in enumerate(model.cluster_centers_):
        np.testing.assert_allclose(center, X[model.labels_ == k].mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_each_step_lowers_the_objective_and_is_what_a_plain_loop_does(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2))
    links = random_links(40, 60, seed)
    may, may_not = 0.4, 0.7
    votes = signed_votes(links, (may, may_not))
    constant = np.empty((0, 1)), np.empty(1)
    centers = X[:4].copy()
    labels = rng.integers(0, 4, 40)

    def value():
        half = 0.5 * ((X - centers[labels]) ** 2).sum()
        return half + penalty(*votes.pairs, *constant, labels)

    for _ in range(4):
        cost = np.empty((40, 4))
        squares(np.ascontiguousarray(X.T), centers, np.full((4, 2), 0.5), cost)
        for i, k in product(range(40), range(4)):
            assert cost[i, k] == pytest.approx(0.5 * ((X[i] - centers[k]) ** 2).sum())
        order = rng.permutation(votes.linked_points)
        expected = labels.copy()
        for i in set(range(40)) - set(order):
            expected[i] = cost[i].argmin()
        moved = True
        while moved:
            moved = False
            for i in order:
                price = cost[i].copy()
                for a, b, kind, weight in zip(
                    links.i, links.j, links.kind, links.weight, strict=True
                ):
                    if i in (a, b):
                        other = expected[b if i == a else a]
                        if kind > 0:
                            price += may * weight * (np.arange(4) != other)
                        else:
                            price += may_not * weight * (np.arange(4) == other)
                if price.argmin() != expected[i] and price.min() < price[expected[i]] - 1e-9:
                    expected[i] = price.argmin()
                    moved = True
        before = value()
        iterated_conditional_modes(cost, *votes.by_point, *constant, order, labels)
        assert labels.tolist() == expected.tolist()
        between = value()
        assert between <= before + 1e-9
        size = move_centers(X, labels, centers)
        assert size.tolist() == np.bincount(labels, minlength=4).tolist()
        assert value() <= between + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_no_single_move_improves_the_end(seed):
    X, _ = make_blobs(25, 2, centers=3, cluster_std=3.0, random_state=seed)
    links = random_links(25, 40, seed)
    model = PCKMeans(3, random_state=seed).fit(X, links=links)
    may, may_not = model.link_weight_
    labels, centers = model.labels_, model.cluster_centers_

    def value(labels):
        half = 0.5 * ((X - centers[labels]) ** 2).sum()
        violated = np.where(
            links.kind > 0,
            may * (labels[links.i] != labels[links.j]),
            may_not * (labels[links.i] == labels[links.j]),
        )
        return half + (links.weight * violated).sum()

    for i, k in product(range(25), range(model.n_clusters_)):
        other = labels.copy()
        other[i] = k
        assert value(other) >= value(labels) - 1e-9


def test_brute_force_optimum_is_reached_on_most_seeds():
    reached = 0
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(7, 2))
        links = random_links(7, 8, seed)
        model = PCKMeans(3, n_init=20, random_state=seed).fit(X, links=links)
        least = min(
            objective(X, links, np.array(labels), *model.link_weight_)
            for labels in product(range(3), repeat=7)
        )
        assert model.objective_ >= least - 1e-9
        reached += model.objective_ <= least + 1e-9
    assert reached >= 14  # 15 of 20 when this was written


@pytest.mark.parametrize("seed", range(3))
def test_without_links_the_end_is_one_of_k_means(seed):
    X, _ = make_blobs(200, 3, centers=5, random_state=seed)
    model = PCKMeans(5, random_state=seed).fit(X)
    again = KMeans(5, init=model.cluster_centers_, n_init=1, tol=0.0).fit(X)
    assert again.labels_.tolist() == model.labels_.tolist()
    assert again.inertia_ == pytest.approx(2 * model.objective_)
    assert model.predict(X).tolist() == model.labels_.tolist()


def test_enough_neighbourhoods_are_taken_by_size_times_distance():
    X = np.array([[0.0], [0], [0], [1], [1], [1], [1], [10], [10], [30]])
    may = [(0, 1), (1, 2), (3, 4), (4, 5), (5, 6), (7, 8)]
    links = Links.from_pairs(may=may, n=10)
    rng = np.random.default_rng(0)
    # the largest is at 1; then 2 points 9 away beat 3 points 1 away
    assert centers_from_links(X, links, 1, rng).ravel().tolist() == [1.0]
    assert centers_from_links(X, links, 2, rng).ravel().tolist() == [1.0, 10.0]
    assert centers_from_links(X, links, 3, rng).ravel().tolist() == [1.0, 10.0, 0.0]


def test_too_few_neighbourhoods_are_joined_by_a_point_apart_and_by_far_points():
    X = np.array([[0.0], [2], [5], [7], [6.5], [6.6], [1000]])
    may, may_not = [(0, 1), (2, 3)], [(0, 4), (2, 5), (5, 1), (4, 6)]
    links = Links.from_pairs(may=may, may_not=may_not, n=7)
    centers = centers_from_links(X, links, 4, np.random.default_rng(0)).ravel().tolist()
    assert centers[:3] == [1.0, 6.0, 6.6]  # 4 is kept from one only
    assert centers[3] == 1000.0
    assert len(centers_from_links(X, Links.empty(7), 7, np.random.default_rng(0))) == 7


def test_true_links_help():
    with_links, without = [], []
    for seed in range(10):
        X, y = make_blobs(150, 2, centers=3, cluster_std=3.5, random_state=seed)
        model = PCKMeans(3, random_state=seed)
        without.append(adjusted_rand_score(y, model.fit(X).labels_))
        with_links.append(adjusted_rand_score(y, model.fit(X, links=true_links(y, 200, 0)).labels_))
    assert np.mean(with_links) > np.mean(without) + 0.1


@pytest.mark.parametrize("scale", [2.0**27, 2.0**-27])
def test_auto_weight_takes_the_unit_of_the_data_away(scale):
    X, _ = make_blobs(80, 3, centers=3, cluster_std=3.0, random_state=0)
    links = random_links(80, 60, 0)
    one = PCKMeans(3, random_state=0).fit(X, links=links)
    two = PCKMeans(3, random_state=0).fit(scale * X, links=links)
    assert one.labels_.tolist() == two.labels_.tolist()
    assert one.link_weight_[0] == pytest.approx(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    assert two.objective_ == pytest.approx(scale**2 * one.objective_)


def test_votes_count_and_kinds_have_their_own_weight():
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    pair = {"may": [(1, 2)], "may_not": [(0, 1)]}
    light = Links.from_pairs(**pair, n=4, weight=1.0)
    heavy = Links.from_pairs(**pair, n=4, weight=1000.0)
    model = PCKMeans(2, link_weight=0.1, random_state=0, n_init=5)
    assert model.fit(X, links=light).labels_.tolist() == [0, 0, 1, 1]
    assert model.fit(X, links=heavy).labels_.tolist() == [0, 1, 1, 1]
    model.set_params(link_weight=(0.0, 100.0))
    labels = model.fit(X, links=light).labels_
    assert labels[0] != labels[1]
    assert model.link_weight_ == (0.0, 100.0)


def test_links_alone_decide_where_all_points_are_equal():
    links = Links.from_pairs(may_not=[(0, 1), (1, 2), (2, 0)], n=4)
    model = PCKMeans(3, random_state=0).fit(np.ones((4, 2)), links=links)
    assert model.labels_[:3].tolist() == [0, 1, 2]
    assert model.link_weight_ == (1.0, 1.0)


def test_one_cluster_is_the_mean_whatever_the_start():
    X = np.random.default_rng(0).normal(size=(20, 3))
    model = PCKMeans(1, link_weight=2.0, random_state=0)
    model.fit(X, links=Links.from_pairs(may_not=[(0, 1)], n=20))
    np.testing.assert_allclose(model.cluster_centers_, [X.mean(axis=0)], atol=1e-12)
    np.testing.assert_allclose(model.objective_path_, 0.5 * 20 * X.var(axis=0).sum() + 2.0)


def test_more_starts_are_never_worse():
    X, _ = make_blobs(200, 2, centers=8, random_state=0)
    links = random_links(200, 100, 0)
    found = [PCKMeans(8, n_init=n, random_state=0).fit(X, links=links) for n in (1, 10)]
    assert found[1].objective_ <= found[0].objective_


def test_a_limit_on_sweeps_is_kept_and_told():
    X = np.random.default_rng(0).normal(size=(300, 2))
    with pytest.warns(ConvergenceWarning, match="max_sweeps"):
        model = PCKMeans(6, max_sweeps=2, random_state=0).fit(X)
    assert model.n_iter_ == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("link_weight", -1.0),
        ("link_weight", "large"),
        ("link_weight", (1.0, 2.0, 3.0)),
        ("link_weight", np.inf),
    ],
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(MaylinkError, match=name):
        PCKMeans(3).set_params(**{name: value}).fit(np.arange(10.0)[:, None])


def test_agrees_with_another_implementation():
    reason = "active-semi-supervised-clustering is not installed"
    with np.errstate():  # its import turns rounding to zero into an error, for everyone
        peer = pytest.importorskip(PEER, reason=reason)
    for seed in range(5):
        X, y = make_blobs(100, 2, centers=3, cluster_std=1.0, random_state=seed)
        links = true_links(y, 150, seed)
        np.random.seed(seed)  # noqa: NPY002 (its only source of randomness)
        other = peer.PCKMeans(3, w=5.0)
        other.fit(X, ml=links.may.tolist(), cl=links.may_not.tolist())
        model = PCKMeans(3, link_weight=5.0, n_init=5, random_state=seed).fit(X, links=links)
        assert adjusted_rand_score(other.labels_, model.labels_) == 1.0
