"""The targets that read files: links, data, saved models, and commands."""

import base64
import gzip
import io
import json
import warnings
import zipfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import maylink as ml
from hostile_commands import GOOD
from maylink import cli
from maylink.cli.errors import EXIT_CODES, INTERNAL, SUCCESS
from maylink.errors import MaylinkError

LINKS = {
    ".csv": b"i,j,kind,weight,source\n0,1,may,1,ann\n0,5,may-not,2,bob\n3,4,may,0.5,ann\n",
    ".tsv": b"i\tj\tkind\n0\t1\t1\n2\t3\t-1\n",
    ".txt": b"# links\n0 1 1\n2 3 -1\n4 5 1\n",
    ".json": b'{"may": [[0, 1], [2, 3]], "may_not": [[0, 4]]}',
    ".jsonl": b'{"i": 0, "j": 1, "kind": "may"}\n{"i": 2, "j": 3, "kind": "may-not"}\n',
    "labels.csv": b"id,label\n0,a\n1,a\n2,b\n3,\n",
    "answers.jsonl": b'{"i": 0, "j": 1, "answer": "yes"}\n{"i": 2, "j": 3, "answer": "no"}\n',
    "tallies.csv": b"i,j,votes_yes,votes_no\n0,1,3,1\n2,3,0,2\n",
    "splink.csv": b"unique_id_l,unique_id_r,match_probability\n0,1,0.9\n2,3,0.1\n",
    ".mtx": b"%%MatrixMarket matrix coordinate real symmetric\n6 6 2\n2 1 1\n4 3 -1\n",
}
TABLES = {
    ".csv": GOOD.encode(),
    ".tsv": b"a\tb\n1\t2\n3\t4.5\n5\t6\n",
    "semicolons.csv": b'a;b\n"1,5";2\n"2,5";3\n0;1\n',
    ".mtx": b"%%MatrixMarket matrix coordinate real general\n4 2 3\n1 1 1.5\n2 2 3\n4 1 2\n",
}
TOKENS = (
    b"", b"nan", b"NaN", b"inf", b"-inf", b"-1", b"1e999", b"1e308", b"-0", b"0x1", b"1_000",
    b"99999999999999999999", b'"', b"'", b"\x00", b"\xff", b"\xef\xbb\xbf", "\u2212\u0661".encode(),
    b"may", b"may not", b"null", b"true", b"[", b"{}", b",", b"\t", b"\r", b"\n", b"\r\n\r\n", b"#",
    b"=1+1", b" ", b"e", b"i", b"kind", b"0.5", b"1.0", b"\xf0\x9f\x98\x80",
)  # fmt: skip
ENDINGS = ("", ".csv", ".tsv", ".txt", ".json", ".jsonl", ".npy", ".npz", ".mtx", ".parquet", ".gz")


# ---------------------------------------------------------------------- what is done to bytes


def _edits():
    places = st.floats(0, 1, exclude_max=True)
    return st.lists(
        st.one_of(
            st.tuples(st.just("put"), places, st.sampled_from(TOKENS).map(_text)),
            st.tuples(st.just("bytes"), places, st.binary(max_size=6).map(_text)),
            st.tuples(st.just("cut"), places, st.integers(1, 40)),
            st.tuples(st.just("flip"), places, st.integers(0, 7)),
            st.tuples(st.just("end"), places, st.just(0)),
            st.tuples(st.just("again"), places, st.integers(1, 40)),
            st.tuples(st.just("cell"), places, st.sampled_from(TOKENS).map(_text)),
        ).map(list),
        max_size=4,
    )


def edited(content, edits):
    """Return bytes after some edits: each says what, where (0 to 1), and with what."""
    for what, place, with_what in edits:
        at = int(place * len(content))
        if what in ("put", "bytes"):
            content = content[:at] + _bytes(with_what) + content[at:]
        elif what == "cell":  # in place of the word that stands there
            low = high = at
            while low > 0 and content[low - 1 : low] not in (b",", b"\n", b"\t", b" ", b":"):
                low -= 1
            while high < len(content) and content[high : high + 1] not in (
                b",",
                b"\n",
                b"\t",
                b" ",
            ):
                high += 1
            content = content[:low] + _bytes(with_what) + content[high:]
        elif what == "cut":
            content = content[:at] + content[at + with_what :]
        elif what == "flip" and content:
            content = content[:at] + bytes([content[at] ^ (1 << with_what)]) + content[at + 1 :]
        elif what == "end":
            content = content[:at]
        elif what == "again":
            content = content[:at] + content[at : at + with_what] * 2 + content[at + with_what :]
    return content


