"""Every format is read, and every malformed file ends in one sentence that says where."""

import io
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.io import mmwrite

import maylink as ml
from maylink.errors import FileError
from maylink.io.data import Table, read_data

GOOD = "who,height,children\nAda,1.65,3\nBob,1.8,0\nCyd,1.71,2\n"
X = np.random.default_rng(0).normal(size=(30, 4))


@pytest.fixture
def write(tmp_path):
    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


# ---------------------------------------------------------------------- what is read


def test_a_table_with_ids(write):
    table = read_data(write(GOOD), id="who")
    assert isinstance(table, Table)
    assert table.X.tolist() == [[1.65, 3.0], [1.8, 0.0], [1.71, 2.0]]
    assert table.columns == ("height", "children")
    assert table.ids.tolist() == ["Ada", "Bob", "Cyd"]
    assert table.kinds == {"height": "real", "children": "whole"}
    assert table.rows.tolist() == [0, 1, 2]
    assert table.X.flags.c_contiguous


def test_numbers_are_those_that_were_written(write):
    text = "\n".join(",".join(map(repr, row)) for row in X.tolist())
    np.testing.assert_allclose(read_data(write(text)).X, X, rtol=1e-15)


def test_kinds_of_columns(write):
    text = "real,whole,binary,constant,word\n0.5,3,0,7,a\n1,-2,1,7,b\n2,9,1,7,c\n"
    table = read_data(write(text), text="drop")
    assert table.kinds == {name: name for name in ("real", "whole", "binary", "constant")} | {
        "word": "text"
    }
    assert table.columns == ("real", "whole", "binary", "constant")
    assert repr(table) == "Table(3 rows × 4 columns: 1 binary, 1 constant, 1 real, 1 text, 1 whole)"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a,b\n1,2\n3,4\n", {}),
        ("1,2\n3,4\n", {}),
        ("a;b\n1;2\n3;4\n", {}),
        ("a\tb\n1\t2\n3\t4\n", {}),
        ("a|b\n1|2\n3|4\n", {}),
        ("a;b\n1,0;2,0\n3,0;4,0\n", {"decimal": ","}),
        ("\ufeffa,b\n1,2\n3,4\n", {"drop": ()}),
        ("a,b\r\n1,2\r\n3,4\r\n", {}),
        ("\n\na,b\n\n1,2\n\n3,4\n\n", {}),
        ('"a, b",c\n1, 2\n 3,4', {}),
        ("2019,2020\n1,2\n3,4\n", {"header": True}),
        ("a,b\n1,2,\n3,4,\n", {}),
        ("c,a,b\n9,1,2\n9,3,4\n", {"drop": "c"}),
        (",a,b\n0,1,2\n1,3,4\n", {"drop": [0]}),
        ("a,b\n1,2\n3,4\n".encode("utf-16"), {}),
        ("a,é\n1,2\n3,4\n".encode("latin-1"), {"encoding": "latin-1"}),
    ],
)
def test_ways_to_write_the_same(write, text, options):
    assert read_data(write(text), **options).X.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_headerless_data_get_names(write):
    assert read_data(write("1,2\n3,4\n")).columns == ("x0", "x1")


def test_truth_values_are_binary(write):
    table = read_data(write("a,b\nTrue,0.5\nFalse,2\n"))
    assert table.X[:, 0].tolist() == [1.0, 0.0]
    assert table.kinds["a"] == "binary"


def test_ids_stay_as_they_are_written(write):
    table = read_data(write("id,a\n007,1\nNA,2\n"), id="id")
    assert table.ids.tolist() == ["007", "NA"]


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode())))
    assert read_data("-", id="who").X.shape == (3, 2)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,x\n")))
    with pytest.raises(FileError, match="standard input: column 'b' holds words"):
        read_data("-")


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, bool])
def test_npy_and_npz(tmp_path, dtype):
    array = (X * 3).astype(dtype)
    np.save(tmp_path / "a.npy", np.asfortranarray(array))
    np.savez(tmp_path / "a.npz", array)
    np.savez(tmp_path / "b.npz", X=array, y=np.zeros(3))
    for name in ("a.npy", "a.npz", "b.npz"):
        table = read_data(tmp_path / name)
        assert np.array_equal(table.X, array)
        assert table.X.dtype == (dtype if dtype == np.float32 else np.float64)
        assert table.columns == ("x0", "x1", "x2", "x3")


