"""Correlation clustering of similarities on all pairs, against all partitions of few points."""

import numpy as np
import pytest

from maylink.baselines.correlation import VotedPairs, by_mean_votes, descend, net_votes
from reference import all_partitions, most_votes_inside, votes_inside
from zoo import noisy_votes


def all_pairs(n, seed, noise=1.0):
    return VotedPairs(n, *noisy_votes(n, seed, noise))


@pytest.mark.parametrize(("noise", "least"), [(0.5, 20), (1.0, 18), (3.0, 14)])
def test_greedy_never_beats_the_best_partition_and_often_is_it(noise, least):
    """20 sets of votes on 4 to 8 points; so many are solved."""
    solved = 0
    for seed in range(20):
        pairs = all_pairs(4 + seed % 5, seed, noise)
        labels = descend(pairs, np.random.default_rng(seed), 300).labels
        best = most_votes_inside(*pairs)
        assert votes_inside(*pairs[1:], labels) <= best + 1e-9
        solved += votes_inside(*pairs[1:], labels) == pytest.approx(best)
    assert solved >= least


def test_votes_against_and_votes_inside_go_together():
    pairs = all_pairs(7, 0)
    positive = pairs.votes[pairs.votes > 0].sum()
    for labels in list(all_partitions(7))[::50]:
        against = pairs.against(np.array(labels))
        assert votes_inside(*pairs[1:], labels) == pytest.approx(positive - against)


@pytest.mark.parametrize("seed", range(5))
def test_a_start_is_only_bettered(seed):
    pairs = all_pairs(30, seed, noise=2.0)
    start = np.random.default_rng(seed).integers(0, 5, 30)
    run = descend(pairs, np.random.default_rng(seed), 300, start)
    assert (np.diff(np.r_[pairs.against(start), run.path]) <= 1e-9).all()
    assert run.path[-1] < 0.9 * pairs.against(start)
    assert run.path[-1] == pytest.approx(pairs.against(run.labels))


@pytest.mark.parametrize("seed", range(5))
def test_mean_votes_against_plain_loops(seed):
    pairs = all_pairs(12, seed)
    votes = np.zeros((12, 12))
    votes[pairs.first, pairs.second] = votes[pairs.second, pairs.first] = pairs.votes
    clusters = [[i] for i in range(12)]
    while len(clusters) > 1:
        mean, a, b = max(
            (votes[np.ix_(clusters[a], clusters[b])].mean(), a, b)
            for b in range(len(clusters))
            for a in range(b)
        )
        if mean <= 0.0:
            break
        clusters[a] += clusters.pop(b)
    found = by_mean_votes(pairs)
    assert found.min() >= 0
    assert found.max() < 12
    assert sorted(np.flatnonzero(found == k).tolist() for k in set(found)) == sorted(
        sorted(members) for members in clusters
    )


def test_without_votes_each_point_is_alone():
    pairs = all_pairs(5, 0)
    for empty in (pairs._replace(votes=np.zeros(10)), pairs.take(np.arange(0))):
        run = descend(empty, np.random.default_rng(0), 300)
        assert len(set(run.labels.tolist())) == 5
        assert run.converged


def test_net_votes():
    ends = ([2, 0, 1, 3, 0], [0, 2, 1, 1, 1])
    pairs = net_votes(4, np.array(ends[0]), np.array(ends[1]), np.array([3.0, -1.0, 9.0, 2.0, 0.0]))
    assert list(zip(pairs.first, pairs.second, pairs.votes, strict=True)) == [(0, 2, 2), (1, 3, 2)]
