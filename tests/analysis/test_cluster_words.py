"""Clusters told by words and by rows, against plain counting."""

import numpy as np
import pytest
from scipy import sparse

from maylink.analysis.cluster_words import examples_of_clusters, words_of_clusters

TEXTS = ["red wine and bread", "red wine", "white wine", "blue car", "red car", "a car and a bus"]
LABELS = [0, 0, 0, 1, 1, 1]


def test_words_are_ordered_by_the_difference_of_shares():
    told = words_of_clusters(TEXTS, LABELS, n=10)
    for cluster, words in told.items():
        inside = [set(text.split()) for text, k in zip(TEXTS, LABELS, strict=True) if k == cluster]
        outside = [set(text.split()) for text, k in zip(TEXTS, LABELS, strict=True) if k != cluster]
        gains = [
            np.mean([word in text for text in inside]) - np.mean([word in text for text in outside])
            for word in words
        ]
        assert gains == sorted(gains, reverse=True)
        assert min(gains) > 0
    assert told[0][0] == "wine"
    assert told[1][0] == "car"
    assert "and" not in told[0] + told[1]  # as frequent in both


def test_rows_of_no_cluster_and_texts_without_words_say_nothing():
    assert words_of_clusters(["a b", "wine", "car"], [-1, 0, 1], 1) == {0: ["wine"], 1: ["car"]}
    assert words_of_clusters(["", "?"], [0, 1]) == {0: [], 1: []}
    assert words_of_clusters(["same words", "same words"], [0, 1]) == {0: [], 1: []}


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_examples_are_nearest_to_the_mean(form):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(30, 3)), np.arange(30) % 4
    for k, rows in examples_of_clusters(form(X), labels, 3).items():
        members = np.flatnonzero(labels == k)
        distance = np.linalg.norm(X[members] - X[members].mean(axis=0), axis=1)
        assert rows == members[np.argsort(distance)[:3]].tolist()


def test_missing_cells_are_left_out():
    X = np.array([[0.0, np.nan], [1.0, 5.0], [2.0, np.nan], [np.nan, np.nan]])
    assert examples_of_clusters(X, [0, 0, 0, 1], 1) == {0: [1], 1: [3]}


def test_a_row_of_which_nothing_is_known_is_no_example():
    X = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.2], [np.nan, np.nan], [2.0, np.nan]])
    assert examples_of_clusters(X, np.zeros(5, int), 1) == {0: [1]}
