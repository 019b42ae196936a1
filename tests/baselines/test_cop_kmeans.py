"""COP-KMeans against the published loop, brute force and an independent program."""

import re
import warnings
from itertools import pairwise, product

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from maylink import Links
from maylink.baselines.cop_kmeans import COPKMeans
from maylink.errors import InfeasibleLinksError, MaylinkError
from reference import by_first_appearance
from zoo import random_links

both = pytest.mark.parametrize("search", [False, True])


def from_truth(n, n_links, K, seed):
    """Data, links that labels keep, and the labels; the links cannot contradict each other."""
    X, y = make_blobs(n, centers=K, cluster_std=4.0, random_state=seed)
    pairs = min(n_links, n * (n - 1) // 2)
    return X, Links.from_labels(y, sample=pairs, rng=seed), y


def keeps(labels, links):
    return all(
        (labels[i] == labels[j]) == (kind > 0)
        for i, j, kind in zip(links.i, links.j, links.kind, strict=True)
    )


def assignments(links, K):
    """All labelings that keep every link."""
    for labels in product(range(K), repeat=links.n):
        if keeps(labels, links):
            yield np.array(labels)


def cost_of(X, labels):
    return sum(((X[labels == k] - X[labels == k].mean(axis=0)) ** 2).sum() for k in set(labels))


def sweep_by_sweep(model, X, links):
    """Fits that stop after 1, 2, … sweeps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        n_sweeps = model.fit(X, links=links).n_iter_
        for sweeps in range(1, n_sweeps + 1):
            yield model.set_params(max_sweeps=sweeps).fit(X, links=links)


# ---------------------------------------------------------------------- feasibility


@pytest.mark.parametrize("K", [1, 2, 3])
def test_search_fails_exactly_where_no_assignment_exists(K):
    """240 sets of links on 4 to 7 points, against all labelings."""
    possible = 0
    for seed in range(80):
        n = 4 + seed % 4
        links = random_links(n, 1 + seed % 9, seed)
        X = np.random.default_rng(seed).normal(size=(n, 2))
        exists = next(assignments(links, K), None) is not None
        possible += exists
        model = COPKMeans(K, search=True, random_state=seed)
        if exists:
            assert keeps(model.fit(X, links=links).labels_, links)
        else:
            with pytest.raises(InfeasibleLinksError):
                model.fit(X, links=links)
    assert 0 < possible < 80


@pytest.mark.parametrize("K", [2, 3])
def test_without_search_a_result_keeps_all_links(K):
    fitted = 0
    for seed in range(80):
        links = random_links(6, 1 + seed % 6, seed)
        X = np.random.default_rng(seed).normal(size=(6, 2))
        try:
            labels = COPKMeans(K, random_state=seed).fit(X, links=links).labels_
        except InfeasibleLinksError:
            continue
        fitted += 1
        assert keeps(labels, links)
    assert fitted >= 20


def test_many_links_on_many_points():
    for seed in range(3):
        X, links, _ = from_truth(2000, 1000, 4, seed)
        assert keeps(COPKMeans(4, search=True, random_state=0).fit(X, links=links).labels_, links)


# ---------------------------------------------------------------------- what failures say


def named(message):
    return [tuple(map(int, pair)) for pair in re.findall(r"\((\d+), (\d+)\)", message)]


@both
def test_a_chain_that_contradicts_is_named(search):
    links = Links.from_pairs(may=[(4, 1), (1, 2), (0, 3)], may_not=[(4, 2)], n=5)
    expected = r"may links join (4 – 1 – 2|2 – 1 – 4), .* keeps 2 and 4 apart; .*RDPMeans"
    with pytest.raises(InfeasibleLinksError, match=expected):
        COPKMeans(2, search=search, n_init=3).fit(np.eye(5), links=links)


@both
def test_further_contradictions_are_counted(search):
    pairs = [(0, 1), (2, 3), (1, 4)]
    with pytest.raises(InfeasibleLinksError, match=r"join 0 – 1, .* 2 more such contradictions"):
        COPKMeans(2, search=search).fit(np.eye(5), links=(pairs, pairs))


@pytest.mark.parametrize("K", [1, 2, 3])
def test_the_named_may_not_links_cannot_be_kept(K):
    seen = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        i = rng.integers(0, 7, 14)
        links = Links(7, i, (i + rng.integers(1, 7, 14)) % 7, -np.ones(14))
        try:
            COPKMeans(K, search=True, random_state=0).fit(np.eye(7), links=links)
        except InfeasibleLinksError as error:
            seen += 1
            pairs = named(str(error))
            given = {tuple(sorted(pair)) for pair in links.may_not.tolist()}
            assert {tuple(sorted(pair)) for pair in pairs} <= given
            if "more;" not in str(error):
                alone = Links.from_pairs(may_not=pairs, n=7)
                assert next(assignments(alone, K), None) is None
    assert seen >= 3


def test_may_links_between_the_named_ones_are_told():
    with pytest.raises(InfeasibleLinksError, match=r"\(0, 1\), \(1, 2\), \(2, 3\) together with"):
        COPKMeans(2, search=True).fit(np.eye(4), links=([(0, 3)], [(0, 1), (1, 2), (2, 3)]))


STUCK = np.array([[0.0], [5.0], [10.0]]), ([], [(0, 1), (1, 2)])
ENDS = [[0.0], [10.0]]


def test_a_point_that_got_stuck_is_named_with_the_links_that_keep_it_out():
    """With the middle last, both clusters are taken; no run but one that starts there succeeds."""
    X, links = STUCK
    failed = 0
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(3).tolist()
        model = COPKMeans(2, init=ENDS, random_state=seed)
        if order[-1] == 1:
            failed += 1
            with pytest.raises(InfeasibleLinksError, match=r"point 1: .*search=True") as caught:
                model.fit(X, links=links)
            assert sorted(named(str(caught.value))) == [(0, 1), (1, 2)]
            assert not hasattr(model, "labels_")
        else:
            assert keeps(model.fit(X, links=links).labels_, Links.from_pairs(*links, n=3))
    assert 0 < failed < 10


def test_runs_that_fail_drop_out():
    X, links = STUCK
    labels = [
        COPKMeans(2, init=ENDS, n_init=30, random_state=seed).fit(X, links=links).labels_.tolist()
        for seed in range(10)
    ]
    assert labels == [[0, 1, 0]] * 10
    assert COPKMeans(2, search=True).fit(X, links=links).labels_.tolist() == [0, 1, 0]


def test_a_search_that_may_not_go_on_says_so():
    pairs = [(i, j) for i in range(8) for j in range(i)]
    with pytest.raises(InfeasibleLinksError, match=r"max_steps=3 steps .* nor a proof"):
        COPKMeans(5, search=True, max_steps=3, n_init=2).fit(np.eye(8), links=([], pairs))


# ---------------------------------------------------------------------- the algorithm


def published(X, links, centers, order):
    """The loop of Wagstaff and others, point by point, over the closure of the links.

    Returns the labels after each sweep, with None at the end where a point found no cluster.
    """
    n = len(X)
    together = [{i} for i in range(n)]
    for i, j in links.may.tolist():
        joined = together[i] | together[j]
        for point in joined:
            together[point] = joined
    apart = [set() for _ in range(n)]
    for i, j in links.may_not.tolist():
        for a, b in product(together[i], together[j]):
            apart[a].add(b)
            apart[b].add(a)
    history = []
    while len(history) < 300:
        labels = {}
        for i in order:
            for k in sorted(range(len(centers)), key=lambda k: ((X[i] - centers[k]) ** 2).sum()):
                friend_elsewhere = any(labels.get(j, k) != k for j in together[i])
                stranger_here = any(labels.get(j) == k for j in apart[i])
                if not friend_elsewhere and not stranger_here:
                    labels[i] = k
                    break
            else:
                return [*history, None]
        history.append([labels[i] for i in range(n)])
        if len(history) > 1 and history[-1] == history[-2]:
            return history
        for k in set(labels.values()):
            centers[k] = np.mean([X[i] for i in range(n) if labels[i] == k], axis=0)
    return history


@pytest.mark.parametrize("seed", range(10))
def test_without_search_it_is_the_published_loop(seed):
    X, links, _ = from_truth(25, 5 + 2 * seed, 3, seed)
    rng = np.random.default_rng(seed)
    start = X[rng.choice(25, 3, replace=False)]
    order = np.random.default_rng(seed).permutation(25)  # the first draw of a run
    history = published(X, links, list(start), order)
    model = COPKMeans(3, init=start, random_state=seed)
    if history[-1] is None:
        with pytest.raises(InfeasibleLinksError, match="no cluster is left"):
            model.fit(X, links=links)
    else:
        model.fit(X, links=links)
        costs = [cost_of(X, np.array(labels)) for labels in history]
        assert model.labels_.tolist() == by_first_appearance(history[model.n_iter_ - 1])
        np.testing.assert_allclose(model.objective_path_, costs[: model.n_iter_])
        if len(history) < 300:
            assert model.n_iter_ == len(history)
        else:  # it goes round in circles
            assert model.n_iter_ < 100
            assert model.objective_ == pytest.approx(min(costs[-100:]))


def test_the_published_loop_fails_settles_circles_and_rises():
    """So the comparison above covers all of it."""
    histories = []
    for seed in range(30):
        X, links, _ = from_truth(25, 5 + 2 * seed, 3, seed)
        start = X[np.random.default_rng(seed).choice(25, 3, replace=False)]
        order = np.random.default_rng(seed).permutation(25)
        histories.append(published(X, links, list(start), order))
        histories[-1] = [h and cost_of(X, np.array(h)) for h in histories[-1]]
    failed = [h for h in histories if h[-1] is None]
    circled = [h for h in histories if len(h) == 300]
    rose = [h for h in histories if h[-1] and max(np.diff(h)) > 1e-9]
    assert 5 <= len(failed) <= 20
    assert circled
    assert rose


@both
@pytest.mark.parametrize("seed", range(2))
def test_without_links_it_is_k_means(search, seed):
    X, _ = make_blobs(120, centers=4, cluster_std=3.0, random_state=seed)
    start = X[np.random.default_rng(seed).choice(120, 4, replace=False)]
    model = COPKMeans(4, init=start, search=search).fit(X)
    other = KMeans(4, init=start, n_init=1, tol=0, algorithm="lloyd").fit(X)
    assert model.labels_.tolist() == by_first_appearance(other.labels_.tolist())
    assert model.objective_ == pytest.approx(other.inertia_)
    assert (np.diff(model.objective_path_) <= 1e-9 * model.objective_).all()


@pytest.mark.parametrize("seed", range(4))
def test_with_search_the_objective_never_rises(seed):
    X, links, _ = from_truth(60, 40 + 20 * seed, 3, seed)
    path = []
    for model in sweep_by_sweep(COPKMeans(3, search=True, random_state=seed), X, links):
        assert keeps(model.labels_, links)
        path.append(cost_of(X, model.labels_))
    assert len(path) >= 2
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in pairwise(path))
    np.testing.assert_allclose(model.objective_path_, path)
    means = [X[model.labels_ == k].mean(axis=0) for k in range(model.n_clusters_)]
    np.testing.assert_allclose(model.cluster_centers_, means)


def test_the_optimum_is_never_passed_and_found_by_most_searches():
    """At least 27 times of 30, with 20 runs each."""
    reached = 0
    for seed in range(30):
        X, links, _ = from_truth(7, 1 + seed % 6, 3, seed)
        best = min(cost_of(X, labels) for labels in assignments(links, 3))
        found = COPKMeans(3, search=True, n_init=20, random_state=seed).fit(X, links=links)
        assert found.objective_ >= best * (1 - 1e-9)
        reached += found.objective_ <= best * (1 + 1e-9)
    assert reached >= 27


@pytest.mark.parametrize(("search", "n_links"), [(False, 40), (True, 150)])
def test_right_links_help(search, n_links):
    gain = []
    for seed in range(8):
        X, y = make_blobs(150, centers=3, cluster_std=4.0, random_state=seed)
        links = Links.from_labels(y, sample=n_links, rng=seed)
        options = {"search": search, "n_init": 10, "random_state": seed}
        fits = [COPKMeans(3, **options).fit(X, links=given) for given in (links, None)]
        linked, plain = (adjusted_rand_score(y, fit.labels_) for fit in fits)
        gain.append(linked - plain)
    assert np.mean(gain) > (0.1 if search else 0.02)


@both
def test_weights_and_repetitions_of_links_do_not_matter(search):
    X, links, _ = from_truth(40, 25, 3, 0)
    heavy = Links(40, links.i, links.j, links.kind, np.arange(1.0, 26.0))
    fits = [
        COPKMeans(3, search=search, n_init=5, random_state=0).fit(X, links=given).labels_.tolist()
        for given in (links, heavy, links + heavy + heavy)
    ]
    assert fits[0] == fits[1] == fits[2]


@both
@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_another_seed_is_another_start(search, init):
    X, _, _ = from_truth(60, 20, 3, 1)
    objectives = {
        COPKMeans(3, search=search, init=init, n_init=1, max_sweeps=300, random_state=seed)
        .fit(X)
        .objective_path_[0]
        for seed in range(5)
    }
    assert len(objectives) > 1


# ---------------------------------------------------------------------- edges


@both
def test_far_from_the_origin(search):
    X = np.array([[0.0], [0.25], [5.0], [5.25]]) + 1e8
    model = COPKMeans(2, search=search, random_state=0).fit(X, links=([(0, 1)], [(1, 2)]))
    assert model.labels_.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("search", [False, True])
@pytest.mark.parametrize("links", [([(0, 1), (1, 2)], []), ([], [(0, 1), (1, 2)])])
def test_small_and_degenerate_data(search, links):
    n = 5
    for X in (np.zeros((n, 2)), np.arange(n)[:, None] * 1.0, np.eye(n, 9), np.full((n, 1), 1e8)):
        for K in range(1 if links[0] else 2, n + 1):
            model = COPKMeans(K, search=True, random_state=0)
            model.set_params(search=search, n_init=20).fit(X, links=links)
            assert 1 <= model.n_clusters_ <= K
            assert np.isfinite(model.cluster_centers_).all()
            assert np.isfinite(model.objective_path_).all()
            assert keeps(model.labels_, Links.from_pairs(*links, n=n))
    assert model.labels_.size == n


@both
def test_all_points_apart(search):
    pairs = [(i, j) for i in range(6) for j in range(i)]
    X = np.random.default_rng(0).normal(size=(6, 2))
    model = COPKMeans(6, search=search, random_state=0).fit(X, links=([], pairs))
    assert model.labels_.tolist() == list(range(6))
    assert model.objective_ == pytest.approx(0.0)
    with pytest.raises(InfeasibleLinksError):
        COPKMeans(5, search=search, random_state=0).fit(X, links=([], pairs))


def test_a_run_that_was_cut_short_warns():
    X, links, _ = from_truth(60, 20, 3, 1)
    with pytest.warns(ConvergenceWarning, match="max_sweeps"):
        COPKMeans(3, search=True, max_sweeps=1, random_state=0).fit(X, links=links)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("init", "best"),
        ("init", [[np.nan]]),
        ("init", [1.0, 2.0]),
        ("init", [["a"]]),
        ("init", [[1.0]]),
        ("search", "yes"),
        ("max_steps", 0),
    ],
)
def test_parameters_that_cannot_be(name, value):
    model = COPKMeans(2).set_params(**{name: value})
    with pytest.raises(MaylinkError, match=f"^{name}: "):
        model.fit(np.eye(4))


def test_agrees_with_an_independent_program(monkeypatch):
    """May-not links only: that program lets friends of points in cluster 0 go elsewhere."""
    name = "active_semi_clustering.semi_supervised.pairwise_constraints"
    peer = pytest.importorskip(name, reason="active-semi-supervised-clustering is not installed")
    agreed = 0
    for seed in range(20):
        X, links, _ = from_truth(30, 12, 3, seed)
        links = Links.from_pairs(may_not=links.may_not, n=30)
        start = X[np.random.default_rng(seed).choice(30, 3, replace=False)]
        order = np.random.default_rng(seed).permutation(30).tolist()
        other = peer.COPKMeans(3)
        monkeypatch.setattr(other, "_init_cluster_centers", lambda X, start=start: start)
        monkeypatch.setattr(
            "numpy.random.shuffle", lambda x, order=order: x.__setitem__(slice(None), order)
        )
        model = COPKMeans(3, init=start, random_state=seed)
        try:
            model.fit(X, links=links)
        except InfeasibleLinksError:
            continue
        labels = other.fit(X, cl=links.may_not.tolist()).labels_
        assert model.labels_.tolist() == by_first_appearance(labels.tolist())
        agreed += 1
    assert agreed >= 10
