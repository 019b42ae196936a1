import numpy as np
import pandas as pd
import pytest

from maylink import read_data
from maylink.label.cells import format_number, read_cells


def columns(cells):
    return {name: column.tolist() for name, column in cells.columns.items()}


def test_cells_are_as_they_stand_whatever_is_clustered(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('who,a,words,zip\np0,1.50,"<b>, x",007\np1,,NA,010\np2,12345678,z,100\n')
    table = read_data(path, id="who", drop=["a", "zip"], words=True, keep_text=True)
    cells = read_cells(path, table, {})
    assert columns(cells) == {
        "a": ["1.50", "", "12,345,678"],
        "words": ["<b>, x", "", "z"],
        "zip": ["007", "010", "100"],
    }
    assert list(columns(read_cells(path, table, {"drop": ["zip"]}))) == ["a", "words"]


def test_rows_that_were_dropped_have_no_cells(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a;b\n1,5;x\n;y\n2,5;z\n")
    table = read_data(path, missing="drop-rows", text="drop", decimal=",")
    assert columns(read_cells(path, table, {"decimal": ","})) == {
        "a": ["1.5", "2.5"],
        "b": ["x", "z"],
    }


def test_parquet_and_arrays(tmp_path):
    frame = pd.DataFrame({"a": [1.25, 2.0, 3.0], "b": ["x", None, "z"]})
    frame.to_parquet(tmp_path / "a.parquet")
    table = read_data(tmp_path / "a.parquet", text="drop")
    assert columns(read_cells(tmp_path / "a.parquet", table, {})) == {
        "a": ["1.25", "2", "3"],
        "b": ["x", "", "z"],
    }
    np.save(tmp_path / "a.npy", np.array([[1.0, 2.5], [3.0, 4.0]]))
    table = read_data(tmp_path / "a.npy")
    assert columns(read_cells(tmp_path / "a.npy", table, {})) == {
        "x0": ["1", "3"],
        "x1": ["2.5", "4"],
    }


def test_kinds_come_from_cells_and_names(tmp_path):
    path = tmp_path / "a.csv"
    rows = [
        f"{row},{10**8 + row * 7919},{row % 3},word {row},{row * 0.37:.4f}" for row in range(40)
    ]
    path.write_text("\n".join(["n,phone,truth,words,size", *rows]))
    kinds = read_cells(path, read_data(path, text="drop"), {}).kinds
    assert kinds == {
        "n": "identifier",
        "phone": "identifier",
        "truth": "label",
        "words": "text",
        "size": "number",
    }


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("3.0", "3"),
        ("-2", "−2"),
        ("2018", "2018"),
        ("10000", "10,000"),
        ("1234567.891", "1,234,568"),
        ("9999.5", "9999.5"),
        ("12345.5", "12,345.5"),
        ("0.123456789", "0.123457"),
        ("1e-9", "1e−9"),
        ("", ""),
        ("nan", "nan"),
        ("inf", "inf"),
        ("0012", "0012"),
        ("0", "0"),
        ("0.5", "0.5"),
        ("12 kg", "12 kg"),
        ("1e20", "1e+20"),
    ],
)
def test_numbers_as_people_read_them(cell, shown):
    assert format_number(cell) == shown
