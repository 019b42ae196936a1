"""Files of links: what is written is read back, what is broken is told in one sentence."""

import errno
import io
import json
import logging
import os
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import mmwrite

from maylink import Links, by_confidence, read_links, write_links
from maylink.errors import FileError, LinkFileError, LinksError, MaylinkError
from maylink.io.links import read_link_file
from maylink.io.links.layouts import LAYOUTS, Options

EXPECTED = [(0, 3, 1), (1, 2, -1)]


def triples(links):
    columns = (links.i.tolist(), links.j.tolist(), links.kind.tolist())
    return list(zip(*columns, strict=True))


def in_order(links):
    """Links as a sorted list of everything that they say."""
    low, high = np.minimum(links.i, links.j), np.maximum(links.i, links.j)
    source = [links.sources[code] for code in links.source]
    columns = (low.tolist(), high.tolist(), links.kind.tolist(), links.weight.round(9).tolist())
    return sorted(zip(*columns, source, strict=True), key=str)


def read(text, name="links", **options):
    data = text if isinstance(text, bytes) else text.encode()
    file = io.BytesIO(data)
    file.name = name
    return read_links(file, **options)


# ---------------------------------------------------------------------- round trips

WRITABLE = [(layout.name, kind) for layout in LAYOUTS.values() for kind in layout.containers]


@st.composite
def some_links(draw, layout):
    n = draw(st.integers(2, 9))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    once = (lambda p: tuple(sorted(p))) if layout.name == "matrix" else None
    pairs = draw(st.lists(pair, max_size=12, unique_by=once))
    most = 1.0 if layout.name in ("splink", "answers", "pccc") else 8.0
    weights = st.floats(0.01, most) if layout.keeps_weights else st.just(1.0)
    sources = st.just(0)
    if layout.keeps_sources:
        words = st.sampled_from(["crowd", "rule-7", "007", "ü"])
        sources = draw(st.sampled_from([sources, words, st.integers(-2, 5)]))
    size = {"min_size": len(pairs), "max_size": len(pairs)}
    return Links(
        n,
        [i for i, _ in pairs],
        [j for _, j in pairs],
        draw(st.lists(st.sampled_from([1, -1]), **size)),
        draw(st.lists(weights, **size)),
        draw(st.lists(sources, **size)),
    )


@st.composite
def some_ids(draw, n, letters):
    word = st.text(letters, min_size=1, max_size=5).filter(str.strip)
    return draw(st.lists(word, min_size=n, max_size=n, unique_by=str.strip))


@pytest.mark.parametrize(("layout", "container"), WRITABLE)
def test_what_is_written_is_read_back(layout, container):
    if container == "parquet":
        pytest.importorskip("pyarrow")

    @settings(max_examples=15, deadline=None, derandomize=True)
    @given(st.data())
    def check(data):
        links = data.draw(some_links(LAYOUTS[layout]))
        known = {"n": links.n}
        if layout != "matrix" and data.draw(st.booleans()):
            letters = "aäß7-" if layout == "text" else "aä7- '\",;#\\|\t"
            known = {"ids": data.draw(some_ids(links.n, letters))}
        file = io.BytesIO()
        file.name = f"links.{container}"
        write_links(links, file, ids=known.get("ids"), format=layout)
        file.seek(0)
        back = read_links(file, format=layout, **known)
        assert back.n == links.n
        assert in_order(back) == in_order(links)

    check()


@pytest.mark.parametrize(("layout", "container"), WRITABLE)
def test_what_is_written_is_found_out(layout, container, tmp_path):
    if container == "parquet":
        pytest.importorskip("pyarrow")
    links = Links(6, [0, 1, 4], [3, 2, 5], [1, -1, 1])
    path = tmp_path / f"links.{container}"
    write_links(links, path, format=layout)
    hidden = path.with_suffix("")  # the content alone must tell it, too
    hidden.write_bytes(path.read_bytes())
    for place in (path, hidden):
        found = read_link_file(place, n=6)
        assert (found.layout, found.container, found.dropped) == (layout, container, 0)
        assert in_order(found.links) == in_order(links)


@pytest.mark.parametrize("layout", ["labels", "dedupe"])
def test_what_can_only_be_read_says_so(layout, tmp_path):
    with pytest.raises(LinkFileError, match=f"{layout} can be read, but not written"):
        write_links(Links.empty(2), tmp_path / "links.json", format=layout)


@pytest.mark.parametrize("name", ["links.csv", "links.jsonl", "links.json", "links.txt"])
def test_no_links_are_no_links(name, tmp_path):
    write_links(Links.empty(4), tmp_path / name)
    assert read_links(tmp_path / name).n == 0
    assert read_links(tmp_path / name, n=4).n == 4


# ---------------------------------------------------------------------- layouts

