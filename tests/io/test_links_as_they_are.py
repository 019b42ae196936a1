"""Links as people have them: columns of other names, answers in words, bad lines."""

import io
import logging

import numpy as np
import pandas as pd
import pytest

from maylink import Links, read_links
from maylink.errors import LinkFileError, LinksError
from maylink.io.links import read_link_file
from maylink.io.links.answer_words import answer_of
from maylink.io.links.layouts import Options

IDS = ["ann", "bob", "cy", "dee"]
EXPECTED = [(0, 1, 1), (1, 3, -1)]


def triples(links):
    columns = (links.i.tolist(), links.j.tolist(), links.kind.tolist())
    return list(zip(*columns, strict=True))


def read(text, **options):
    return read_links(io.BytesIO(text.encode()), **options)


# ---------------------------------------------------------------------- names of columns


@pytest.mark.parametrize("ends", ["id_a,id_b", "left,right", "a,b", "ltable_id,rtable_id", "i,j"])
@pytest.mark.parametrize("kind", ["same", "match", "label", "is_match", "answer", "kind", "Same"])
def test_the_usual_names_are_known(ends, kind):
    text = f"{ends},{kind}\nann,bob,yes\nbob,dee,no\n"
    assert triples(read(text, ids=IDS)) == EXPECTED


@pytest.mark.parametrize("ends", ["id_a,id_b", "a,b", "i,j"])
@pytest.mark.parametrize("column", ["different", "apart", "not_same", "Distinct", "cannot_link"])
@pytest.mark.parametrize(("yes", "no"), [("yes", "no"), ("Y", "N"), ("1", "0"), ("True", "False")])
def test_a_column_of_pairs_that_differ_is_read_the_other_way_round(ends, column, yes, no, caplog):
    text = f"{ends},{column}\nann,bob,{no}\nbob,dee,{yes}\n"
    assert triples(read(text, ids=IDS)) == EXPECTED
    assert f"column '{column}': yes is read as may-not, no as may" in caplog.text
    assert triples(read(text, ids=IDS, bad_lines="skip")) == EXPECTED
    assert triples(read(text, ids=IDS, kind=column)) == EXPECTED
    assert triples(read_links(pd.read_csv(io.StringIO(text)), ids=IDS)) == EXPECTED


@pytest.mark.parametrize("word", ["different", "same", "must", "-1"])
def test_words_of_two_meanings_in_such_a_column_are_refused(word):
    text = f"id_a,id_b,different\nann,bob,no\nbob,dee,{word}\n"
    with pytest.raises(
        LinkFileError, match=r"line 3: answer '.*' in column 'different' is not yes"
    ):
        read(text, ids=IDS)


def test_the_kind_of_the_first_of_some_lines_is_no_name_of_a_column():
    ids = ["a", "b", "c"]
    assert triples(read("a b different\nb c same\n", ids=ids)) == [(0, 1, -1), (1, 2, 1)]
    assert triples(read("a b cannot\n", ids=ids)) == [(0, 1, -1)]


def test_columns_are_mapped():
    text = "one,other,said,how_sure,who\nann,bob,yes,90,x\nbob,dee,no,60,y\n"
    names = {"i": "one", "j": "other", "kind": "said", "confidence": "how_sure", "source": "who"}
    links = read(text, ids=IDS, columns=names)
    assert triples(links) == EXPECTED
    np.testing.assert_allclose(links.weight, [0.8, 0.2])
    assert links.sources == ("x", "y")


def test_a_mapped_column_wins_over_one_of_the_usual_name():
    text = "i,j,kind,model,left,said,who\n7,8,no,m,ann,yes,w\n7,8,no,m,cy,yes,w\n"
    names = {"i": "left", "j": "j", "kind": "said", "source": "who"}
    links = read(text, ids=[*IDS, "8"], columns=names)
    assert triples(links) == [(0, 4, 1), (2, 4, 1)]
    assert links.sources == ("w",)


