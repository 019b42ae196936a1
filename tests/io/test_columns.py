import numpy as np
import pandas as pd
import pytest

from maylink.errors import FileError
from maylink.io.columns import column_names


def test_names_of_every_format(tmp_path):
    (tmp_path / "a.csv").write_text("id,b,c\n1,2,3\n")
    (tmp_path / "a.tsv").write_text("id\tb,c\n1\t2\n")
    (tmp_path / "bare.csv").write_text("1,2\n3,4\n")
    pd.DataFrame({"b": [1], "a": ["x"]}).to_parquet(tmp_path / "a.parquet")
    np.save(tmp_path / "a.npy", np.zeros((2, 2)))
    assert column_names(tmp_path / "a.csv") == ("id", "b", "c")
    assert column_names(tmp_path / "a.csv", drop=["b", 0]) == ("c",)
    assert column_names(tmp_path / "a.tsv") == ("id", "b,c")
    assert column_names(tmp_path / "bare.csv") == ("x0", "x1")
    assert column_names(tmp_path / "a.parquet") == ("b", "a")
    assert column_names(tmp_path / "a.npy") is None


def test_a_column_that_is_not_there_cannot_be_dropped(tmp_path):
    (tmp_path / "a.csv").write_text("id,b\n1,2\n")
    with pytest.raises(FileError, match="no column 'z'"):
        column_names(tmp_path / "a.csv", drop=["z"])
