"""What RDPMeans chooses: the data weight by held-out links, the rest by the exact score."""

import itertools

import numpy as np
import pytest

from maylink import RDPMeans, Tuning, log_joint, sample_links
from maylink.labels import first_appearance
from maylink.metrics import pair_f
from maylink.problem import Problem
from maylink.solvers.rdpmeans import RDPMeansSettings, RDPMeansSolver
from maylink.tuning import rdpmeans as tuning
from maylink.tuning import run_pool
from zoo import FAMILIES, draw, example, pieces

SETTINGS = RDPMeansSettings(penalty=np.nan, rate=4.0, max_sweeps=30, patience=5, alpha=None)
WEIGHTS = (1.0, 0.1, 0.01)


def entities(n=45, seed=0):
    """Dozens of entities of one to four records each, and hints, one in twelve wrong."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n), rng.integers(1, 5, n))
    X = 3.0 * rng.normal(size=(n, 4))[y] + 0.5 * rng.normal(size=(y.size, 4))
    near = np.argwhere(np.triu(((X[:, None] - X[None]) ** 2).sum(-1) < 16.0, 1))
    right = rng.random(len(near)) < 0.92
    same = y[near[:, 0]] == y[near[:, 1]]
    return X, y, (near[same == right], near[same != right])


def test_clusters_are_merged_while_that_is_more_probable():
    X, y = pieces()
    links = sample_links(y, rate=0.05, accuracy=0.9, rng=0)
    model = RDPMeans("diagonal-gaussian", random_state=0).fit(X, links=links)
    assert pair_f(y, model.labels_) > 0.95
    assert model.n_clusters_ == len(model.cluster_centers_)
    assert model.n_clusters_ < model.trace_["n_clusters"].iloc[model.kept_sweep_]
    for k in range(model.n_clusters_):
        np.testing.assert_allclose(model.cluster_centers_[k], X[model.labels_ == k].mean(axis=0))

    def score(labels):
        options = {"family": model.family_, "data_weight": model.data_weight_, "alpha": None}
        return log_joint(X, labels, links=links, **options)

    assert score(model.labels_) > score(np.zeros(len(X), int))


@pytest.mark.parametrize("seed", range(3))
def test_no_merger_is_left_that_gains(seed):
    X, y = draw("gaussian", 90, seed)
    links = sample_links(y, rate=0.05, accuracy=0.8, rng=seed)
    model = RDPMeans("gaussian", random_state=seed).fit(X, links=links)
    options = {"links": links, "data_weight": model.data_weight_, "alpha": None}
    best = log_joint(X, model.labels_, **options)
    for a, b in itertools.combinations(range(model.n_clusters_), 2):
        merged = np.where(model.labels_ == b, a, model.labels_)
        assert log_joint(X, merged, **options) <= best + 1e-6


def partitions_of(pool, run, rng):
    """The partition after each sweep of a run."""
    solver = RDPMeansSolver(pool.problem, pool.engine, run_pool.with_run(SETTINGS, run))
    state, sweeps, partitions = solver.init(rng.permutation(pool.problem.n)), [], []
    while solver.done(state, sweeps) is None:
        state = solver.step(state)
        sweeps.append(solver.record(state))
        partitions.append(pool.engine.given(state.labels))
    return partitions


@pytest.mark.parametrize("name", FAMILIES)
def test_the_pool_holds_the_best_partition_of_every_run(name):
    """Against the exact score of every partition on the way, computed from data and labels."""
    X, y = draw(name, 60, 0)
    problem = Problem.build(X, sample_links(y, rate=0.06, rng=0), example(name))
    rng = np.random.default_rng(0)
    pool = run_pool.RunPool(problem, SETTINGS, [4.0, 1.0], WEIGHTS, True, rng, 1)
    best = {weight: pool.score(pool.first(weight), weight) for weight in WEIGHTS}
    rng = np.random.default_rng(0)
    options = {"links": problem.links, "family": problem.family, "prior": problem.prior}
    options["alpha"] = None
    path = {run_pool.LinkedRun(4.0, 1.0), run_pool.LinkedRun(1.0, 1.0)}
    assert set(pool.best) == set(pool.runs) >= path
    for run in pool.best:
        partitions = partitions_of(pool, run, rng)
        assert pool.labels(1.0, run).tolist() == first_appearance(partitions[-1])[0].tolist()
        for weight in WEIGHTS:
            scores = [log_joint(X, z, data_weight=weight, **options) for z in partitions]
            assert pool.score(run, weight) == pytest.approx(max(scores), rel=1e-9)
            assert pool.score(run, weight) <= best[weight]
    for weight in WEIGHTS:
        merged = log_joint(X, pool.labels(weight, None), data_weight=weight, **options)
        assert merged >= best[weight] - 1e-6 * abs(best[weight])


def test_the_table_tells_what_each_penalty_would_take():
    X, y = pieces()
    links = sample_links(y, rate=0.05, accuracy=0.9, rng=0)
    problem = Problem.build(X, links, "diagonal-gaussian")
    rng = np.random.default_rng(0)
    choice = tuning.by_links(problem, SETTINGS, None, Tuning(), rng)
    table = choice.table
    judged = table[table["by"] == "probability"]
    assert judged["data_weight"].tolist() == list(Tuning().data_weights)
    assert table[table["by"] == "penalty"]["cluster_penalty"].is_monotonic_decreasing
    chosen = table[table["chosen"]].iloc[0]
    assert chosen["data_weight"] == choice.settings.data_weight
    assert chosen["cluster_penalty"] == choice.settings.penalty
    assert chosen["link_scale"] == choice.link_scale


def test_a_penalty_that_is_given_merges_nothing():
    X, y = pieces()
    links = sample_links(y, rate=0.05, accuracy=0.9, rng=0)
    fixed = RDPMeans("diagonal-gaussian", cluster_penalty=2.0, random_state=0)
    fixed.fit(X, links=links)
    assert fixed.cluster_penalty_ == 2.0
    assert fixed.n_clusters_ == fixed.trace_["n_clusters"].iloc[fixed.kept_sweep_]


def test_dozens_of_small_clusters():
    X, y, links = entities()
    model = RDPMeans(random_state=0).fit(X, links=links)
    assert abs(model.n_clusters_ - 45) <= 5
    assert pair_f(y, model.labels_) > 0.9


def test_wrong_links_are_not_obeyed():
    X, y = draw("gaussian", 120, 4)
    links = sample_links(y, rate=0.05, accuracy=0.7, rng=4)
    free = RDPMeans(random_state=0).fit(X, links=links)
    obeying = RDPMeans(link_weight=None, keep="objective", random_state=0).fit(X, links=links)
    assert pair_f(y, free.labels_) > pair_f(y, obeying.labels_) + 0.05


def test_a_sample_with_too_few_links_leaves_the_choice_to_the_evidence(caplog):
    X, y = draw("gaussian", 200, 0)
    links = sample_links(y, rate=0.005, rng=0)
    assert links.n_links >= 40
    with caplog.at_level("INFO", logger="maylink"):
        model = RDPMeans(tuning=Tuning(sample_size=20), random_state=0).fit(X, links=links)
    assert model.chosen_by_ == "evidence"
    assert "links are too few to hold any out" in caplog.text
