"""``maylink cluster`` on a folder of Parquet files."""

import errno
import importlib.util
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("dask", reason="Dask is not installed: pip install 'maylink[dask]'")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

import maylink as ml  # noqa: E402
from command_line import run  # noqa: E402
from maylink.errors import FileError  # noqa: E402
from maylink.io import read_parquet, write_labels  # noqa: E402
from maylink.io.parquet import column_kinds  # noqa: E402

LINKS = "i,j,kind,source\n{0},{1},may,ann\n{0},{2},may-not,ann\n{3},{4},may,bob\n"
ROWS = (0, 1, 20, 25, 2)  # the last link is wrong
FIT = ("cluster", "data", "--method", "rdpmeans")


def frame():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 0.3, (15, 2)), rng.normal(5, 0.3, (15, 2))])
    table = pd.DataFrame(X, columns=["height", "width"])
    table.insert(0, "who", [f"p{row}" for row in range(30)])
    table["word"] = "x"
    return table


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """A folder of three files, with ids and words, and links by id and by row number."""
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    for number, rows in enumerate(np.array_split(np.arange(30), 3)):
        frame().iloc[rows].to_parquet(f"data/{number}.parquet", index=False)
    Path("links.csv").write_text(LINKS.format(*(f"p{row}" for row in ROWS)))
    Path("rows.csv").write_text(LINKS.format(*ROWS))
    return tmp_path


@pytest.mark.parametrize("method", ["rdpmeans", "tvclust"])
def test_labels_are_those_of_the_same_rows_in_a_file(method, capsys):
    frame().to_csv("data.csv", index=False)
    family = ("--family", "diagonal-gaussian") if method == "tvclust" else ()
    words = ("--method", method, *family, "--links", "links.csv", "--id", "who", "--json")
    assert run("cluster", "data", *words, "--out", "labels", "--suspects", "suspects.csv") == 0
    folder, err = capsys.readouterr()
    assert "data     30 rows × 2 columns in 3 chunks: height, width\n" in err
    assert "left out, as they hold no numbers: word" in err
    assert "links    3 (2 may, 1 may-not; 2 sources: ann, bob), read as table in csv" in err
    assert "time     read " in err
    written = pd.read_parquet("labels").sort_values("row")
    assert sorted(os.listdir("labels")) == [f"part-0000{number}.parquet" for number in range(3)]
    assert list(written.columns) == ["row", "label", "who"]
    assert written["who"].tolist() == [f"p{row}" for row in range(30)]
    assert pd.read_csv("suspects.csv")[["i", "j"]].values.tolist() == [["p25", "p2"]]

    assert run("cluster", "data.csv", *words, "--out", "labels.csv", "--quiet") == 0
    file = json.loads(capsys.readouterr().out)
    assert written["label"].tolist() == pd.read_csv("labels.csv")["cluster"].tolist()
    folder = json.loads(folder)
    assert folder["suspects"] == 1
    for result in (folder, file):
        del result["seconds"], result["peak_memory_mb"]
    first, second = (result.pop("reliability") for result in (folder, file))
    for source, row in first.items():  # of a file, a chain of draws tells more than the factors
        assert row["p_votes"] == pytest.approx(second[source]["p_votes"])
        assert row["p"] == pytest.approx(second[source]["p"], abs=0.05)
    first, second = (result.pop("verdict") for result in (folder, file))
    assert first["level"] == second["level"] == "not tested"
    assert folder == file


def test_rows_by_number_and_the_default_method(capsys):
    assert run("cluster", "data", "--links", "rows.csv", "--out", "labels", "--drop", "who") == 0
    out, err = capsys.readouterr()
    assert "method   rdpmeans (it runs on Dask" in err
    assert "clusters         2\n" in out
    assert "sizes            15, 15\n" in out
    assert "suspect links    1 of 3\n" in out
    written = pd.read_parquet("labels").sort_values("row")
    assert list(written.columns) == ["row", "label"]
    assert written["label"].tolist() == [0] * 15 + [1] * 15