def test_a_kind_is_a_column_where_there_is_one_and_the_kind_of_all_links_otherwise():
    assert triples(read("i,j,same\n0,1,no\n", n=4, kind="same")) == [(0, 1, -1)]
    assert triples(read("i,j,x\n0,1,no\n", n=4, kind="same")) == [(0, 1, 1)]
    with pytest.raises(LinkFileError, match="kind: 'said' is not known; found columns i, j, x"):
        read("i,j,x\n0,1,no\n", n=4, kind="said")


def test_a_column_that_is_not_there_is_told():
    with pytest.raises(LinkFileError, match=r"no column 'z' \(found: i, j, same\)"):
        read("i,j,same\n0,1,no\n", columns={"i": "z"})
    with pytest.raises(LinkFileError, match="columns: 'k' is not one of i, j, kind"):
        read("i,j,same\n0,1,no\n", columns={"k": "z"})
    with pytest.raises(LinkFileError, match="has no names of columns; found 2 rows"):
        read("0 1 1\n1 2 1\n", columns={"i": "z"})


def test_features_a_and_b_beside_an_id_are_no_links():
    text = "id,a,b,label\nann,1,2,red\nbob,3,4,red\ncy,5,6,blue\ndee,7,8,\n"
    assert read(text, ids=IDS).n_links == 3
    assert read(text, ids=IDS, label_column="label").n_links == 3


def test_a_line_of_ids_is_no_header():
    assert triples(read("a b must\nb c cannot\n", ids=["a", "b", "c"])) == [(0, 1, 1), (1, 2, -1)]
    assert triples(read("a b\nb c\n", ids=["a", "b", "c"], kind="must")) == [(0, 1, 1), (1, 2, 1)]


def test_a_frame_is_read_like_a_file():
    frame = pd.DataFrame({"id_a": ["ann", "bob"], "id_b": ["bob", "dee"], "same": [True, False]})
    assert triples(read_links(frame, ids=IDS)) == EXPECTED


def test_scores_of_any_program_are_probabilities():
    links = read("id1,id2,score\nann,bob,0.9\nbob,dee,0.2\n", ids=IDS)
    assert triples(links) == EXPECTED
    np.testing.assert_allclose(links.weight, [0.8, 0.6])


def test_groups_of_dedupe_are_labels():
    text = "Cluster ID,confidence_score,id\n0,0.9,ann\n0,0.8,bob\n1,1.0,cy\n"
    links = read(text, ids=IDS)
    assert links.may.tolist() == [[0, 1]]
    assert links.labelled


# ---------------------------------------------------------------------- answers in words


@pytest.mark.parametrize(
    ("words", "expected"),
    {
        "Yes, probably": (1, 0.75),
        "Probably not the same": (-1, 0.75),
        "definitely different people": (-1, 1.0),
        "No.": (-1, None),
        "no match": (-1, None),
        "yes (I am not sure)": (1, 0.6),
        "No, same name but another town": (-1, None),
        "the same person": (1, None),
        "not different": (1, None),
        "looks the same": (1, None),
        "seems to be a match": (1, None),
        "does look like it": None,
        "Can't tell": (None, None),
        "": (None, None),
        "yes and no": None,
        "blue": None,
        "not": None,
    }.items(),
)
def test_answers_in_words(words, expected):
    assert answer_of(words) == expected


@pytest.mark.parametrize("column", ["same", "kind"])
def test_words_go_with_numbers_and_only_zero_beside_minus_one_is_refused(column):
    def kinds(*cells):
        rows = "".join(f"0,{k + 1},{cell}\n" for k, cell in enumerate(cells))
        return read(f"i,j,{column}\n{rows}", n=9).kind.tolist()

    assert kinds("yes", "no", 1, 0) == [1, -1, 1, -1]
    assert kinds("yes", "no", 1, -1, "−1", "-1.0") == [1, -1, 1, -1, -1, -1]
    for minus in ("-1", "−1"):
        with pytest.raises(LinkFileError, match="line 3: kind is 0 here and -1 elsewhere"):
            kinds(1, 0, "no", minus)


