"""Scores against brute force over pairs and against scikit-learn."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    adjusted_rand_score,
    cohen_kappa_score,
    f1_score,
    normalized_mutual_info_score,
    precision_score,
    recall_score,
)
from sklearn.metrics.cluster import pair_confusion_matrix

from maylink import Links, metrics
from maylink.errors import MaylinkError

FEWER = settings(max_examples=40)  # scikit-learn's scores take long
partitions = st.integers(2, 25).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 2)
)


def pair_vectors(true, pred, skip=frozenset()):
    pairs = [p for p in itertools.combinations(range(len(true)), 2) if frozenset(p) not in skip]
    return [[z[i] == z[j] for i, j in pairs] for z in (true, pred)]


@FEWER
@given(partitions)
def test_counts_are_scikit_learns(both):
    counts = metrics.pair_counts(*both)
    (apart, only_pred), (only_true, together) = pair_confusion_matrix(*both) // 2
    assert counts == (together, only_pred, only_true, apart)


@FEWER
@given(partitions)
def test_scores_are_those_of_pairs_as_a_classification(both):
    true, pred = pair_vectors(*both)
    assert metrics.pair_precision(*both) == pytest.approx(
        precision_score(true, pred, zero_division=1.0)
    )
    assert metrics.pair_recall(*both) == pytest.approx(recall_score(true, pred, zero_division=1.0))
    assert metrics.pair_f(*both) == pytest.approx(f1_score(true, pred, zero_division=1.0))
    assert metrics.adjusted_rand(*both) == pytest.approx(adjusted_rand_score(*both))


@FEWER
@given(partitions, st.integers(0, 10**6))
def test_unlinked_scores_leave_the_linked_pairs_out(both, seed):
    true, pred = both
    n = len(true)
    rng = np.random.default_rng(seed)
    i = rng.integers(0, n, n)
    j = (i + rng.integers(1, n, n)) % n
    links = Links(n, i, j, rng.choice([1, -1], n))  # several on one pair among them
    skip = {frozenset(p) for p in zip(i.tolist(), j.tolist(), strict=True)}
    left_true, left_pred = pair_vectors(true, pred, skip)
    counts = metrics.pair_counts(true, pred, unlinked=links)
    assert sum(counts) == len(left_true)
    if left_true:
        for score, reference in (
            (metrics.pair_precision, precision_score),
            (metrics.pair_recall, recall_score),
            (metrics.pair_f, f1_score),
        ):
            assert score(true, pred, unlinked=links) == pytest.approx(
                reference(left_true, left_pred, zero_division=1.0)
            )
    if len(set(left_true)) == 2 and len(set(left_pred)) == 2:
        assert metrics.adjusted_rand(true, pred, unlinked=links) == pytest.approx(
            cohen_kappa_score(left_true, left_pred)
        )


@FEWER
@given(partitions)
def test_nmi_is_scikit_learns(both):
    for name in metrics.NORMALIZATIONS:
        expected = normalized_mutual_info_score(*both, average_method=name)
        score = metrics.normalized_mutual_information(*both, normalization=name)
        assert score == pytest.approx(expected)


def test_names_of_labels_do_not_matter():
    assert metrics.pair_f(["a", "a", "b"], [7, 7, -1]) == 1.0


def test_large_data_do_not_overflow():
    rng = np.random.default_rng(0)
    true, pred = rng.integers(0, 3, (2, 400_000))  # products of pair counts exceed 64 bits
    assert metrics.adjusted_rand(true, pred) == pytest.approx(0.0, abs=1e-4)
    assert metrics.pair_f(true, true) == 1.0


def test_link_agreement_counts_weights():
    links = Links(3, [0, 1, 0], [1, 2, 2], [1, 1, -1], weight=[5.0, 1.0, 2.0])
    assert metrics.link_agreement([0, 0, 1], links) == pytest.approx(7 / 8)
    assert metrics.link_agreement([0, 0, 0], Links.empty(3)) == 1.0


def test_degenerate_cases():
    assert metrics.pair_f([0], [0]) == 1.0
    assert metrics.pair_f([], []) == 1.0
    assert metrics.pair_f([0, 1, 2], [5, 6, 7]) == 1.0
    assert metrics.pair_f([0, 0, 0], [0, 1, 2]) == 0.0


def test_bad_input_is_named():
    with pytest.raises(MaylinkError, match="labels_pred: 2 labels, but labels_true has 3"):
        metrics.pair_f([0, 1, 2], [0, 1])
    with pytest.raises(MaylinkError, match="labels_true: shape"):
        metrics.pair_f([[0, 1]], [0, 1])
    with pytest.raises(MaylinkError, match="made for 5 points, but there are 2"):
        metrics.pair_f([0, 1], [0, 1], unlinked=Links.empty(5))
    with pytest.raises(MaylinkError, match="made for 5 points, but there are 2"):
        metrics.link_agreement([0, 1], Links.empty(5))
    with pytest.raises(MaylinkError, match="normalization: 'mean'"):
        metrics.normalized_mutual_information([0], [0], normalization="mean")


def test_points_whose_true_label_is_masked_are_left_out():
    true = np.ma.masked_array(["a", "a", "", "b", "b"], [0, 0, 1, 0, 0])
    pred = [0, 0, 1, 1, 1]
    assert metrics.adjusted_rand(true, pred) == 1.0
    assert metrics.pair_counts(true, pred) == (2, 0, 0, 4)
    assert metrics.pair_counts(true, pred, unlinked=([(0, 1)], [(2, 3)])) == (1, 0, 0, 4)