def test_columns_that_spread_differently_get_a_variance_each(capsys):
    table = frame()
    table["width"] *= 100
    table.to_parquet("data/0.parquet", index=False)
    for number in (1, 2):
        Path(f"data/{number}.parquet").unlink()
    assert run("cluster", "data", "--method", "dpmeans", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["family"], result["method"], result["sizes"]) == (
        "diagonal-gaussian", "DPMeans", [15, 15],
    )  # fmt: skip


def test_numbers_as_ids_and_labels_of_some_rows(capsys):
    table = frame()
    table["who"] = np.arange(30) + 100
    for number in range(3):
        part = table.iloc[10 * number : 10 * number + 10]
        part.to_parquet(f"data/{number}.parquet", index=False)
    Path("some.csv").write_text("id,label\n100,a\n101,a\n129,b\n")
    assert run(*FIT, "--links", "some.csv", "--id", "who", "--out", "labels", "--json") == 0
    assert json.loads(capsys.readouterr().out)["links"] == 3
    assert pd.read_parquet("labels")["who"].tolist() == list(range(100, 130))


def test_force_leaves_no_label_of_an_earlier_run(capsys):
    words = ("cluster", "data", "--out", "labels", "--quiet")
    assert run(*words) == 0
    Path("data/2.parquet").unlink()
    assert run(*words) == 4
    assert "labels: holds labels already; say --force" in capsys.readouterr().err
    assert run(*words, "--force") == 0
    assert len(pd.read_parquet("labels")) == 20


def test_labels_that_cannot_all_be_written_are_not_written(monkeypatch):
    labels = ml.DPMeans(cluster_penalty=9.0, random_state=0).fit(
        read_parquet("data", columns=["height", "width"])
    ).labels_  # fmt: skip
    real = pq.write_table

    def write_table(table, file):
        if table["row"][0].as_py() == 20:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(table, file)

    monkeypatch.setattr(pq, "write_table", write_table)
    with pytest.raises(FileError, match=r"labels: cannot be written \(No space left"):
        write_labels(labels, "labels")
    assert not Path("labels").exists()


def test_what_frames_add_is_no_column():
    frame().iloc[[1, 5, 2]].to_parquet("shuffled.parquet")  # its index becomes a column there
    assert "__index_level_0__" in pq.read_schema("shuffled.parquet").names
    assert list(column_kinds("shuffled.parquet")) == ["who", "height", "width", "word"]


@pytest.mark.skipif("MAYLINK_SLOW" not in os.environ, reason="starts processes: MAYLINK_SLOW=1")
@pytest.mark.filterwarnings("ignore")  # of the cluster, when it ends
def test_workers(capsys):
    words = ("--links", "links.csv", "--id", "who", "--out", "labels", "--quiet")
    assert run(*FIT, *words, "--workers", 2, "--worker-memory", "1GiB") == 0
    assert capsys.readouterr().err == ""
    assert pd.read_parquet("labels")["label"].tolist() == [0] * 15 + [1] * 15


# ---------------------------------------------------------------------- what is refused


def without_files():
    for file in Path("data").iterdir():
        file.unlink()


def without_a_column():
    frame().drop(columns="width").to_parquet("data/1.parquet", index=False)


def with_another_column():
    frame().assign(depth=1.0).to_parquet("data/1.parquet", index=False)


def with_words():
    frame().assign(width="wide").to_parquet("data/1.parquet", index=False)


def with_an_empty_cell():
    table = frame()
    table.loc[3, "width"] = None
    table.to_parquet("data/1.parquet", index=False)


def that_is_damaged():
    Path("data/1.parquet").write_bytes(b"PAR1 and no more")


def of_one_row():
    without_files()
    frame()[:1].to_parquet("data/0.parquet", index=False)


def of_no_rows():
    without_files()
    frame()[:0].to_parquet("data/0.parquet", index=False)


def of_words():
    without_files()
    frame()[["who", "word"]].to_parquet("data/0.parquet", index=False)


def with_an_id_twice():
    frame().to_parquet("data/3.parquet", index=False)


def with_links_beyond():
    Path("links.csv").write_text("i,j,kind\np1,p2,may\np1,p30,may\n")
    Path("rows.csv").write_text("i,j,kind\n1,2,may\n1,30,may\n")


