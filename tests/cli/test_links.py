"""``maylink links show`` and ``maylink links convert``."""

import json
from pathlib import Path

import maylink as ml
from command_line import run


def test_links_are_shown_without_their_data(files, capsys):
    assert run("links", "show", "links.csv") == 0
    out = capsys.readouterr().out
    assert "read as         table in csv" in out
    assert "rows named by   ids" in out
    assert "ann         2    1        1" in out
    assert run("links", "show", "links.csv", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["sources"] == {"ann": {"links": 2, "may": 1}, "bob": {"links": 2, "may": 2}}


def test_from_outranks_the_format_of_read_links(files, capsys):
    words = ("--from", "table", "--read-links", "format=pairs")
    assert run("links", "show", "links.csv", *words) == 0
    assert "read as         table in csv" in capsys.readouterr().out


def test_numbers_too_large_for_rows_are_ids(files, capsys):
    Path("large.csv").write_text("i,j,kind\n3000000000,3000000001,may\n3000000000,7,may-not\n")
    assert run("links", "show", "large.csv") == 0
    out = capsys.readouterr().out
    assert "rows named by   ids" in out
    assert "points linked   3" in out


def test_links_are_converted_with_and_without_their_data(files):
    assert run("links", "convert", "links.csv", "links.jsonl") == 0
    converted = ml.read_links("links.jsonl", ids=[f"p{row}" for row in range(20)])
    assert converted == ml.read_links("links.csv", ids=[f"p{row}" for row in range(20)])
    code = run("links", "convert", "links.csv", "m.mtx", "--data", "data.csv", "--id", "who")
    assert code == 0
    assert ml.read_links("m.mtx").may.tolist() == [[0, 1], [2, 3], [2, 11]]
    Path("rows.txt").write_text("5 1 +1\n")
    assert run("links", "convert", "rows.txt", "rows.csv") == 0
    assert ml.read_links("rows.csv").n == 6  # row numbers are not ids


def test_a_link_file_in_another_encoding_is_refused_until_it_is_named(files, capsys):
    Path("latin.csv").write_bytes("i,j,kind,source\n0,1,may,Zo\xeb\n".encode("latin-1"))
    assert run("links", "show", "latin.csv") == 3
    assert "say which encoding it is, for example --read-links encoding=" in capsys.readouterr().err
    assert run("links", "show", "latin.csv", "--read-links", "encoding=latin-1") == 0
