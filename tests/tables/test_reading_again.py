"""Rows that were read once are read the same with the code that they made."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import maylink as ml
from maylink.errors import FileError

rng = np.random.default_rng(0)
N = 60


def pick(*words):
    return rng.choice(np.array(words, object), N)


COLUMNS = {
    "dollars": [f"${value:,.2f}" for value in rng.normal(3000, 900, N)],
    "two fees": pick("$5", "$10"),
    "zeros": pick("1.0", "0.0"),
    "zeros and gaps": pick("1.0", "0.0", "unknown"),
    "commas": [f"{value:.2f}".replace(".", ",") for value in rng.normal(30, 9, N)],
    "two commas": pick("1,5", "2,25"),
    "thousands": [f"{value:,.0f}" for value in rng.normal(30_000, 9000, N)],
    "brackets": [
        f"({value:.1f})" if value < 0 else f"{value:.1f}" for value in rng.normal(0, 9, N)
    ],
    "per cent": [f"{value:.1f}%" for value in rng.normal(30, 9, N)],
    "gaps": pick("3.5", "4.25", "7", "n/a", "-"),
    "counts": [str(value) for value in rng.poisson(3, N)],
    "colours": pick("red", " Red", "blue", "GREEN", ""),
    "answers": pick("yes", "no", "YES", ""),
    "versions": pick("1.0", "1.10", "v2"),
    "days": [f"2024-03-{value:02d}" for value in rng.integers(1, 29, N)],
    "digit days": [f"202403{value:02d}" for value in rng.integers(1, 29, N)],
}
SOURCES = {
    "frame": lambda frame, folder: frame,
    "file": lambda frame, folder: written(frame, folder),
}


def written(frame, folder):
    frame.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", COLUMNS)
def test_a_table_is_read_again_as_before_all_at_once_and_row_by_row(name, source, tmp_path):
    frame = pd.DataFrame({name: COLUMNS[name], "w": rng.normal(size=N)})
    first = ml.read_table(SOURCES[source](frame, tmp_path))
    again = ml.read_table(SOURCES[source](frame, tmp_path), code=first.code)
    np.testing.assert_array_equal(again.X, first.X)
    for row in range(0, N, 4 if source == "frame" else 12):
        one = SOURCES[source](frame.iloc[[row]], tmp_path)
        np.testing.assert_array_equal(ml.read_table(one, code=first.code).X[0], first.X[row])
    assert np.isfinite(first.X).any(axis=0).all()


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    ("cell", "value"), [("unknown", np.nan), ("(3.5)", -3.5), ("12%", 12.0), ("€ 1,250", 1250.0)]
)
def test_the_rows_of_a_known_column_are_read_one_by_one(cell, value, source, tmp_path):
    code = ml.read_table(pd.DataFrame({"a": rng.normal(size=N), "b": pick("x", "y")})).code
    one = SOURCES[source](pd.DataFrame({"a": [cell], "b": ["x"]}), tmp_path)
    np.testing.assert_array_equal(ml.read_table(one, code=code).X, [[value, 0.0]])
    with pytest.raises(FileError, match=r"column 'a'.*'1O' is not a number"):
        ml.read_table(SOURCES[source](one_cell("1O"), tmp_path), code=code)


def one_cell(cell):
    return pd.DataFrame({"a": [cell], "b": ["x"]})


def test_a_file_may_have_another_decimal_mark_than_the_fit(tmp_path):
    code = ml.read_table(pd.DataFrame({"a": rng.normal(size=N), "b": pick("x", "y")})).code
    (tmp_path / "new.csv").write_text("a;b\n1,234;x\nunknown;y\n(1,5);y\n")
    table = ml.read_table(tmp_path / "new.csv", sep=";", decimal=",", code=code)
    np.testing.assert_array_equal(table.X[:, 0], [1.234, np.nan, -1.5])
    frame = pd.DataFrame({"a": ["1,234", "unknown", "(1,5)"], "b": ["x", "y", "y"]})
    np.testing.assert_array_equal(ml.read_table(frame, code=code, decimal=",").X, table.X)


def test_a_parquet_file_of_numbers_is_read_by_a_code_of_words(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"commas": COLUMNS["commas"], "b": pick("x", "y")})
    first = ml.read_table(frame)
    frame["commas"] = first.X[:, 0]
    frame.to_parquet(tmp_path / "t.parquet")
    np.testing.assert_array_equal(ml.read_table(tmp_path / "t.parquet", code=first.code).X, first.X)


def test_codes_of_models_of_before_are_read_as_they_were(tmp_path):
    frame = pd.DataFrame({"commas": COLUMNS["commas"], "zeros": rng.integers(0, 2, N)})
    first = ml.read_table(frame)
    before = [
        dataclasses.replace(column, form="," if column.decimal == "," else "", decimal=None)
        for column in first.code.columns
    ]
    code = dataclasses.replace(first.code, columns=tuple(before))
    assert [(column.form, column.decimal) for column in code.columns] == [("", ","), ("", None)]
    for source in (frame, written(frame, tmp_path)):
        np.testing.assert_array_equal(ml.read_table(source, code=code).X, first.X)


@pytest.mark.parametrize("source", SOURCES)
def test_a_column_that_is_said_to_be_words_keeps_each_of_them(source, tmp_path):
    frame = pd.DataFrame({"children": pick("1", "2", "none"), "w": rng.normal(size=N)})
    table = ml.read_table(SOURCES[source](frame, tmp_path), kinds={"children": "category"})
    assert table.columns == ("children=1", "children=2", "children=none", "w")
    np.testing.assert_array_equal(table.X[:, 2] == 1, frame["children"] == "none")
    one = SOURCES[source](frame[frame["children"] == "none"].iloc[:1], tmp_path)
    assert ml.read_table(one, code=table.code).X[0, :3].tolist() == [0.0, 0.0, 1.0]