SAME = {
    "csv": "i,j,kind\n0,3,may\n1,2,may-not\n",
    "csv with semicolons": "i;j;kind\n0;3;may\n1;2;may-not\n",
    "csv quoted": '"i","j","kind"\n"0","3","may"\n"1","2","may-not"\n',
    "csv with spaces": "i, j, kind\n0, 3, may\n1, 2, may-not\n",
    "csv in capitals": "I,J,Kind\n0,3,MAY\n1,2,May_Not\n",
    "csv with more columns": "note,j,i,type\nx,3,0,ML\ny,2,1,CL\n",
    "tsv": "i\tj\tkind\n0\t3\tmust\n1\t2\tcannot\n",
    "columns by spaces": "i j kind\n0 3 must-link\n1 2 cannot-link\n",
    "text": "0 3 +1\n1 2 -1\n",
    "text with commas": "0,3,1\n1,2,-1\n",
    "text of floats": "0.0 3.0 1.0\n1.0 2.0 -1.0\n",
    "ones and zeros": "id1,id2,kind\n0,3,1\n1,2,0\n",
    "text of ones and zeros": "0 3 1\n1 2 0\n",
    "truth": "left,right,link\n0,3,True\n1,2,False\n",
    "sameness": "i,j,kind\n0,3,same\n1,2,different\n",
    "answers in a table": "i,j,kind\n0,3,yes\n1,2,no\n",
    "typographic minus": "0 3 +1\n1 2 −1\n",
    "Windows": "i,j,kind\r\n0,3,may\r\n1,2,may-not\r\n",
    "old Macintosh": "i,j,kind\r0,3,may\r1,2,may-not\r",
    "blank lines": "\n\ni,j,kind\n\n0,3,may\n\n1,2,may-not\n\n\n",
    "comments": "# made by hand\ni,j,kind\n# first\n0,3,may\n1,2,may-not\n# last",
    "comments in text": "# i j kind\n0 3 1 # sure\n  # hm\n1 2 -1\n",
    "no last line end": "0 3 1\n1 2 -1",
    "a cell of two lines": 'i,j,kind,note\n0,3,may,"two\nlines"\n1,2,may-not,\n',
    "json records": '[{"i": 0, "j": 3, "kind": "may"}, {"i": 1, "j": 2, "kind": -1}]',
    "json columns": '{"i": [0, 1], "j": [3, 2], "kind": [true, false]}',
    "json triples": "[[0, 3, 1], [1, 2, -1]]",
    "json with links": '{"links": [{"i": 0, "j": 3, "kind": 1}, {"i": 1, "j": 2, "kind": 0}]}',
    "json lines": '{"i": 0, "j": 3, "kind": "may"}\n\n{"i": 1, "j": 2, "kind": "may-not"}\n',
    "lists": '{"must": [[0, 3]], "cannot": [[1, 2]]}',
    "may lists": '{"may": [[0, 3]], "may_not": [[1, 2]], "comment": "x"}',
    "lists of links": '{"must_links": [[0, 3]], "cannot-links": [[1, 2]]}',
    "lists of pairs": '{"ML_pairs": [[0, 3]], "CL_pairs": [[1, 2]]}',
    "lists of constraints": '{"must_link_constraints": [[0, 3]], "cannot_link": [[1, 2]]}',
    "lists of matches": '{"matches": [[0, 3]], "distinct": [[1, 2]]}',
    "pccc": '{"ml": [[0, 3]], "cl": [[1, 2]], "sml": [], "scl": [], "sml_proba": [], '
    '"scl_proba": []}',
    "splink": "match_probability,unique_id_l,unique_id_r\n1,0,3\n0,1,2\n",
    "splink labels": "unique_id_l,unique_id_r,clerical_match_score\n0,3,1.0\n1,2,0.0\n",
    "dedupe": '{"distinct": [[{"id": 1}, {"id": "2"}]], "match": [{"__class__": "tuple", '
    '"__value__": [{"Id": 0}, {"Id": 3}]}]}',
    "tallies": "id_l,id_r,n_same,n_different\n0,3,1,0\n1,2,0,1\n",
    "answers": '{"i": 0, "j": 3, "answer": "Yes."}\n{"i": 1, "j": 2, "answer": "no"}\n',
    "matrix": "0,0,0,1\n0,0,-1,0\n0,-1,0,0\n1,0,0,0\n",
    "matrix by spaces": "1 0 0 1\n0 1 -1 0\n0 -1 1 0\n1 0 0 1\n",
    "json matrix": "[[0,0,0,1],[0,0,-1,0],[0,-1,0,0],[1,0,0,0]]",
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_the_same_two_links(text):
    links = read(text)
    assert sorted(triples(links)) == EXPECTED
    assert links.n == 4
    assert links.sources == (0,)
    assert (links.weight == 1).all()
    assert read(text, n=4).n == 4


def test_counted_answers(caplog):
    text = "id_a,id_b,votes_yes,votes_no,note\n0,1,3,0,x\n1,2,1,2,y\n0,2,0,,z\n"
    with caplog.at_level("INFO", "maylink"):
        links = read(text)
    columns = (links.i, links.j, links.kind, links.weight)
    found = list(zip(*(one.tolist() for one in columns), strict=True))
    assert found == [(0, 1, 1, 3.0), (1, 2, 1, 1.0), (1, 2, -1, 2.0)]
    assert "left out: 1" in caplog.text
    by_source = read("i,j,yes_count,no_count,annotator\n0,1,2,0,ann\n0,1,0,2,bob\n")
    assert by_source.sources == ("ann", "bob")
    judged = "i,j,verdict,votes_yes,votes_no\n0,1,yes,1,2\n"  # what the votes came to
    assert triples(read(judged)) == triples(read(judged, columns={"kind": "verdict"}))
    assert triples(read(judged)) == [(0, 1, 1)]
    with pytest.raises(LinkFileError, match=r"line 2.*n_yes = -1; votes are 0 or more"):
        read("i,j,n_yes,n_no\n0,1,-1,0\n")
    with pytest.raises(LinkFileError, match=r"n_yes = 'many' is not a number"):
        read("i,j,n_yes,n_no\n0,1,many,0\n")
    with pytest.raises(LinkFileError, match=r"no columns i, j, votes_yes and votes_no"):
        read("i,j,n_yes\n0,1,2\n", format="tallies")


def test_a_table_holds_weights_and_sources():
    links = read("i,j,kind,weight,source\n0,1,may,2.5,ann\n0,2,may-not,,bob\n1,2,may,1e-3,\n")
    assert links.weight.tolist() == [2.5, 1.0, 0.001]
    assert [links.sources[code] for code in links.source] == ["ann", "bob", 0]
    links = read("i,j,kind,source\n0,1,may,7\n0,2,may,\n", source="rule")
    assert [links.sources[code] for code in links.source] == [7, "rule"]
    assert read("0 1 +1 0.5 ann\n1 2 -1\n", n=3).weight.tolist() == [0.5, 1.0]


def test_contradictions_and_repetitions_are_kept():
    assert triples(read("0 1 1\n0 1 -1\n1 0 1\n")) == [(0, 1, 1), (0, 1, -1), (1, 0, 1)]


def test_pairs_alone_need_a_kind():
    assert triples(read("0 3\n1 2\n", kind="must")) == [(0, 3, 1), (1, 2, 1)]
    assert triples(read("i,j\n0,3\n", kind="cannot")) == [(0, 3, -1)]
    with pytest.raises(LinkFileError, match="a list of pairs alone needs kind="):
        read("0 3\n1 2\n")
    with pytest.raises(LinkFileError, match="kind: 'perhaps' is not known"):
        read("0 3\n", kind="perhaps")


@pytest.mark.parametrize("kind", ["npy", "npz", "dense npz", "mtx", "csv"])
def test_matrices_in_all_containers(kind, tmp_path):
    matrix = np.zeros((5, 5))
    matrix[0, 3] = matrix[3, 0] = 2.0
    matrix[1, 2] = matrix[2, 1] = -0.5
    path = tmp_path / f"matrix.{kind.split()[-1]}"
    if kind == "npy":
        np.save(path, matrix)
    elif kind == "npz":
        sparse.save_npz(path, sparse.csr_array(matrix))
    elif kind == "dense npz":
        np.savez(path, links=matrix)
    elif kind == "mtx":
        mmwrite(path, sparse.coo_array(matrix))
    else:
        np.savetxt(path, matrix, delimiter=",")
    links = read_links(path, source="m", ids=list("abcde"))
    assert in_order(links) == [(0, 3, 1, 2.0, "m"), (1, 2, -1, 0.5, "m")]
    with pytest.raises(LinkFileError, match="a matrix of 5 rows for 6 of data"):
        read_links(path, n=6)


def test_the_papers_matrix_must_be_asked_for():
    text = ",1,0\n1,,\n0,,\n"
    assert triples(read(text, "m.csv", coding="paper")) == [(0, 1, 1), (0, 2, -1)]
    with pytest.raises(LinkFileError, match=r"empty entries.*coding='paper'"):
        read(text, "m.csv")


def test_a_file_that_could_be_two_things_asks():
    text = "5 2 0\n2 3 1\n0 1 1\n"  # a symmetric matrix, and three good links
    with pytest.raises(LinkFileError, match="format='matrix' or format='text'"):
        read(text)
    assert triples(read(text, format="text")) == [(5, 2, -1), (2, 3, 1), (0, 1, 1)]
    assert triples(read(text, format="matrix")) == [(0, 1, 1), (1, 2, 1)]


LABELS = {
    "header": "label\na\na\n\nb\n",
    "no header": "a\na\n\nb\n",
    "beside others": "x,label,y\n1,a,2\n1,a,2\n1,,2\n1,b,2\n",
    "minus one": "label\n0\n0\n-1\n7\n",
    "nan": "x,class\n1,0\n1,0\n1,NaN\n1,7\n",
    "json": '["a", "a", null, "b"]',
    "json column": '{"label": [1, 1, -1, 2]}',
    "records": '{"label": "a"}\n{"label": "a"}\n{"label": null}\n{"label": "b"}\n',
}


@pytest.mark.parametrize("text", LABELS.values(), ids=LABELS)
def test_partial_labels(text):
    assert triples(read(text)) == [(0, 1, 1), (0, 3, -1), (1, 3, -1)]
    assert read(text, sample=2, rng=0).n_links == 2
    assert read(text, source="expert").sources == ("expert",)
    assert read(text, source="expert").labelled == ("expert",)
    with pytest.raises(LinkFileError, match="4 labels for 5 rows"):
        read(text, n=5)


def test_labels_of_other_names_and_arrays(tmp_path):
    assert triples(read("x,group\n1,a\n2,a\n", label_column="group")) == [(0, 1, 1)]
    np.save(tmp_path / "y.npy", [3, 3, -1, 4])
    assert read_links(tmp_path / "y.npy").n_links == 3
    np.save(tmp_path / "y.npy", [3.0, 3.0, np.nan, 4.0])
    assert read_links(tmp_path / "y.npy").n_links == 3


def test_a_file_of_links_does_not_say_that_they_were_labels(tmp_path, caplog):
    links = read("label\na\na\nb\n")
    write_links(links, tmp_path / "links.csv")
    assert "no place for that links were made of labels" in caplog.text
    again = read_links(tmp_path / "links.csv")
    assert again.labelled == ()
    assert np.array_equal(again.weight, links.weight)


def test_a_header_alone_is_no_labels():
    assert read("label\n").n == 0
    assert read("x,label\n").n == 0


def test_labels_by_id():
    text = "id,label\ncy,red\nann,red\nbob,\n"
    assert triples(read(text, ids=["ann", "bob", "cy", "dee"])) == [(0, 2, 1)]
    with pytest.raises(LinkFileError, match="line 3: id 'ann' stands there twice"):
        read("id,label\nann,a\nann,b\n", ids=["ann", "bob"])


def test_blank_lines_at_the_end_of_labels_count_as_far_as_there_are_rows():
    assert read("a\na\n\n\n").n == 2
    assert read("a\na\n\n\n", n=3).n == 3
    assert read("a\na\n\n\n", n=4).n == 4
    with pytest.raises(LinkFileError, match="4 labels for 5 rows"):
        read("a\na\n\n\n", n=5)
    with pytest.raises(LinkFileError, match="2 labels for 1 rows"):
        read("a\na\n\n\n", n=1)


def test_pccc_confidences_are_weights():
    text = json.dumps(
        {
            "ml": [[2, 6]],
            "cl": [[2, 7]],
            "sml": [[1, 2], [1, 6]],
            "scl": [[4, 8]],
            "sml_proba": [0.8, 0.6],
            "scl_proba": [0.5],
        }
    )
    links = read(text)
    assert triples(links) == [(2, 6, 1), (2, 7, -1), (1, 2, 1), (1, 6, 1), (4, 8, -1)]
    assert links.weight.tolist() == [1.0, 1.0, 0.8, 0.6, 0.5]


def test_probabilities_become_expected_votes(caplog):
    text = "match_probability,unique_id_l,unique_id_r\n0.9,a,b\n0.5,a,c\n0.25,b,c\n0,a,d\n"
    links = read(text, "pairs.csv", ids=list("abcd"))
    assert triples(links) == [(0, 1, 1), (1, 2, -1), (0, 3, -1)]
    np.testing.assert_allclose(links.weight, [0.8, 0.5, 1.0])
    assert "pairs.csv: judgements that say nothing, left out: 1" in caplog.text


def test_splink_match_weights_are_log2_odds():
    text = "match_weight,unique_id_l,unique_id_r\n2,0,1\n-2,1,2\n2000,0,2\n-2000,0,3\n"
    links = read(text)
    np.testing.assert_allclose(links.weight, [0.6, 0.6, 1.0, 1.0])
    assert links.kind.tolist() == [1, -1, 1, -1]


def test_splink_with_other_ids_and_several_data_sets():
    assert triples(read("i,j,match_probability\n0,1,1\n")) == [(0, 1, 1)]
    text = "match_probability,person_l,person_r\n1,a,b\n"
    assert triples(read(text, ids=["a", "b"], id_column="person")) == [(0, 1, 1)]
    with pytest.raises(LinkFileError, match="no columns unique_id_l, unique_id_r"):
        read(text, ids=["a", "b"])
    text = (
        "match_probability,source_dataset_l,unique_id_l,source_dataset_r,unique_id_r\n"
        "1,left,1,right,1\n"
    )
    assert triples(read(text, ids=["left-__-1", "right-__-1"])) == [(0, 1, 1)]


def test_dedupe_records_are_known_by_a_field():
    text = '{"distinct": [], "match": [[{"name": "ann"}, {"name": "bob"}]]}'
    assert triples(read(text, ids=["ann", "bob"], id_column="name")) == [(0, 1, 1)]
    with pytest.raises(LinkFileError, match=r"match\[0\]: .*no field 'id' \(found: name\)"):
        read(text, ids=["ann", "bob"])


def test_answers_of_a_language_model(caplog):
    records = [
        {"i": 0, "j": 1, "answer": "yes", "confidence": 0.95, "model": "small"},
        {"i": 0, "j": 2, "answer": "No.", "confidence": "80%", "model": "large"},
        {"i": 1, "j": 2, "answer": "unsure", "confidence": 0.9, "model": "large"},
        {"i": 1, "j": 3, "answer": None},
        {"i": 2, "j": 3, "answer": "yes", "confidence": 0.3},  # a weak yes, never a no
        {"i": 0, "j": 3, "answer": False},
    ]
    text = "\n".join(map(json.dumps, records))
    file = io.BytesIO(text.encode())
    found = read_link_file(file)
    assert (found.layout, found.container, found.dropped) == ("answers", "jsonl", 3)
    assert triples(found.links) == [(0, 1, 1), (0, 2, -1), (0, 3, -1)]
    np.testing.assert_allclose(found.links.weight, [0.9, 0.6, 1.0])
    assert [found.links.sources[code] for code in found.links.source] == ["small", "large", 0]
    assert "that say nothing, left out: 3" in caplog.text


# ---------------------------------------------------------------------- ids


@pytest.mark.parametrize(
    "ids",
    [[10, 20, 30], [10.0, 20.0, 30.0], ["10", "20", "30"], pd.Series([10, 20, 30])],
)
@pytest.mark.parametrize("text", ["10 30 1\n", '[{"i": 10, "j": "30", "kind": 1}]'])
def test_ids_are_compared_as_people_read_them(ids, text):
    links = read(text, ids=ids)
    assert (links.n, triples(links)) == (3, [(0, 2, 1)])


def test_ids_keep_their_zeros_and_accents():
    text = "i,j,kind\n007,Müller,may\n"
    assert triples(read(text, ids=["7", "007", "Müller"])) == [(1, 2, 1)]
    latin = text.encode("latin-1")
    assert triples(read(latin, ids=["7", "007", "Müller"], encoding="latin-1")) == [(1, 2, 1)]


def test_rows_without_an_id_are_no_trouble():
    assert triples(read("a b 1\n", ids=["a", None, np.nan, pd.NA, "b"])) == [(0, 4, 1)]


# ---------------------------------------------------------------------- broken files

BROKEN = {
    "empty": ("", r"the file is empty"),
    "only spaces": (" \n\n", r"the file is empty"),
    "only a mark": (b"\xef\xbb\xbf", r"the file is empty"),
    "short row": ("i,j,kind\n0,1,may\n0,2\n", r"line 3: 2 cells where the header has 3"),
    "long row": ("i,j,kind\n0,1,may,x\n", r"line 2: 4 cells where the header has 3"),
    "short line": ("0 1 1\n0 2\n", r"line 2: 2 cells; a line is 'i j ±1"),
    "open quote": ('i,j,kind\n0,1,"may\n', r"line 2: .*check the quotes"),
    "column twice": ("i,j,kind,kind\n0,1,may,may\n", r"line 1: column 'kind' stands there twice"),
    "no kind": ("i,j,weight\n0,1,2\n", r"no column kind \(found: i, j, weight\)"),
    "unknown columns": ("from,to,how\n0,1,may\n", r"no known format .*from, to, how; say columns="),
    "unknown kind": ("i,j,kind\n0,1,may\n0,2,perhaps\n", r"line 3: kind 'perhaps' is not known"),
    "missing kind": ("i,j,kind\n0,1,\n", r"line 2: kind '' is not known"),
    "0 beside -1": ("0 1 1\n0 2 0\n1 2 -1\n", r"line 2: kind is 0 here and -1 elsewhere"),
    "to itself": ("i,j,kind\n3,3,may\n", r"line 2: the link joins row 3 to itself"),
    "negative row": ("i,j,kind\n-1,3,may\n", r"line 2: i = -1 is out of range"),
    "row of a half": ("i,j,kind\n0.5,3,may\n", r"line 2: i = '0.5' is not a row number"),
    "row of letters": ("i,j,kind\nann,3,may\n", r"line 2: i = 'ann' .*give the ids"),
    "row with underscore": ("i,j,kind\n1_0,3,may\n", r"line 2: i = '1_0' is not a row number"),
    "no row": ("i,j,kind\n0,,may\n", r"line 2: j is missing"),
    "infinite row": ("i,j,kind\ninf,1,may\n", r"line 2: i = 'inf' is not a row number"),
    "huge row": (f"i,j,kind\n{'9' * 400},1,may\n", r"line 2: i = '9+…' is not a row number"),
    "no weight": ("i,j,kind,weight\n0,1,may,x\n", r"line 2: weight = 'x' is not a number"),
    "decimal comma": ("i;j;kind;weight\n0;1;may;0,5\n", r"line 2: weight = '0,5' is not a number"),
    "weight 0": ("i,j,kind,weight\n0,1,may,0\n", r"line 2: weight = 0; a weight is positive"),
    "weight inf": ("i,j,kind,weight\n0,1,may,inf\n", r"line 2: weight = 'inf' is not a number"),
    "lines counted right": ("# c\n\ni,j,kind\n# c\n\n0,0,may\n", r"line 6: the link joins"),
    "broken JSON": ('{"must": [[0, 1], ', r"line 1: not JSON"),
    "broken line": ('{"i": 0, "j": 1, "kind": 1}\n{"i": 0\n', r"line 2: not JSON"),
    "deep JSON": ("[" * 100_000, r"JSON is too deep"),
    "deep line": ('{"i": 0}\n' + "[" * 100_000, r"line 2: not JSON"),
    "a number": ("[1, [2], {}]", r"mixed; use one of them"),
    "another object": ('{"name": "x"}', r"no known format .*a JSON object with name"),
    "no pair": ('{"must": [[0, 1, 2]], "cannot": []}', r"must\[0\]: not a pair"),
    "no list": ('{"must": [[0, 1]], "cannot": 7}', r"'cannot' is not a list of pairs"),
    "pair to itself": ('{"must": [[0, 1]], "cannot": [[2, 2]]}', r"cannot\[0\]: .*to itself"),
    "missing key": ('[{"i": 0, "kind": 1}, {"j": 1}]', r"\[0\]: j is missing"),
    "uneven columns": ('{"i": [0], "j": [1, 2], "kind": [1]}', r"columns differ in length"),
    "source of lists": (
        '[{"i": 0, "j": 1, "kind": 1, "source": [1]}]',
        r"\[0\]: source is a list or an object",
    ),
    "pccc without numbers": ('{"sml": [[0, 1]]}', r"'sml_proba' must be a list with one number"),
    "pccc above 1": ('{"scl": [[0, 1]], "scl_proba": [2]}', r"scl\[0\]: .*between 0 and 1"),
    "probability above 1": (
        "match_probability,unique_id_l,unique_id_r\n1.5,0,1\n",
        r"line 2: match_probability = 1.5 is not between 0 and 1",
    ),
    "no probability": (
        "match_probability,unique_id_l,unique_id_r\n,0,1\n",
        r"line 2: match_probability = '' is not a number",
    ),
    "chatty answer": (
        '{"i": 0, "j": 1, "answer": "As a language model"}',
        r"answer 'As a language model' is not yes, no or unsure",
    ),
    "confidence of 4": (
        '{"i": 0, "j": 1, "answer": "yes", "confidence": 4}',
        r"the largest confidence is 4; write 0 to 1, per cent",
    ),
    "confidence in words": (
        '{"i": 0, "j": 1, "answer": "yes", "confidence": "blue"}',
        r"confidence = 'blue' is not a number",
    ),
    "crooked matrix": ("0,1,0,0\n-1,0,0,0\n0,0,0,0\n0,0,0,0\n", r"matrix: not symmetric"),
    "oblong matrix": ("0,1,0,0,0,0\n1,0,0,0,0,0\n", r"no known format .*2 rows without"),
    "compressed": (b"\x1f\x8b\x08\x00abc", r"so it is not text"),
    "binary": (b"\x00\x01\x02", r"so it is not text"),
    "broken npy": (b"\x93NUMPY\x01", r"not a readable npy file"),
    "broken npz": (b"PK\x03\x04abc", r"not a readable npz file"),
    "broken mtx": (b"%%MatrixMarket nonsense\n", r"not a readable mtx file"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_what_is_broken_is_told_in_one_sentence(text, message):
    with pytest.raises(LinkFileError, match=message) as caught:
        read(text, "bad.links")
    sentence = str(caught.value)
    assert sentence.startswith("bad.links")
    assert "\n" not in sentence
    assert len(sentence) < 200  # two lines of a terminal
    assert isinstance(caught.value, MaylinkError)


def test_rows_out_of_range_and_unknown_ids():
    with pytest.raises(MaylinkError, match="n: '5' is not a number of points"):
        read("0 1 1\n", n="5")
    with pytest.raises(LinkFileError, match=r"line 2: j = 5 is out of range \(valid: 0 to 4\)"):
        read("0 1 1\n0 5 1\n", n=5)
    with pytest.raises(LinkFileError, match="line 2: id 'dee' is none of the 3 ids"):
        read("ann bob 1\nann dee 1\n", ids=["ann", "bob", "cy"])
    with pytest.raises(LinkFileError, match="line 1: id 'ann' is that of rows 0 and 2"):
        read("ann bob 1\n", ids=["ann", "bob", "ann"])
    with pytest.raises(LinkFileError, match="ids: 'cy' is that of rows 2 and 3"):
        read("ann bob 1\n", ids=["ann", "bob", "cy", "cy"])
    with pytest.raises(LinkFileError, match="ids: 2 of them for 3 rows"):
        read("a b 1\n", ids=["a", "b"], n=3)


def test_no_pickles(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(LinkFileError, match="not a readable npy file"):
        read_links(tmp_path / "x.npy")


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(LinkFileError, match=r"none\.csv: cannot be read \(No such file"):
        read_links(tmp_path / "none.csv")
    with pytest.raises(LinkFileError, match="cannot be read"):
        read_links(tmp_path)


@pytest.mark.parametrize("name", ["csvv", "may"])
def test_unknown_formats_are_told_with_the_known_ones(name, tmp_path):
    with pytest.raises(LinkFileError, match=f"format: '{name}' is not one of splink, .*csv"):
        read("0 1 1\n", format=name)
    with pytest.raises(LinkFileError, match=f"format: '{name}' is not one of splink, .*csv"):
        write_links(Links.empty(1), tmp_path / "x", format=name)


def test_a_format_that_the_file_is_not_in():
    with pytest.raises(LinkFileError, match=r"not pccc; looked for .*found 1 rows without"):
        read("0 1 1\n", format="pccc")
    with pytest.raises(LinkFileError, match="no columns i, j and answer"):
        read("i,j,weight\n0,1,2\n", format="answers")
    with pytest.raises(LinkFileError, match="no column 'label'"):
        read("i,j,kind\n0,1,may\n", format="labels")


def test_parquet_asks_for_its_library(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise ImportError("no engine")

    monkeypatch.setattr(pd, "read_parquet", refuse)
    monkeypatch.setattr(pd.DataFrame, "to_parquet", refuse)
    with pytest.raises(LinkFileError, match=r"links: Parquet needs pyarrow: .*maylink\[parquet\]"):
        read(b"PAR1....PAR1")
    with pytest.raises(LinkFileError, match=r"maylink\[parquet\]"):
        write_links(Links.empty(2), tmp_path / "links.parquet")
    assert not list(tmp_path.iterdir())


def test_parquet_through_pandas(monkeypatch):
    kept = {}

    def write(frame, stream, index):
        kept["frame"] = frame
        stream.write(b"PAR1")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", write)
    monkeypatch.setattr(pd, "read_parquet", lambda stream: kept["frame"])
    links = Links(4, [0, 1], [3, 2], [1, -1], [0.5, 1.0], ["crowd", 7])
    file = io.BytesIO()
    write_links(links, file, format="parquet")
    assert kept["frame"]["source"].tolist() == ["crowd", "7"]
    back = read(file.getvalue())
    assert triples(back) == triples(links)
    assert back.weight.tolist() == [0.5, 1.0]


# ---------------------------------------------------------------------- writing

LINKS = Links(4, [0, 1], [3, 2], [1, -1], [0.5, 1.0], ["crowd", "rule"])


def test_the_text_of_each_format(tmp_path):
    def text(name, **options):
        write_links(LINKS, tmp_path / name, force=True, **options)
        return (tmp_path / name).read_text()

    assert text("a.csv") == ("i,j,kind,weight,source\n0,3,may,0.5,crowd\n1,2,may-not,1.0,rule\n")
    assert text("a.txt") == "0 3 +1 0.5 crowd\n1 2 -1 1.0 rule\n"
    assert json.loads(text("a.json"))[0]["kind"] == "may"
    assert json.loads(text("b.json", format="pairs")) == {"must": [[0, 3]], "cannot": [[1, 2]]}
    assert json.loads(text("c.json", format="pccc"))["sml_proba"] == [0.5]
    assert text("d.csv", format="splink", ids="wxyz").endswith("\n0.75,w,z\n0.0,x,y\n")
    assert '"answer": "yes", "confidence": 0.75, "model": "crowd"' in text("e", format="answers")
    assert text("f.csv", format="matrix").startswith("0.0,0.0,0.0,0.5\n")


def test_a_file_that_is_there_stays(tmp_path):
    path = tmp_path / "links.csv"
    path.write_text("mine")
    with pytest.raises(FileError, match="is there already"):
        write_links(LINKS, path)
    assert path.read_text() == "mine"
    write_links(LINKS, path, force=True)
    assert read_links(path).n_links == 2
    assert [p.name for p in tmp_path.iterdir()] == ["links.csv"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_nothing_half_written_stays(error, step, tmp_path, monkeypatch):
    def fail(*args):
        raise error

    path = tmp_path / "links.csv"
    path.write_text("mine")
    monkeypatch.setattr(os, step, fail)
    expected = FileError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        write_links(LINKS, path, force=True)
    assert [p.name for p in tmp_path.iterdir()] == ["links.csv"]
    assert path.read_text() == "mine"


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(FileError, match=r"cannot be written \(No such file"):
        write_links(LINKS, tmp_path / "none" / "links.csv")
    with pytest.raises(LinkFileError, match="the name does not tell a format"):
        write_links(LINKS, tmp_path / "links")
    with pytest.raises(LinkFileError, match="pccc is written as json"):
        write_links(LINKS, tmp_path / "links.csv", format="pccc")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="links of the file system")
def test_a_symbolic_link_is_followed(tmp_path):
    (tmp_path / "real.csv").write_text("")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    write_links(LINKS, tmp_path / "link.csv", force=True)
    assert (tmp_path / "link.csv").is_symlink()
    assert read_links(tmp_path / "real.csv").n_links == 2


def test_what_a_format_cannot_hold(tmp_path, caplog):
    heavy = Links(2, [0], [1], [1], [2.5])
    for layout in ("splink", "answers", "pccc"):
        with pytest.raises(LinkFileError, match=r"weight\[0\] = 2.5; this format holds weights"):
            write_links(heavy, tmp_path / "x", format=layout)
    with pytest.raises(LinkFileError, match="cannot stand in a line of words"):
        write_links(heavy, tmp_path / "x.txt", ids=["two words", "b"])
    with pytest.raises(LinkFileError, match="too large; write npz"):
        write_links(Links.empty(20_000), tmp_path / "x.npy")
    assert not list(tmp_path.iterdir())
    with caplog.at_level(logging.WARNING):
        write_links(LINKS, tmp_path / "x.json", format="pairs")
    assert "pairs has no place for weights and sources" in caplog.text


def test_a_matrix_adds_up_the_links_of_a_pair(tmp_path, caplog):
    links = Links(3, [0, 1, 0, 0], [1, 0, 2, 2], [1, 1, 1, -1])
    write_links(links, tmp_path / "x.mtx")
    assert in_order(read_links(tmp_path / "x.mtx")) == [(0, 1, 1, 2.0, 0)]
    assert "3 links stand on pairs that have others" in caplog.text


def test_ids_to_write_must_tell_rows_apart(tmp_path):
    for ids, message in (
        (["a", "b", "a", "c"], "'a' stands at rows 0 and 2"),
        (["a", "b", None, "c"], "the id of row 2 is missing"),
        (["a"], "1 of them for 4 rows"),
    ):
        with pytest.raises(LinkFileError, match=message):
            write_links(LINKS, tmp_path / "x.csv", ids=ids)


def test_options_reach_the_whole_file():
    found = read_link_file(io.BytesIO(b"0 1\n"), options=Options(kind="ml"))
    assert (found.layout, found.links.n_links) == ("text", 1)


def test_rows_are_called_what_the_file_calls_them():
    file = read_link_file(io.BytesIO(b"i,j,kind\nbob,ann,may\nann,cy,may-not\n"), ids="found")
    assert file.ids == ("bob", "ann", "cy")
    assert file.links.may.tolist() == [[0, 1]]
    numbers = read_link_file(io.BytesIO(b"i,j,kind\n4,2,may\n"), ids="found")
    assert numbers.ids is None
    assert numbers.links.n == 5


def test_confidence_becomes_part_of_the_source():
    links = Links(
        4, [0, 0, 1, 1], [1, 2, 2, 3], [1, -1, 1, 1], [0.9, 0.2, 0.5, 1.0], ["a", "a", "b", "b"]
    )
    parted = by_confidence(links)
    assert parted.weight.tolist() == [1.0] * 4
    assert parted.kind.tolist() == links.kind.tolist()
    names = [parted.sources[at] for at in parted.source]
    assert names == [
        "a, 75% to 100% sure", "a, 50% to 75% sure", "b, 75% to 100% sure", "b, 75% to 100% sure"
    ]  # fmt: skip
    assert len(by_confidence(links, (0.25, 0.6)).sources) == 4
    for cuts in ((), (0.6, 0.5), (0.0,), (1.0,)):
        with pytest.raises(LinksError, match="cuts"):
            by_confidence(links, cuts)
