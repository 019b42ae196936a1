"""Tables are built piece by piece, whatever the types of their columns."""

import functools

import numpy as np
import pandas as pd
import pytest

import maylink as ml
from maylink.errors import FileError
from maylink.io import data
from maylink.io.raw_table import ReadOptions
from maylink.io.table_builder import TableBuilder


def test_frames_of_every_type_of_column():
    frame = pd.DataFrame(
        {
            "id": [4, 5],
            "whole": pd.array([1, None], dtype="Int64"),
            "flag": pd.array([True, False], dtype="boolean"),
            "day": pd.to_datetime(["2020-01-01", "2020-01-02"]),
            "sort": pd.Categorical(["a", "b"]),
        }
    )
    builder = TableBuilder("t", ReadOptions(id="id", text="drop"), list(frame.columns), str)
    builder.add(frame)
    table = builder.table()
    assert table.columns == ("whole", "flag")
    assert table.text_columns == ("day", "sort")
    assert table.ids.tolist() == ["4", "5"]
    np.testing.assert_array_equal(table.X, [[1.0, 1.0], [np.nan, 0.0]])


def test_a_word_in_a_later_piece_is_told_by_its_row():
    builder = TableBuilder("t", ReadOptions(), ["a"], lambda row: f"row {row}")
    builder.add(pd.DataFrame({"a": [1.0, 2.0]}))
    with pytest.raises(FileError, match="t: row 3, column 'a': 'x' is not a number"):
        builder.add(pd.DataFrame({"a": ["3", "x"]}))


LONG = "a name of more than sixteen letters"


@pytest.mark.parametrize(
    ("pieces", "kind"),
    [
        ([["a", "bc"], ["defg"]], "U"),  # side by side
        ([["a", "b"], [LONG]], "O"),  # one long name must not make all of them long
        ([[LONG], ["a", "b"]], "O"),
        ([["a", "a\0"]], "O"),  # an array of text would lose the zero
    ],
)
def test_names_are_kept_whole_in_little_memory(pieces, kind):
    builder = TableBuilder("t", ReadOptions(id="id"), ["id", "a"], str)
    for names in pieces:
        builder.add(pd.DataFrame({"id": names, "a": np.arange(len(names))}))
    ids = builder.table().ids
    assert ids.dtype.kind == kind
    assert ids.tolist() == [name for names in pieces for name in names]
    assert all(type(name) is str for name in ids.tolist())


def read_in_pieces(path, monkeypatch, **settings):
    monkeypatch.setattr(data, "ReadOptions", functools.partial(ReadOptions, cells_at_once=40))
    pieces = ml.read_table(path, **settings)
    monkeypatch.undo()
    return pieces, ml.read_table(path, **settings)


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("gap", [0, -1])
@pytest.mark.parametrize("word", ["unknown", "5", "(7)"])
def test_pieces_of_a_file_are_read_as_the_whole(decimal, gap, word, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    values = rng.integers(1000, 9999, 200)
    values += values % 10 == 0
    large = 2**53 - rng.integers(0, 99, 200)
    cells = [f"{value / 1000:.3f}".replace(".", decimal) for value in values]
    whole = [str(value) for value in large]
    cells[gap] = whole[gap] = word
    lines = [
        f"{i % 5}{decimal}5;{c};{w}" for i, (c, w) in enumerate(zip(cells, whole, strict=True))
    ]
    (tmp_path / "t.csv").write_text("a;b;c\n" + "\n".join(lines))
    kinds = {"c": "number"}
    pieces, one = read_in_pieces(
        tmp_path / "t.csv", monkeypatch, sep=";", decimal=decimal, kinds=kinds
    )
    np.testing.assert_array_equal(pieces.X, one.X)
    others = np.arange(200) != gap % 200
    np.testing.assert_array_equal(pieces.X[others, 1], (values / 1000)[others])
    np.testing.assert_array_equal(pieces.X[others, 2], large[others])
    assert pieces.about() == one.about()


@pytest.mark.parametrize("first", [True, False])
def test_later_pieces_may_be_plain_numbers(first, tmp_path, monkeypatch):
    cells = ["1.234,50"] * 60 + ["45.670"] * 60  # of which the last are thousands
    cells = cells if first else cells[::-1]
    (tmp_path / "t.csv").write_text(
        "a;b\n" + "\n".join(f"{i % 7};{c}" for i, c in enumerate(cells))
    )
    pieces, one = read_in_pieces(tmp_path / "t.csv", monkeypatch, sep=";", kinds={"b": "number"})
    np.testing.assert_array_equal(pieces.X, one.X)
    assert set(pieces.X[:, 1]) == {1234.5, 45670.0}


def test_with_decimal_commas_a_point_marks_thousands(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n1,5;1.234\n2,5;5.678\n3,5;9.012\n")
    table = ml.read_table(tmp_path / "t.csv", sep=";", decimal=",")
    assert table.X[:, 1].tolist() == [1234.0, 5678.0, 9012.0]
    with pytest.raises(FileError, match="column 'b' holds words"):
        ml.read_data(tmp_path / "t.csv", sep=";", decimal=",")


def test_words_shown_beside_numbers_are_those_of_the_file(tmp_path, monkeypatch):
    cells = ["red"] * 40 + ["1.50"] * 40
    (tmp_path / "t.csv").write_text("a,b\n" + "\n".join(f"{i},{c}" for i, c in enumerate(cells)))
    monkeypatch.setattr(data, "ReadOptions", functools.partial(ReadOptions, cells_at_once=40))
    assert ml.read_data(tmp_path / "t.csv", keep_text=True).text["b"].tolist() == cells
