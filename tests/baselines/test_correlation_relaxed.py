"""The relaxation against all partitions, and against a linear program with all its triangles."""

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import linprog

from maylink.baselines.correlation import VotedPairs
from maylink.baselines.correlation_relaxed import Relaxation
from reference import all_partitions, most_votes_inside
from zoo import noisy_votes


def all_pairs(n, seed, noise):
    return VotedPairs(n, *noisy_votes(n, seed, noise))


def solve(pairs):
    return Relaxation(pairs.n, pairs.first, pairs.second).maximise(pairs.votes)


def all_triangles(n, votes):
    """The best value with every triangle inequality; votes of pairs that are not named are 0."""
    first, second = np.triu_indices(n, 1)
    number = {frozenset(pair): at for at, pair in enumerate(zip(first, second, strict=True))}
    rows = []
    for i, j, k in permutations(range(n), 3):  # together with k, both: together
        row = np.zeros(first.size)
        row[number[frozenset((i, k))]] = row[number[frozenset((k, j))]] = 1.0
        row[number[frozenset((i, j))]] = -1.0
        rows.append(row)
    gain = np.zeros(first.size)
    for pair, vote in votes.items():
        gain[number[frozenset(pair)]] = vote
    limits = np.ones(len(rows)) if rows else None
    return -linprog(-gain, A_ub=np.array(rows) if rows else None, b_ub=limits, bounds=(0, 1)).fun


def test_an_upper_bound_that_is_the_optimum_where_it_is_whole():
    whole = 0
    for seed in range(20):
        pairs = all_pairs(4 + seed % 5, seed, noise=3.0)
        relaxed, best = solve(pairs), most_votes_inside(*pairs)
        assert relaxed.value >= best - 1e-6
        assert relaxed.value == pytest.approx(float(pairs.votes @ relaxed.together))
        if relaxed.is_whole:
            whole += 1
            assert relaxed.value == pytest.approx(best)
            together = np.round(relaxed.together)
            partitions = (pairs.inside(np.array(labels)) for labels in all_partitions(pairs.n))
            assert any((together == one).all() for one in partitions)
        else:
            assert relaxed.value > best
    assert 0 < whole < 20


@pytest.mark.parametrize("seed", range(6))
def test_against_all_triangles_at_once(seed):
    pairs = all_pairs(3 + seed, seed, noise=4.0)
    votes = dict(zip(zip(pairs.first, pairs.second, strict=True), pairs.votes, strict=True))
    assert solve(pairs).value == pytest.approx(all_triangles(pairs.n, votes))


@pytest.mark.parametrize("seed", range(6))
def test_pairs_without_votes_need_no_variables(seed):
    """Paths through the pairs that have votes say as much as triangles over all pairs."""
    rng = np.random.default_rng(seed)
    pairs = all_pairs(8, seed, noise=4.0)
    some = pairs.take(np.sort(rng.choice(28, 13, replace=False)))
    votes = dict(zip(zip(some.first, some.second, strict=True), some.votes, strict=True))
    assert solve(some).value == pytest.approx(all_triangles(8, votes))


def test_a_star_is_half_together():
    """Three strangers, each a friend of the fourth: one of them has it, or all of them half."""
    star = VotedPairs(4, *np.triu_indices(4, 1), np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0]))
    relaxed = solve(star)
    assert most_votes_inside(*star) == 1.0
    assert relaxed.value == pytest.approx(1.5)
    assert not relaxed.is_whole
    np.testing.assert_allclose(relaxed.together, [0.5, 0.5, 0.5, 0.0, 0.0, 0.0], atol=1e-6)


def test_votes_may_change_from_call_to_call():
    kept = Relaxation(7, *np.triu_indices(7, 1))
    for seed in range(5):
        pairs = all_pairs(7, seed, noise=3.0)
        assert kept.maximise(pairs.votes).value == pytest.approx(solve(pairs).value)


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_the_unit_of_votes_does_not_matter(scale):
    pairs = all_pairs(7, 1, noise=3.0)
    scaled = solve(pairs._replace(votes=scale * pairs.votes))
    assert scaled.value == pytest.approx(scale * solve(pairs).value)


def test_no_pairs_and_no_votes():
    none = all_pairs(5, 0, 1.0).take(np.arange(0))
    assert solve(none).value == 0.0
    assert solve(none).is_whole
    assert solve(all_pairs(5, 0, 1.0)._replace(votes=np.zeros(10))).value == 0.0
