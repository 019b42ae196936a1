"""MPCKMeans against plain NumPy, brute force, PCKMeans and another implementation."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from maylink import Links
from maylink.baselines.kernels.pck_means import farthest, move_centers
from maylink.baselines.learned_metrics import LinkedData
from maylink.baselines.mpck_means import MPCKMeans
from maylink.baselines.pck_means import PCKMeans, signed_votes
from maylink.errors import MaylinkError
from maylink.kernels.conditional_modes import iterated_conditional_modes
from zoo import EDGES, draw_pairs, random_links, true_links

KINDS = [*product(["diagonal", "full"], [True, False]), ("identity", False)]
every = pytest.mark.parametrize(("metric", "per_cluster"), KINDS)
seeds = pytest.mark.parametrize("seed", range(2))

PEER = "active_semi_clustering.semi_supervised.pairwise_constraints"


def square(x, A):
    return float(x @ A @ x)


def widest(X, A):
    """The difference of the two points farthest apart, by looking at all pairs."""
    gaps = X[:, None] - X[None]
    squares = np.einsum("ijf,fg,ijg->ij", gaps, A, gaps, optimize=True)
    return gaps[np.unravel_index(squares.argmax(), squares.shape)]


def objective(X, links, labels, centers, A, spans, weights):
    """J, term by term; A and spans by cluster."""
    total = 0.0
    for x, k in zip(X, labels, strict=True):
        total += square(x - centers[k], A[k]) - np.linalg.slogdet(A[k])[1]
    for i, j, kind, vote in zip(links.i, links.j, links.kind, links.weight, strict=True):
        a, b, gap = labels[i], labels[j], X[i] - X[j]
        if kind > 0 and a != b:
            total += weights[0] * vote * (square(gap, A[a]) + square(gap, A[b])) / 2
        if kind < 0 and a == b:
            total += weights[1] * vote * (square(spans[a], A[a]) - square(gap, A[a]))
    return total


def as_matrices(metrics):
    return metrics if metrics.ndim == 3 else np.array([np.diag(row) for row in metrics])


@every
@seeds
def test_objective_is_the_formula(seed, metric, per_cluster):
    X, _ = make_blobs(50, 3, centers=3, cluster_std=3.0, random_state=seed)
    links = random_links(50, 40, seed)
    model = MPCKMeans(
        3, metric=metric, per_cluster=per_cluster, link_weight=(0.5, 0.2), random_state=seed
    ).fit(X, links=links)
    A = as_matrices(model.metrics_)
    expected = objective(
        X, links, model.labels_, model.cluster_centers_, A, [widest(X, a) for a in A], (0.5, 0.2)
    )
    assert model.objective_ == pytest.approx(expected, rel=1e-9)
    assert model.objective_ == model.objective_path_.min()
    if not per_cluster:
        assert np.ptp(A, axis=0).max() == 0


@every
@seeds
def test_each_step_lowers_the_objective_while_the_span_is_held(seed, metric, per_cluster):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(45, 3)) * [1, 5, 0.2]
    X -= X.mean(axis=0)
    links = random_links(45, 60, seed)
    weights = (0.6, 0.3)
    votes = signed_votes(links, weights)
    centers = X[:4].copy()
    labels = rng.integers(0, 4, 45)
    data = LinkedData(X, votes, True)
    metrics = MPCKMeans(4, metric=metric, per_cluster=per_cluster)._first_metrics(X)
    falls = 0
    for _ in range(6):
        now = data.measure(centers, metrics)
        A = as_matrices(metrics.matrices(4))
        spans = np.broadcast_to(now.span, (4, 3))
        for k in range(4):  # the widest, so that no link has a negative cost
            assert square(spans[k], A[k]) == pytest.approx(square(widest(X, A[k]), A[k]))
        assert np.all(now.far - now.between >= 0 - 1e-12 * now.far)
        values = [objective(X, links, labels, centers, A, spans, weights)]
        assert data.objective(now, labels) == pytest.approx(values[0], rel=1e-9)
        order = rng.permutation(votes.linked_points)
        iterated_conditional_modes(now.cost, *votes.by_point, now.between, now.far, order, labels)
        values.append(objective(X, links, labels, centers, A, spans, weights))
        size = move_centers(X, labels, centers)
        values.append(objective(X, links, labels, centers, A, spans, weights))
        metrics = metrics.update(data, labels, centers, size, now.span)
        A = as_matrices(metrics.matrices(4))
        values.append(objective(X, links, labels, centers, A, spans, weights))
        assert np.all(np.diff(values) <= 1e-9 * np.abs(values[0]))
        falls += values[-1] < values[0]
        # what follows, the choice of a new exact span, can only raise it
        last = data.objective(data.measure(centers, metrics), labels)
        assert last >= values[-1] - 1e-9 * abs(last)
    assert falls > 0


@every
@seeds
def test_path_never_rises_with_may_links_only(seed, metric, per_cluster):
    X, _ = make_blobs(60, 3, centers=4, cluster_std=3.0, random_state=seed)
    pairs = np.array([pair[:2] for pair in draw_pairs(60, 60, seed)])
    model = MPCKMeans(4, metric=metric, per_cluster=per_cluster, random_state=seed)
    path = model.fit(X, links=Links.from_pairs(may=pairs, n=60)).objective_path_
    assert path.size > 1
    assert np.all(np.diff(path) <= 1e-9 * np.abs(path).max())


@pytest.mark.parametrize("per_cluster", [True, False])
@pytest.mark.parametrize("metric", ["diagonal", "full"])
@seeds
def test_metrics_are_those_of_a_plain_loop_and_the_least(seed, metric, per_cluster):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2)) * [1, 4]
    X -= X.mean(axis=0)
    links = random_links(60, 50, seed)
    may, may_not = 0.5, 0.02
    labels = rng.integers(0, 2, 60)
    centers = np.array([X[labels == k].mean(axis=0) for k in range(2)])
    data = LinkedData(X, signed_votes(links, (may, may_not)), True)
    first = MPCKMeans(2, metric=metric, per_cluster=per_cluster)._first_metrics(X)
    now = data.measure(centers, first)
    size = np.bincount(labels)
    learned = first.update(data, labels, centers, size, now.span)
    found = as_matrices(learned.matrices(2))
    spans = np.broadcast_to(now.span, (2, 2))

    S = np.zeros((2, 2, 2))
    for x, k in zip(X, labels, strict=True):
        S[k] += np.outer(x - centers[k], x - centers[k])
    for i, j, kind, vote in zip(links.i, links.j, links.kind, links.weight, strict=True):
        a, b, gap = labels[i], labels[j], X[i] - X[j]
        if kind > 0 and a != b:
            S[a] += may * vote * np.outer(gap, gap) / 2
            S[b] += may * vote * np.outer(gap, gap) / 2
        if kind < 0 and a == b:
            S[a] += may_not * vote * (np.outer(spans[a], spans[a]) - np.outer(gap, gap))
    if not per_cluster:
        S[:], size = S.sum(axis=0), np.array([60, 60])
    for k in range(2):
        sum_of = S[k] if metric == "full" else np.diag(np.diag(S[k]))
        np.testing.assert_allclose(found[k], size[k] * np.linalg.inv(sum_of), rtol=1e-8)

    least = objective(X, links, labels, centers, found, spans, (may, may_not))
    for _ in range(20):
        turn = np.diag(rng.normal(size=2)) if metric == "diagonal" else rng.normal(size=(2, 2))
        near = [(np.eye(2) + 0.05 * turn.T) @ A @ (np.eye(2) + 0.05 * turn) for A in found]
        assert objective(X, links, labels, centers, near, spans, (may, may_not)) >= least - 1e-9


@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_singular_and_indefinite_sums_stay_within_the_limit(metric):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3)) * [1, 3, 0]  # the third feature is constant
    X -= X.mean(axis=0)
    labels = np.r_[0, np.ones(19, np.int64)]  # one point alone, and none in cluster 2
    # a may-not link whose points are farther apart in one feature than the widest pair
    A = as_matrices(MPCKMeans(3, metric=metric)._first_metrics(X).matrices(3))[0]
    s = widest(X, A)
    wide = max(combinations(range(1, 20), 2), key=lambda p: abs(X[p[0], 0] - X[p[1], 0]))
    assert abs(X[wide[0], 0] - X[wide[1], 0]) > abs(s[0])
    links = Links.from_pairs(may_not=[wide], n=20, weight=1e6)
    data = LinkedData(X, signed_votes(links, (1.0, 1.0)), True)
    centers = np.array([X[0], X[1:].mean(axis=0), [5.0, 5.0, 5.0]])
    first = MPCKMeans(3, metric=metric)._first_metrics(X)
    now = data.measure(centers, first)
    learned = first.update(data, labels, centers, np.array([1, 19, 0]), now.span)
    found = as_matrices(learned.matrices(3))
    variance = X.var(axis=0)
    limit = 1e4 / np.where(variance > 0, variance, variance.mean())
    np.testing.assert_allclose(found[0], np.diag(limit), rtol=1e-9)
    np.testing.assert_array_equal(found[2], as_matrices(first.matrices(3))[2])
    scaled = found[1] / np.sqrt(np.outer(limit, limit))
    values = np.linalg.eigvalsh(scaled)
    assert values.min() > 0
    assert values.max() == pytest.approx(1.0)
    assert np.isfinite(learned.log_det).all()


@seeds
def test_points_move_as_in_a_plain_loop(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2))
    X -= X.mean(axis=0)
    links = random_links(30, 40, seed)
    votes = signed_votes(links, (0.4, 0.3))
    data = LinkedData(X, votes, True)
    model = MPCKMeans(3)
    labels = rng.integers(0, 3, 30)
    centers = np.array([X[labels == k].mean(axis=0) for k in range(3)])
    metrics = model._first_metrics(X)
    metrics = metrics.update(data, labels, centers, np.bincount(labels), np.zeros((3, 2)))
    now = data.measure(centers, metrics)
    A = as_matrices(metrics.matrices(3))
    order = rng.permutation(votes.linked_points)
    expected = labels.copy()

    def value(labels):
        return objective(X, links, labels, centers, A, now.span, (0.4, 0.3))

    for i in set(range(30)) - set(order):
        prices = [value(np.where(np.arange(30) == i, k, expected)) for k in range(3)]
        expected[i] = int(np.argmin(prices))
    moved = True
    while moved:
        moved = False
        for i in order:
            prices = [value(np.where(np.arange(30) == i, k, expected)) for k in range(3)]
            if min(prices) < prices[expected[i]] - 1e-9:
                expected[i] = int(np.argmin(prices))
                moved = True
    iterated_conditional_modes(now.cost, *votes.by_point, now.between, now.far, order, labels)
    assert labels.tolist() == expected.tolist()


@pytest.mark.parametrize("n", [1, 2, 5, 60, 700])
@seeds
def test_farthest_pair_against_all_pairs(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) if seed % 2 else rng.integers(0, 3, (n, 4)).astype(float)
    X -= X.mean(axis=0)
    weights = rng.random(4) + 0.1
    squared = (X**2 * weights).sum(axis=1)
    columns = np.ascontiguousarray(X.T)
    most = pdist(X * np.sqrt(weights)).max(initial=0.0)
    for start in ([0, 0], [0, n - 1]):
        pair = np.array(start)
        assert farthest(columns, weights, squared, n * n, pair)
        gap = X[pair[0]] - X[pair[1]]
        assert np.sqrt((gap**2 * weights).sum()) == pytest.approx(most, abs=1e-12)


@pytest.mark.parametrize("dimension", [2, 12])
def test_farthest_pair_gives_up_only_where_many_pairs_may_be_it(dimension):
    X = np.random.default_rng(0).normal(size=(3000, dimension))
    if dimension > 2:
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    X -= X.mean(axis=0)
    columns, squared = np.ascontiguousarray(X.T), (X**2).sum(axis=1)
    known = farthest(columns, np.ones(dimension), squared, 500_000, np.zeros(2, np.int64))
    assert known == (dimension == 2)


@seeds
def test_wide_data_have_no_negative_costs(seed):
    X = np.random.default_rng(seed).normal(size=(2000, 20))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X -= X.mean(axis=0)
    data = LinkedData(X, signed_votes(random_links(2000, 5000, seed), (1.0, 1.0)), True)
    model = MPCKMeans(2, metric="full" if seed % 2 else "diagonal")
    now = data.measure(np.zeros((2, 20)), model._first_metrics(X))
    assert np.all(now.far - now.between > 0)
    for k, A in enumerate(as_matrices(model._first_metrics(X).matrices(2))):
        most = pdist(X @ np.linalg.cholesky(A)).max() ** 2
        assert most < now.far[k] <= 4 * most


@pytest.mark.parametrize("seed", range(3))
def test_identity_with_constant_cost_is_pck_means(seed):
    X, _ = make_blobs(80, 3, centers=4, cluster_std=3.0, random_state=seed)
    links = random_links(80, 100, seed)
    one = PCKMeans(4, link_weight=(3.0, 5.0), random_state=seed).fit(X, links=links)
    two = MPCKMeans(
        4, metric="identity", link_cost="constant", link_weight=(6.0, 10.0), random_state=seed
    ).fit(X, links=links)
    assert one.labels_.tolist() == two.labels_.tolist()
    np.testing.assert_allclose(2 * one.objective_path_, two.objective_path_, rtol=1e-12)
    np.testing.assert_array_equal(one.cluster_centers_, two.cluster_centers_)
    assert np.all(two.metrics_ == 1)


def test_constant_cost_learns_metrics_from_the_points_alone():
    X, _ = make_blobs(80, 2, centers=3, cluster_std=2.0, random_state=0)
    links = random_links(80, 60, 0)
    model = MPCKMeans(3, link_cost="constant", random_state=0).fit(X, links=links)
    total = 0.0
    for k in range(3):
        own = X[model.labels_ == k]
        np.testing.assert_allclose(model.metrics_[k], 1 / own.var(axis=0))
        total += len(own) * (2 + np.log(own.var(axis=0)).sum())
    same = model.labels_[links.i] == model.labels_[links.j]
    total += links.weight[(links.kind > 0) != same].sum()
    assert model.objective_ == pytest.approx(total)
    assert np.all(np.diff(model.objective_path_) <= 1e-9)


def least_of_all(X, links, n_clusters, metric):
    """The least J over all labels, for one shared metric, in which no span has a part."""
    best = np.inf
    n, d = X.shape
    ceiling = 1e4 / X.var(axis=0)
    for labels in product(range(n_clusters), repeat=n):
        labels = np.array(labels)
        centers = np.array(
            [X[labels == k].mean(axis=0) if k in labels else X[0] for k in range(n_clusters)]
        )
        A = np.eye(d)
        spans = [widest(X, A)] * n_clusters
        if metric == "diagonal":
            spread = ((X - centers[labels]) ** 2).sum(axis=0)
            for i, j in links.may:
                spread = spread + (labels[i] != labels[j]) * (X[i] - X[j]) ** 2
            A = np.diag(n / np.maximum(spread, n / ceiling))
        best = min(best, objective(X, links, labels, centers, [A] * n_clusters, spans, (1, 1)))
    return best


@pytest.mark.parametrize(("metric", "least"), [("identity", 17), ("diagonal", 17)])
def test_brute_force_optimum_is_reached_on_most_seeds(metric, least):
    reached = 0
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(6, 2))
        links = random_links(6, 4, seed)
        if metric == "diagonal":
            links = Links.from_pairs(may=links.may, n=6)
        optimum = least_of_all(X, links, 2, metric)
        model = MPCKMeans(2, metric=metric, per_cluster=False, n_init=20, random_state=seed)
        found = model.fit(X, links=links).objective_
        assert found >= optimum - 1e-9
        reached += found <= optimum + 1e-9
    assert reached >= least  # 18 of 20 in both when this was written


def test_true_links_help():
    with_links, without = [], []
    for seed in range(10):
        X, y = make_blobs(150, 2, centers=3, cluster_std=3.5, random_state=seed)
        model = MPCKMeans(3, random_state=seed)
        without.append(adjusted_rand_score(y, model.fit(X).labels_))
        with_links.append(adjusted_rand_score(y, model.fit(X, links=true_links(y, 200, 0)).labels_))
    assert np.mean(with_links) > np.mean(without) + 0.1


@pytest.mark.parametrize("per_cluster", [True, False])
def test_a_loud_feature_that_says_nothing_is_turned_down(per_cluster):
    learned, fixed = [], []
    for seed in range(10):
        X, y = make_blobs(200, 3, centers=3, random_state=seed)
        X = np.c_[X, 30 * np.random.default_rng(seed).normal(size=200)]
        links = true_links(y, 150, seed)
        model = MPCKMeans(3, per_cluster=per_cluster, n_init=3, random_state=seed)
        learned.append(adjusted_rand_score(y, model.fit(X, links=links).labels_))
        assert np.all(model.metrics_.argmin(axis=1) == 3)
        model.set_params(metric="identity")
        fixed.append(adjusted_rand_score(y, model.fit(X, links=links).labels_))
    assert np.mean(learned) > np.mean(fixed) + 0.1


@every
def test_unit_of_the_data_does_not_matter(metric, per_cluster):
    scale = 2.0**27
    X, _ = make_blobs(80, 3, centers=3, cluster_std=3.0, random_state=0)
    links = random_links(80, 60, 0)
    one, two = (
        MPCKMeans(3, metric=metric, per_cluster=per_cluster, random_state=0).fit(data, links=links)
        for data in (X, scale * X)
    )
    assert one.labels_.tolist() == two.labels_.tolist()
    if metric != "identity":
        np.testing.assert_allclose(two.metrics_ * scale**2, one.metrics_, rtol=1e-6)


@every
def test_predict_asks_the_metrics(metric, per_cluster):
    X, _ = make_blobs(200, 3, centers=3, cluster_std=[0.5, 3.0, 6.0], random_state=0)
    model = MPCKMeans(3, metric=metric, per_cluster=per_cluster, random_state=0).fit(X)
    assert model.predict(X).tolist() == model.labels_.tolist()
    A = as_matrices(model.metrics_)
    for x, k in zip(X[:20] + 1.0, model.predict(X[:20] + 1.0), strict=True):
        prices = [
            square(x - center, a) - np.linalg.slogdet(a)[1]
            for center, a in zip(model.cluster_centers_, A, strict=True)
        ]
        assert np.argmin(prices) == k


@every
def test_edges(metric, per_cluster):
    for X, n_clusters, links in EDGES.values():
        model = MPCKMeans(n_clusters, metric=metric, per_cluster=per_cluster, random_state=0)
        model.fit(X, links=links)
        assert np.isfinite(model.objective_path_).all()
        assert np.isfinite(model.metrics_).all()
        assert len(model.metrics_) == model.n_clusters_


def test_a_limit_on_sweeps_is_kept_and_told():
    X = np.random.default_rng(0).normal(size=(300, 2))
    with pytest.warns(ConvergenceWarning, match="max_sweeps"):
        model = MPCKMeans(6, max_sweeps=2, random_state=0).fit(X)
    assert model.n_iter_ <= 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("metric", "round"),
        ("per_cluster", "yes"),
        ("link_weight", -1.0),
        ("link_weight", "auto"),
        ("link_weight", (1.0, 2.0, 3.0)),
        ("link_cost", "free"),
    ],
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(MaylinkError, match=name):
        MPCKMeans(3).set_params(**{name: value}).fit(np.arange(10.0)[:, None])


def test_agrees_with_another_implementation():
    reason = "active-semi-supervised-clustering is not installed"
    with np.errstate():  # its import turns rounding to zero into an error, for everyone
        peer = pytest.importorskip(PEER, reason=reason)
    for seed in range(5):
        X, y = make_blobs(60, 2, centers=3, cluster_std=1.0, random_state=seed)
        links = true_links(y, 100, seed)
        np.random.seed(seed)  # noqa: NPY002 (its only source of randomness)
        other = peer.MPCKMeans(3)
        other.fit(X, ml=links.may.tolist(), cl=links.may_not.tolist())
        model = MPCKMeans(3, per_cluster=False, n_init=5, random_state=seed).fit(X, links=links)
        assert adjusted_rand_score(other.labels_, model.labels_) == 1.0
