import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import maylink as ml
from maylink.errors import MaylinkError
from maylink.label.judges.rows import ShownRows


def test_cells_are_what_json_has():
    frame = pd.DataFrame(
        {
            "name": ["Ann", None],
            "age": [41.0, np.nan],
            "size": np.array([1.1, 2.0], np.float32),
            "ok": [True, False],
            "when": pd.to_datetime(["2020-01-02", None]),
            "n": pd.array([3, None], "Int64"),
        }
    )
    rows = ShownRows.of(frame)
    assert json.loads(json.dumps(rows.row(0))) == {
        "name": "Ann", "age": 41, "size": 1.1, "ok": True, "when": "2020-01-02 00:00:00", "n": 3,
    }  # fmt: skip
    empty = {"name": None, "age": None, "size": 2, "ok": False, "when": None, "n": None}
    assert rows.row(1) == empty
    assert rows.pair(0, 1).texts[1].startswith("name: (empty)\nage: (empty)\nsize: 2\n")


@pytest.mark.parametrize(
    ("X", "row"),
    [
        ([[1.5, 2.0], [3.0, 4.0]], {"x0": 3, "x1": 4}),
        (np.array([[1.5, 2.0], [3.0, 4.0]]), {"x0": 3, "x1": 4}),
        (["one", "two"], {"text": "two"}),
        ([{"a": 1}, {"b": "x", "a": None}], {"a": None, "b": "x"}),
        ({"a": ["u", "v"]}, {"a": "v"}),
        (sparse.csr_array(np.array([[0, 1, 0], [2, 0, 3]])), {"x0": 2, "x2": 3}),
    ],
)
def test_whatever_rows_are(X, row):
    rows = ShownRows.of(X)
    assert rows.row(1) == row
    assert rows.n == 2
    assert ShownRows.of(rows) is rows


def test_tables_show_columns_as_they_came():
    frame = pd.DataFrame({"colour": ["red", "blue", "red"], "size": [1.5, 2.0, 3.0]})
    assert ShownRows.of(ml.read_table(frame)).row(2) == {"colour": "red", "size": 3}


def test_columns_can_be_chosen():
    rows = ShownRows.of({"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    assert rows.showing(["c", "a"]).row(0) == {"c": 5, "a": 1}
    assert rows.without(["b"]).columns == ("a", "c")
    with pytest.raises(MaylinkError, match="show: 'd' is not one of a, b, c"):
        rows.showing(["d"])
    counts = ShownRows.of(sparse.csr_array(np.array([[0, 1, 4], [2, 0, 3]])))
    assert counts.showing(["x2", "x0"]).row(1) == {"x2": 3, "x0": 2}


def test_fingerprints_are_of_contents():
    first = list(ShownRows.of({"a": [1.0, None], "b": ["x", "y"]}).cells())
    assert first == list(ShownRows.of(pd.DataFrame({"a": [1, None], "b": ["x", "y"]})).cells())
    assert first != list(ShownRows.of({"a": [1.0, None], "b": ["x", "z"]}).cells())


@pytest.mark.parametrize("X", [np.zeros(3), [], {"a": [1, 2], "b": [1]}, 3])
def test_what_are_no_rows_is_refused(X):
    with pytest.raises((MaylinkError, TypeError), match=r"rows|iterable"):
        ShownRows.of(X)
