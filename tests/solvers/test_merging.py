"""Merging clusters: gains are differences of the exact score, and no merger is left that gains."""

import itertools

import numpy as np
import pytest

from maylink import Links
from maylink.labels import first_appearance
from maylink.model.joint import joint_of
from maylink.model.partition_priors import Microclustering, PitmanYor, UniformPartitions
from maylink.model.reliability import votes_between
from maylink.problem import Problem
from maylink.solvers.merging import MergingClusters, cut, merge
from maylink.solvers.score_settings import ScoreSettings
from maylink.solvers.vote_table import Merger
from zoo import draw, draw_pairs, example

FAMILIES = ["gaussian", "diagonal-gaussian", "full-gaussian", "multinomial", "bernoulli", "poisson"]
SETTINGS = [
    ScoreSettings(),
    ScoreSettings(0.1, 2.5),
    ScoreSettings(0.5, 0.7, reliability=(0.85, 0.7)),
    ScoreSettings(reliability_prior=(4.0, 2.0)),
    ScoreSettings(partition_prior=PitmanYor(0.3)),
    ScoreSettings(0.3, partition_prior=Microclustering()),
    ScoreSettings(0.1, partition_prior=UniformPartitions()),
]


def problem_of(name, n, seed, n_links=None):
    X, _ = draw(name, n, seed)
    n_links = 2 * n if n_links is None else n_links
    i, j, kind, weight = zip(*draw_pairs(n, n_links, seed), strict=True)
    source = [("rule", "expert", "crowd")[k % 3] for k in range(n_links)]
    return Problem.build(X, Links(n, i, j, kind, weight=weight, source=source), example(name))


def score(problem, settings, labels):
    return joint_of(
        problem,
        np.asarray(labels, np.int64),
        problem.prior,
        settings.alpha,
        settings.data_weight,
        settings.reliability_prior,
        settings.reliability,
        settings.partition_prior,
    )


def clusters_of(problem, settings, labels):
    size = int(labels.max()) + 1
    statistics = problem.family.cluster_statistics(problem.X, labels, size)
    votes = votes_between(problem.links, labels, size)
    return MergingClusters(problem.family, problem.prior, settings, statistics, votes)


def joined(labels, a, b):
    return first_appearance(np.where(labels == b, a, labels))[0]


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("settings", SETTINGS)
def test_gains_are_differences_of_the_exact_score(name, settings):
    """Of every pair of clusters, at the start and after each merger."""
    problem = problem_of(name, 24, 0)
    labels = first_appearance(np.arange(24) % 6)[0]
    clusters = clusters_of(problem, settings, labels)
    while len(clusters.alive) > 1:
        before = score(problem, settings, first_appearance(clusters.root[labels])[0])
        gains = clusters.total_gain()
        size = len(clusters.alive)
        for rank, (a, b) in enumerate(itertools.combinations(range(size), 2)):
            now = clusters.root[labels]
            after = joined(now, clusters.alive[a], clusters.alive[b])
            assert gains[rank] == pytest.approx(score(problem, settings, after) - before, abs=1e-7)
        clusters._join(Merger.of(0, size - 1, size))


@pytest.mark.parametrize("name", FAMILIES[:2])
def test_votes_of_many_sources_are_kept_as_rows(name, monkeypatch):
    monkeypatch.setattr("maylink.solvers.merging.table_or_rows", lambda votes: votes)
    for settings in SETTINGS:
        test_gains_are_differences_of_the_exact_score(name, settings)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("seed", range(3))
def test_merging_never_lowers_the_score(name, seed):
    problem = problem_of(name, 40, seed)
    rng = np.random.default_rng(seed)
    for settings in SETTINGS:
        labels = first_appearance(rng.integers(0, 9, 40))[0]
        coarse = merge(problem, problem.prior, settings, labels).labels
        assert score(problem, settings, coarse) >= score(problem, settings, labels)
        both = {*zip(labels.tolist(), coarse.tolist(), strict=True)}
        assert len(both) == labels.max() + 1  # clusters were merged, not cut
        assert first_appearance(coarse)[0].tolist() == coarse.tolist()


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("settings", SETTINGS)
def test_from_singletons_it_ends_where_no_merger_gains(name, settings):
    problem = problem_of(name, 7, 2)
    coarse = merge(problem, problem.prior, settings, np.arange(7)).labels
    best = score(problem, settings, coarse)
    for a, b in itertools.combinations(range(int(coarse.max()) + 1), 2):
        assert score(problem, settings, joined(coarse, a, b)) <= best + 1e-8


@pytest.mark.parametrize("name", FAMILIES[:2])
def test_it_ends_there_also_where_most_gains_are_rough(name, monkeypatch):
    monkeypatch.setattr("maylink.solvers.merging.FEW_ENTRIES", 0)
    for seed in range(3):
        test_merging_never_lowers_the_score(name, seed)
        test_from_singletons_it_ends_where_no_merger_gains(name, ScoreSettings())


def test_the_best_merger_comes_first():
    problem = problem_of("gaussian", 9, 3)
    labels = np.arange(9) % 5
    pairs = list(itertools.combinations(range(5), 2))
    after = [score(problem, ScoreSettings(0.05), joined(labels, a, b)) for a, b in pairs]
    clusters = clusters_of(problem, ScoreSettings(0.05), labels)
    assert max(after) > score(problem, ScoreSettings(0.05), labels)
    assert clusters.merge_best()
    now = first_appearance(clusters.root[labels])[0]
    assert score(problem, ScoreSettings(0.05), now) == pytest.approx(max(after))


def test_clear_clusters_come_back_from_their_pieces():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    X = rng.normal(size=(90, 2)) + 12.0 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    problem = Problem.build(X, Links.empty(90), "gaussian")
    pieces = first_appearance(y * 5 + rng.integers(0, 5, 90))[0]
    coarse = merge(problem, problem.prior, ScoreSettings(), pieces).labels
    assert coarse.tolist() == y.tolist()


def test_one_cluster_stays_one():
    problem = problem_of("gaussian", 8, 0)
    coarse = merge(problem, problem.prior, ScoreSettings(), np.zeros(8, np.int64)).labels
    assert coarse.tolist() == [0] * 8


def test_cut_is_the_common_refinement():
    labels, pieces = np.array([0, 0, 0, 1, 1, 2]), np.array([1, 0, 1, 1, 3, 3])
    fine = cut(labels, pieces)
    assert sorted(set(fine.tolist())) == list(range(5))
    for i, j in itertools.combinations(range(6), 2):
        same = labels[i] == labels[j] and pieces[i] == pieces[j]
        assert (fine[i] == fine[j]) == same
    assert cut(labels, np.zeros(6, np.int64)).tolist() == labels.tolist()


def test_votes_between_clusters_by_hand():
    links = Links(
        4, [0, 0, 1, 2], [1, 2, 3, 3], [1, 1, 1, -1], [1.0, 2.0, 4.0, 8.0], ["a", "a", "b", "b"]
    )
    labels = np.array([0, 0, 1, 1])
    votes = votes_between(links, labels, int(labels.max()) + 1)
    rows = zip(*(part.tolist() for part in votes[2:]), strict=True)
    assert list(rows) == [
        (0, 0, 0, 1.0, 0.0), (0, 0, 1, 2.0, 0.0), (1, 0, 1, 4.0, 0.0), (1, 1, 1, 0.0, 8.0)
    ]  # fmt: skip
