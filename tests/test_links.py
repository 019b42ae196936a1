"""Links: constructors, slicing, joining, and what they refuse."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import entropy

from maylink import Links
from maylink.errors import MaylinkError
from zoo import draw_pairs


@pytest.fixture
def links():
    return Links(
        6,
        i=[0, 4, 2, 2],
        j=[3, 1, 0, 0],
        kind=[1, -1, 1, -1],
        weight=[1.0, 2.0, 0.5, 1.0],
        source=["expert", "rule", "expert", "rule"],
    )


def dense(links):
    """The signed matrix, links on one pair summed, by the plainest loop."""
    matrix = np.zeros(links.shape)
    for i, j, kind, weight in zip(links.i, links.j, links.kind, links.weight, strict=True):
        matrix[i, j] += kind * weight
        matrix[j, i] += kind * weight
    return matrix


# ---------------------------------------------------------------------- constructors


def test_from_pairs():
    links = Links.from_pairs(may=[(0, 3), (7, 9)], may_not=[(0, 5)], n=10, source="me", weight=2)
    assert links.may.tolist() == [[0, 3], [7, 9]]
    assert links.may_not.tolist() == [[0, 5]]
    assert links.weight.tolist() == [2.0, 2.0, 2.0]
    assert links.sources == ("me",)


@pytest.mark.parametrize("pairs", [None, [], (), set(), np.empty((0, 2)), np.empty((0, 2), int)])
def test_from_no_pairs(pairs):
    assert Links.from_pairs(may=pairs, n=3) == Links.empty(3)


@pytest.mark.parametrize("form", [set, frozenset, iter, lambda p: (pair for pair in p)])
def test_from_any_iterable_of_pairs(form):
    assert Links.from_pairs(may=form([(0, 1)]), n=3) == Links.from_pairs(may=[(0, 1)], n=3)


def test_from_frame_round_trip(links):
    again = Links.from_frame(links.to_frame(), n=6)
    assert again == links
    assert links.to_frame()["kind"].tolist() == ["may", "may-not", "may", "may-not"]
    assert links.to_frame()["source"].tolist() == ["expert", "rule", "expert", "rule"]


def test_from_frame_takes_numbers_and_names_of_kinds():
    for kinds in (
        ["may", "may-not"],
        [1, -1],
        ["+1", "-1"],
        ["May", "may_not"],
        [1.0, -1.0],
        ["may", "may not"],
    ):
        frame = pd.DataFrame({"i": [0, 1], "j": [1, 2], "kind": kinds})
        assert Links.from_frame(frame, n=3).kind.tolist() == [1, -1]


def test_from_nullable_columns():
    frame = pd.DataFrame({"i": [0, 1], "j": [1, 2], "kind": [1, -1]}).astype("Int64")
    expected = Links(3, [0, 1], [1, 2], [1, -1])
    assert Links.from_frame(frame, n=3) == expected
    assert Links.from_frame(frame.astype(object), n=3) == expected
    words = frame.assign(kind=pd.Series(["may", "may-not"], dtype="category"))
    assert Links.from_frame(words, n=3) == expected


def test_sources_keep_their_type():
    links = Links(4, [0, 1, 2], [1, 2, 3], [1, 1, 1], source=["a", 1, "a"])
    assert links.sources == ("a", 1)
    assert links.to_frame()["source"].tolist() == ["a", 1, "a"]
    assert Links.from_frame(links.to_frame(), n=4) == links


def test_from_matrix_signed():
    matrix = np.array([[9, 1, 0], [1, 9, -2.5], [0, -2.5, 9]])
    for form in (matrix, sparse.csr_array(matrix), sparse.coo_matrix(matrix)):
        links = Links.from_matrix(form, coding="signed")
        assert links.to_frame()[["i", "j", "kind", "weight"]].values.tolist() == [
            [0, 1, "may", 1.0],
            [1, 2, "may-not", 2.5],
        ]


def test_from_matrix_paper():
    nan = np.nan
    matrix = np.array([[nan, 1, nan], [1, nan, 0], [nan, 0, nan]])
    links = Links.from_matrix(matrix, coding="paper")
    assert links.may.tolist() == [[0, 1]]
    assert links.may_not.tolist() == [[1, 2]]
    stored = sparse.coo_array(([1, 1, 0, 0], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3))
    assert Links.from_matrix(stored, coding="paper") == links


def test_the_two_codings_read_one_matrix_differently():
    matrix = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert Links.from_matrix(matrix, coding="signed").n_links == 1
    assert Links.from_matrix(matrix, coding="paper").n_links == 3


def test_from_labels_all_pairs():
    links = Links.from_labels([0, -1, 0, 1])
    assert links.may.tolist() == [[0, 2]]
    assert links.may_not.tolist() == [[0, 3], [2, 3]]
    assert Links.from_labels(["a", None, "a", "b"]) == links
    assert Links.from_labels([0.0, np.nan, 0.0, 1.0]) == links
    assert Links.from_labels(["a", -1, "a", "b"]) == links
    assert Links.from_labels(pd.Series(["a", None, "a", "b"], dtype="category")) == links
    assert Links.from_labels(pd.array([0, None, 0, 1], dtype="Int64")) == links


def test_a_label_has_one_vote_on_each_group():
    labels = np.array(["a"] * 3 + ["b"] * 4 + ["c"])
    links = Links.from_labels(labels)
    votes = dict(
        zip(zip(links.i.tolist(), links.j.tolist(), strict=True), links.weight, strict=True)
    )
    assert votes[0, 1] == pytest.approx(0.75 / 2)  # each shares its vote between two others
    assert votes[0, 3] == pytest.approx(0.75 * (1 / 4 + 1 / 3) / 2)
    assert votes[0, 7] == pytest.approx(0.75 * (1 + 1 / 3) / 2)
    # Half a vote of each label for its group, half of one against each other group.
    may = links.kind == 1
    assert links.weight[may].sum() == pytest.approx(0.75 * 7 / 2)
    assert links.weight[~may].sum() == pytest.approx(0.75 * 8 * 2 / 2)


@pytest.mark.parametrize("n_groups", [2, 3, 10])
def test_votes_of_labels_weigh_as_labels_that_err(n_groups):
    """The log probability of a label with an error of its own, one in ten wrong, to a seventh."""
    error, rng = 0.1, np.random.default_rng(0)
    y = np.arange(600) % n_groups
    wrong = rng.permutation(600)[:60]
    labels = y.copy()
    labels[wrong] = (y[wrong] + rng.integers(1, n_groups, 60)) % n_groups
    links = Links.from_labels(labels)
    same = y[links.i] == y[links.j]
    total = 0.0
    for inside in (True, False):
        votes, may = links.weight[same == inside], links.kind[same == inside] == 1
        rate = votes @ may / votes.sum()
        total += votes.sum() * entropy([rate, 1 - rate])
    exact = 600 * (entropy([error, 1 - error]) + error * np.log(n_groups - 1))
    assert total == pytest.approx(exact, rel=1 / 7)


def test_links_remember_that_they_are_labels():
    links = Links.from_labels([0, 0, 1, -1, 1], source="ann")
    judged = Links.from_pairs(may=[(0, 3)], n=5, source="bob")
    assert (links.sources, links.labelled) == (("ann",), ("ann",))
    both = judged + links
    assert both.labelled == ("ann",)
    assert both.of_labels().tolist() == [False] + [True] * 6
    assert both[[0, 1, 2]].labelled == ("ann",)
    assert both.chosen(both.of_labels(), 5).labelled == ("ann",)
    assert pickle.loads(pickle.dumps(both)) == both
    assert both != both.labelled_as(())
    assert both.with_sources(both.source, ("x", "y")).labelled == ()
    assert Links.from_labels([-1, 2]).labelled == ()
    assert not Links.empty(3).of_labels().any()


def test_from_labels_sample():
    y = np.repeat([0, 1, 2], 30)
    links = Links.from_labels(y, sample=500, rng=0)
    assert links.n_links == 500
    assert np.unique(links.pair_keys).size == 500
    assert np.array_equal(links.kind == 1, y[links.i] == y[links.j])
    assert links == Links.from_labels(y, sample=500, rng=0)
    assert links != Links.from_labels(y, sample=500, rng=1)


# ---------------------------------------------------------------------- views


def test_everything_is_kept_also_contradictions(links):
    assert links.n_links == 4
    assert links.contradictory_pairs.tolist() == [2]  # the pair (0, 2) of 6 points


@given(st.integers(2, 30), st.integers(0, 80), st.integers(0, 1000))
def test_csr_is_the_symmetric_signed_matrix(n, n_links, seed):
    i, j, kind, weight = np.array(draw_pairs(n, n_links, seed)).reshape(-1, 4).T
    links = Links(n, i, j, kind, weight)
    csr = links.csr
    built = np.zeros((n, n))
    for point in range(n):
        for e in range(csr.indptr[point], csr.indptr[point + 1]):
            built[point, csr.neighbour[e]] += csr.signed[e]
            link = csr.link[e]
            assert {point, csr.neighbour[e]} == {links.i[link], links.j[link]}
            assert csr.signed[e] == links.kind[link] * links.weight[link]
    np.testing.assert_allclose(built, dense(links))
    assert links.degree.tolist() == np.diff(csr.indptr).tolist()


def test_memory_is_linear_in_the_links():
    links = Links.from_pairs(may=[(0, 10**9)], n=2 * 10**9)
    assert links.n_links == 1  # a dense row of two thousand million would not fit


def test_repr_tells_what_is_inside(links):
    assert repr(links) == (
        "Links(6 points, 4 links: 2 may, 2 may-not; 2 sources; 5 points linked; "
        "1 contradictory pair)"
    )
    assert repr(Links.empty(1)) == "Links(1 point, 0 links: 0 may, 0 may-not)"


# ---------------------------------------------------------------------- as a value


@given(st.integers(1, 20), st.integers(0, 40), st.integers(0, 1000), st.data())
def test_slicing_cuts_both_axes_and_renumbers(n, n_links, seed, data):
    pairs = draw_pairs(n, n_links, seed) if n > 1 else []
    i, j, kind, weight = np.array(pairs).reshape(-1, 4).T
    links = Links(n, i, j, kind, weight)
    rows = data.draw(st.permutations(range(n)))[: data.draw(st.integers(0, n))]
    rows = np.array(rows, int)
    np.testing.assert_allclose(dense(links[rows]), dense(links)[np.ix_(rows, rows)])


def test_slicing_forms_agree(links):
    mask = np.array([True, True, True, True, False, False])
    expected = links[[0, 1, 2, 3]]
    for rows in (slice(0, 4), mask, np.arange(4), [-6, -5, -4, -3]):
        assert links[rows] == expected
        assert links[rows, ...] == expected
    assert links[expected.i[:0]].n == 0
    for dtype in (np.int8, np.uint8, np.int64):
        assert links[np.arange(4, dtype=dtype)] == expected
    assert Links.empty(300)[np.array([1, -1], np.int8)].n == 2
    assert links[::-1][::-1] == links


def test_join_keeps_all_links_and_sources(links):
    more = Links(6, [0], [1], [1], source=["rule"]) + Links(6, [1], [2], [-1], source=["new"])
    joined = links + more
    assert joined.n_links == 6
    assert joined.sources == ("expert", "rule", "new")
    frame = pd.concat([links.to_frame(), more.to_frame()], ignore_index=True)
    pd.testing.assert_frame_equal(joined.to_frame(), frame)
    assert links + Links.empty(6) == links
    assert Links.empty(6).sources == ()
    mixed = Links.from_pairs(may=[(0, 1)], n=6) + Links.from_pairs(may=[(1, 2)], n=6, source="llm")
    assert Links.from_frame(mixed.to_frame(), n=6) == mixed


def test_other_sources(links):
    again = links.with_sources(np.array([1, 0, 1, 0]), ("a", "b"))
    assert again.to_frame()["source"].tolist() == ["b", "a", "b", "a"]
    assert again.with_sources(links.source, links.sources) == links
    for codes in ([0, 0, 0], [0, 0, 0, 2], [0, 0, 0, -1]):
        with pytest.raises(MaylinkError, match="names a source that is not there"):
            links.with_sources(np.array(codes), ("a", "b"))


def test_moved(links):
    assert links.moved(3, 10)[3:9] == links


def test_immutable(links):
    with pytest.raises(AttributeError, match="do not change"):
        links.n = 3
    with pytest.raises(ValueError, match="read-only"):
        links.weight[0] = 2.0
    with pytest.raises(ValueError, match="read-only"):
        links.csr.signed[0] = 2.0
    with pytest.raises(AttributeError, match="do not change"):
        del links.n
    with pytest.raises(ValueError, match="read-only"):
        links.contradictory_pairs[0] = 5
    columns = [np.array([0, 1]), np.array([1, 2]), np.array([1, 1]), np.array([1.0, 2.0])]
    made = Links(3, *columns)
    kept = made.to_frame()
    for column in columns:  # the caller may change theirs
        column[0] = 2
    pd.testing.assert_frame_equal(made.to_frame(), kept)


def test_pickle_and_equality(links):
    _ = links.csr
    again = pickle.loads(pickle.dumps(links))
    assert again == links
    assert not again.weight.flags.writeable
    assert links != links[:5]
    assert links != "links"
    with pytest.raises(TypeError):
        hash(links)


def test_has_the_shape_that_scikit_learn_slices(links):
    assert links.shape == (6, 6)
    assert len(links) == 6
    with pytest.raises(TypeError):
        iter(links)


# ---------------------------------------------------------------------- what they refuse


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Links.from_pairs(may=[(0, 1), (2, 5)], n=5), r"may\[1\] = \(2, 5\): index 5"),
        (lambda: Links.from_pairs(may_not=[(-1, 0)], n=5), r"may_not\[0\] = \(-1, 0\): index -1"),
        (lambda: Links.from_pairs(may=[(0, 1), (3, 3)], n=5), r"may\[1\] joins point 3 to itself"),
        (lambda: Links.from_pairs(may=[(0, 1, 2)], n=5), r"may: shape \(1, 3\)"),
        (
            lambda: Links.from_pairs(may=[(0.5, 1)], n=5),
            r"may\[0\]\[0\] = 0.5 is not a whole number",
        ),
        (lambda: Links.from_pairs(may=[("a", "b")], n=5), "numbered by their position in X"),
        (lambda: Links.from_pairs(may=[(0, 1), (2,)], n=5), r"may\[1\] = \(2,\) is not a pair"),
        (lambda: Links.from_pairs(may=[(0, 1)], n=5, weight=[1.0]), "weight: give one, for all"),
        (lambda: Links.from_pairs(may=[(0, 1)], n=5, source=["a"]), "source: give one, for all"),
        (lambda: Links.from_pairs(may=[(0, 1)], n=np.eye(3)), "n: a ndarray is not a number"),
        (lambda: Links.from_pairs(may=[(0, 1)], n=-5), "n: -5"),
        (lambda: Links.from_pairs(may=[(0, 1)], n=2.5), "n: 2.5"),
        (lambda: Links.from_pairs(may=[(0, 1)], n=2, weight=0.0), r"weight\[0\] = 0.0"),
        (lambda: Links(5, [0], [9], [1]), r"j\[0\] = 9 is out of range for 5 points"),
        (lambda: Links(5, [0], [0], [1]), "link 0 joins point 0 to itself"),
        (lambda: Links(5, [0], [1, 2], [1]), "j has 2 entries and i has 1"),
        (lambda: Links(5, [0], [1], [1, 1]), "kind has 2 entries"),
        (lambda: Links(5, [0, 1], [1, 2], [1, 0]), r"kind\[1\] = 0; a kind is \+1"),
        (lambda: Links(5, [0], [1], ["must"]), r"kind\[0\] = must; .*a must-link is 'may' here"),
        (lambda: Links(5, [0], [1], [True]), r"kind\[0\] = True; a kind is 'may'.* or \+1 or -1"),
        (lambda: Links(5, [0], [1], [1], weight=["x"]), "weight: could not convert"),
        (lambda: Links(5, [0], [1], [1], weight=[-1.0]), r"weight\[0\] = -1.0"),
        (lambda: Links(5, [0], [1], [1], weight=[np.nan]), r"weight\[0\] = nan"),
        (lambda: Links(5, [0], [1], [1], weight=[1.0, 2.0]), "weight has shape"),
        (lambda: Links(5, [0], [1], [1], source=["a", "b"]), "source has 2 entries"),
        (lambda: Links(5, [0], [1], [1], source=[None]), r"source\[0\] is missing"),
        (lambda: Links(5, [[0]], [[1]], [1]), "must be one-dimensional"),
        (lambda: Links.from_frame({"i": [0], "j": [1]}, n=3), "column 'kind' is missing"),
        (
            lambda: Links.from_frame({"i": [0], "j": [1], "kind": [1], "Weight": [2]}, n=3),
            "column 'Weight' must be written 'weight'",
        ),
        (lambda: Links.from_matrix(np.eye(3), coding="guess"), "coding: 'guess'"),
        (lambda: Links.from_matrix(np.ones((2, 3)), coding="signed"), r"shape \(2, 3\)"),
        (
            lambda: Links.from_matrix([[0, 1, 0], [0, 0, 0], [0, 0, 0]], coding="signed"),
            r"not symmetric; compare the entries at \[0, 1\] and \[1, 0\]",
        ),
        (lambda: Links.from_matrix([[0, 1], [-1, 0]], coding="signed"), "not symmetric"),
        (
            lambda: Links.from_matrix([[0, -1], [-1, 0]], coding="paper"),
            r"matrix\[0, 1\] = -1: the paper's coding",
        ),
        (lambda: Links.from_labels([[0, 1]]), "give one label per point"),
        (lambda: Links.from_labels([0, 1, -1], sample=2), "2 labelled points make 1 pairs"),
        (lambda: Links.from_labels([0, 1, 1], sample=1.0), "sample: 1.0"),
        (lambda: Links.empty(3)[[0, 0]], "a row is asked for twice"),
        (lambda: Links.empty(3)[[0, 7]], "row 7 is out of range"),
        (lambda: Links.empty(3)[[True, False]], "mask of length 2"),
        (lambda: Links.empty(3)["a"], "index with a slice"),
        (lambda: Links.empty(3)[[0], [1]], "one set of rows"),
        (lambda: Links.empty(3) + Links.empty(4), "links of 3 points with links of 4"),
    ],
)
def test_bad_links_name_the_argument_and_the_position(make, message):
    with pytest.raises(MaylinkError, match=message):
        make()


def test_joining_something_else_is_a_type_error(links):
    with pytest.raises(TypeError):
        links + 3
