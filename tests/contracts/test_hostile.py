"""Malformed input: one sentence on standard error, the right code, and no new file."""

import gzip
import io
import shutil
from pathlib import Path

import numpy as np
import pytest

import maylink as ml
from hostile_commands import CLUSTER, GOOD, LINKS, PLAIN, failure
from maylink import cli

pytestmark = pytest.mark.usefixtures("command_folder")


def numpy_file(write):
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


NPY = numpy_file(lambda file: np.save(file, np.ones((4, 2))))
NPZ = numpy_file(lambda file: np.savez_compressed(file, np.ones((4, 2))))
TWO = numpy_file(lambda file: np.savez(file, a=np.ones((4, 2)), b=np.ones(3)))
CUBE = numpy_file(lambda file: np.save(file, np.ones((4, 2, 2))))
PICKLE = numpy_file(lambda file: np.save(file, np.array([[{}]], object), allow_pickle=True))

DATA = {  # name of the file, what is in it, what the sentence has
    "is not there": ("gone.csv", None, "gone.csv: cannot be read (No such file"),
    "is a folder": ("folder.csv", "", "folder.csv: is a folder; name a file"),
    "is empty": ("d.csv", "", "d.csv: is empty"),
    "is blank": ("d.csv", "\n \n", "d.csv: is empty"),
    "header only": ("d.csv", "a,b\n", "there is a header but no rows"),
    "one row": ("d.csv", "a,b\n1,2\n", "there is only one row"),
    "missing cells": ("d.csv", "a,b\n1,\n2,3\n", "1 cell is missing (first: line 2, column 'b'"),
    "missing cells, choices": (
        "d.csv",
        "a,b\n1,\n2,3\n",
        "say --missing drop-rows (leaves 1 of 2)",
    ),
    "NaN": ("d.csv", "a,b\n1,NaN\n2,3\n", "1 cell is missing"),
    "infinite": ("d.csv", "a,b\n1,2\n2,inf\n", "line 3, column 'b': the cell is infinite"),
    "beyond numbers": ("d.csv", "a,b\n1,2\n2,1e999\n", "line 3, column 'b': the cell is infinite"),
    "huge": ("d.csv", "a,b\n1,2\n2,1e300\n3,4\n", "squares of such values overflow"),
    "word in numbers": ("d.csv", "a,b\n1,2\n2,x\n", "line 3, column 'b': 'x' is not a number"),
    "only words": ("d.csv", "a,b\nx,y\nz,w\n", "no column is left to make clusters of"),
    "ragged, short": ("d.csv", "a,b\n1,2\n3\n", "line 3 has 1 cell, and the header has 2"),
    "ragged, long": ("d.csv", "a,b\n1,2\n3,4,5\n", "line 3 has 3 cells"),
    "latin-1": ("d.csv", "å,b\n1,2\n3,4\n".encode("latin-1"), "say which encoding it is"),
    "latin-1, how": ("d.csv", "å,b\n1,2\n3,4\n".encode("latin-1"), "--read encoding=latin-1"),
    "two columns, one name": ("d.csv", "a,a\n1,2\n3,4\n", "columns 1 and 2 are both called 'a'"),
    "column without name": ("d.csv", ",b\n1,2\n3,4\n", "leave it out with --drop 0"),
    "half a header": ("d.csv", "a,1\n1,2\n3,4\n", "say --read header=true"),
    "a slip among decimal commas": (
        "d.csv",
        "a;b\n" + '"1,5";2\n' * 30 + '"1;5";3\n',
        "'1;5' is not a number",
    ),
    "unknown ending": ("d.xlsx", GOOD, "the ending does not tell what it is"),
    "zero bytes": ("d.csv", b"a,b\n1,\0\n", "zero bytes"),
    "truncated gzip": ("d.csv.gz", gzip.compress(GOOD.encode())[:-9], "the ending does not tell"),
    "broken NPY": ("d.npy", NPY[:-5], "d.npy: is not a NPY file, or is damaged"),
    "no NPY": ("d.npy", b"what", "d.npy: is not a NPY file, or is damaged"),
    "broken NPZ": ("d.npz", NPZ[:-30], "d.npz: is not a NPZ file, or is damaged"),
    "two arrays": ("d.npz", TWO, "holds 2 arrays (a, b)"),
    "a cube": ("d.npy", CUBE, "the array has shape (4, 2, 2)"),
    "a pickle": ("d.npy", PICKLE, "holds Python objects"),
    "broken Parquet": ("d.parquet", b"PAR1what", "d.parquet: "),
    "broken Matrix Market": ("d.mtx", "%%MatrixMarket matrix coordinate\n", "d.mtx: is not"),
    "one line Matrix Market": ("d.mtx", "1 2 3\n", "it does not begin as one"),
}