def test_sparse_files(tmp_path):
    thin = sparse.random_array((20, 6), density=0.3, rng=0, format="csr")
    sparse.save_npz(tmp_path / "a.npz", thin)
    mmwrite(tmp_path / "a.mtx", thin)
    for name in ("a.npz", "a.mtx"):
        table = read_data(tmp_path / name, drop=[1])
        assert sparse.issparse(table.X)
        assert table.X.format == "csr"
        np.testing.assert_allclose(table.X.toarray(), thin.toarray()[:, [0, 2, 3, 4, 5]])
        assert set(table.kinds.values()) == {"real"}
    mmwrite(tmp_path / "dense.mtx", X)
    np.testing.assert_allclose(read_data(tmp_path / "dense.mtx").X, X)


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X, columns=list("abcd")).assign(id=[f"r{i}" for i in range(30)])
    frame.to_parquet(tmp_path / "a.parquet")
    table = read_data(tmp_path / "a.parquet", id="id")
    assert np.array_equal(table.X, X)
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(FileError, match="not a Parquet file"):
        read_data(tmp_path / "b.parquet")


def test_parquet_without_its_package(tmp_path, monkeypatch):
    def fail(path):
        raise ImportError("no engine")

    monkeypatch.setattr(pd, "read_parquet", fail)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(FileError, match=re.escape("pip install 'maylink[parquet]'")):
        read_data(tmp_path / "a.parquet")


def test_decimal_commas_are_not_taken_for_words(tmp_path):
    path = tmp_path / "commas.csv"
    path.write_text('a;b\n"1,5";2\n"2,5";3\n')
    with pytest.raises(FileError, match="decimal=','"):
        read_data(path, text="drop")
    assert read_data(path, decimal=",").X.tolist() == [[1.5, 2.0], [2.5, 3.0]]


def test_half_the_memory_where_asked_for(tmp_path):
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


# ---------------------------------------------------------------------- missing values

HOLES = "a,b,c\n1,,3\n4,5,6\n7,NA,8\n9,1,\n2,3,4\n"


def test_missing_values_are_told_with_the_choices(write):
    with pytest.raises(FileError) as caught:
        read_data(write(HOLES))
    assert str(caught.value).endswith(
        "data.csv: 3 cells are missing (first: line 2, column 'b'; line 4, column 'b'; line 5, "
        "column 'c'; by column: 'b' 2, 'c' 1); say missing='drop-rows' (leaves 2 of 5), "
        "'drop-columns' (leaves 1 of 3) or 'median'"
    )


def test_missing_values_are_dropped_or_filled(write):
    path = write(HOLES)
    rows = read_data(path, missing="drop-rows")
    assert rows.X.tolist() == [[4, 5, 6], [2, 3, 4]]
    assert rows.rows.tolist() == [1, 4]
    columns = read_data(path, missing="drop-columns")
    assert columns.columns == ("a",)
    assert columns.X.shape == (5, 1)
    filled = read_data(path, missing="median").X
    assert filled[[0, 2], 1].tolist() == [3.0, 3.0]
    assert filled[3, 2] == 5.0


def test_ids_and_lines_are_those_of_the_file_when_rows_are_dropped(write):
    text = "id,a\nx,\ny,2\nz,3\n"
    table = read_data(write(text), id="id", missing="drop-rows")
    assert table.ids.tolist() == ["y", "z"]
    assert table.rows.tolist() == [1, 2]
    with pytest.raises(FileError, match="'y' stands twice, in line 3 and line 4"):
        read_data(write(text.replace("z", "y")), id="id", missing="drop-rows")


def test_missing_values_of_arrays(tmp_path):
    holes = X.copy()
    holes[3, 1] = np.nan
    for name, form in (("a.npy", np.asarray), ("a.npz", sparse.csr_array)):
        made = form(holes)
        if name == "a.npy":
            np.save(tmp_path / name, made)
        else:
            sparse.save_npz(tmp_path / name, made)
        with pytest.raises(FileError, match="first: row 3, column 1; by column: 'x1' 1"):
            read_data(tmp_path / name)
        assert read_data(tmp_path / name, missing="drop-rows").X.shape == (29, 4)
        assert read_data(tmp_path / name, missing="drop-columns").X.shape == (30, 3)
        filled = read_data(tmp_path / name, missing="median").X
        assert filled[3, 1] == np.nanmedian(holes[:, 1])


