"""Partitions together: against scikit-learn and brute force."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score, rand_score

from maylink.errors import MaylinkError
from maylink.labels import complete_codes
from maylink.model.partitions import (
    LOSSES,
    coclustering,
    coclustering_matrix,
    credible_ball,
    distance,
    distances,
    point_estimate,
    responsibilities_of,
)
from reference import all_partitions


def random_draws(seed, n, m):
    rng = np.random.default_rng(seed)
    center = rng.integers(0, 3, n)
    noisy = np.where(rng.random((m, n)) < 0.3, rng.integers(0, 4, (m, n)), center)
    return np.array([complete_codes(row) for row in noisy])


@pytest.mark.parametrize("seed", range(5))
def test_distances_are_those_of_scikit_learn(seed):
    a, b = random_draws(seed, 30, 2)
    information = mutual_info_score(a, a) + mutual_info_score(b, b) - 2 * mutual_info_score(a, b)
    assert distance(a, b, "vi") == pytest.approx(information)
    assert distance(a, b, "binder") == pytest.approx(1.0 - rand_score(a, b))
    assert distance(a, a) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(20))
def test_the_estimate_is_the_optimum_of_all_partitions(loss, seed):
    n = 5 + seed % 3
    draws = random_draws(seed, n, 3 + 5 * (seed % 5))
    found = distances(draws, point_estimate(draws, loss), loss).mean()
    optimum = min(distances(draws, np.array(z), loss).mean() for z in all_partitions(n))
    assert found == pytest.approx(optimum, abs=1e-12)


def test_binder_may_want_more_clusters_than_any_draw():
    """All splits of 8 points in two halves: no pair is together in more than 3/7 of them."""
    halves = [half for half in combinations(range(8), 4) if 0 in half]
    draws = np.array([complete_codes(np.isin(np.arange(8), half)) for half in halves])
    assert point_estimate(draws, "binder").tolist() == list(range(8))


def test_the_estimate_is_no_worse_than_any_draw():
    draws = random_draws(0, 200, 80)
    for loss in LOSSES:
        found = distances(draws, point_estimate(draws, loss), loss).mean()
        assert found <= min(distances(draws, draw, loss).mean() for draw in draws) + 1e-12


def test_many_draws_are_thinned_evenly():
    draws = random_draws(1, 12, 5000)
    center = point_estimate(draws)
    assert distance(center, point_estimate(draws[::5])) < 0.2


def test_coclustering():
    draws = np.array([[0, 0, 1], [0, 1, 1], [0, 0, 0]])
    matrix = coclustering_matrix(draws)
    np.testing.assert_allclose(matrix, [[1, 2 / 3, 1 / 3], [2 / 3, 1, 2 / 3], [1 / 3, 2 / 3, 1]])
    np.testing.assert_allclose(coclustering(draws, np.array([0, 1]), np.array([1, 2])), 2 / 3)
    with pytest.raises(MaylinkError, match="too large"):
        coclustering_matrix(np.zeros((1, 6000), int))


def test_responsibilities_are_mean_coclustering_with_the_members():
    draws = random_draws(3, 15, 40)
    labels = point_estimate(draws)
    matrix = coclustering_matrix(draws)
    members = [matrix[:, labels == k].mean(axis=1) for k in range(labels.max() + 1)]
    expected = np.column_stack(members)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(responsibilities_of(draws, labels), expected)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_credible_ball_holds_its_share_of_the_draws(loss):
    draws = random_draws(2, 20, 200)
    center = point_estimate(draws, loss)
    ball = credible_ball(draws, center, loss, level=0.9)
    inside = draws[distances(draws, center, loss) <= ball.radius]
    assert len(inside) / 200 >= 0.9
    assert len(draws[distances(draws, center, loss) < ball.radius]) / 200 < 0.9
    sizes = inside.max(axis=1)
    assert (ball.coarsest.max(), ball.finest.max()) == (sizes.min(), sizes.max())
    assert distance(ball.furthest, center, loss) == pytest.approx(ball.radius)


def test_bad_input():
    with pytest.raises(MaylinkError, match="loss: 'rand'"):
        distance([0], [0], "rand")
    with pytest.raises(MaylinkError, match="level: 2"):
        credible_ball(np.zeros((1, 2), int), [0, 0], level=2)
    with pytest.raises(MaylinkError, match="draws of 2 points"):
        distance([0, 1], [0])
