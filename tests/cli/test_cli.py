"""The command line: what each command reads, prints and writes when all is well."""

import importlib
import io
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import maylink as ml
from maylink import cli
from maylink.cli import outputs, stages
from maylink.cli.failures import CODES, as_options
from maylink.experiments import __main__ as experiments


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with data of two clear clusters, with ids and words, and links by id."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 0.3, (10, 2)), rng.normal(5, 0.3, (10, 2))])
    frame = pd.DataFrame(X.round(4), columns=["height", "width"])
    frame.insert(0, "who", [f"p{row}" for row in range(20)])
    frame["word"] = ["low"] * 10 + ["high"] * 10
    frame.to_csv("data.csv", index=False)
    Path("links.csv").write_text(
        "i,j,kind,source\np0,p1,may,ann\np0,p10,may-not,ann\np2,p3,may,bob\np11,p2,may,bob\n"
    )
    return tmp_path


def run(*words):
    return cli.main([str(word) for word in words])


FIT = ("cluster", "data.csv", "--id", "who", "--method", "rdpmeans")


def test_cluster_prints_the_result_and_tells_on_standard_error_what_was_read(files, capsys):
    assert run(*FIT, "--links", "links.csv") == 0
    out, err = capsys.readouterr()
    assert "clusters         2\n" in out
    assert "sizes            10, 10\n" in out
    assert "suspect links    1 of 4\n" in out
    assert "chosen by        evidence" in out
    assert [line.split()[0] for line in out.splitlines()[-2:]] == ["ann", "bob"]
    assert "data     20 rows × 2 columns (2 real): height, width" in err
    assert "left out, as they hold words: word" in err
    assert "links    4 (3 may, 1 may-not; 2 sources: ann, bob), read as table in csv" in err
    assert "method   rdpmeans (method given)" in err
    assert "time     read " in err
    assert "peak memory" in err


def test_cluster_writes_labels_suspects_and_a_model_that_predicts(files, capsys):
    code = run(
        *FIT, "--links", "links.csv", "--out", "labels.csv", "--suspects", "suspects.csv",
        "--model", "model.npz", "--quiet",
    )  # fmt: skip
    assert code == 0
    assert capsys.readouterr().err == ""
    labels = pd.read_csv("labels.csv")
    assert list(labels.columns) == ["who", "cluster"]
    assert labels["cluster"].tolist() == [0] * 10 + [1] * 10
    suspects = pd.read_csv("suspects.csv")
    assert suspects[["i", "j", "kind", "source"]].values.tolist() == [["p11", "p2", "may", "bob"]]
    assert suspects[["word_i", "word_j"]].values.tolist() == [["high", "low"]]
    assert ml.load("model.npz").feature_names_in_.tolist() == ["height", "width"]

    frame = pd.read_csv("data.csv")[["word", "width", "who", "height"]]  # another order
    frame.to_csv("new.csv", index=False)
    assert run("predict", "model.npz", "new.csv", "--id", "who", "--out", "new_labels.csv") == 0
    assert "2 columns found by name" in capsys.readouterr().err
    assert pd.read_csv("new_labels.csv").equals(labels)


def test_an_id_column_told_by_its_place_keeps_its_name(files, capsys):
    words = ("cluster", "data.csv", "--id", "0", "--method", "dpmeans", "--model", "m.npz", "-q")
    assert run(*words, "--out", "-") == 0
    assert capsys.readouterr().out.startswith("who,cluster\np0,0\n")
    assert run("predict", "m.npz", "data.csv", "--id", "0", "-q") == 0
    assert capsys.readouterr().out.startswith("who,cluster\np0,0\n")


def test_tvclust_tells_probabilities_of_labels(files, capsys, monkeypatch):
    monkeypatch.setattr("maylink.tuning.tvclust.candidates", lambda *_, **__: [("gaussian",) * 2])
    assert run("cluster", "data.csv", "--drop", "who", "--links", "-", "--out", "-") == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == "row,cluster,probability"
    assert len(out.splitlines()) == 21
    assert "tvclust (it tells how reliable" in err


@pytest.fixture(autouse=True)
def standard_input(monkeypatch):
    """Links on standard input, for those who read it."""
    stream = io.TextIOWrapper(io.BytesIO(b"i,j,kind\n0,1,may\n0,10,may-not\n"))
    monkeypatch.setattr("sys.stdin", stream)


