"""The one place where input is checked."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from maylink import Links
from maylink.errors import LinksError, MaylinkError
from maylink.link_forms import as_links
from maylink.problem import Problem

X = np.arange(12.0).reshape(6, 2)
LINKS = Links.from_pairs(may=[(0, 1), (2, 3)], may_not=[(0, 5)], n=6)
SIGNED = np.zeros((6, 6))
SIGNED[[0, 1, 2, 3], [1, 0, 3, 2]] = 1
SIGNED[[0, 5], [5, 0]] = -1


@pytest.mark.parametrize(
    "form",
    [
        LINKS,
        ([(0, 1), (2, 3)], [(0, 5)]),
        [[(0, 1), (2, 3)], [(0, 5)]],
        LINKS.to_frame(),
        LINKS.to_frame().to_dict("list"),
        SIGNED,
        sparse.csr_matrix(SIGNED),
        sparse.coo_array(SIGNED),
    ],
    ids=["Links", "tuple", "list", "frame", "mapping", "dense", "csr", "coo"],
)
def test_every_form_of_links_means_the_same(form):
    read = as_links(form, 6)
    columns = ["i", "j", "kind", "weight"]
    ordered = read.to_frame()[columns].sort_values(["i", "j"], ignore_index=True)
    expected = LINKS.to_frame()[columns].sort_values(["i", "j"], ignore_index=True)
    pd.testing.assert_frame_equal(ordered, expected)


def test_no_links():
    assert as_links(None, 6) == Links.empty(6)


def test_a_matrix_with_nan_is_not_guessed():
    matrix = np.where(SIGNED == 0, np.nan, np.maximum(SIGNED, 0))
    with pytest.raises(LinksError, match=r"Links\.from_matrix\(matrix, coding='paper'\)"):
        as_links(matrix, 6)


def test_wrong_lengths_and_types_are_named():
    with pytest.raises(LinksError, match="made for 6 points, but there are 7"):
        as_links(LINKS, 7)
    with pytest.raises(LinksError, match="cannot read a str"):
        as_links("links.csv", 6)
    with pytest.raises(LinksError, match="cannot read a list"):
        as_links([(0, 1), (1, 2), (2, 3)], 6)
    with pytest.raises(LinksError, match=r"shape \(3, 2\) for 6 points; for a list of pairs"):
        as_links(np.array([(0, 1), (1, 2), (2, 3)]), 6)


def test_rows_slice_data_and_links():
    part = Problem.build(X, LINKS).rows(np.array([0, 1, 5]))
    assert part.X.tolist() == X[[0, 1, 5]].tolist()
    assert part.links == LINKS[[0, 1, 5]]


def test_unknown_family_lists_the_known_ones():
    with pytest.raises(MaylinkError, match=r"family: 'norm' is not known; give one of bernoulli"):
        Problem.build(X, family="norm")