@pytest.mark.parametrize("letters", ["yn", "YN", "tf", "TF"])
def test_letters_are_answers(letters):
    yes, no = letters
    for column in ("same", "kind"):
        assert triples(read(f"i,j,{column}\nann,bob,{yes}\nbob,dee,{no}\n", ids=IDS)) == EXPECTED
    assert triples(read(f"ann bob {yes}\nbob dee {no}\n", ids=IDS)) == EXPECTED
    assert answer_of(f"{no}, probably") == (-1, 0.75)


def test_letters_that_name_columns_are_no_answers():
    assert triples(read("i,j,kind,t\nann,bob,yes,3\nbob,dee,no,4\n", ids=IDS)) == EXPECTED
    with pytest.raises(LinkFileError, match="no known format of links"):
        read("p,q,y\nann,bob,yes\nbob,dee,no\n", ids=IDS)
    with pytest.raises(LinkFileError, match="kind: 't' is not known"):
        read("i,j,x\nann,bob,yes\n", ids=IDS, kind="t")


@pytest.mark.parametrize("words", ["-1", "−1", "-1.0", "-1!", "- -1", "-1, surely"])
def test_the_sign_of_an_answer_is_no_hyphen(words):
    assert answer_of(words)[0] == -1


@pytest.mark.parametrize("column", ["same", "kind"])
def test_a_kind_of_which_no_line_can_be_read_is_not_left_out(column):
    lines = ["ann,bob,alike", "ann,cy,alike", "bob,dee,no", "cy,dee,no", "ann,dee,no"]
    text = "\n".join([f"i,j,{column}", *lines, ""])
    with pytest.raises(LinkFileError, match="read say may-not, and 2 lines say 'alike', which"):
        read(text, ids=IDS, bad_lines="skip")
    assert read(text + "bob,cy,yes\n", ids=IDS, bad_lines="skip").n_links == 4
    rest = "cy,dee,no\n" * 20
    assert read(text + rest, ids=IDS, bad_lines="skip").n_links == 23


def test_confidence_is_a_share_per_cent_or_a_word():
    def weights(*cells):
        rows = "".join(f"0,{k + 1},yes,{cell}\n" for k, cell in enumerate(cells))
        return read(f"i,j,answer,confidence\n{rows}", n=9).weight.tolist()

    assert weights(0.9, 1, 0.75) == pytest.approx([0.8, 1.0, 0.5])
    assert weights(90, 100, "75%") == pytest.approx([0.8, 1.0, 0.5])
    assert weights("high", "medium", "low") == pytest.approx([0.8, 0.5, 0.2])
    with pytest.raises(LinkFileError, match="largest confidence is 5"):
        weights(4, 5)


def test_a_kind_with_a_confidence_is_an_answer():
    assert read("i,j,kind,confidence\n0,1,may,0.9\n", n=2).weight.tolist() == pytest.approx([0.8])


# ---------------------------------------------------------------------- bad lines

SOME_BAD = """i,j,kind
ann,bob,may
ann,zoe,may
bob,dee,purple
ann,ann,may
bob,dee,no
ann,cy,1
cy,dee,1
"""


def test_bad_lines_are_kept_apart(caplog):
    with pytest.raises(LinkFileError, match="line 3: id 'zoe' is none of the 4 ids"):
        read(SOME_BAD, ids=IDS)
    file = read_link_file(io.BytesIO(SOME_BAD.encode()), ids=IDS, options=Options(bad_lines="skip"))
    assert triples(file.links) == [(0, 1, 1), (1, 3, -1), (0, 2, 1), (2, 3, 1)]
    assert [line.where for line in file.bad] == ["line 3", "line 4", "line 5"]
    assert file.bad[0].cells == ("ann", "zoe", "may")
    assert file.lines == 7
    with caplog.at_level(logging.WARNING):
        assert read(SOME_BAD, ids=IDS, bad_lines="skip").n_links == 4
    assert "bad lines, left out: 3 of 7; line 3: id 'zoe'" in caplog.text


def test_lines_with_too_few_cells_are_bad_lines():
    text = "i,j,kind\n0,1,may\n0,2\n1,2,no\n"
    assert read(text, n=3, bad_lines="skip").n_links == 2