def test_data_come_through_standard_input_and_json_goes_out(files, capsys, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(Path("data.csv").read_bytes()))
    monkeypatch.setattr("sys.stdin", stream)
    assert run("cluster", "-", "--method", "dpmeans", "--drop", "who", "--json", "--quiet") == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert err == ""
    assert (told["rows"], told["columns"]) == (20, ["height", "width"])
    assert (told["clusters"], told["sizes"], told["method"]) == (2, [10, 10], "DPMeans")
    assert set(told["seconds"]) == {"read", "fit", "write"}


def test_rows_with_missing_cells_go_with_their_links(files, capsys):
    text = Path("data.csv").read_text().splitlines()
    cells = text[1].split(",")
    text[1] = ",".join([cells[0], "", *cells[2:]])
    Path("data.csv").write_text("\n".join(text))
    code = run(*FIT, "--links", "links.csv", "--missing", "drop-rows", "--json")
    out, err = capsys.readouterr()
    assert code == 0
    assert "left out, for missing cells: 1 rows" in err
    assert "left out, of rows that were left out: 2" in err
    assert json.loads(out)["links"] == 2


def test_large_data_get_the_fast_method_and_the_reason_is_told(files, capsys, monkeypatch):
    monkeypatch.setattr("maylink.analysis.methods.MANY_NUMBERS", 39)
    assert run("cluster", "data.csv", "--drop", "who") == 0
    assert "rdpmeans (20 rows × 2 columns: TVClust would take minutes" in capsys.readouterr().err


def test_large_files_are_kept_in_single_precision_unless_told(files, capsys, monkeypatch):
    monkeypatch.setattr("maylink.cli.inputs.LARGE", 10)
    words = ("cluster", "data.csv", "--drop", "who", "--method", "dpmeans")
    assert run(*words) == 0
    assert "large: kept to seven digits" in capsys.readouterr().err
    assert run(*words, "--read", "dtype=float64") == 0
    assert "seven digits" not in capsys.readouterr().err
    assert run(*words, "--json", "-q") == 0
    assert json.loads(capsys.readouterr().out)["dtype"] == "float32"


def test_report_is_asked_for_with_all_that_it_needs(files, monkeypatch, capsys):
    seen = {}

    def write_report(path, model, X, **rest):
        seen.update(rest, path=path, shape=X.shape)

    monkeypatch.setattr("maylink.report.write_report", write_report)
    assert run(*FIT, "--links", "links.csv", "--report", "r.html", "--force") == 0
    assert (seen["path"], seen["shape"], seen["force"]) == ("r.html", (20, 2), True)
    assert seen["columns"] == ("height", "width")
    assert seen["ids"][3] == "p3"
    assert seen["text"]["word"][19] == "high"
    assert seen["without_links"].shape == (20,)
    assert seen["title"] == "Clusters of data.csv"
    assert "compare without links" in capsys.readouterr().err
    assert run(*FIT, "--links", "links.csv", "--report", "r.html", "--no-contrast") == 0
    assert seen["without_links"] is None


def test_report_of_the_library_is_written(files):
    assert run(*FIT, "--links", "links.csv", "--report", "r.html") == 0
    assert Path("r.html").read_text().lower().startswith("<!doctype html>")


