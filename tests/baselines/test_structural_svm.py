"""Large-margin learning: the quadratic program against SciPy, the search against brute force."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from maylink import Links
from maylink.baselines.correlation import VotedPairs, descend
from maylink.baselines.correlation_relaxed import Relaxation
from maylink.baselines.structural_svm import judged_pairs, learn, solve_dual
from reference import all_partitions
from zoo import random_links

TOL = 1e-4


def example(n, seed, n_links=14, p=3):
    """Links on n points, contradictory ones among them, and features of their pairs."""
    links = random_links(n, n_links, seed)
    pairs = judged_pairs(n, links.i, links.j, links.kind, links.weight)
    rng = np.random.default_rng(seed)
    features = np.column_stack(
        [rng.normal(size=(pairs.first.size, p - 1)), np.ones_like(pairs.may)]
    )
    return links, pairs, features


def all_together(n, pairs):
    """Which pairs each partition has together, shape (partitions, pairs), each row once."""
    rows = [np.array(z)[pairs.first] == np.array(z)[pairs.second] for z in all_partitions(n)]
    return np.unique(np.array(rows, float), axis=0)


def by_brute_force(n, pairs):
    together = all_together(n, pairs)
    return lambda votes: together[(together @ votes).argmax()]


def greedy(n, pairs, seed=0):
    rng = np.random.default_rng(seed)

    def partition(votes):
        voted = VotedPairs(n, pairs.first, pairs.second, votes)
        return voted.inside(descend(voted, rng, 300).labels).astype(float)

    return partition


def relaxed(n, pairs):
    relaxation = Relaxation(n, pairs.first, pairs.second)
    return lambda votes: relaxation.maximise(votes).together


def loss_and_gap(links, labels, features_of):
    """Δ(y) and Ψ(links) − Ψ(y), link by link."""
    total = links.weight.sum()
    loss, gap = 0.0, 0.0
    for i, j, kind, weight in zip(links.i, links.j, links.kind, links.weight, strict=True):
        together, share = labels[i] == labels[j], weight / total
        loss += share * (together != (kind > 0))
        gap = gap + share * (float(kind > 0) - float(together)) * features_of[frozenset((i, j))]
    return loss, gap


def by_scipy(gaps, losses, C):
    """The w of min ½ ‖w‖² + C ξ with ξ ≥ losses − gaps·w, one of the losses being 0."""
    p = gaps.shape[1]
    return minimize(
        lambda v: 0.5 * v[:p] @ v[:p] + C * v[p],
        np.r_[np.zeros(p), 1.0],
        jac=lambda v: np.r_[v[:p], C],
        constraints=LinearConstraint(np.column_stack([gaps, np.ones(len(gaps))]), losses),
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 2000},
    ).x[:p]


def risk(gaps, losses, weights, C):
    return 0.5 * weights @ weights + C * (losses - gaps @ weights).max()


# ---------------------------------------------------------------------- the quadratic program


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("C", [0.3, 10.0, 1000.0])
def test_the_quadratic_program_against_scipy(seed, C):
    """The primal of SciPy is no better, and the dual has the same value: so it is the best."""
    rng = np.random.default_rng(seed)
    m, p = int(rng.integers(2, 12)), int(rng.integers(1, 5))
    gaps = np.vstack([np.zeros(p), rng.normal(size=(m, p))])
    losses = np.r_[0.0, rng.uniform(size=m)]
    alpha = solve_dual(gaps, losses, np.r_[C, np.zeros(m)], 1e-10)
    assert (alpha >= 0.0).all()
    assert alpha.sum() == pytest.approx(C)
    weights = alpha @ gaps
    value = risk(gaps, losses, weights, C)
    assert losses @ alpha - 0.5 * weights @ weights == pytest.approx(value)
    other = by_scipy(gaps, losses, C)
    assert value <= risk(gaps, losses, other, C) + 1e-9 * C
    np.testing.assert_allclose(weights, other, rtol=0.01, atol=0.01)


def test_conditions_that_say_the_same_thing():
    gaps, losses = np.array([[0.0], [2.0], [2.0], [2.0]]), np.array([0.0, 1.0, 1.0, 0.5])
    alpha = solve_dual(gaps, losses, np.array([9.0, 0.0, 0.0, 0.0]), 1e-10)
    assert (alpha @ gaps)[0] == pytest.approx(0.5)
    nothing = solve_dual(np.zeros((3, 2)), np.array([0.0, 0.4, 0.7]), np.array([5.0, 0, 0]), 1e-10)
    assert nothing.tolist() == [0.0, 0.0, 5.0]


# ---------------------------------------------------------------------- the search for conditions


@pytest.mark.parametrize("seed", range(6))
def test_the_most_violated_condition_against_brute_force(seed):
    """Link by link over all partitions; greedy is never above, the relaxation never below."""
    n = 4 + seed % 4
    links, pairs, features = example(n, seed)
    weights = np.random.default_rng(seed).normal(size=3)
    features_of = {
        frozenset((int(i), int(j))): row
        for i, j, row in zip(pairs.first, pairs.second, features, strict=True)
    }
    violations = []
    for labels in all_partitions(n):
        loss, gap = loss_and_gap(links, labels, features_of)
        violations.append(loss - gap @ weights)
    votes = (pairs.may + pairs.may_not) * (features @ weights) + pairs.may_not - pairs.may

    def violation(partition):
        together = partition(votes)
        loss = pairs.may @ (1 - together) + pairs.may_not @ together
        gap = pairs.may @ features - ((pairs.may + pairs.may_not) * together) @ features
        return loss - gap @ weights

    most = max(violations)
    assert violation(by_brute_force(n, pairs)) == pytest.approx(most)
    assert violation(greedy(n, pairs)) <= most + 1e-9
    assert violation(relaxed(n, pairs)) >= most - 1e-6


# ---------------------------------------------------------------------- learning


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_learning_reaches_the_least_risk(seed, C):
    """Against SciPy with the conditions of all partitions at once."""
    _, pairs, features = example(6, seed)
    together, votes = all_together(6, pairs), pairs.may + pairs.may_not
    losses = np.r_[0.0, (1 - together) @ pairs.may + together @ pairs.may_not]
    gaps = np.vstack([np.zeros(3), pairs.may @ features - (together * votes) @ features])
    found = learn(pairs, features, by_brute_force(6, pairs), C=C, tol=TOL, max_sweeps=500)
    assert found.converged
    assert (np.diff(found.path) >= -C * TOL).all()
    value = risk(gaps, losses, found.weights, C)
    assert value == pytest.approx(found.path[-1], abs=1.01 * C * TOL)
    least = risk(gaps, losses, by_scipy(gaps, losses, C), C)
    assert found.path[-1] <= least + C * TOL / 50
    assert value <= least + 1.01 * C * TOL


@pytest.mark.parametrize("seed", range(6))
def test_greedy_asks_too_little_and_the_relaxation_too_much(seed):
    n, C = 7, 50.0
    _, pairs, features = example(n, seed, n_links=18)
    searches = (greedy, by_brute_force, relaxed)
    low, right, high = (
        learn(pairs, features, search(n, pairs), C=C, tol=TOL, max_sweeps=500).path[-1]
        for search in searches
    )
    assert low <= right + C * TOL
    assert right <= high + C * TOL


def test_a_margin_by_hand():
    """One feature, a may link at 2 and a may-not link at −1: w = 1, the least with both margins."""
    links = Links.from_pairs(may=[(0, 1)], may_not=[(2, 3)], n=4)
    pairs = judged_pairs(4, links.i, links.j, links.kind, links.weight)
    features = np.array([[2.0], [-1.0]])
    found = learn(pairs, features, greedy(4, pairs), C=1e4, tol=1e-8, max_sweeps=99)
    assert found.weights == pytest.approx([1.0], abs=1e-6)
    assert found.path[-1] == pytest.approx(0.5, abs=1e-3)


def test_judged_pairs():
    links = Links(5, [3, 1, 1, 4], [1, 3, 3, 0], [1, -1, 1, -1], weight=[1.0, 2.0, 3.0, 2.0])
    pairs = judged_pairs(5, links.i, links.j, links.kind, links.weight)
    assert pairs.first.tolist() == [0, 1]
    assert pairs.second.tolist() == [4, 3]
    np.testing.assert_allclose(pairs.may, [0.0, 0.5])
    np.testing.assert_allclose(pairs.may_not, [0.25, 0.25])
    huge = judged_pairs(5, links.i, links.j, links.kind, links.weight * 5e307)
    np.testing.assert_allclose(huge.may_not, pairs.may_not)


def test_it_stops_when_told():
    _, pairs, features = example(6, 0)
    found = learn(pairs, features, greedy(6, pairs), C=100.0, tol=1e-9, max_sweeps=2)
    assert not found.converged
    assert found.path.size == 2
