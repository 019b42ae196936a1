"""Experts: their prior, and what answers teach about accuracy, surprise and cuts."""

import numpy as np
import pytest

from maylink.questions.experts import ACCURACIES, SURPRISES, Experts


def score(experts, chances, may, right):
    """Let two linkages, which hold pairs together with these chances, see answers of a source."""
    shape = (len(experts.centers), len(experts.widths), len(ACCURACIES), len(may))
    together = [np.broadcast_to(chance, shape) for chance in chances]
    accuracy = np.broadcast_to(right, (len(ACCURACIES), len(may)))
    experts.score(together, accuracy, accuracy, np.array(may), np.ones(len(may)))
    return experts


def test_before_any_answer_experts_of_numbers_nearby_are_believed_most():
    experts = Experts(4, 3, 100)
    weights = experts.weights.sum(axis=(0, 2, 3))
    own = int(np.argmax(weights))
    assert experts.centers[own] == pytest.approx(np.log(4.5))
    assert np.all(np.diff(weights[own:]) < 0)
    assert np.all(np.diff(weights[: own + 1]) > 0)
    assert weights.sum() == pytest.approx(1.0)


def test_the_usual_cut_is_the_mean_of_those_who_believe_a_linkage():
    experts = Experts(4, 2, 100)
    weights = experts.weights
    for k, cuts in enumerate(experts.usual_cuts):
        for level, (center, width) in enumerate(cuts):
            own = weights[k, :, :, level]
            assert center == pytest.approx(np.average(experts.centers, weights=own.sum(axis=1)))
            log_width = np.average(np.log(experts.widths), weights=own.sum(axis=0))
            assert width == pytest.approx(np.exp(log_width))


def test_surprise_is_learned():
    before = Experts(3, 2, 30).surprise
    assert before == pytest.approx(SURPRISES.mean())
    known = score(Experts(3, 2, 30), [0.98, 0.98], [True] * 40, 0.97)
    assert known.surprise < 0.1
    torn = score(Experts(3, 2, 30), [0.98, 0.98], [True, True, False] * 14, 0.97)
    assert torn.surprise > 0.4


def test_accuracy_is_learned_from_pairs_that_are_foretold():
    right = score(Experts(3, 2, 30), [0.98, 0.98], [True] * 40, ACCURACIES[:, None])
    wrong = score(Experts(3, 2, 30), [0.98, 0.98], [True] * 28 + [False] * 12, ACCURACIES[:, None])
    assert right.accuracy > 0.93
    assert wrong.accuracy < 0.85


def test_the_linkage_that_foretells_is_believed():
    experts = score(Experts(3, 2, 30), [0.1, 0.9], [True] * 20, 0.9)
    first, second = experts.weights.sum(axis=(1, 2, 3))
    assert second > 0.99
    assert first + second == pytest.approx(1.0)