def test_diagnose_prints_and_tells_the_same_as_json(files, capsys):
    words = ("diagnose", "data.csv", "--links", "links.csv", "--id", "who", "--method", "rdpmeans")
    assert run(*words) == 0
    out = capsys.readouterr().out
    assert "points with links    6 of 20, 0.4 links a point" in out
    assert "p11  p2  may   bob" in out
    assert "- 4 linked pairs are fewer than 40" in out
    assert "judge 36 more pairs" in out
    assert run(*words, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["n_links"] == 4
    assert told["held_out"] is None
    assert told["suspects"][0]["i"] == "p11"
    assert [row["source"] for row in told["sources"]] == ["ann", "bob"]


def test_compare_takes_k_from_tvclust_or_the_user(files, capsys, monkeypatch):
    monkeypatch.setattr("maylink.tuning.tvclust.candidates", lambda *_, **__: [("gaussian",) * 2])
    words = ("compare", "data.csv", "--links", "links.csv", "--id", "who", "--labels", "word")
    assert run(*words, "--methods", "plainkmeans,copkmeans,rdpmeans", "--json") == 0
    out, err = capsys.readouterr()
    rows = {row["method"]: row for row in json.loads(out)}
    assert rows["plainkmeans"]["told_k"] == "TVClust"
    assert rows["rdpmeans"]["told_k"] == ""
    assert rows["plainkmeans"]["ari"] == 1.0
    assert rows["plainkmeans"]["kept"] == 0.75
    assert "fit      copkmeans" in err
    assert run(*words, "--methods", "plainkmeans", "--k", "3") == 0
    row = capsys.readouterr().out.splitlines()[1].split()
    assert row[:3] == ["plainkmeans", "3", "you"]


def test_numbers_can_be_labels_too(files, capsys, monkeypatch):
    monkeypatch.setattr("maylink.tuning.tvclust.candidates", lambda *_, **__: [("gaussian",) * 2])
    frame = pd.read_csv("data.csv").assign(truth=[0] * 10 + [1] * 10)
    frame.to_csv("data.csv", index=False)
    words = ("compare", "data.csv", "--links", "links.csv", "--id", "who", "--labels", "truth")
    assert run(*words, "--methods", "plainkmeans", "--json") == 0
    assert json.loads(capsys.readouterr().out)[0]["f"] == 1.0


@pytest.mark.parametrize("missing", ["error", "median", "drop-columns", "drop-rows"])
def test_rows_without_a_label_are_clustered_but_not_scored(missing, files, capsys, monkeypatch):
    monkeypatch.setattr("maylink.tuning.tvclust.candidates", lambda *_, **__: [("gaussian",) * 2])
    truth = ["0", "0", "", *["0"] * 7, *["2"] * 10]
    pd.read_csv("data.csv").assign(truth=truth).to_csv("data.csv", index=False)
    words = ("compare", "data.csv", "--links", "links.csv", "--id", "who", "--labels", "truth")
    assert run(*words, "--methods", "plainkmeans", "--json", "--missing", missing) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)[0]["f"] == 1.0
    assert "data     20 rows × 2 columns" in err
    assert "labels   left out of the scores, for want of one: 1 rows" in err


def test_datasets_are_listed_and_written_with_links(files, capsys):
    assert run("datasets") == 0
    out = capsys.readouterr().out
    assert all(name in out for name in (*ml.datasets.DATASETS, *ml.datasets.PATTERNS))
    assert run("datasets", "moons", "--out", "moons.csv", "--links", "moons_links.csv") == 0
    table = ml.read_data("moons.csv", id="id", keep_text=True)
    assert list(table.text) == ["label"]
    assert table.X.shape == (300, 2)
    links = ml.read_links("moons_links.csv", ids=table.ids)
    assert links.n_links == 4 * 300
    right = (table.text["label"][links.i] == table.text["label"][links.j]) == (links.kind == 1)
    assert 0.87 < right.mean() < 0.93
    assert run("datasets", "iris", "--out", "iris.csv") == 0
    assert ml.read_data("iris.csv", id="id", text="drop").X.shape == (150, 4)


