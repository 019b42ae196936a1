"""Single rows that answers put elsewhere, against all moves of one row."""

import numpy as np
import pytest

import maylink as ml
from maylink.questions.single_rows import moved_rows

ODDS = 2.0


def worth(labels, home, i, j, votes):
    """Log odds of the answers, and of the rows that stayed."""
    return votes[labels[i] == labels[j]].sum() + ODDS * (labels == home).sum()


@pytest.mark.parametrize("seed", range(20))
def test_no_move_of_one_row_would_be_better(seed):
    rng = np.random.default_rng(seed)
    home = rng.integers(0, 3, 12)
    i = rng.integers(0, 12, 60)
    j = (i + rng.integers(1, 12, 60)) % 12
    votes = rng.choice([-1.0, 1.0], 60) * rng.random(60)
    may_move = rng.random(12) < 0.8
    found = moved_rows(home, i, j, votes, may_move, ODDS)
    assert (found[~may_move] == home[~may_move]).all()
    best = worth(found, home, i, j, votes)
    assert best >= worth(home, home, i, j, votes)
    assert set(found) == set(home)
    for row in np.flatnonzero(may_move & (np.bincount(found)[found] > 1)):
        for cluster in range(3):
            other = found.copy()
            other[row] = cluster
            ends = np.concatenate([j[i == row], i[j == row]])
            said = np.concatenate([votes[i == row], votes[j == row]])
            if cluster == home[row] or said[found[ends] == cluster].sum() > 0.0:
                assert worth(other, home, i, j, votes) <= best + 1e-9


def test_a_row_goes_nowhere_that_its_answers_speak_against():
    """Four answers against its own cluster, two against another, none about a third."""
    home = np.repeat([0, 1, 2], 5)
    i, j = np.zeros(6, int), np.array([1, 2, 3, 4, 5, 6])
    found = moved_rows(home, i, j, np.full(6, -2.0), np.ones(15, bool), 3.5)
    np.testing.assert_array_equal(found, home)


@pytest.mark.parametrize("turned", [False, True])
def test_one_wrong_row_moves_and_not_those_it_belongs_with(turned):
    home = np.repeat([0, 1], 10)
    i, j, wrong = np.array([10, 10, 10]), np.arange(3), 10
    if turned:
        i, j, wrong = 19 - i, 19 - j, 9
    found = moved_rows(home, i, j, np.full(3, 4.0), np.ones(20, bool), 3.5)
    np.testing.assert_array_equal(np.flatnonzero(found != home), [wrong])


def test_a_row_in_the_wrong_piece_is_put_right_by_its_answers():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = 8.0 * y[:, None] + rng.normal(size=(120, 3))
    X[0] += 8.0  # looks like those of the other cluster
    interview = ml.Interview(X, random_state=0, refit=False)
    before = interview.labels
    assert before[0] == before[-1] != before[1]
    others = np.concatenate([rng.permutation(np.arange(1, 60))[:8], np.arange(60, 68)])
    interview.add([ml.Answer(0, int(k), 1 if y[k] == 0 else -1) for k in others])
    found = interview.labels
    assert found[0] == np.bincount(found[1:60]).argmax()
