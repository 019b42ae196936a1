"""Seeded and constrained K-means against the published loop, brute force and another program."""

import warnings
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from maylink.baselines import ConstrainedSeededKMeans, SeededKMeans
from maylink.errors import MaylinkError
from reference import all_partitions, by_first_appearance

BOTH = [SeededKMeans, ConstrainedSeededKMeans]
both = pytest.mark.parametrize("cls", BOTH)


# These set n_clusters to 1 or 2 and give a y with more labels than that.
def draw(n, K, seed, share=0.2, std=4.0):
    """Data, partial labels of which every class has some, and the true labels."""
    X, y = make_blobs(n, centers=K, cluster_std=std, random_state=seed)
    known = np.random.default_rng(seed).random(n) < share
    for k in range(K):
        known[np.flatnonzero(y == k)[:1]] = True
    return X, np.where(known, y, -1), y


def cost_of(X, labels):
    return sum(((X[labels == k] - X[labels == k].mean(axis=0)) ** 2).sum() for k in set(labels))


def published(X, seeds, K, stay):
    """The loop of Basu and others; the labels after each sweep."""
    centers = [np.mean([x for x, s in zip(X, seeds, strict=True) if s == k], 0) for k in range(K)]
    history = []
    while len(history) < 2 or history[-1] != history[-2]:
        labels = []
        for x, seed in zip(X, seeds, strict=True):
            distances = [((x - center) ** 2).sum() for center in centers]
            labels.append(seed if stay and seed >= 0 else int(np.argmin(distances)))
        history.append(labels)
        for k in set(labels):
            centers[k] = np.mean([x for x, z in zip(X, labels, strict=True) if z == k], axis=0)
    return history


# ---------------------------------------------------------------------- the algorithms


@both
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_published_loop_and_descends(cls, seed):
    X, seeds, _ = draw(60, 4, seed)
    history = published(X, seeds.tolist(), 4, cls is ConstrainedSeededKMeans)
    model = cls(4).fit(X, labels=seeds)
    assert model.labels_.tolist() == by_first_appearance(history[-1])
    assert model.n_iter_ == len(history)
    costs = [cost_of(X, np.array(labels)) for labels in history]
    np.testing.assert_allclose(model.objective_path_, costs)
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in pairwise(costs))
    means = [X[model.labels_ == k].mean(axis=0) for k in range(model.n_clusters_)]
    np.testing.assert_allclose(model.cluster_centers_, means)


@pytest.mark.parametrize("seed", range(3))
def test_seeds_stay_in_every_sweep_of_the_constrained_form_only(seed):
    X, seeds, _ = draw(60, 3, seed)
    known = seeds >= 0
    seeds[np.flatnonzero(known)[:6]] = 2 - seeds[np.flatnonzero(known)[:6]]  # some of them wrong
    for sweeps in range(1, 6):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            free, fixed = (cls(3, max_sweeps=sweeps).fit(X, labels=seeds) for cls in BOTH)
        assert fixed.classes_[fixed.labels_[known]].tolist() == seeds[known].tolist()
    assert free.classes_[free.labels_[known]].tolist() != seeds[known].tolist()


@both
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_optimum_is_never_passed_and_mostly_found(cls, share):
    """At least 20 times of 30, with 20 runs each; seeds, drawn at random, start two of three."""
    reached = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(6, 2))
        seeds = np.where(rng.random(6) < share, rng.integers(0, 2, 6), -1)
        allowed = [np.array(labels) for labels in all_partitions(6) if max(labels) < 3]
        if cls is not SeededKMeans:
            every = (np.array(labels) for labels in product(range(3), repeat=6))
            allowed = [labels for labels in every if (labels == seeds)[seeds >= 0].all()]
        best = min(cost_of(X, labels) for labels in allowed)
        found = cls(3, n_init=20, random_state=seed).fit(X, labels=seeds)
        assert found.objective_ >= best * (1 - 1e-9)
        reached += found.objective_ <= best * (1 + 1e-9)
    assert reached >= 20


