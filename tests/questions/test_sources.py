"""How far sources are believed, given how sure their pairs are."""

import numpy as np
import pytest

import maylink as ml
from maylink.questions import Answer, Interview
from maylink.questions.sources import trust

MOONS = ml.datasets.make_pattern("moons", rng=0)


def one_source(may, together, center=0.8):
    prior = np.array([center]), np.array([center])
    n = len(may)
    return trust(np.zeros(n, int), np.asarray(may), np.ones(n), np.asarray(together), prior, center)


def test_where_pairs_are_sure_p_and_q_are_shares():
    found = one_source(
        [True] * 90 + [False] * 10 + [True] * 30 + [False] * 70, [1.0] * 100 + [0.0] * 100
    )
    assert found.p[0] == pytest.approx((8 + 90) / 110)
    assert found.q[0] == pytest.approx((8 + 70) / 110)


def test_pairs_of_which_nobody_knows_anything_tell_nothing():
    found = one_source([True] * 100, [0.5] * 100)
    assert (found.p[0], found.q[0]) == (0.8, 0.8)


def test_doubtful_pairs_tell_little_beside_sure_ones():
    found = one_source([True] * 100 + [False] * 10, [0.45] * 100 + [0.0] * 10)
    assert found.q[0] > 0.8


def test_wrong_answers_about_doubtful_pairs_are_not_taken_for_clusters():
    """Right eight times in ten: clusters too fine once made this source look like a guesser."""
    found = []
    for seed in range(3):
        interview, rng = Interview(MOONS.X, random_state=seed), np.random.default_rng(seed)
        while len(interview.answers) < 100:
            asked = interview.questions(5)
            right = rng.random(5) < 0.8
            interview.add(
                Answer(one.i, one.j, 1 if (MOONS.y[one.i] == MOONS.y[one.j]) == good else -1)
                for one, good in zip(asked, right, strict=True)
            )
        found.append(interview.reliability[["p", "q"]].to_numpy().ravel())
    assert np.mean(found, axis=0) == pytest.approx([0.8, 0.8], abs=0.12)