def test_links_are_shown_without_their_data(files, capsys):
    assert run("links", "show", "links.csv") == 0
    out = capsys.readouterr().out
    assert "read as         table in csv" in out
    assert "rows named by   ids" in out
    assert "ann         2    1        1" in out
    assert run("links", "show", "links.csv", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["sources"] == {"ann": {"links": 2, "may": 1}, "bob": {"links": 2, "may": 2}}


def test_the_format_of_links_may_be_said_twice(files, capsys):
    words = ("--from", "table", "--read-links", "format=pairs")
    assert run("links", "show", "links.csv", *words) == 0
    assert "read as         table in csv" in capsys.readouterr().out


def test_numbers_too_large_for_rows_are_ids(files, capsys):
    Path("large.csv").write_text("i,j,kind\n3000000000,3000000001,may\n3000000000,7,may-not\n")
    assert run("links", "show", "large.csv") == 0
    out = capsys.readouterr().out
    assert "rows named by   ids" in out
    assert "points linked   3" in out


def test_links_are_converted_with_and_without_their_data(files):
    assert run("links", "convert", "links.csv", "links.jsonl") == 0
    again = ml.read_links("links.jsonl", ids=[f"p{row}" for row in range(20)])
    assert again == ml.read_links("links.csv", ids=[f"p{row}" for row in range(20)])
    code = run("links", "convert", "links.csv", "m.mtx", "--data", "data.csv", "--id", "who")
    assert code == 0
    assert ml.read_links("m.mtx").may.tolist() == [[0, 1], [2, 3], [2, 11]]
    Path("rows.txt").write_text("5 1 +1\n")
    assert run("links", "convert", "rows.txt", "rows.csv") == 0
    assert ml.read_links("rows.csv").n == 6  # row numbers are not ids


def test_words_of_demo_and_experiments_are_handed_on_as_they_stand(monkeypatch):
    seen = []
    monkeypatch.setattr(experiments, "main", seen.append)
    monkeypatch.setattr("maylink.experiments.demo.main", seen.append)
    assert run("experiments", "table1", "--trials", "1", "--help") == 0
    assert run("experiments") == 0
    assert run("demo", "--out", "a.png", "-x") == 0
    assert seen == [["table1", "--trials", "1", "--help"], [], ["--out", "a.png", "-x"]]


def test_experiments_explain_themselves(capsys):
    assert run("experiments", "--help") == 0
    assert "usage: maylink experiments" in capsys.readouterr().out


def test_version(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out == f"maylink {ml.__version__}\n"


@pytest.mark.parametrize(
    "command",
    [[], ["cluster"], ["diagnose"], ["predict"], ["compare"], ["datasets"], ["links", "show"]],
)
def test_help_tells_the_exit_codes(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert run(*command, "--help") == 0
    out = capsys.readouterr().out
    assert "Usage: maylink" in out
    if len(command) < 2:
        assert all(f"{code} {what}" in out for code, what in CODES.items())


@pytest.mark.parametrize("out", ["labels.csv", "-"])
def test_labels_are_written_in_pieces(files, capsys, monkeypatch, out):
    assert run(*FIT, "--out", "whole.csv") == 0
    monkeypatch.setattr(outputs, "ROWS", 7)
    capsys.readouterr()
    assert run(*FIT, "--out", out) == 0
    told = capsys.readouterr().out
    written = told if out == "-" else Path(out).read_text("utf-8")
    assert written == Path("whole.csv").read_text("utf-8")
    assert len(written.splitlines()) == 21


def test_stages_where_the_c_library_cannot_be_told_to_give_memory_back(monkeypatch, capsys):
    monkeypatch.setattr(sys, "platform", "win32")
    timed = stages.Stages()
    with timed.stage("read"):
        pass
    timed.tell()
    assert "time     read 0.00 s" in capsys.readouterr().err


def test_help_loads_nothing_that_takes_long():
    code = (
        "import sys; from maylink.cli import main; main(['--help']); "
        "sys.exit(any(m in sys.modules for m in ('numpy', 'sklearn', 'numba', 'pandas', 'scipy')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_names_that_are_listed_before_anything_loads_are_the_right_ones():
    from maylink.analysis.methods import FAMILIES, METHODS, family_names
    from maylink.analysis.saving import known_estimators

    assert family_names() == FAMILIES
    assert sorted(METHODS) == sorted(name.lower() for name in known_estimators())


def test_the_installed_script_is_this_one():
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
    module, name = project["project"]["scripts"]["maylink"].split(":")
    assert getattr(importlib.import_module(module), name) is cli.main


def test_without_typer_one_sentence_says_how_to_get_it(capsys, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "typer" else found(name)
    )
    assert run("--help") == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert "pip install 'maylink[cli]'" in cli.NEEDS


def test_words_complete_in_the_shell():
    from maylink.cli.options import starting

    assert starting("rdpmeans", "tvclust")("r") == ["rdpmeans"]


def test_a_reader_that_goes_away_is_no_problem(files):
    command = f"{sys.executable} -m maylink cluster data.csv --method dpmeans --drop who --out - -q"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -c 1"],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "r", "")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("leave it out with drop=['a b']", "leave it out with --drop 'a b'"),
        ("leave it out with drop=[0]", "leave it out with --drop 0"),
        ("say missing='drop-rows' (leaves 2 of 3)", "say --missing drop-rows (leaves 2 of 3)"),
        ("say header=True if it names", "say --read header=true if it names"),
        ("example encoding='latin-1'", "example --read encoding=latin-1"),
        ("two\n  lines", "two lines"),
    ],
)
def test_messages_speak_of_options(said, meant):
    assert as_options(said) == meant


def test_one_new_row_can_be_predicted_and_filled_cells_are_told(files, capsys):
    assert run(*FIT, "--model", "m.npz") == 0
    Path("one.csv").write_text("who,height,width\nnew,1.0,2.0\n")
    assert run("predict", "m.npz", "one.csv", "--id", "who") == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("new,")
    Path("two.csv").write_text("who,height,width\na,1.0,2.0\nb,,2.0\n")
    assert run("predict", "m.npz", "two.csv", "--id", "who", "--missing", "median") == 0
    assert "filled with the median of their column here: 1" in capsys.readouterr().err


# ---------------------------------------------------------------------- what users stumbled over


def test_a_link_file_without_links_is_told(files, capsys):
    Path("none.csv").write_text("i,j,kind\n")
    assert run(*FIT, "--links", "none.csv") == 0
    assert (
        "links    warning: none.csv holds no links, so the data alone decide\n"
        in capsys.readouterr().err
    )
    assert run(*FIT, "--links", "links.csv") == 0
    assert "holds no links" not in capsys.readouterr().err


def test_a_link_file_in_another_encoding_is_refused_until_it_is_named(files, capsys):
    Path("latin.csv").write_bytes("i,j,kind,source\n0,1,may,Zo\xeb\n".encode("latin-1"))
    assert run("links", "show", "latin.csv") == 3
    assert "say which encoding it is, for example --read-links encoding=" in capsys.readouterr().err
    assert run("links", "show", "latin.csv", "--read-links", "encoding=latin-1") == 0


def test_columns_of_links_that_mean_nothing_are_named(files, capsys):
    Path("typo.csv").write_text("i,j,kind,wieght,when\np0,p1,may,3,monday\n")
    assert run(*FIT, "--links", "typo.csv") == 0
    said = "links    columns that mean nothing here, left out: wieght, when\n"
    assert said in capsys.readouterr().err
    assert run(*FIT, "--links", "links.csv") == 0
    assert "mean nothing" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("cluster", "data.csv", "--method", "tvclst"), "tvclust"),
        (("cluster", "data.csv", "--method", "RDP-means"), "rdpmeans"),
        (("cluster", "data.csv", "--family", "gausian"), "gaussian"),
        (("compare", "data.csv", "--links", "links.csv", "--methods", "tvclust,lcvq"), "lcvqe"),
    ],
)
def test_a_typo_gets_a_guess(words, meant, files, capsys):
    assert run(*words) == 2
    assert f" (did you mean {meant!r}?)" in capsys.readouterr().err


