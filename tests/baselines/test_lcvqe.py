"""LCVQE against a plain loop over the published rules, brute force, and what its objective does."""

from itertools import product

import numpy as np
import pytest

from maylink import Links
from maylink.baselines.kernels.quantisation import nearest
from maylink.baselines.lcvqe import LCVQE, _pulls
from maylink.baselines.quantisation import _ordered_votes, by_feature
from zoo import draw_pairs, links_of

unsettled = pytest.mark.filterwarnings("ignore:.*had not settled")


def build(seed, n=30, d=2, k=3, n_links=15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 1.5 * rng.integers(0, 3, (n, 1))
    pairs = [(i, j, kind, 0.4 * w) for i, j, kind, w in draw_pairs(n, n_links, seed)]
    return X, pairs, X[rng.choice(n, k, replace=False)]


def disjoint_may(seed, n):
    rng = np.random.default_rng(seed)
    points = rng.permutation(n)
    return [
        (int(a), int(b), 1, float(rng.choice([0.5, 1.0, 3.0])))
        for a, b in zip(points[: n // 2], points[n // 2 :], strict=False)
    ]


# ---------------------------------------------------------------------- a plain reading


def square(a, b):
    return float(((a - b) ** 2).sum())


def far_and_second(X, i, j, centers, k):
    """The point that is farther from centre k, and the centre nearest to it but k."""
    r = i if square(X[i], centers[k]) >= square(X[j], centers[k]) else j
    s = min((m for m in range(len(centers)) if m != k), key=lambda m: square(X[r], centers[m]))
    return r, s


def terms(X, pairs, labels, centers):
    """All (weight, point, cluster) of which the objective adds half the weighted distances."""
    found = [(1.0, i, z) for i, z in enumerate(labels)]
    for i, j, kind, w in pairs:
        if kind > 0 and labels[i] != labels[j]:
            found += [(0.5 * w, i, labels[j]), (0.5 * w, j, labels[i])]
        if kind < 0 and labels[i] == labels[j]:
            found.append((w, *far_and_second(X, i, j, centers, labels[i])))
    return found


def value(X, found, centers):
    return sum(0.5 * w * square(X[i], centers[k]) for w, i, k in found)


def assign(X, pairs, centers):
    labels = [min(range(len(centers)), key=lambda k, x=x: square(x, centers[k])) for x in X]
    for kind in (1, -1):
        for i, j, _, w in (p for p in pairs if p[2] == kind):
            k, m = labels[i], labels[j]
            if kind > 0 and k != m:
                to = {z: [square(X[p], centers[z]) for p in (i, j)] for z in (k, m)}
                options = {
                    (k, m): (to[k][0] + to[m][1]) / 2 + w * (to[m][0] + to[k][1]) / 4,
                    (k, k): (to[k][0] + to[k][1]) / 2,
                    (m, m): (to[m][0] + to[m][1]) / 2,
                }
                labels[i], labels[j] = min(options, key=options.get)
            elif kind < 0 and k == m:
                r, s = far_and_second(X, i, j, centers, k)
                near = square(X[i + j - r], centers[k]) / 2
                keep = near + square(X[r], centers[k]) / 2 + w * square(X[r], centers[s]) / 2
                if near + square(X[r], centers[s]) / 2 < keep:
                    labels[r] = s
    return labels


def move(X, pairs, labels, centers):
    total, weight = np.zeros_like(centers), np.zeros(len(centers))
    for w, i, k in terms(X, pairs, labels, centers):
        total[k] += w * X[i]
        weight[k] += w
    return np.array([t / w if w else c for t, w, c in zip(total, weight, centers, strict=True)])


@unsettled
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 2, 4])
def test_every_sweep_is_that_of_the_plain_loop(seed, k):
    X, pairs, start = build(seed, k=k, n_links=(6, 20, 80)[seed % 3])
    if k == 1:
        pairs = [p for p in pairs if p[2] > 0]  # there is no second centre
    centers, path = start, []
    for sweep in range(1, 6):
        labels = assign(X, pairs, centers)
        centers = move(X, pairs, labels, centers)
        path.append(value(X, terms(X, pairs, labels, centers), centers))
        model = LCVQE(k, init=start, max_sweeps=sweep).fit(X, links=links_of(pairs, len(X)))
        if model.n_iter_ < sweep:
            break
        _, first = np.unique(labels, return_index=True)
        order = [labels[i] for i in sorted(first)]
        assert [order[z] for z in model.labels_] == labels
        np.testing.assert_allclose(model.cluster_centers_, centers[order], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(model.objective_path_, path, rtol=1e-10)


def test_the_plain_loop_meets_every_choice():
    """May links kept, moved to either side, may-not links kept and moved; else it tests little."""
    met = set()
    for seed in range(12):
        X, pairs, centers = build(seed, n_links=80)
        for p in pairs:
            before, after = assign(X, [], centers), assign(X, [p], centers)
            moved = tuple(before[q] != after[q] for q in p[:2])
            if (before[p[0]] == before[p[1]]) != (p[2] > 0):
                met.add((p[2], moved))
    assert met == {
        (1, (False, False)),
        (1, (True, False)),
        (1, (False, True)),
        (-1, (False, False)),
        (-1, (True, False)),
        (-1, (False, True)),
    }


@pytest.mark.parametrize("seed", range(3))
def test_centres_are_the_least_of_the_objective(seed):
    """Finite differences, with labels and the points that violated links add as they were."""
    X, pairs, centers = build(seed, n_links=40)
    labels = np.random.default_rng(seed).integers(0, 3, len(X))
    found = terms(X, pairs, labels.tolist(), centers)
    moved = LCVQE(3)._move(X, _ordered_votes(links_of(pairs, len(X)), 1.0), centers, labels)
    for k, f in product(range(3), range(2)):
        step = np.zeros((3, 2))
        step[k, f] = 1e-4
        slope = (value(X, found, moved + step) - value(X, found, moved - step)) / 2e-4
        assert abs(slope) < 1e-6 * len(found)
    assert value(X, found, moved) <= value(X, found, centers)


@pytest.mark.parametrize("seed", range(3))
def test_violated_links_add_the_right_points(seed):
    X, pairs, centers = build(seed, n_links=40)
    labels = np.random.default_rng(seed).integers(0, 3, len(X))
    added = _pulls(X, _ordered_votes(links_of(pairs, len(X)), 1.0), centers, labels)
    found = sorted(
        zip(added.fraction.tolist(), added.point.tolist(), added.cluster.tolist(), strict=True)
    )
    assert found == sorted(terms(X, pairs, labels.tolist(), centers)[len(X) :])


# ---------------------------------------------------------------------- the objective


@pytest.mark.parametrize("seed", range(4))
def test_two_clusters_and_may_links_without_common_points_never_raise_it(seed):
    X, _, start = build(seed, n=60, k=2)
    links = links_of(disjoint_may(seed, 60), 60)
    for link_weight in (0.3, 1.0, 10.0):
        path = LCVQE(2, init=start, link_weight=link_weight).fit(X, links=links).objective_path_
        assert np.all(np.diff(path) <= 1e-12 * path[0])


def test_a_third_cluster_is_not_looked_at():
    """Both points are nearer to the middle together than to either side: the best is not taken."""
    X = np.array([[0.0], [10.0]])
    centers = np.array([[-4.0], [5.0], [14.0]])
    pairs = [(0, 1, 1, 10.0)]
    best = min(
        product(range(3), repeat=2),
        key=lambda labels: value(X, terms(X, pairs, labels, centers), centers),
    )
    labels = np.array([1, 1])
    nearest(X, by_feature(centers), labels)
    assert labels.tolist() == [0, 2]
    LCVQE(3)._reassign(X, _ordered_votes(links_of(pairs, 2), 1.0), centers, labels)
    assert best == (1, 1)
    assert 1 not in labels


@unsettled
@pytest.mark.parametrize("kind", [1, -1])
def test_links_of_either_kind_can_raise_the_objective(kind):
    rises = 0
    for seed in range(20):
        X, pairs, start = build(seed, n_links=80, k=4)
        links = links_of([p for p in pairs if p[2] == kind], len(X))
        path = LCVQE(4, init=start).fit(X, links=links).objective_path_
        rises += bool(np.any(np.diff(path) > 1e-6 * path[0]))
    assert rises > 0  # or the notes of the class are wrong


@unsettled
@pytest.mark.parametrize("seed", range(4))
def test_at_a_weight_of_one_each_may_not_link_is_obeyed_in_its_turn(seed):
    X, _, start = build(seed, n=40, k=3)
    points = np.random.default_rng(seed).permutation(40)
    links = Links.from_pairs(may_not=points.reshape(20, 2), n=40)
    labels = LCVQE(3, init=start).fit(X, links=links).labels_
    assert np.all(labels[links.i] != labels[links.j])
    gentle = LCVQE(3, init=start, link_weight=0.01).fit(X, links=links).labels_
    assert np.any(gentle[links.i] == gentle[links.j])


def least_objective(X, pairs, n_clusters):
    """Brute force over labels and over r and s of violated may-not links: a lower bound."""
    best = np.inf
    for labels in product(range(n_clusters), repeat=len(X)):
        free = [
            [(w, r, s) for r in (i, j) for s in range(n_clusters) if s != labels[i]]
            for i, j, kind, w in pairs
            if kind < 0 and labels[i] == labels[j]
        ]
        fixed = terms(X, [p for p in pairs if p[2] > 0], labels, None)
        for chosen in product(*free):
            found = [*fixed, *chosen]
            centers = np.zeros((n_clusters, X.shape[1]))
            for k in range(n_clusters):
                own = [(w, X[i]) for w, i, m in found if m == k]
                if own:
                    centers[k] = sum(w * x for w, x in own) / sum(w for w, _ in own)
            best = min(best, value(X, found, centers))
    return best


@pytest.mark.parametrize(("kinds", "enough"), [((1,), 20), ((-1,), 14), ((1, -1), 16)])
def test_optimum_of_few_points(kinds, enough):
    """With restarts most of 20 problems are solved, and none better than possible."""
    solved = 0
    for seed in range(20):
        X, pairs, _ = build(seed, n=6, n_links=3)
        pairs = [p for p in pairs if p[2] in kinds]
        optimum = least_objective(X, pairs, 2)
        model = LCVQE(2, n_init=30, random_state=seed).fit(X, links=links_of(pairs, 6))
        assert model.objective_ >= optimum * (1 - 1e-9)
        solved += model.objective_ <= optimum * (1 + 1e-4)
    assert solved >= enough