@both
@pytest.mark.parametrize("seed", range(2))
def test_without_seeds_it_is_k_means(cls, seed):
    X, _ = make_blobs(100, centers=4, cluster_std=1.0, random_state=seed)
    expected = KMeans(4, n_init=10, random_state=0).fit(X)
    for y in (None, np.full(100, -1), [None] * 100, np.full(100, np.nan)):
        model = cls(4, n_init=10, random_state=seed).fit(X, labels=y)
        assert model.objective_ == pytest.approx(expected.inertia_)
        assert model.classes_.tolist() == [None] * 4


@both
def test_right_seeds_help(cls):
    """Ten clusters that touch: K-means often starts two centres in one of them."""
    gain = []
    for seed in range(10):
        X, seeds, y = draw(200, 10, seed, std=1.5)
        runs = [cls(10, random_state=seed).fit(X, labels=given) for given in (seeds, None)]
        seeded, plain = (adjusted_rand_score(y, run.labels_) for run in runs)
        gain.append(seeded - plain)
    assert np.mean(gain) > 0.02


@both
def test_clusters_without_seeds_start_where_no_seeds_are(cls):
    for seed in range(5):
        X = np.repeat([0.0, 50.0, 100.0, 150.0], 10)[:, None] + np.arange(40)[:, None] % 10
        y = np.full(40, -1)
        y[[35, 36, 5]] = 7, 7, 3
        model = cls(4, random_state=seed).fit(X, labels=y)
        assert model.labels_.tolist() == np.repeat(range(4), 10).tolist()
        assert model.classes_.tolist() == [3, None, None, 7]


# ---------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    "y",
    [
        ["b", None, "a", None, None, "c"],
        ["b", -1, "a", -1, None, "c"],
        np.array([5.5, np.nan, 2.0, -1.0, np.nan, -3.0]),
        np.array([0, -1, 9, -1, -1, -2]),
        pd.Series([3, None, 2, None, None, 1], dtype="Int64"),
        pd.Categorical(["b", None, "a", None, None, "c"]),
        [True, None, "a", None, None, 0.5],
    ],
)
def test_labels_of_any_kind(y):
    X = np.array([[10.0], [11.0], [0.0], [1.0], [20.0], [21.0]])
    model = SeededKMeans(3).fit(X, labels=y)
    assert model.labels_.tolist() == [0, 0, 1, 1, 2, 2]
    assert model.classes_.tolist() == [y[0], y[2], y[5]]


def test_a_label_that_is_the_word_minus_one_is_a_label():
    model = SeededKMeans(2).fit([[0.0], [1.0], [9.0]], labels=["-1", None, "x"])
    assert model.classes_.tolist() == ["-1", "x"]


@both
def test_predict_goes_to_the_nearest_centre(cls):
    model = cls(2).fit([[0.0], [1.0], [9.0]], labels=["low", -1, "high"])
    assert model.classes_[model.predict([[8.0], [-3.0]])].tolist() == ["high", "low"]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 2, -1], r"^labels: 3 different ones, more than n_clusters=2"),
        ([0, 1, -1], r"^labels: 3 of them, but X has 4 rows"),
        ([-1, -1, -1], r"^labels: 3 of them, but X has 4 rows"),
        ([[0, 1], [1, 0]], r"^labels: shape \(2, 2\)"),
    ],
)
def test_labels_that_cannot_be(y, message):
    model = SeededKMeans(2)
    with pytest.raises(MaylinkError, match=message):
        model.fit(np.eye(4), labels=y)
    assert vars(model) == vars(SeededKMeans(2))


# ---------------------------------------------------------------------- seeds from links


@both
def test_the_largest_neighbourhoods_are_the_seeds(cls):
    X = np.array([[0.0], [1.0], [2.0], [50.0], [51.0], [90.0], [91.0], [92.0], [93.0]])
    links = [(0, 1), (1, 2), (3, 4), (5, 6), (7, 8), (6, 7)]
    by_links = cls(2).fit(X, links=(links, []))
    by_labels = cls(2).fit(X, labels=[0, 0, 0, -1, -1, 1, 1, 1, 1])
    assert by_links.labels_.tolist() == by_labels.labels_.tolist()
    assert by_links.objective_path_.tolist() == by_labels.objective_path_.tolist()
    assert by_links.classes_.tolist() == [None, None]
    torn = cls(2).fit(X, links=(links, [(5, 7)]))
    instead = cls(2).fit(X, labels=[0, 0, 0, 1, 1, -1, -1, -1, -1])
    assert torn.objective_path_.tolist() == instead.objective_path_.tolist()


