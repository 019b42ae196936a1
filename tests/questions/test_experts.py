"""Experts: their prior, and what answers teach about accuracy, surprise and cuts."""

import numpy as np
import pytest

from maylink.questions.experts import ACCURACIES, SURPRISES, Experts


def score(experts, chances, may, right):
    """Let two linkages, which hold pairs together with these chances, see answers of a source."""
    shape = (experts.centers.shape[1], len(experts.widths), len(ACCURACIES), len(may))
    together = [np.broadcast_to(chance, shape) for chance in chances]
    accuracy = np.broadcast_to(right, (len(ACCURACIES), len(may)))
    experts.score(together, accuracy, accuracy, np.array(may), np.ones(len(may)))
    return experts


def test_before_any_answer_experts_of_numbers_nearby_are_believed_most():
    experts = Experts(4, 3, 100)
    weights = experts.weights.sum(axis=(0, 2, 3))
    own = int(np.argmax(weights))
    assert np.all(experts.centers[:, own] == pytest.approx(np.log(4.5)))
    assert np.all(np.diff(weights[own:]) < 0)
    assert np.all(np.diff(weights[: own + 1]) > 0)
    assert weights.sum() == pytest.approx(1.0)


def test_the_usual_cut_is_the_mean_of_those_who_believe_a_linkage():
    experts = Experts(4, 2, 100)
    weights = experts.weights
    for k, cuts in enumerate(experts.usual_cuts):
        for level, (center, width) in enumerate(cuts):
            own = weights[k, :, :, level]
            assert center == pytest.approx(np.average(experts.centers[k], weights=own.sum(axis=1)))
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


def test_a_fit_is_as_probable_as_the_others_on_average_and_knows_what_they_have_learned():
    experts = score(Experts(3, 2, 30), [0.1, 0.9], [True] * 20, ACCURACIES[:, None])
    before = experts.weights
    learned = experts.accuracy, experts.surprise
    experts.welcome(5)
    fit, *others = experts.weights.sum(axis=(1, 2, 3))
    assert fit == pytest.approx(1 / 3)
    np.testing.assert_allclose(experts.weights[1:], before * 2 / 3)
    assert sum(others) == pytest.approx(2 / 3)
    assert (experts.accuracy, experts.surprise) == pytest.approx(learned)
    own = int(np.argmax(experts.weights[0].sum(axis=(1, 2))))
    assert experts.centers[0, own] == pytest.approx(np.log(5.5))


def test_a_later_fit_is_believed_as_the_one_before_or_as_a_new_one():
    for chance, least in ((0.98, 0.9), (0.02, 0.33)):
        experts = Experts(3, 2, 30)
        experts.welcome(3)
        score(experts, [chance, 0.5, 0.5], [True] * 20, 0.9)
        before = experts.weights[0].sum()
        others = experts.weights[1:]
        experts.renew(7)
        assert experts.weights.shape[0] == 3
        assert experts.weights[0].sum() == pytest.approx(max(before, 1 / 3))
        assert experts.weights[0].sum() >= least
        shares = experts.weights[1:] / experts.weights[1:].sum()
        np.testing.assert_allclose(shares, others / others.sum())