def test_a_file_that_is_mostly_bad_is_refused():
    text = "i,j,kind\nann,bob,may\nx,y,may\nx,z,may\n"
    with pytest.raises(LinkFileError, match="2 of 3 lines are bad; line 3: id 'x'"):
        read(text, ids=IDS, bad_lines="skip")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("0 1 1\n1 2 1\n2 4 1\n", {"n": 4}),  # rows may be counted from 1
        ("i,j,kind\nann,bob,1\nann,cy,0\nbob,cy,-1\n", {"ids": IDS}),  # 0 may be "not known"
        ("i,j,kind\nann,bob,1\nann,cy,1\n", {"ids": ["ann", "bob", "cy", "cy"]}),
        ("label,x\nred,1\nblue\nred,3\n", {"n": 3}),
    ],
)
def test_lines_that_put_the_others_in_doubt_are_errors(text, options):
    with pytest.raises(LinkFileError):
        read(text, bad_lines="skip", **options)


def test_bad_lines_says_what_it_knows():
    with pytest.raises(LinkFileError, match="bad_lines: 'ignore' is not one of error, skip"):
        read("0 1 1\n", bad_lines="ignore")


# ---------------------------------------------------------------------- frames in memory


def test_from_frame_takes_ids():
    frame = pd.DataFrame({"i": ["ann", "bob"], "j": ["bob", "dee"], "kind": ["may", "may-not"]})
    links = Links.from_frame(frame, ids=IDS)
    assert triples(links) == EXPECTED
    assert links.n == 4
    numbers = {"i": [10, 20.0], "j": [20, 40], "kind": [1, -1]}
    assert triples(Links.from_frame(numbers, ids=[10, "20", 30, 40])) == EXPECTED


def test_from_frame_tells_ids_that_are_none():
    frame = {"i": ["ann"], "j": ["zoe"], "kind": ["may"]}
    with pytest.raises(LinksError, match=r"j\[0\] = 'zoe' is none of the 4 ids"):
        Links.from_frame(frame, ids=IDS)
    with pytest.raises(LinksError, match="'ann' is that of points 0 and 1"):
        Links.from_frame({**frame, "j": ["bob"]}, ids=["ann", "ann", "bob"])
    with pytest.raises(LinksError, match="ids: 4 of them for 5 points"):
        Links.from_frame(frame, n=5, ids=IDS)
    with pytest.raises(LinksError, match="n: give the number of points"):
        Links.from_frame(frame)


@pytest.mark.parametrize("dtype", [bool, object, "boolean"])
def test_from_frame_takes_true_and_false(dtype):
    frame = pd.DataFrame({"i": [0, 1], "j": [1, 3], "kind": pd.Series([True, False], dtype=dtype)})
    assert triples(Links.from_frame(frame, n=4)) == EXPECTED
    assert triples(read_links(frame, n=4)) == EXPECTED


# ---------------------------------------------------------------------- row numbers for ids

HINT = "all ids of the links are whole numbers from 0 to 3: if they are row numbers, leave ids out"


@pytest.mark.parametrize("bad_lines", ["error", "skip"])
def test_row_numbers_that_are_taken_for_ids_are_told(bad_lines):
    def message(text):
        with pytest.raises(LinkFileError) as caught:
            read(text, ids=iter(IDS), bad_lines=bad_lines)
        return str(caught.value)

    told = message("i,j,kind\n2,1,may\n1,3,no\n")
    assert "line 2: id '2' is none of the 4 ids" in told
    assert told.endswith(HINT)
    assert HINT not in message("i,j,kind\n2,1,may\n1,4,no\n")  # there is no row 4
    assert HINT not in message("i,j,kind\n2,1,may\nann,zoe,no\nx,y,no\n")


def test_from_frame_tells_row_numbers_that_are_taken_for_ids():
    with pytest.raises(LinksError, match=HINT):
        Links.from_frame({"i": [0, 1], "j": [1, 3], "kind": [1, -1]}, ids=IDS)
    with pytest.raises(LinksError, match=r"i\[0\] = 0 is none of the 4 ids$"):
        Links.from_frame({"i": [0, 1], "j": [1, 4], "kind": [1, -1]}, ids=IDS)