# ---------------------------------------------------------------------- malformed files

BAD = {
    "empty": ("", {}, "is empty"),
    "blank": (" \n\n", {}, "is empty"),
    "header alone": ("a,b\n", {}, "there is a header but no rows"),
    "one row": ("a,b\n1,2\n", {}, "only one row"),
    "one row without header": ("1,2\n", {}, "only one row"),
    "too many cells": ("a,b\n1,2\n3,4,5\n", {}, "line 3 has 3 cells, and the header has 2"),
    "too many at first": ("a,b\n3,4,5\n1,2\n", {}, "line 2 has 3 cells, and the header has 2"),
    "too many always": ("a,b\n3,4,5\n1,2,3\n", {}, "line 2 has 3 cells, and the header has 2"),
    "a comma too many": ("a,b\n3,4,\n1,2,9\n", {}, "line 2 has 3 cells, and the header has 2"),
    "too few cells": ("a,b\n1,2\n3\n5,6\n", {}, "line 3 has 1 cell, and the header has 2"),
    "too few, filled": ("a,b\n1,2\n3\n5,6\n", {"missing": "median"}, "line 3 has 1 cell"),
    "too few without header": ("1,2\n3\n", {}, "line 2 has 1 cell, and the first has 2"),
    "a word among numbers": ("a,b\n1,2\n\n3,oops\n", {}, "line 4, column 'b': 'oops' is not a n"),
    "a word after a quoted line": ('a,b,c\nx,1,"y\nz"\nx,oops,y\n', {"drop": ["a", "c"]},
        "line 4, column 'b': 'oops'"),
    "a column of words": ("a,b\n1,x\n3,y\n", {}, "column 'b' holds words.*line 2: 'x'"),
    "decimal commas": ("a;b\n1,5;2\n3,5;4\n", {}, "say decimal=','"),
    "infinite": ("a,b\n1,2\n3,inf\n", {}, "line 3, column 'b': the cell is infinite"),
    "nothing in a column": ("a,b\n1,\n3,\n", {"missing": "median"}, "column 'b' is empty"),
    "no whole row": ("a,b\n1,\n3,\n", {"missing": "drop-rows"}, "0 of 2 rows"),
    "no whole column": ("a,b\n,1\n3,\n1,1\n", {"missing": "drop-columns"}, "every column"),
    "repeated ids": ("id,a\nx,1\ny,2\nx,3\n", {"id": "id"},
        "the id 'x' stands twice, in line 2 and line 4"),
    "a row without id": ("id,a\nx,1\n,2\n", {"id": "id"}, "line 3 has no id in column 'id'"),
    "no such id": (GOOD, {"id": "name"}, "no column 'name' for id; the columns are 'who', "),
    "no such drop": (GOOD, {"drop": ["x"]}, "no column 'x' for drop"),
    "nothing left": (GOOD, {"id": "who", "drop": [1, 2]}, "no column of numbers"),
    "two of a name": ("a,b,a\n1,2,3\n4,5,6\n", {}, "columns 1 and 3 are both called 'a'"),
    "a column without name": (",a\n0,2\n1,3\n", {}, "column 1 has no name.*drop=.0."),
    "half a header": ("a,2\n1,2\n3,4\n", {}, "numbers .2. and words .'a'.; say header=True"),
    "latin-1": ("a,b\n1,2\n\xe9,4\n".encode("latin-1"), {}, "is not UTF-8 in line 3; .*latin-1"),
    "zero bytes": (b"a,b\n1,\x00\n", {}, "zero bytes .*so it is not text"),
    "missing": (HOLES, {"missing": "guess"}, "missing: 'guess' is not one of"),
    "text": (HOLES, {"text": "keep"}, "text: 'keep' is not one of"),
    "format": (HOLES, {"format": "xls"}, "format: 'xls' is not one of 'csv'"),
    "csv as npy": (GOOD, {"format": "npy"}, "is not a NPY file, or is damaged"),
    "csv as npz": (GOOD, {"format": "npz"}, "is not a NPZ file, or is damaged"),
    "csv as mtx": (GOOD, {"format": "mtx"}, "is not a Matrix Market file, or is damaged"),
    "an open quote": ('a,b\n1,"2\n3,4\n', {}, "cannot be taken apart|has 2 cells|not a number"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_malformed_files_end_in_one_sentence(write, case):
    content, options, expected = BAD[case]
    with pytest.raises(FileError, match=expected) as caught:
        read_data(write(content), **options)
    assert "\n" not in str(caught.value)
    if case not in ("missing", "text", "format"):
        assert "data.csv: " in str(caught.value)


ARRAYS = {
    "objects": (np.array([[1, "a"]], object), "holds Python objects"),
    "text": (np.array([["a", "b"]]), "holds <U1, not real numbers"),
    "complex": (np.ones((2, 2)) * 1j, "holds complex128, not real numbers"),
    "one dimension": (np.ones(3), "has shape .3,.; give rows × columns"),
    "three dimensions": (np.ones((3, 1, 1)), "has shape"),
    "no rows": (np.ones((0, 3)), "there are no rows"),
    "no columns": (np.ones((3, 0)), "no column of numbers"),
    "infinite": (np.array([[1.0], [np.inf]]), "row 1, column 0: the cell is infinite"),
}


@pytest.mark.parametrize("case", ARRAYS)
def test_arrays_that_are_not_data(tmp_path, case):
    array, expected = ARRAYS[case]
    np.save(tmp_path / "a.npy", array)
    np.savez(tmp_path / "a.npz", array)
    for name in ("a.npy", "a.npz"):
        with pytest.raises(FileError, match=expected):
            read_data(tmp_path / name)


def test_archives_that_are_not_data(tmp_path):
    np.savez(tmp_path / "two.npz", a=X, b=X)
    with pytest.raises(FileError, match=r"holds 2 arrays .a, b."):
        read_data(tmp_path / "two.npz")
    ml.save(ml.DPMeans(random_state=0, n_clusters_hint=2).fit(X), tmp_path / "model.npz")
    with pytest.raises(FileError, match="is a saved model, not data"):
        read_data(tmp_path / "model.npz")
    cut = (tmp_path / "two.npz").read_bytes()[:300]
    (tmp_path / "cut.npz").write_bytes(cut)
    with pytest.raises(FileError, match="damaged"):
        read_data(tmp_path / "cut.npz")
    np.save(tmp_path / "a.npy", X)
    with pytest.raises(FileError, match="arrays have no id column"):
        read_data(tmp_path / "a.npy", id="x0")


@pytest.mark.parametrize("rest", ["", "2 2 1\n", "2 2 1\n5 5 1\n", "2 2 1\n1 1 x\n"])
def test_damaged_matrix_market(write, rest):
    text = "%%MatrixMarket matrix coordinate real general\n" + rest
    with pytest.raises(FileError, match="is not a Matrix Market file, or is damaged"):
        read_data(write(text, "a.mtx"))


def test_paths_that_are_not_files(tmp_path):
    with pytest.raises(FileError, match=r"no\.csv: cannot be read .No such file"):
        read_data(tmp_path / "no.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileError, match="is a folder"):
        read_data(tmp_path / "folder.csv")
    (tmp_path / "data.xls").write_text(GOOD)
    with pytest.raises(FileError, match="the ending does not tell"):
        read_data(tmp_path / "data.xls")
    with pytest.raises(FileError, match="only text can be read from there"):
        read_data("-", format="npy")


# ---------------------------------------------------------------------- memory


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux tells it")
def test_memory_is_little_more_than_the_array(tmp_path):
    n, d = 100_000, 16
    path = tmp_path / "large.csv"
    block = np.random.default_rng(0).normal(size=(1000, d))
    text = "\n".join(",".join(map(repr, row)) for row in block.tolist()) + "\n"
    with path.open("w") as file:
        for _ in range(n // 1000):
            file.write(text)
    code = (
        "import sys, resource; from maylink import read_data\n"
        "small, large = sys.argv[1:]\n"
        "read_data(small); peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak(); table = read_data(large)\n"
        "print((peak() - before) * 1024 / table.X.nbytes)"
    )
    (tmp_path / "small.csv").write_text(text)
    command = [sys.executable, "-c", code, str(tmp_path / "small.csv"), str(path)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert float(told) < 3.0
