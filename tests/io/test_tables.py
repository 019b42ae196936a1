"""Tables are gathered column by column, and lines of text are counted as an editor does."""

import numpy as np
import pandas as pd
import pytest

from maylink.errors import FileError
from maylink.io.data import Wish
from maylink.io.tables import Gathered, Text

WISH = Wish(None, (), "drop", None, None, ".", None)


def test_frames_of_every_type_of_column():
    wish = WISH._replace(id="id")
    frame = pd.DataFrame(
        {
            "id": [4, 5],
            "whole": pd.array([1, None], dtype="Int64"),
            "flag": pd.array([True, False], dtype="boolean"),
            "day": pd.to_datetime(["2020-01-01", "2020-01-02"]),
            "sort": pd.Categorical(["a", "b"]),
        }
    )
    gathered = Gathered("t", wish, list(frame.columns), str)
    gathered.add(frame)
    read = gathered.read()
    assert read.columns == ("whole", "flag")
    assert read.text == ("day", "sort")
    assert read.ids.tolist() == ["4", "5"]
    np.testing.assert_array_equal(read.X, [[1.0, 1.0], [np.nan, 0.0]])


def test_a_word_in_a_later_piece_is_told_by_its_row():
    gathered = Gathered("t", WISH, ["a"], lambda row: f"row {row}")
    gathered.add(pd.DataFrame({"a": [1.0, 2.0]}))
    with pytest.raises(FileError, match="t: row 3, column 'a': 'x' is not a number"):
        gathered.add(pd.DataFrame({"a": ["3", "x"]}))


@pytest.mark.parametrize("header", ["", "name,b\n"])
def test_lines_are_counted_with_blank_and_quoted_ones(tmp_path, header):
    path = tmp_path / "a.csv"
    path.write_text(header + '\n1,"2\n\n2"\n3,4\n')
    text = Text(path, "a", WISH._replace(header=bool(header)))
    first = header.count("\n") + 2
    assert [text.line_of(row) for row in range(2)] == [first, first + 3]


def test_words_are_kept_over_pieces_and_only_where_asked_for(tmp_path, monkeypatch):
    from maylink.io.data import read_data

    path = tmp_path / "words.csv"
    path.write_text("a,word,b\n" + "".join(f"{k},w{k},0.5\n" for k in range(9)) + "9,,1\n")
    monkeypatch.setattr("maylink.io.tables.CELLS", 6)
    table = read_data(path, keep_text=True)
    assert table.columns == ("a", "b")
    assert table.text["word"].tolist() == [*(f"w{k}" for k in range(9)), ""]
    assert table.kinds["word"] == "text"
    assert read_data(path, text="drop").text == {}


def test_decimal_commas_are_not_taken_for_words(tmp_path):
    from maylink.io.data import read_data

    path = tmp_path / "commas.csv"
    path.write_text('a;b\n"1,5";2\n"2,5";3\n')
    with pytest.raises(FileError, match="decimal=','"):
        read_data(path, text="drop")
    assert read_data(path, decimal=",").X.tolist() == [[1.5, 2.0], [2.5, 3.0]]


def test_half_the_memory_where_asked_for(tmp_path):
    from maylink.io.data import read_data

    path = tmp_path / "small.csv"
    path.write_text("a,b\n1.5,2\n3,4\n")
    assert read_data(path).X.dtype == np.float64
    assert read_data(path, dtype="float32").X.dtype == np.float32
    np.save(tmp_path / "a.npy", np.ones((2, 2), np.float32))
    assert read_data(tmp_path / "a.npy").X.dtype == np.float32
    assert read_data(tmp_path / "a.npy", dtype="float64").X.dtype == np.float64
    path.write_text("a,b\n1.5,2\n3,1e39\n")
    with pytest.raises(FileError, match="line 3, column 'b': the cell is infinite"):
        read_data(path, dtype="float32")
    with pytest.raises(FileError, match="dtype: 'int8' is not one of"):
        read_data(path, dtype="int8")


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
    gathered = Gathered("t", WISH._replace(id="id"), ["id", "a"], str)
    for names in pieces:
        gathered.add(pd.DataFrame({"id": names, "a": np.arange(len(names))}))
    ids = gathered.read().ids
    assert ids.dtype.kind == kind
    assert ids.tolist() == [name for names in pieces for name in names]
    assert all(type(name) is str for name in ids.tolist())