def _text(content):
    return base64.b64encode(content).decode()


def _bytes(text):
    return base64.b64decode(text)


def _arrays():
    """Binary files of links or data that are right."""
    files = {}
    matrix = np.zeros((6, 6))
    matrix[0, 1] = matrix[1, 0] = 1
    matrix[2, 3] = matrix[3, 2] = -1
    for ending, write in ((".npy", np.save), (".npz", np.savez_compressed)):
        stream = io.BytesIO()
        write(stream, matrix)
        files[ending] = stream.getvalue()
    stream = io.BytesIO()
    pd.DataFrame({"i": [0, 2], "j": [1, 3], "kind": ["may", "may-not"]}).to_parquet(stream)
    files[".parquet"] = stream.getvalue()
    return files


@cache
def seeds(kind):
    """The files that edits begin with, by their ending."""
    return {**(LINKS if kind == "links" else TABLES), **_arrays()}


# ---------------------------------------------------------------------- links and data


def file_cases(kind):
    """Descriptions of a file of links or data."""
    return st.fixed_dictionaries(
        {
            "seed": st.sampled_from(sorted(seeds(kind))),
            "edits": _edits(),
            "ending": st.sampled_from((None, None, None, *ENDINGS)),
            "zipped": st.sampled_from((False, False, False, True)),
            "options": st.fixed_dictionaries({}, optional=OPTIONS[kind]),
        }
    )


OPTIONS = {
    "links": {
        "n": st.sampled_from((0, 1, 6, 10**6)),
        "ids": st.just(["0", "1", "2", "3", "4", "5"]),
        "kind": st.sampled_from(("may", "no", 1, 7)),
        "format": st.sampled_from(("csv", "table", "matrix", "labels", "text", "pairs", "dedupe")),
        "coding": st.sampled_from(("signed", "paper")),
        "encoding": st.sampled_from(("utf-8", "latin-1", "utf-16", "nonsense")),
    },
    "data": {
        "id": st.sampled_from(("who", 0, 99, "")),
        "missing": st.sampled_from(("error", "drop-rows", "drop-columns", "median")),
        "text": st.sampled_from(("error", "drop")),
        "format": st.sampled_from(("csv", "npy", "mtx", "parquet")),
        "header": st.booleans(),
        "sep": st.sampled_from((",", ";", "", "ab")),
        "decimal": st.sampled_from((".", ",")),
        "encoding": st.sampled_from(("utf-8", "latin-1", "utf-16", "nonsense")),
        "dtype": st.sampled_from(("float32", "float64")),
        "keep_text": st.booleans(),
        "fewest": st.sampled_from((1, 2)),
    },
}


def _file_of(case, kind, folder):
    content = edited(seeds(kind)[case["seed"]], case["edits"])
    if case["zipped"]:
        content = gzip.compress(content)
    ending = "." + case["seed"].rpartition(".")[2] if case["ending"] is None else case["ending"]
    path = folder / f"file{ending}"
    path.write_bytes(content)
    return path


