"""Where TVClust starts: distinct partitions, the best by the exact score, pieces without links."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from maylink import Links, sample_links
from maylink.model.joint import joint_of
from maylink.problem import Problem
from maylink.solvers.score_settings import ScoreSettings
from maylink.tuning import pool as starts
from maylink.tuning.pool import FamilyOnData, StartPool, StartView, joined_by_links
from zoo import FAMILIES, draw, example, random_links


def pool_problem(name, seed=0, n=60, links=None):
    """A problem, its view and the family on its data."""
    X, y = draw(name, n, seed)
    links = sample_links(y, rate=0.05, accuracy=0.9, rng=seed) if links is None else links
    problem = Problem.build(X, links, example(name))
    view = StartView.of(problem, np.random.default_rng(seed), 1)
    return problem, view, FamilyOnData(problem, problem.prior, view)


def exact(problem, labels, settings):
    return joint_of(
        problem,
        labels,
        problem.prior,
        settings.alpha,
        settings.data_weight,
        settings.reliability_prior,
        settings.reliability,
    )


def as_sets(labels):
    return frozenset(frozenset(np.flatnonzero(labels == k).tolist()) for k in np.unique(labels))


@pytest.mark.parametrize("name", FAMILIES)
def test_the_pool_holds_distinct_partitions(name):
    problem, view, _ = pool_problem(name)
    pool = StartPool([view], problem.links, np.random.default_rng(0), 1)
    assert len(pool.partitions) > 2
    assert len({labels.tobytes() for labels in pool.partitions}) == len(pool.partitions)
    for labels in pool.partitions:
        assert labels.shape == (problem.n,)
        assert set(labels.tolist()) == set(range(int(labels.max()) + 1))


def test_points_without_links_have_a_cluster_in_every_partition():
    links = Links.from_pairs(may=[(0, 1), (4, 9)], may_not=[(1, 4)], n=60)
    _, view, _ = pool_problem("gaussian", links=links)
    pool = StartPool([view], links, np.random.default_rng(0), 1)
    for labels in [*pool.partitions, *pool.obeyed]:
        assert set(labels.tolist()) == set(range(int(labels.max()) + 1))


@pytest.mark.parametrize("name", ["gaussian", "full-gaussian", "multinomial"])
@pytest.mark.parametrize("settings", [ScoreSettings(), ScoreSettings(0.05, 2.0, (0.8, 0.7))])
def test_the_best_has_the_highest_exact_score(name, settings):
    problem, view, family = pool_problem(name)
    pool = StartPool([view], problem.links, np.random.default_rng(0), 1)
    best = pool.best(family, settings, 3)
    scores = [exact(problem, labels, settings) for labels in best]
    assert 1 <= len(best) <= 3
    assert scores == sorted(scores, reverse=True)
    assert scores[0] >= max(exact(problem, labels, settings) for labels in pool.partitions) - 1e-9
    assert len({as_sets(labels) for labels in best}) == len(best)
    for labels, score in zip(best, scores, strict=True):
        assert family.score(labels, problem.links, settings) == pytest.approx(score)


def test_a_better_partition_from_elsewhere_is_taken():
    _, y = draw("gaussian", 60, 1)
    links = Links.from_labels(y, sample=600, rng=0)
    problem, view, family = pool_problem("gaussian", 1, links=links)
    pool = StartPool([view], links, np.random.default_rng(0), 1)
    truth = np.unique(y, return_inverse=True)[1]
    pool.partitions = [np.zeros(60, np.int64)]
    best = pool.best(family, ScoreSettings(0.001), 1, [truth])[0]
    assert exact(problem, best, ScoreSettings(0.001)) >= exact(problem, truth, ScoreSettings(0.001))


@pytest.mark.parametrize("name", ["gaussian", "multinomial"])
def test_pieces_and_penalties_do_not_depend_on_links(name):
    X, _ = draw(name, 60, 0)
    views = [
        StartView.of(Problem.build(X, links, example(name)), np.random.default_rng(0), 1)
        for links in (None, random_links(60, 200, 0))
    ]
    assert views[0].pieces.tolist() == views[1].pieces.tolist()
    assert views[0].penalties.tolist() == views[1].penalties.tolist()
    assert not any(view.problem.links.n_links for view in views)


def test_pieces_are_many_and_small():
    _, view, _ = pool_problem("gaussian", n=300)
    sizes = np.bincount(view.pieces)
    assert sizes.min() > 0
    assert 10 < sizes.size <= starts.MOST_PIECES


def test_a_pool_sees_the_links_that_it_is_given_and_no_others(monkeypatch):
    problem, view, _ = pool_problem("gaussian")
    few = problem.links.chosen(np.arange(10), problem.n)
    run_links = []
    run = starts.rdpmeans.run

    def watched(solver, start):
        run_links.append(solver.problem.links)
        return run(solver, start)

    monkeypatch.setattr(starts.rdpmeans, "run", watched)
    StartPool([view], few, np.random.default_rng(0), 1)
    assert len(run_links) == len(view.penalties)
    assert all(links is few for links in run_links)


def test_cutting_and_merging_again_never_lowers_the_score():
    problem, _, family = pool_problem("gaussian", 2)
    for settings in (ScoreSettings(), ScoreSettings(0.05)):
        for seed in range(3):
            labels = np.random.default_rng(seed).integers(0, 3, problem.n)
            remerged = family.remerged(labels, problem.links, settings)
            fine = starts.merging.cut(labels, family.view.pieces)
            assert exact(problem, remerged, settings) >= exact(problem, fine, settings)


def test_right_links_alone_make_their_components():
    y = np.arange(40) % 4
    links = Links.from_labels(y, sample=120, rng=0)
    may = links.may
    graph = np.zeros((40, 40))
    graph[may[:, 0], may[:, 1]] = 1
    _, expected = connected_components(graph, directed=False)
    labels = joined_by_links(links)
    linked = links.degree > 0
    assert as_sets(labels[linked]) == as_sets(expected[linked])


def test_points_without_links_are_one_cluster_by_themselves():
    links = Links.from_pairs(may=[(0, 1)], may_not=[(1, 4)], n=6)
    labels = joined_by_links(links)
    assert as_sets(labels) == {frozenset({0, 1}), frozenset({4}), frozenset({2, 3, 5})}


def test_marginals_are_remembered():
    problem, _, family = pool_problem("gaussian")
    labels = np.arange(problem.n) % 3
    first = family.marginal(labels)
    family.problem = replace(problem, X=problem.X * 100.0)
    assert family.marginal(labels) is first
