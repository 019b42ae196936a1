"""The one place where input is checked."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from maylink import Links
from maylink.data_forms import as_data
from maylink.errors import DomainError, LinksError, MaylinkError
from maylink.families import as_family
from maylink.link_forms import as_links
from maylink.problem import ChunkedProblem, Problem, check
from maylink.tuning.candidates import candidates
from zoo import random_links

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


def test_what_would_read_other_forms_is_named():
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 2], "same": [True, False]})
    with pytest.raises(LinksError, match=r"found: a, b, same.*ml\.read_links\(frame, ids=…\)"):
        as_links(frame, 6)
    with pytest.raises(LinksError, match=r"'i' is missing.*ml\.read_links\(frame, ids=…\)"):
        as_links(frame.rename(columns={"same": "kind"}), 6)
    labels = [0, 0, 1, 1, -1, -1]
    for values in (labels, np.array(labels), pd.Series(labels), ["x", "y", "x", "", "", ""]):
        with pytest.raises(LinksError, match=r"6 values in one column.*Links\.from_labels\(labels"):
            as_links(values, 6)


def test_wrong_lengths_and_types_are_named():
    with pytest.raises(LinksError, match="made for 6 points, but there are 7"):
        as_links(LINKS, 7)
    with pytest.raises(LinksError, match=r"two may links, give \(\[\(0, 1\), \(2, 3\)\], \[\]\)"):
        as_links([(0, 1), (2, 3)], 6)
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


# ---------------------------------------------------------------------- the families that are open


def auto(data):
    """The families that "auto" tries."""
    return candidates("auto", "auto", data)


def test_there_is_a_problem_for_each_family_that_is_open():
    problems = check(X, ([(0, 1)], []), lambda data: ["gaussian", "poisson"])
    assert [problem.family.name for problem in problems] == ["gaussian", "poisson"]
    assert problems[0].X is problems[1].X
    assert problems[0].links is problems[1].links
    assert problems[0].links.n_links == 1


def test_families_are_chosen_by_the_values_and_their_form():
    asked = []

    def families(data):
        asked.append((data.kinds(), data.is_sparse))
        return ["gaussian"]

    for data in (-X, sparse.csr_array(X)):
        check(data, None, families)
    (real, dense), (counts, is_sparse) = asked
    assert "counts" in counts
    assert "counts" not in real
    assert (dense, is_sparse) == (False, True)


@pytest.mark.parametrize(
    ("value", "words"), [(np.nan, r"X\[3, 1\] is NaN"), (np.inf, r"X\[3, 1\] is infinity")]
)
def test_the_first_value_that_is_not_finite_is_named(value, words):
    data = X.copy()
    data[3, 1] = value
    for form in (data, sparse.csr_array(data)):
        with pytest.raises(DomainError, match=words):
            as_data(form)


def test_text_is_named():
    with pytest.raises(DomainError, match=r"X\[1, 0\] = 'tall'.*drop the column"):
        as_data([["1", "2"], ["tall", "3"]])


# ---------------------------------------------------------------------- data in chunks

LARGE = np.random.default_rng(0).normal(size=(60, 3))
LARGE_LINKS = random_links(60, 30, 0)


@pytest.fixture
def dask_array():
    return pytest.importorskip("dask.array")


@pytest.mark.parametrize("chunks", [1, 17, 60])
@pytest.mark.parametrize("family", ["gaussian", "diagonal-gaussian", "bernoulli", "gamma"])
def test_a_problem_in_chunks_answers_as_one_in_memory(chunks, family, dask_array):
    data = {"bernoulli": (LARGE > 0).astype(float), "gamma": np.exp(LARGE)}.get(family, LARGE)
    whole = Problem.build(data, LARGE_LINKS, family)
    parts = ChunkedProblem.build(
        dask_array.from_array(data, chunks=(chunks, 3)), LARGE_LINKS, family
    )
    assert (parts.n, parts.links) == (whole.n, whole.links)
    for ours, theirs in zip(parts.prior, whole.prior, strict=True):
        np.testing.assert_allclose(ours, theirs)
    assert parts.total_log_base == pytest.approx(whole.total_log_base)
    loaded, rows = parts.loaded(), parts.rows(np.array([3, 20, 59]))
    np.testing.assert_array_equal(loaded.X, data)
    assert loaded.links == whole.links
    np.testing.assert_array_equal(rows.X, data[[3, 20, 59]])
    assert rows.links == whole.links[[3, 20, 59]]
    labels = np.arange(60) % 4
    ours = parts.cluster_statistics(np.split(labels, np.cumsum(parts.sizes)[:-1]), 4)
    theirs = whole.cluster_statistics(labels, 4)
    np.testing.assert_allclose(ours.total, theirs.total)
    assert ours.size.tolist() == theirs.size.tolist()


def test_another_family_is_adapted_to_the_data(dask_array):
    chunked = ChunkedProblem.build(dask_array.from_array(LARGE, chunks=(17, 3)), LARGE_LINKS)
    for problem in (chunked, Problem.build(LARGE, LARGE_LINKS)):
        other = problem.with_family(as_family("diagonal-gaussian"))
        direct = Problem.build(LARGE, None, "diagonal-gaussian")
        assert other.links is problem.links
        np.testing.assert_allclose(
            other.family.points(LARGE), direct.family.points(LARGE), rtol=1e-12
        )


@pytest.mark.parametrize("chunks", [1, 2])
@pytest.mark.parametrize(
    ("data", "more"),
    [
        (np.array([[2.0, 0.0], [1.0, 3.0]]), ["multinomial", "poisson"]),
        (np.eye(2) > 0, ["bernoulli"]),
        (-np.eye(2), []),
    ],
    ids=["counts", "binary", "real"],
)
def test_what_is_open_in_chunks_are_families_that_dask_has(data, more, chunks, dask_array):
    problems = check(dask_array.from_array(data, chunks=(chunks, 2)), None, auto)
    names = [problem.family.name for problem in problems]
    assert names == ["gaussian", "diagonal-gaussian", *more]


def test_a_method_that_needs_all_data_says_so(dask_array):
    with pytest.raises(MaylinkError, match=r"^data: of data on Dask.*give data in memory"):
        as_data(dask_array.from_array(X), name="data")