@pytest.mark.parametrize("case", DATA)
def test_data(case, capsys):
    name, inside, message = DATA[case]
    if case == "is a folder":
        Path(name).mkdir()
    elif inside is not None:
        Path(name).write_bytes(inside if isinstance(inside, bytes) else inside.encode())
    words = " --missing error" if "missing" in message else ""  # they are left out by default
    code, err = failure(PLAIN.replace("data.csv", name) + words, capsys)
    assert code == 3
    assert message in err


LINK_FILES = {
    "is not there": ("gone.csv", None, "gone.csv: cannot be read"),
    "is empty": ("l.csv", "", "l.csv: the file is empty"),
    "unknown id": ("l.csv", "i,j,kind\np0,nobody,may\n", "line 2: id 'nobody' is none of"),
    "itself": ("l.csv", "i,j,kind\np3,p3,may\n", "line 2: the link joins id 'p3' to itself"),
    "negative weight": ("l.csv", "i,j,kind,weight\np0,p1,may,-2\n", "weight = -2"),
    "weight NaN": ("l.csv", "i,j,kind,weight\np0,p1,may,nan\n", "weight = 'nan' is not a number"),
    "unknown kind": ("l.csv", "i,j,kind\np0,p1,perhaps\n", "kind 'perhaps' is not known"),
    "no end": ("l.csv", "i,j,kind\np0,,may\n", "line 2: j is missing"),
    "ragged": ("l.csv", "i,j,kind\np0,p1\n", "line 2: 2 cells"),
    "two codings": ("l.csv", "i,j,kind\np0,p1,0\np0,p2,-1\n", "kind is 0 here and -1 elsewhere"),
    "broken JSON": ("l.json", '{"must": [[0, 1]', "l.json"),
    "broken JSON line": ("l.jsonl", '{"i": "p0", "j": "p1", "kind": "may"}\n{"i"', "l.jsonl"),
    "other JSON": ("l.json", '{"a": 1}', "no known format of links"),
    "matrix of another size": ("l.npy", NPY, "l.npy"),
    "broken NPY": ("l.npy", NPY[:-5], "l.npy: not a readable npy file"),
    "broken NPZ": ("l.npz", NPZ[:-30], "l.npz: not a readable npz file"),
    "broken Parquet": ("l.parquet", b"PAR1what", "l.parquet: "),
    "compressed": (
        "l.csv.gz",
        gzip.compress(LINKS.encode())[:-9],
        "unpack it, or say which format it is",
    ),
    "pairs alone": ("l.txt", "p0 p1\n", "--read-links kind="),
    "the data": ("data.csv", GOOD, "data.csv: no known format of links"),
    "a folder": (".", None, "cannot be read"),
}


@pytest.mark.parametrize("case", LINK_FILES)
def test_links(case, capsys):
    name, inside, message = LINK_FILES[case]
    if inside is not None:
        Path(name).write_bytes(inside if isinstance(inside, bytes) else inside.encode())
    code, err = failure(CLUSTER.replace("links.csv", name), capsys)
    assert code == 3
    assert message in err


