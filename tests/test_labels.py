"""Labels of every kind become codes."""

import numpy as np
import pandas as pd
import pytest

from maylink.errors import MaylinkError
from maylink.labels import complete_codes, crossed, first_appearance, label_codes


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "b"],
        np.array([3, 1, 3]),
        [True, False, True],
        [("x", 1), "y", ("x", 1)],
        pd.Series(["b", "a", "b"], dtype="category"),
        pd.array([3, 1, 3], dtype="Int64"),
        [0.5, -1, 0.5],
    ],
)
def test_equal_labels_have_equal_codes(labels):
    assert complete_codes(labels).tolist() == [0, 1, 0]


def test_missing_labels():
    assert label_codes(["a", None, np.nan, "a"])[0].tolist() == [0, -1, -1, 0]
    with pytest.raises(MaylinkError, match=r"truth\[1\] is missing"):
        complete_codes(["a", None], "truth")
    with pytest.raises(MaylinkError, match="truth: shape"):
        complete_codes([[1, 2]], "truth")


def test_first_appearance():
    labels, old = first_appearance(np.array([2, 0, 2, 1]))
    assert labels.tolist() == [0, 1, 0, 2]
    assert old.tolist() == [2, 0, 1]


def test_crossed_counts_the_points_of_each_pair_of_clusters():
    first, second = np.array([0, 0, 1, 2, 0]), np.array([1, 1, 0, 1, 0])
    table = np.zeros((3, 2), int)
    rows, columns, counts = crossed(first, second)
    table[rows, columns] = counts
    assert table.tolist() == [[1, 2], [1, 0], [0, 1]]
    assert rows.size == 4
    assert crossed(first[:0], second[:0])[2].size == 0
