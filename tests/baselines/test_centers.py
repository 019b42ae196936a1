"""Where centres start, and the means they move to."""

import numpy as np
import pytest

from maylink.baselines.centers import (
    Cycle,
    cluster_means,
    initial_centers,
    plus_plus,
    squared_distances,
)
from maylink.errors import MaylinkError


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1.0), (1e8, 1.0), (0.0, 1e-8), (1e8, 1e8)])
def test_plus_plus_finds_every_far_group(seed, shift, scale):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(5), 20)
    X = (100.0 * group[:, None] + rng.random((100, 2)) + shift) * scale
    centers = plus_plus(X, X[:0], 5, rng)
    assert sorted(squared_distances(centers, X[::20]).argmin(axis=1)) == list(range(5))
    assert all((center == X).all(axis=1).any() for center in centers)


@pytest.mark.parametrize("seed", range(3))
def test_plus_plus_goes_where_no_given_centre_is(seed):
    rng = np.random.default_rng(seed)
    X = np.repeat([0.0, 50.0, 90.0], 10)[:, None] + rng.random((30, 1))
    given = np.array([[90.5], [0.5]])
    centers = plus_plus(X, given, 3, rng)
    assert centers[:2].tolist() == given.tolist()
    assert 50.0 <= centers[2, 0] <= 51.0
    assert plus_plus(X, given, 2, rng).tolist() == given.tolist()


def test_plus_plus_draws_by_squared_distance():
    X = np.array([[0.0], [1.0], [2.0]])
    rng = np.random.default_rng(0)
    taken = [plus_plus(X, X[:1], 2, rng)[1, 0] for _ in range(4000)]
    # Either leaves the other at a distance of 1, so the first draw is taken: chances 1 to 4.
    assert np.mean(np.array(taken) == 2.0) == pytest.approx(0.8, abs=0.03)


def test_all_points_equal():
    X = np.full((6, 2), 3.0)
    assert plus_plus(X, X[:0], 4, np.random.default_rng(0)).tolist() == [[3.0, 3.0]] * 4


def test_random_start_takes_distinct_rows():
    X = np.arange(6.0)[:, None]
    for seed in range(5):
        centers = initial_centers(X, "random", 6, np.random.default_rng(seed))
        assert sorted(centers.ravel()) == list(range(6))


def test_given_centres_are_copied_and_must_fit():
    X = np.arange(6.0)[:, None]
    given = np.array([[1.0], [2.0]])
    centers = initial_centers(X, given, 2, np.random.default_rng(0))
    assert centers.tolist() == given.tolist()
    assert centers is not given
    with pytest.raises(MaylinkError, match=r"^init: centres of shape \(2, 1\)"):
        initial_centers(X, given, 3, np.random.default_rng(0))


def test_means_and_an_empty_cluster_keeps_its_centre():
    X = np.array([[0.0, 1.0], [2.0, 3.0], [7.0, 7.0]])
    centers = np.full((3, 2), 9.0)
    moved = cluster_means(X, np.array([2, 2, 0]), centers)
    assert moved.tolist() == [[7.0, 7.0], [9.0, 9.0], [1.0, 2.0]]
    assert (centers == 9.0).all()


def ends(states, **options):
    """After which sweep of (label, centre, objective) it stops, or None."""
    cycle = Cycle(**options)
    for sweep, (label, center, objective) in enumerate(states):
        if cycle.ends(np.array([label]), np.array([[center]]), objective):
            return sweep
    return None


def test_sweeps_stop_at_the_best_of_a_cycle():
    one, two, three = (0, 1.0, 5.0), (1, 2.0, 3.0), (2, 3.0, 4.0)
    assert ends([one, two, three]) is None
    assert ends([one, one]) == 1
    assert ends([one, two, three] * 3) == 4  # the cycle shows at 3, and its best comes after
    assert ends([(9, 0.0, 1.0), *[one, two] * 3]) == 4  # a cycle begins after 0


def test_centres_within_the_tolerance_are_the_same():
    assert ends([(0, 1.0, 5.0), (0, 1.1, 5.0)]) is None
    assert ends([(0, 1.0, 5.0), (0, 1.1, 5.0)], tolerance=0.02) == 1