def with_an_output_file():
    Path("labels").write_text("mine")


def with_other_output():
    Path("labels").mkdir()
    frame().to_parquet("labels/mine.parquet")


BY_ID = "--links links.csv --id who"
REFUSED = [
    (without_files, "", 3, "data: is a folder; name a file, or a folder of *.parquet files"),
    (without_a_column, "", 3, "data/1.parquet: has no column 'width', which data/0.parquet has"),
    (with_another_column, "", 3, "data/0.parquet: has no column 'depth', which data/1.parquet"),
    (with_words, "", 3, "data/1.parquet: column 'width' holds"),
    (with_words, "--drop width", 3, "write it in one type"),
    (with_an_empty_cell, "", 3, "data: row 13, column 'width' is NaN; drop the row or fill"),
    (that_is_damaged, "", 3, "data/1.parquet: is not a Parquet file, or is damaged"),
    (of_one_row, "", 3, "data: there is only one row"),
    (of_no_rows, "", 3, "data: holds no rows"),
    (of_words, "", 3, "data: there is no column of numbers"),
    (with_links_beyond, "--links rows.csv", 3, "rows.csv, line 3: j = 30 is out of range"),
    (
        with_links_beyond,
        f"{BY_ID} --read-links bad_lines=error",
        3,
        "links.csv, line 3: id 'p30' is none of the 30 ids",
    ),
    (with_an_id_twice, BY_ID, 3, "line 2: id 'p0' is that of rows 0 and 30; make ids unique"),
    (None, "--links links.csv", 3, "line 2: i = 'p0' is not a row number"),
    (None, "--id nobody", 3, "data: has no column 'nobody'; it has who, height, width, word"),
    (None, "--drop nobody", 3, "data: has no column 'nobody'"),
    (None, "--method plainkmeans --k 2", 2, "--method: plainkmeans needs all rows in memory"),
    (None, "--method rdpmeans --k 2", 2, "--k: rdpmeans finds the number of clusters itself"),
    (None, "--family full-gaussian", 3, "'full-gaussian' takes what it needs from all data"),
    (None, "--report page.html", 2, "--report: needs all rows in memory"),
    (None, "--model model.npz", 2, "--model: needs all rows in memory"),
    (None, "--missing median", 2, "--missing: not for a folder"),
    (None, "--read sep=;", 2, "--read: 'sep=;' is not KEY=VALUE with one of dtype"),
    (None, "--read dtype=int", 2, "--read: dtype is one of float64, float32"),
    (None, "--suspects s.csv", 2, "--suspects: there are no links"),
    (None, "--worker-memory 2GiB", 2, "--worker-memory: say how many there are by --workers"),
    (None, "--workers 2 --worker-memory much", 2, "--worker-memory: 'much' is no size"),
    (with_an_output_file, "", 4, "labels: is a file; name a folder"),
    (with_other_output, "--force", 4, "labels: holds other Parquet files (mine.parquet)"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "words", "code", "message"), REFUSED)
def test_what_is_refused(spoil, words, code, message, capsys):
    if spoil is not None:
        spoil()
    before = contents()
    assert run("cluster", "data", "--out", "labels", "--quiet", *words.split()) == code
    assert contents() == before, "a file was written"
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("maylink: ")
    assert message in err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("--out -", 2, "--out: labels of a folder go into a folder"),
        ("--out data", 2, "--out: data is also DATA"),
        ("--out no/where", 4, "there is no folder"),
    ],
)
def test_places_for_labels(words, code, message, capsys):
    assert run("cluster", "data", "--quiet", *words.split()) == code
    assert message in capsys.readouterr().err


def test_workers_are_for_folders(capsys):
    frame().to_csv("data.csv", index=False)
    assert run("cluster", "data.csv", "--workers", 2) == 2
    assert "--workers: data.csv is no folder of Parquet files" in capsys.readouterr().err


def test_without_dask(monkeypatch, capsys):
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "dask" else real(name)
    )
    assert run(*FIT) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "pip install 'maylink[dask]'" in err


def contents():
    return {str(p): p.read_bytes() if p.is_file() else None for p in Path().rglob("*")}
