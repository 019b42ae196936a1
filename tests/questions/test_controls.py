"""Control questions: how many, which, and what they are good for."""

import numpy as np
import pytest

import maylink as ml
from maylink.questions import Answer, Interview
from maylink.questions.belief import PairGains
from maylink.questions.controls import controls, n_missing
from maylink.questions.sources import trust

MOONS = ml.datasets.make_pattern("moons", rng=0)


def pairs(together):
    n = len(together)
    return PairGains(np.arange(n), np.arange(n) + 1, np.asarray(together), np.zeros(n))


def is_control(question):
    return question.reason == "shows how far the answers can be believed"


def test_one_answer_in_ten_should_be_about_sure_pairs_of_either_kind():
    doubt = np.full(28, 0.5)
    assert n_missing(doubt[:0], 9) == (0, 0)
    assert n_missing(doubt[:0], 20) == (2, 2)
    assert n_missing(doubt, 2) == (3, 3)
    assert n_missing(np.append(doubt, [0.0, 0.01, 0.97]), 1) == (1, 2)
    assert n_missing(np.zeros(50), 10) == (0, 6)


def test_controls_are_sure_pairs_of_both_kinds_in_turn():
    chance = np.array([0.0, 0.01, 0.02, 0.5, 0.5, 0.95, 0.97, 0.6])
    found = controls(pairs(chance), np.ones(9), (2, 2), np.random.default_rng(0))
    assert (found.together < 0.05).tolist() == [True, False, True, False]
    assert (found.together > 0.9).tolist() == [False, True, False, True]
    assert len(set(found.a.tolist())) == 4


def test_where_too_few_pairs_are_sure_there_are_fewer_controls():
    chance = np.array([0.5, 0.4, 0.99])
    found = controls(pairs(chance), np.ones(4), (2, 2), np.random.default_rng(0))
    assert found.together.tolist() == [0.99]
    found = controls(pairs(chance[:0]), np.ones(4), (2, 2), np.random.default_rng(0))
    assert len(found.a) == 0


def test_pairs_of_large_pieces_are_drawn_more_often():
    n_rows, drawn = np.array([1.0, 9.0, 9.0]), np.zeros(2)
    for seed in range(300):
        found = controls(pairs([0.0, 0.0]), n_rows, (1, 0), np.random.default_rng(seed))
        drawn[found.a] += 1
    assert drawn[1] / 300 == pytest.approx(0.9, abs=0.05)


def test_every_source_has_controls_of_its_own():
    interview = Interview(MOONS.X, random_state=0)
    for source in ("ann", "bob"):
        assert not any(map(is_control, interview.questions(9, source)))
        for _ in range(9):
            (asked,) = interview.questions(1, source)
            kind = 1 if MOONS.y[asked.i] == MOONS.y[asked.j] else -1
            interview.add([Answer(asked.i, asked.j, kind, source)])


def test_doubtful_pairs_tell_little_of_a_source():
    """Ten sure pairs against a hundred of which nobody knows: what is sure counts."""
    together = np.append(np.full(100, 0.45), np.zeros(10))
    may = np.append(np.ones(100, bool), np.zeros(10, bool))
    prior = np.array([0.8]), np.array([0.8])
    found = trust(np.zeros(110, int), may, np.ones(110), together, prior, 0.8)
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
