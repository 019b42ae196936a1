"""Data and links that belong together."""

from io import BytesIO
from pathlib import Path

import pytest

from maylink import read_data
from maylink.errors import LinkFileError
from maylink.io.inputs import read_links_of


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "data.csv"
    Path(file).write_text("who,a,word\nann,1,x\nbob,,y\ncy,3,\ndee,4,z\n")
    return file


def test_links_follow_the_rows_that_are_left(path):
    table = read_data(path, missing="drop-rows", text="drop")
    found = read_links_of(table, BytesIO(b"i,j,kind\n0,2,may\n0,1,may\n2,3,may-not\n"))
    assert found.links.may.tolist() == [[0, 1]]
    assert found.links.may_not.tolist() == [[1, 2]]
    assert (found.lost, found.links.n, found.file.layout) == (1, 3, "table")


def test_ids_of_rows_that_were_left_out_are_known(path):
    table = read_data(path, id="who", missing="drop-rows", keep_text=True)
    assert table.ids.tolist() == ["ann", "cy", "dee"]
    assert table.file_ids.tolist() == ["ann", "bob", "cy", "dee"]
    assert table.text["word"].tolist() == ["x", "", "z"]
    found = read_links_of(table, BytesIO(b"i,j,kind\nbob,cy,may\ndee,ann,may\n"))
    assert (found.links.may.tolist(), found.lost) == ([[2, 0]], 1)
    with pytest.raises(LinkFileError, match="'eve' is none of the 4 ids"):
        read_links_of(table, BytesIO(b"i,j,kind\nbob,eve,may\n"))
