"""The cluster penalty: furthest-first, and the choice from the data alone."""

import numpy as np
import pytest

from maylink import DPMeans, RDPMeans, Tuning, log_joint, sample_links
from maylink.datasets import make_two_view
from maylink.engines.cpu import CpuEngine
from maylink.metrics import adjusted_rand
from maylink.problem import Problem
from maylink.tuning import penalty
from zoo import FAMILIES, draw, example


def far_neighbours(seed=0):
    """Four clusters whose points are further from each other than from the mean of all."""
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=200)
    centers = rng.normal(size=(4, 200)) / np.sqrt(200)
    X = centers[y] + 1.5 * rng.normal(size=(200, 200)) / np.sqrt(200)
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


@pytest.mark.parametrize("rate", [0.0, 0.005])
def test_clusters_are_found_where_the_mean_is_nearer_than_neighbours(rate):
    X, y = far_neighbours()
    links = sample_links(y, rate, rng=0)
    tuning = Tuning(n_folds_of_few=2, data_weights=(1.0, 0.1), cluster_hints=(1, 2, 4, 8))
    model = RDPMeans("gaussian", neighbours=False, tuning=tuning, random_state=0)
    model.fit(X, links=links)
    assert adjusted_rand(y, model.labels_) > 0.99


def test_runs_begin_at_the_mean_where_the_path_falls():
    rng = np.random.default_rng(0)
    X = 9.0 * rng.integers(3, size=(200, 2)) + rng.normal(size=(200, 2))
    problem = Problem.build(X)
    assert not penalty.point_starts(CpuEngine(problem.X, problem.family), penalty.PATH_HINTS)


def furthest_first(family, X, k):
    """The plain loop over all points and all that were chosen."""
    T = family.points(X)
    centers = [family.centroid(T.mean(axis=0, keepdims=True))]
    for _ in range(k):
        distance = np.min([family.divergence(X, center)[:, 0] for center in centers], axis=0)
        centers.append(T[[distance.argmax()]])
    return distance.max()


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("k", [1, 2, 5])
def test_hint_is_the_kth_furthest_first_divergence(name, k):
    X, _ = draw(name, 40, 0)
    if k >= len(np.unique(X, axis=0)):
        pytest.skip("there are no more points that differ")
    family = example(name).adapt(X)
    assert penalty.from_hint(CpuEngine(X, family), k) == pytest.approx(furthest_first(family, X, k))


def test_the_path_never_grows_and_is_never_zero():
    X = np.array([[0.0], [0.0], [1.0], [1.0], [4.0]])
    problem = Problem.build(X)
    path = penalty.penalty_path(CpuEngine(problem.X, problem.family), 10)
    assert len(path) == 10
    assert np.all(np.diff(path) <= 0)
    assert path.min() > 0


def test_the_chosen_penalty_has_the_highest_joint_probability():
    draw = make_two_view(150, rng=0)
    model = RDPMeans(link_weight=None, random_state=0, n_init=1).fit(draw.X, links=draw.links)
    best = max(model.penalty_path_, key=lambda step: step.log_joint)
    assert model.cluster_penalty_ == best.penalty
    hints = [step.hint for step in model.penalty_path_]
    assert hints == sorted(hints)
    penalties = [step.penalty for step in model.penalty_path_]
    assert penalties == sorted(penalties, reverse=True)


def test_the_fit_is_no_less_probable_than_any_step():
    draw = make_two_view(80, rng=1)
    model = RDPMeans(link_weight=None, random_state=0).fit(draw.X, links=draw.links)
    score = log_joint(draw.X, model.labels_, links=draw.links)
    assert score >= max(step.log_joint for step in model.penalty_path_) - 1e-9


def test_one_cluster_is_found_where_there_is_one():
    X = np.random.default_rng(0).normal(size=(200, 3))
    assert DPMeans(random_state=0).fit(X).n_clusters_ == 1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [2, 4, 7])
def test_number_of_clear_clusters_is_found(k, seed):
    rng = np.random.default_rng(seed)
    corners = np.array([(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]) * 12.0
    y = np.arange(40 * k) % k
    X = corners[y] + rng.normal(size=(40 * k, 3))
    assert DPMeans(random_state=0).fit(X).n_clusters_ == k


def test_links_move_the_choice():
    """A cloud that looks like one cluster, and links that know it is two."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] > 0).astype(int)
    assert DPMeans(random_state=0).fit(X).n_clusters_ == 1
    links = sample_links(y, rate=0.111, rng=0)
    assert links.n_links == 799
    assert RDPMeans(random_state=0).fit(X, links=links).n_clusters_ == 2


def test_large_data_are_judged_by_a_sample(monkeypatch):
    sizes = []
    whole = penalty.CpuEngine
    monkeypatch.setattr(
        penalty, "CpuEngine", lambda X, *rest: sizes.append(X.shape[0]) or whole(X, *rest)
    )
    draw = make_two_view(300, rng=0)
    model = RDPMeans(link_weight=None, tuning=Tuning(sample_size=60), random_state=0)
    model.fit(draw.X, links=draw.links)
    assert sizes == [60]
    assert len(model.labels_) == 300


def test_the_path_goes_on_as_long_as_it_pays():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(150), 10)
    X = 20 * rng.normal(size=(150, 5))[y] + 0.3 * rng.normal(size=(1500, 5))
    model = DPMeans(random_state=0, n_init=1).fit(X)
    assert model.penalty_path_[-1].hint > 64
    assert 100 < model.n_clusters_ < 200


@pytest.mark.parametrize("family", ["gaussian", "diagonal-gaussian", "full-gaussian"])
def test_outliers_and_idle_features_do_not_blind_the_choice(family):
    rng = np.random.default_rng(0)
    y = np.arange(160) % 4
    X = 8 * np.array([(0, 0), (0, 1), (1, 0), (1, 1)])[y] + rng.normal(size=(160, 2))
    idle = [np.c_[X, np.ones(160)], np.c_[X, X], np.c_[X, X.sum(axis=1)]]
    for data in [X, *(idle if family == "full-gaussian" else idle[:1])]:
        assert DPMeans(family, random_state=0).fit(data).n_clusters_ == 4
    spoilt = DPMeans(family, random_state=0).fit(np.r_[X, [[1e4, 1e4]]])
    assert spoilt.n_clusters_ >= 4
