"""What an answer is expected to put right, against plain computation over all pairs."""

import itertools

import numpy as np
import pytest

from maylink.metrics import adjusted_rand, pair_f
from maylink.questions.belief import IN_DOUBT, Belief


def some_belief(seed=0, n_draws=40, n_pieces=6, most=5):
    rng = np.random.default_rng(seed)
    draws = rng.integers(3, size=(n_draws, n_pieces))
    return Belief(draws, rng.integers(1, most, n_pieces).astype(float)), rng


def rows_of(belief):
    """Each draw as a partition of the rows, and the piece of each row."""
    size = belief.n_rows.astype(int)
    return np.repeat(belief.draws, size, axis=1), np.repeat(np.arange(len(size)), size)


def wrong_pairs(together, weight):
    """The expected number of pairs put wrongly if H is guessed by its mean: ½ Σ Var(H_kl)."""
    mean = np.tensordot(weight, together, 1)
    return 0.5 * (mean * (1.0 - mean)).sum()


@pytest.mark.parametrize("seed", range(5))
def test_gain_is_the_fall_of_the_expected_distance(seed):
    belief, _ = some_belief(seed)
    rows, piece = rows_of(belief)
    together = (rows[:, :, None] == rows[:, None, :]).astype(float)
    even = np.full(len(rows), 1.0 / len(rows))
    p, q = 0.9, 0.75
    found = belief.doubtful.gains(p, q)
    assert len(found.a) > 3
    assert np.all(np.diff(found.gain) <= 0)
    for a, b, chance, gain in zip(*found, strict=True):
        i, j = np.flatnonzero(piece == a)[0], np.flatnonzero(piece == b)[0]
        may = np.where(together[:, i, j] > 0, p, 1.0 - q) * even
        after = sum(
            said.sum() * wrong_pairs(together, said / said.sum()) for said in (may, even - may)
        )
        np.testing.assert_allclose(gain, wrong_pairs(together, even) - after, rtol=1e-4)
        np.testing.assert_allclose(chance, together[:, i, j].mean())


def test_pairs_that_all_draws_agree_on_are_not_asked_about():
    draws = np.array([[0, 0, 1], [0, 0, 0]] * 20)
    found = Belief(draws, np.ones(3)).doubtful.gains(0.9, 0.9)
    assert {(int(a), int(b)) for a, b in zip(found.a, found.b, strict=True)} == {(0, 2), (1, 2)}
    assert np.all((found.together > IN_DOUBT) & (found.together < 1 - IN_DOUBT))


def test_the_first_of_a_batch_is_the_best_and_the_second_tells_something_else():
    # Pieces 0 to 2 and 3 to 5 are two questions; every pair between two parts tells the same.
    rng = np.random.default_rng(0)
    one, two = rng.integers(2, size=(2, 128))
    draws = np.array([[0, 0, x, 2, 2, 2 + y] for x, y in zip(one, two, strict=True)])
    belief = Belief(np.unique(draws, return_inverse=True)[1].reshape(draws.shape), np.ones(6))
    found = belief.doubtful.gains(0.95, 0.95)
    batch = belief.batch(2, found, 0.95, 0.95)
    assert batch.gain[0] == pytest.approx(found.gain[0], rel=1e-5)
    sides = [{int(a) // 3, int(b) // 3} for a, b in zip(batch.a, batch.b, strict=True)]
    assert sides[0] != sides[1]


def expected_index(belief, labels):
    """The adjusted Rand index of a partition of pieces, with expected pairs, by rows."""
    rows, piece = rows_of(belief)
    n = rows.shape[1]
    pair = np.triu_indices(n, 1)
    together = (rows[:, :, None] == rows[:, None, :]).mean(axis=0)[pair]
    own = (labels[piece][:, None] == labels[piece])[pair]
    by_chance = own.sum() * together.sum() / len(own)
    return (together[own].sum() - by_chance) / ((own.sum() + together.sum()) / 2.0 - by_chance)


@pytest.mark.parametrize("seed", range(5))
def test_no_draw_has_a_higher_expected_index_than_the_best_partition(seed):
    belief, _ = some_belief(seed)
    best = expected_index(belief, belief.best)
    assert all(expected_index(belief, draw) <= best + 1e-9 for draw in belief.draws)
    mean = np.mean([adjusted_rand(row, np.repeat(belief.best, belief.n_rows.astype(int)))
                    for row in rows_of(belief)[0]])  # fmt: skip
    assert best == pytest.approx(mean, abs=0.05)


def test_the_best_partition_is_nearly_the_best_of_all():
    belief, _ = some_belief(6, n_pieces=5)
    every = [np.array(labels) for labels in itertools.product(range(5), repeat=5)]
    most = max(expected_index(belief, labels) for labels in every if len(set(labels)) > 1)
    assert expected_index(belief, belief.best) >= most - 0.02


def test_partitions_of_which_nothing_is_in_doubt():
    assert Belief(np.zeros((9, 4), int), np.ones(4)).best.tolist() == [0, 0, 0, 0]
    apart = np.tile(np.arange(4), (9, 1))
    assert sorted(Belief(apart, np.ones(4)).best.tolist()) == [0, 1, 2, 3]


def test_merging_beats_draws_that_each_err_somewhere():
    # Ten pairs of pieces, each torn apart in one draw of five: no draw is right everywhere.
    rng = np.random.default_rng(0)
    draws = np.repeat(2 * np.arange(10), 2) + np.zeros((60, 1), int)
    draws[:, 1::2] += rng.random((60, 10)) < 0.2
    best = Belief(draws, np.ones(20)).best
    assert adjusted_rand(best, np.repeat(np.arange(10), 2)) == 1.0


def test_expected_f_is_the_mean_over_draws():
    belief, _ = some_belief(4)
    rows, _ = rows_of(belief)
    best = np.repeat(belief.best, belief.n_rows.astype(int))
    mean = np.mean([pair_f(row, best) for row in rows])
    assert belief.pairs_of_best.expected_f() == pytest.approx(mean)


def test_pairs_that_nobody_knows_of_are_right_half_of_the_time():
    counts = Belief(np.zeros((5, 4), int), np.full(4, 3.0)).pairs_of_best
    assert counts.expected_f() == 1.0
    assert counts.expected_f(0.2) == pytest.approx(0.9)


def test_a_more_reliable_source_tells_more():
    belief, _ = some_belief(5)
    gains = belief.doubtful.gains
    assert gains(0.99, 0.99).gain[0] > gains(0.7, 0.7).gain[0]
    assert gains(0.5, 0.5).gain[0] == pytest.approx(0.0)