def test_a_word_like_no_other_gets_no_guess(files, capsys):
    assert run("cluster", "data.csv", "--method", "xyz") == 2
    assert "did you mean" not in capsys.readouterr().err


def test_pairs_to_judge_have_no_probability_where_none_is_known(files, capsys):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1, (40, 2)), rng.normal(3.5, 1, (40, 2))])
    pd.DataFrame(X, columns=["a", "b"]).to_csv("near.csv", index=False)
    Path("near_links.csv").write_text("i,j,kind\n0,1,may\n0,79,may-not\n")
    near = ("diagnose", "near.csv", "--links", "near_links.csv", "--quiet", "--method")
    assert run(*near, "rdpmeans") == 0
    out = capsys.readouterr().out
    heading = out.splitlines()[out.splitlines().index("Pairs to judge next") + 1]
    assert heading.split() == ["i", "j"]
    assert "nan" not in out.lower()


def test_python_of_the_report_runs_as_it_stands(files, capsys):
    words = ("--links", "links.csv", "--missing", "median", "--drop", "width", "--read", "sep=,")
    more = ("--read-links", "format=table", "--read-links", "id_column=x", "--no-contrast")
    assert run(*FIT, *words, *more, "--out", "labels.csv", "--report", "page.html") == 0
    again = settings_of("page.html")["again"]
    names = {}
    exec(again, names)
    assert names["model"].labels_.tolist() == pd.read_csv("labels.csv")["cluster"].tolist()
    assert names["table"].columns == ("height",)
    assert settings_of("again.html")["method"] == "RDPMeans"


def settings_of(path):
    text = Path(path).read_text("utf-8")
    found = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    return json.loads(found[1])["settings"]