def check_links(case, folder):
    """Read links: pairs of different rows, and weights that are finite."""
    path = _file_of(case, "links", folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        links = ml.read_links(path, **case["options"])
    assert (links.i >= 0).all()
    assert (links.i < links.n).all()
    assert (links.j >= 0).all()
    assert (links.j < links.n).all()
    assert (links.i != links.j).all()
    assert np.isin(links.kind, (1, -1)).all()
    assert (np.isfinite(links.weight) & (links.weight > 0)).all()


def check_data(case, folder):
    """Read data: finite numbers with a name for each column."""
    path = _file_of(case, "data", folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = ml.read_data(path, **case["options"])
    values = table.X.data if hasattr(table.X, "tocsr") else table.X
    assert np.isfinite(values).all()
    assert len(table.columns) == table.X.shape[1]
    assert table.ids is None or len(set(table.ids)) == table.X.shape[0]


# ---------------------------------------------------------------------- saved models


@cache
def saved():
    """Bytes of saved models, and the data that they predict."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2)) + 6.0 * (np.arange(20) % 2)[:, None]
    links = ml.Links.from_pairs(may=[(0, 2), (1, 3)], may_not=[(0, 1)], n=20)
    models = {
        "TVClust": ml.TVClust("gaussian", random_state=0).fit(X, links=links),
        "RDPMeans": ml.RDPMeans("gaussian", random_state=0).fit(X, links=links),
        "Gibbs": ml.TVClust(
            "gaussian", inference=ml.Gibbs(n_chains=1, n_warmup=1, n_draws=2), random_state=0
        ).fit(X),
    }
    files = {}
    for name, model in models.items():
        stream = Path(f"{name}.npz")
        ml.save(model, stream, force=True)
        files[name] = stream.read_bytes()
        stream.unlink()
    return files, X


def model_cases():
    """Descriptions of a damaged file of a model: bytes, or one part of the archive."""
    return st.fixed_dictionaries(
        {
            "model": st.sampled_from(("TVClust", "RDPMeans", "Gibbs")),
            "part": st.one_of(st.none(), st.floats(0, 1, exclude_max=True)),
            "edits": _edits(),
        }
    )


def check_model(case, folder):
    """Load a damaged file: an error, or a model that predicts."""
    with chdir(folder):
        files, X = saved()
    content, part = files[case["model"]], case["part"]
    content = edited(content, case["edits"]) if part is None else _repacked(content, case)
    path = folder / "model.npz"
    path.write_bytes(content)
    model = ml.load(path)
    if part is None:  # what is in the archive is as it was
        labels = model.predict(X)
        assert labels.min() >= 0
        assert labels.max() < model.n_clusters_


def _repacked(content, case):
    """Return the archive with one of its parts edited, all sums of bytes being right."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(stream, "w") as new:
        names = sorted(old.namelist(), key=lambda name: (name != "maylink.json", name))
        chosen = names[int(case["part"] ** 3 * len(names))]  # mostly the first: the JSON
        for name in names:
            part = old.read(name)
            new.writestr(name, edited(part, case["edits"]) if name == chosen else part)
    return stream.getvalue()


# ---------------------------------------------------------------------- commands


def command_cases():
    """Descriptions of a command on files that may be damaged."""
    return st.fixed_dictionaries(
        {
            "command": st.sampled_from(("cluster", "diagnose", "compare", "links show", "predict")),
            "data": file_cases("data"),
            "links": st.one_of(st.none(), file_cases("links")),
            "words": st.lists(st.sampled_from(WORDS), max_size=3, unique=True),
        }
    )


WORDS = (
    "--id who", "--missing median", "--missing drop-rows", "--method rdpmeans", "--method tvclust",
    "--method copkmeans --k 2", "--family gaussian", "--family poisson", "--seed 3", "--json",
    "--quiet", "--report page.html", "--suspects suspects.csv", "--model model.npz", "--drop 0",
    "--out labels.csv", "--k 0", "--read header=false", "--read sep=;",
)  # fmt: skip


def check_command(case, folder):
    """Run a command: a known code, one sentence on failure, and whole files or none."""
    data = _file_of(case["data"], "data", folder)
    place = folder / "links"
    place.mkdir()
    links = None if case["links"] is None else _file_of(case["links"], "links", place)
    before = set(folder.rglob("*")) | {place / "saved.npz"}
    words = case["command"].split()
    if case["command"] == "predict":
        with chdir(folder):
            place.joinpath("saved.npz").write_bytes(saved()[0]["TVClust"])
        words += [str(place / "saved.npz"), str(data)]
    elif case["command"] == "links show":
        words += [str(data if links is None else links)]
    else:
        words += [str(data), *([] if links is None else ["--links", str(links)])]
    words += [word for words in case["words"] for word in words.split()]
    out, err = io.StringIO(), io.StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        code = cli.main(words)
    said = err.getvalue()
    assert code in EXIT_CODES, words
    assert code != INTERNAL, f"{words}: {said}"
    assert "Traceback" not in said
    new = {path.name for path in folder.rglob("*") if path not in before}
    if code != SUCCESS:
        assert not new, f"{words}: {new} stayed behind"
        raise MaylinkError(said)
    for path in folder.rglob("*"):
        if path.name in ("labels.csv", "suspects.csv") and path.name in new:
            pd.read_csv(path)
        if path.name == "page.html" and path.name in new:
            assert path.read_text("utf-8").rstrip().endswith("</html>")
        if path.name == "model.npz" and path.name in new:
            ml.load(path)
    if "--json" in words and "cluster" in words and "-" not in words:
        json.loads(out.getvalue())
