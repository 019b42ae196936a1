"""Merging in rounds: the score never falls, and thousands of clusters are merged."""

import numpy as np
import pytest

from maylink import Links
from maylink.labels import first_appearance
from maylink.metrics import adjusted_rand
from maylink.model.joint import joint_of
from maylink.model.partition_priors import (
    DirichletProcess,
    Microclustering,
    PitmanYor,
    UniformPartitions,
)
from maylink.model.reliability import count_links, votes_between
from maylink.problem import Problem
from maylink.solvers.merging import FEW, merge
from maylink.solvers.merging_rounds import ClusterRounds, nearest
from maylink.solvers.score_settings import ScoreSettings
from zoo import draw, draw_pairs, example

SETTINGS = [
    ScoreSettings(),
    ScoreSettings(0.1, None),
    ScoreSettings(0.5, 0.7, reliability=(0.85, 0.7)),
    ScoreSettings(partition_prior=PitmanYor(0.3)),
    ScoreSettings(0.3, partition_prior=Microclustering()),
    ScoreSettings(0.1, partition_prior=UniformPartitions()),
]
FAMILIES = ["gaussian", "diagonal-gaussian", "full-gaussian", "multinomial", "product"]


def problem_of(name, n, seed, n_links):
    X, _ = draw(name, n, seed)
    i, j, kind, weight = zip(*draw_pairs(n, n_links, seed), strict=True)
    source = [("rule", "expert")[k % 2] for k in range(n_links)]
    return Problem.build(X, Links(n, i, j, kind, weight=weight, source=source), example(name))


def score(problem, settings, labels):
    return joint_of(
        problem,
        labels,
        problem.prior,
        settings.alpha,
        settings.data_weight,
        settings.reliability_prior,
        settings.reliability,
        settings.partition_prior,
    )


def rounds_of(problem, settings, labels):
    size = int(labels.max()) + 1
    statistics = problem.family.cluster_statistics(problem.X, labels, size)
    votes = votes_between(problem.links, labels, size)
    return ClusterRounds(problem.family, problem.prior, settings, statistics, votes)


def records(n_things, n_columns, rng, spread=0.05):
    """Two or three records of each thing, close to each other, and which thing each is of."""
    y = np.repeat(np.arange(n_things), rng.integers(2, 4, n_things))
    places = rng.normal(size=(n_things, n_columns))
    return places[y] + spread * rng.normal(size=(y.size, n_columns)), y


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("settings", SETTINGS)
def test_every_round_gains_what_it_says(name, settings):
    problem = problem_of(name, 80, 0, 120)
    labels = np.arange(80) % 60
    rounds = rounds_of(problem, settings, labels)
    before = score(problem, settings, labels)
    for _ in range(50):
        gain = rounds.merge_round()
        now = first_appearance(rounds.root[labels])[0]
        after = score(problem, settings, now)
        assert gain >= 0.0
        assert after - before == pytest.approx(gain, abs=1e-6)
        assert rounds.n_clusters == now.max() + 1
        before = after
        if not gain:
            break
    assert gain == 0.0


def test_votes_follow_the_clusters():
    problem = problem_of("gaussian", 60, 1, 90)
    labels = np.arange(60) % 40
    rounds = rounds_of(problem, ScoreSettings(0.1), labels)
    rounds.merge_round()
    counts = count_links(problem.links, rounds.root[labels])
    np.testing.assert_allclose(np.array(rounds.votes.counts()), np.array(counts))


def test_the_nearest_are_the_nearest():
    points = np.random.default_rng(0).normal(size=(50, 3))
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(apart, np.inf)
    expected = np.argsort(apart, axis=1)[:, :4]
    assert np.sort(nearest(points, 4)).tolist() == np.sort(expected).tolist()
    assert nearest(points[:2], 10).tolist() == [[1], [0]]


def test_records_of_hundreds_of_things_come_out_as_such():
    """500 pairs and triples: hundreds of clusters where the prior expects small ones."""
    X, y = records(500, 16, np.random.default_rng(0))
    problem = Problem.build(X, None, "gaussian")
    settings = ScoreSettings(partition_prior=Microclustering())
    small = merge(problem, problem.prior, settings, np.arange(y.size)).labels
    assert 450 < small.max() + 1 < 550
    assert adjusted_rand(y, small) > 0.9
    others = ScoreSettings(partition_prior=DirichletProcess())
    large = merge(problem, problem.prior, others, np.arange(y.size)).labels
    assert score(problem, settings, small) > score(problem, settings, large)


def test_links_join_clusters_that_are_far_apart():
    n = 2 * FEW
    X = np.random.default_rng(0).normal(size=(n, 2))
    half = np.arange(FEW)
    links = Links(n, half, half + FEW, np.ones(FEW, int))
    problem = Problem.build(X, links, "gaussian")
    sure, small = (1.0 - 1e-5, 1.0 - 1e-5), Microclustering(2.0)
    settings = ScoreSettings(0.0, reliability=sure, partition_prior=small)
    rounds = rounds_of(problem, settings, np.arange(n))
    rounds.merge_round()
    assert (rounds.root[:FEW] == rounds.root[FEW:]).all()


def test_thousands_of_clusters_are_merged():
    rng = np.random.default_rng(0)
    X = 10.0 * rng.normal(size=(5, 32))[np.arange(3000) % 5] + rng.normal(size=(3000, 32))
    problem = Problem.build(X, None, "gaussian")
    labels = merge(problem, problem.prior, ScoreSettings(), np.arange(3000)).labels
    assert labels.tolist() == (np.arange(3000) % 5).tolist()


def test_more_than_a_thousand_clusters_are_left_where_there_are_so_many():
    """Rounds alone merge them: there never are few enough to be merged two by two."""
    X, y = records(1100, 16, np.random.default_rng(0), spread=0.03)
    problem = Problem.build(X, None, "gaussian")
    settings = ScoreSettings(partition_prior=Microclustering())
    merged = merge(problem, problem.prior, settings, np.arange(y.size))
    assert 1000 < merged.labels.max() + 1 < 1150
    assert adjusted_rand(y, merged.labels) > 0.95
    assert merged.log_joint == pytest.approx(score(problem, settings, merged.labels))
    assert merged.log_joint > score(problem, settings, np.arange(y.size))