def test_seeds_from_links_stay_together_in_the_constrained_form_only():
    X = np.array([[0.0], [1.0], [9.0], [10.0], [5.2]])
    links = ([(0, 1), (2, 3), (3, 4)], [])
    assert ConstrainedSeededKMeans(2).fit(X, links=links).labels_.tolist() == [0, 0, 1, 1, 1]
    X[4] = 3.0
    assert ConstrainedSeededKMeans(2).fit(X, links=links).labels_.tolist() == [0, 0, 1, 1, 1]
    assert SeededKMeans(2).fit(X, links=links).labels_.tolist() == [0, 0, 1, 1, 0]


@both
def test_links_that_leave_no_seeds_are_k_means(cls):
    X, _ = make_blobs(30, centers=3, random_state=0)
    plain = cls(3, random_state=0).fit(X)
    for links in (([], [(0, 1)]), ([(0, 1)], [(0, 1)]), ([], [])):
        assert cls(3, random_state=0).fit(X, links=links).objective_ == plain.objective_


@both
def test_labels_and_links_together_are_refused(cls):
    with pytest.raises(MaylinkError, match=r"^links: not used when labels are given"):
        cls(2).fit(np.eye(4), labels=[0, 1, -1, -1], links=([(0, 2)], []))
    cls(2).fit(np.eye(4), labels=[0, 1, -1, -1], links=([], []))
    unknown = cls(2).fit(np.eye(4), [-1] * 4, links=([(0, 2), (1, 3)], []))
    assert unknown.labels_.tolist() == [0, 1, 0, 1]


# ---------------------------------------------------------------------- edges


@both
def test_far_from_the_origin(cls):
    X = np.array([[0.0], [0.25], [5.0], [5.25]]) + 1e8
    assert cls(2).fit(X, labels=[0, -1, -1, 1]).labels_.tolist() == [0, 0, 1, 1]


@both
@pytest.mark.parametrize("y", [[0, -1, -1, -1, 0], [0, -1, 1, -1, 0]])
def test_small_and_degenerate_data(cls, y):
    n = 5
    for X in (np.zeros((n, 2)), np.arange(n)[:, None] * 1.0, np.eye(n, 9), np.full((n, 1), 1e8)):
        for K in range(1 if 1 not in y else 2, n + 1):
            model = cls(K, random_state=0).fit(X, labels=y)
            assert 1 <= model.n_clusters_ <= K
            assert model.classes_.shape == (model.n_clusters_,)
            assert np.isfinite(model.cluster_centers_).all()
            assert np.isfinite(model.objective_path_).all()


@both
def test_one_point(cls):
    model = cls(1).fit([[3.0, 4.0]], labels=["only"])
    assert model.labels_.tolist() == [0]
    assert model.classes_.tolist() == ["only"]
    assert model.objective_ == 0.0


@both
def test_the_seed_decides(cls):
    X, seeds, _ = draw(80, 3, 0)
    paths = [
        cls(9, random_state=s).fit(X, labels=seeds).objective_path_.tobytes() for s in (0, 0, 1, 2)
    ]
    assert paths[0] == paths[1]
    assert len(set(paths)) > 1


@both
def test_agrees_with_an_independent_program(cls):
    name = "active_semi_clustering.semi_supervised.labeled_data"
    peer = pytest.importorskip(name, reason="active-semi-supervised-clustering is not installed")
    other = peer.SeededKMeans if cls is SeededKMeans else peer.ConstrainedKMeans
    for seed in range(10):
        X, seeds, _ = draw(80, 4, seed)
        labels = other(4, max_iter=300).fit(X, seeds).labels_
        assert cls(4).fit(X, labels=seeds).labels_.tolist() == by_first_appearance(labels.tolist())