BAD_WORDS = {  # the command, its code, what the sentence has
    "id column": (CLUSTER.replace("who", "name"), 3, "there is no column 'name' for id"),
    "drop column": (PLAIN + " --drop c", 3, "there is no column 'c' for drop"),
    "row numbers": (CLUSTER.replace("--id who", ""), 3, "name the column of ids with --id"),
    "swapped": (
        "cluster links.csv --links data.csv -q --method dpmeans", 3, "no column is left",
    ),
    "unknown family": (PLAIN + " --family normal", 2, "'normal' is not one of"),
    "unknown method": ("cluster data.csv --method kmeans", 2, "'kmeans' is not one of"),
    "unknown missing": (PLAIN + " --missing ignore", 2, "'ignore' is not one of"),
    "unknown option": (PLAIN + " --fast", 2, "No such option"),
    "no data": ("cluster", 2, "Missing argument 'DATA'; see maylink cluster --help"),
    "no links": ("diagnose data.csv", 2, "Missing option '--links'"),
    "unknown command": ("clutser data.csv", 2, "No such command 'clutser'"),
    "no command of its own": ("report data.csv", 2, "maylink cluster DATA --report FILE.html"),
    "seed": (PLAIN + " --seed x", 2, "--seed"),
    "stdin twice": ("cluster - --links -", 2, "only one of them can be standard input"),
    "output is input": (PLAIN.replace("out.csv", "./data.csv") + " --force", 2, "is also DATA"),
    "one file twice": (PLAIN + " --model out.csv", 2, "is also --out"),
    "JSON and labels": ("cluster data.csv --json --out -", 2, "both would go to standard output"),
    "suspects of nothing": (PLAIN + " --suspects s.csv", 2, "--suspects: there are no links"),
    "k not needed": (PLAIN + " --k 3", 2, "rdpmeans finds the number of clusters itself"),
    "k needed": (
        PLAIN.replace("rdpmeans", "plainkmeans") + " --drop who", 2, "must be told the number",
    ),
    "k needed to diagnose": (
        "diagnose data.csv --id who --links links.csv --method plainkmeans -q",
        2, "plainkmeans must be told",
    ),
    "read": (PLAIN + " --read color=red", 2, "'color=red' is not KEY=VALUE"),
    "read header": (PLAIN + " --read header=maybe", 2, "header is true or false"),
    "encoding": (PLAIN + " --read encoding=klingon", 3, "'klingon' is not known"),
    "format of stdin": ("cluster - --read format=npy -q", 3, "only text can be read from there"),
    "too many clusters": (
        "cluster data.csv --method plainkmeans --k 99 -q --drop who", 3,
        "maylink: --k: 99 is more than the 12 rows",
    ),
    "unknown methods": ("compare data.csv --links links.csv --methods x", 2, "'x' is not one of"),
    "label column": (
        "compare data.csv --links links.csv --id who --labels x -q", 3, "no column 'x' for",
    ),
    "unknown data set": ("datasets isis --out x.csv", 2, "'isis' is not one of"),
    "data set to nowhere": ("datasets iris", 2, "--out: say where"),
    "data set as": ("datasets iris --out iris.json", 2, "ends in .csv"),
    "data set and links as": (
        "datasets iris --out i.csv --links l.foo", 4, "csv, tsv, txt, json, jsonl, parquet",
    ),
    "data set to a stream": ("datasets iris --out -", 2, "--out: cannot go to standard output"),
    "links to a stream": (
        "datasets iris --out i.csv --links -", 2, "--links: cannot go to standard output",
    ),
    "report to a stream": (PLAIN + " --report -", 2, "--report: cannot go to standard output"),
    "model to a stream": (PLAIN + " --model -", 2, "--model: cannot go to standard output"),
    "convert to a stream": (
        "links convert links.csv - --to csv", 2, "OUT: cannot go to standard output",
    ),
    "no method": (
        "compare data.csv --links links.csv --methods ,", 2, "--methods: name one or more of",
    ),
    "accuracy": ("datasets iris --out x.csv --accuracy 2", 2, "--accuracy"),
    "convert nothing": ("links convert gone.csv x.json", 3, "gone.csv: cannot be read"),
    "convert to unknown": ("links convert links.csv x.docx", 4, "mtx, or say --to\n"),
    "convert to labels": (
        "links convert gone.csv x.csv --to labels", 4, "--to: labels can be read, but not written",
    ),
    "read of nothing": ("links show links.csv --read sep=;", 2, "--read: of which file?"),
    "format of data": (
        "links show links.csv --data links.foo --id who", 3, "say --read format=csv",
    ),
    "convert to places": ("links convert links.csv x.npz", 2, "give --data and --id"),
    "convert from": ("links show links.csv --from pairs", 3, "links.csv: not pairs"),
    "show id of nothing": ("links show links.csv --id who", 2, "name it with --data"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_WORDS)
def test_usage(case, capsys):
    words, expected, message = BAD_WORDS[case]
    code, err = failure(words, capsys)
    assert message in err
    assert code == expected


@pytest.mark.parametrize(
    ("ids", "message"),
    [("p0\np1\np0\n", "the id 'p0' stands twice, in line 2 and line 4"), ("p0\n \np2\n", "no id")],
)
def test_ids(ids, message, capsys):
    Path("data.csv").write_text("who,a\n" + "".join(f"{i},1\n" for i in ids.splitlines()))
    code, err = failure(CLUSTER, capsys)
    assert code == 3
    assert message in err


@pytest.mark.parametrize("name", ["cluster", "probability"])
def test_ids_with_the_name_of_an_output_column(name, model, capsys, monkeypatch):
    monkeypatch.setattr("maylink.analysis.methods.fit", lambda *_: pytest.fail("the fit was made"))
    Path("data.csv").write_text(GOOD.replace("who", name))
    for words in (CLUSTER.replace("who", name), f"predict m.npz data.csv --id {name} -q"):
        code, err = failure(words, capsys)
        assert code == 3
        assert f"the column of ids is called '{name}', and so is one that --out writes" in err


@pytest.mark.parametrize(
    ("family", "cells"),
    [("multinomial", (1, -2)), ("poisson", (3, -1)), ("bernoulli", (0, 2)), ("gamma", (1, -1))],
)
@pytest.mark.parametrize("method", ["rdpmeans", "tvclust"])
def test_data_outside_the_family(family, cells, method, capsys):
    Path("data.csv").write_text("a,b\n1,1\n" + f"{cells[0]},{cells[1]}\n" + "1,0\n" * 4)
    words = PLAIN.replace("rdpmeans", method) + f" --family {family}"
    code, err = failure(words, capsys)
    assert code == 3
    assert "X[1, 1]" in err


# ---------------------------------------------------------------------- saved models


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A folder of saved models, good and bad."""
    folder = tmp_path_factory.mktemp("models")
    X = np.array([[0.0, 0], [1, 0], [9, 9], [9, 8]])
    fitted = ml.RDPMeans(cluster_penalty=9.0, random_state=0).fit(X)
    ml.save(fitted, folder / "m.npz")
    fitted.feature_names_in_ = np.array(["height", "b"], object)
    ml.save(fitted, folder / "named.npz")
    alone = ml.baselines.LinkOnly(random_state=0).fit(X, links=([(0, 1)], [(0, 2)]))
    ml.save(alone, folder / "linkonly.npz")
    (folder / "cut.npz").write_bytes((folder / "m.npz").read_bytes()[:-40])
    (folder / "array.npz").write_bytes(NPZ)
    return folder


@pytest.fixture
def model(saved):
    """The saved models in the current folder."""
    for path in saved.iterdir():
        shutil.copy(path, path.name)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("predict data.csv data.csv", "data.csv: is not a saved model"),
        ("predict array.npz data.csv", "array.npz: is not a saved model"),
        ("predict cut.npz data.csv", "cut.npz: is not a saved model"),
        ("predict gone.npz data.csv", "gone.npz: cannot be read"),
        ("predict m.npz three.csv", "the model was fitted to 2, and the data have 3"),
        ("predict named.npz three.csv", "the model asks for 'height', and the data have 'a', 'b'"),
        ("predict m.npz holes.csv", "1 cell is missing"),
        ("predict linkonly.npz three.csv", "a LinkOnly has no clusters to put new rows into"),
        ("predict m.npz m.npz", "is a saved model, not data"),
    ],
)
def test_models(words, message, model, capsys):
    Path("three.csv").write_text("a,b,c\n1,2,3\n4,5,6\n")
    Path("holes.csv").write_text("x0,x1\n1,\n4,5\n")
    code, err = failure(words + " --out out.csv -q", capsys)
    assert code == 3
    assert message in err


# ---------------------------------------------------------------------- what simply works


@pytest.mark.parametrize(
    ("data", "links", "more"),
    [
        (b"\xef\xbb\xbf" + GOOD.encode(), b"\xef\xbb\xbf" + LINKS.encode(), ""),
        (GOOD.encode("utf-16"), LINKS.encode("utf-16"), ""),
        (
            GOOD.replace("p1,", "på,").encode("latin-1"),
            LINKS.replace("p1,", "på,").encode("latin-1"),
            "--read encoding=latin-1 --read-links encoding=latin-1",
        ),
        (GOOD.replace("\n", "\r\n").encode(), LINKS.replace("\n", "\r\n").encode(), ""),
        (GOOD.replace(",", ";").encode(), LINKS.replace(",", "\t").encode(), ""),
        (GOOD.encode(), b"i,j,kind\n", ""),
        (GOOD.encode(), (LINKS + "p0,p1,may-not\n").encode(), ""),
        (GOOD.encode(), (LINKS + "\n# p9,p8,may\n\n").encode(), ""),
    ],
    ids=["BOM", "UTF-16", "latin-1", "CRLF", "separators", "no links", "contradiction", "blank"],
)
def test_odd_files_that_work(data, links, more, capsys):
    Path("data.csv").write_bytes(data)
    Path("links.csv").write_bytes(links)
    assert cli.main([*CLUSTER.split(), *more.split()]) == 0
    assert capsys.readouterr().err == ""
    assert len(Path("out.csv").read_text(encoding="utf-8").splitlines()) == 13
