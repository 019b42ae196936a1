"""Tables are built piece by piece, whatever the types of their columns."""

import numpy as np
import pandas as pd
import pytest

from maylink.errors import FileError
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
