"""``maylink cluster`` on a file: what it reads, prints and writes."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import maylink as ml
from command_line import run
from maylink.analysis.methods import MethodLimits
from maylink.cli.fitting import choose_plan
from maylink.cli.inputs import ReadingOptions, read_table

FIT = ("cluster", "data.csv", "--id", "who", "--method", "rdpmeans")


def give_input(monkeypatch, content):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_the_result_goes_to_standard_output_and_what_was_read_to_standard_error(clustered):
    (code, out, err), _ = clustered
    assert code == 0
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
    assert "compare without links" in err
    assert "peak memory" in err


def test_labels_suspects_and_a_model_that_predicts_are_written(clustered, files, capsys):
    _, folder = clustered
    labels = pd.read_csv(folder / "labels.csv")
    assert list(labels.columns) == ["who", "cluster"]
    assert labels["cluster"].tolist() == [0] * 10 + [1] * 10
    suspects = pd.read_csv(folder / "suspects.csv")
    assert suspects[["i", "j", "kind", "source"]].values.tolist() == [["p11", "p2", "may", "bob"]]
    assert suspects[["word_i", "word_j"]].values.tolist() == [["high in row 11", "low in row 2"]]
    model = folder / "model.npz"
    assert ml.load(model).feature_names_in_.tolist() == ["height", "width"]

    frame = pd.read_csv("data.csv")[["word", "width", "who", "height"]]  # another order
    frame.to_csv("new.csv", index=False)
    assert run("predict", model, "new.csv", "--id", "who", "--out", "new_labels.csv") == 0
    assert "2 columns found by name" in capsys.readouterr().err
    assert pd.read_csv("new_labels.csv").equals(labels)


def test_the_verdict_comes_first(clustered):
    (_, out, _), _ = clustered
    assert out.startswith(
        "Verdict\n  - Nothing has tested these clusters: no links were held out.\n"
    )
    assert "  - Links changed nothing: the data alone give the same 2 clusters.\n" in out
    assert "  - Judge at least 36 more pairs: of 40 links some are held out.\n" in out


def test_clusters_are_numbered_by_size_and_named(files, capsys):
    frame = pd.read_csv("data.csv").iloc[3:]  # the second cluster is now the larger one
    frame.to_csv("data.csv", index=False)
    written = ("--out", "labels.csv", "--model", "model.npz", "--force", "--quiet")
    assert run(*FIT, *written) == 0
    assert pd.read_csv("labels.csv")["cluster"].tolist() == [1] * 7 + [0] * 10
    assert run("predict", "model.npz", "data.csv", "--id", "who", "--out", "new.csv") == 0
    assert pd.read_csv("new.csv").equals(pd.read_csv("labels.csv"))
    words = ("--name", "0=tall", "--name", "1=small", "--report", "page.html")
    assert run(*FIT, *written, *words) == 0
    assert pd.read_csv("labels.csv")["cluster"].tolist() == ["small"] * 7 + ["tall"] * 10
    assert '{"name":"tall","size":10}' in Path("page.html").read_text("utf-8")
    assert run("predict", "model.npz", "data.csv", "--id", "who", "--out", "named.csv") == 0
    assert pd.read_csv("named.csv").equals(pd.read_csv("labels.csv"))
    capsys.readouterr()
    for word, message in (
        ("2=x", "--name: '2=x'; write CLUSTER=NAME, with a cluster from 0 to 1"),
        ("tall", "--name: 'tall'; write CLUSTER=NAME"),
        ("0=1", "--name: two clusters have one name"),
    ):
        assert run(*FIT, "--name", word) == 2
        assert message in capsys.readouterr().err


def test_a_projection_that_there_is_not_is_refused_before_the_fit(files, capsys):
    assert run(*FIT, "--report", "page.html", "--projection", "tsne") != 0
    assert "'--projection': 'tsne' is not one of auto, pca, umap" in capsys.readouterr().err
    assert not Path("page.html").exists()


def test_the_report_is_a_page_whose_python_runs_as_it_stands(clustered, monkeypatch):
    _, folder = clustered
    monkeypatch.chdir(folder)
    assert Path("page.html").read_text("utf-8").lower().startswith("<!doctype html>")
    names = {}
    exec(settings_of("page.html")["again"], names)
    assert names["model"].labels_.tolist() == pd.read_csv("labels.csv")["cluster"].tolist()
    assert names["table"].columns == ("height", "width")
    assert settings_of("again.html")["method"] == "RDPMeans"


def settings_of(path):
    text = Path(path).read_text("utf-8")
    data = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    return json.loads(data[1])["settings"]


def test_the_report_gets_all_that_it_needs(files, monkeypatch, capsys):
    arguments = {}

    def write_report(path, model, X, **rest):
        arguments.update(rest, path=path, shape=X.shape)

    monkeypatch.setattr("maylink.report.write_report", write_report)
    assert run(*FIT, "--links", "links.csv", "--report", "r.html", "--force") == 0
    assert (arguments["path"], arguments["shape"], arguments["force"]) == ("r.html", (20, 2), True)
    assert arguments["columns"] == ("height", "width")
    assert arguments["ids"][3] == "p3"
    assert arguments["text"]["word"][19] == "high in row 19"
    assert arguments["without_links"].shape == (20,)
    assert arguments["title"] == "Clusters of data.csv"
    assert run(*FIT, "--links", "links.csv", "--report", "r.html", "--no-contrast") == 0
    assert arguments["without_links"] is None


def test_an_id_column_named_by_its_position_keeps_its_name(files, capsys):
    words = ("cluster", "data.csv", "--id", "0", "--method", "dpmeans", "--model", "m.npz", "-q")
    assert run(*words, "--out", "-") == 0
    assert capsys.readouterr().out.startswith("who,cluster\np0,0\n")
    assert run("predict", "m.npz", "data.csv", "--id", "0", "-q") == 0
    assert capsys.readouterr().out.startswith("who,cluster\np0,0\n")


def test_labels_of_tvclust_have_probabilities(files, capsys, monkeypatch):
    give_input(monkeypatch, b"i,j,kind\n0,1,may\n0,10,may-not\n")
    words = ("--family", "diagonal-gaussian", "--links", "-", "--out", "-")
    assert run("cluster", "data.csv", "--drop", "who", *words) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == "row,cluster,probability"
    assert len(out.splitlines()) == 21
    assert "tvclust (it tells how reliable" in err


def test_data_come_from_standard_input_and_the_result_is_json(files, capsys, monkeypatch):
    give_input(monkeypatch, Path("data.csv").read_bytes())
    assert run("cluster", "-", "--method", "dpmeans", "--drop", "who", "--json", "--quiet") == 0
    out, err = capsys.readouterr()
    result = json.loads(out)
    assert err == ""
    assert (result["rows"], result["columns"]) == (20, ["height", "width"])
    assert (result["clusters"], result["sizes"], result["method"]) == (2, [10, 10], "DPMeans")
    assert set(result["seconds"]) == {"read", "fit", "write"}


def test_rows_with_missing_cells_are_dropped_with_their_links(files, capsys):
    text = Path("data.csv").read_text().splitlines()
    cells = text[1].split(",")
    text[1] = ",".join([cells[0], "", *cells[2:]])
    Path("data.csv").write_text("\n".join(text))
    code = run(*FIT, "--links", "links.csv", "--missing", "drop-rows", "--json")
    out, err = capsys.readouterr()
    assert code == 0
    assert "left out, for missing cells: 1 row" in err
    assert "left out, of rows that were left out: 2" in err
    assert json.loads(out)["links"] == 2


def test_large_data_get_the_fast_method_and_the_reason_is_printed(capsys):
    limits = MethodLimits(many_numbers=39)
    plan = choose_plan(np.ones((20, 2)), "auto", "auto", None, quiet=False, limits=limits)
    assert plan.method == "rdpmeans"
    assert "rdpmeans (20 rows × 2 columns: TVClust would take minutes" in capsys.readouterr().err


@pytest.mark.parametrize(("read", "dtype"), [(None, "float32"), (["dtype=float64"], "float64")])
def test_large_files_are_kept_in_single_precision_by_default(files, capsys, read, dtype):
    table = read_table("data.csv", ReadingOptions(id="who", read=read, large_file=10))
    assert table.X.dtype == dtype
    noted = "large: kept to seven digits" in capsys.readouterr().err
    assert noted == (dtype == "float32")
    assert read_table("data.csv", ReadingOptions(id="who")).X.dtype == "float64"


def test_a_link_file_without_links_gets_a_warning(clustered, files, capsys):
    Path("none.csv").write_text("i,j,kind\n")
    assert run(*FIT, "--links", "none.csv", "--suspects", "suspects.csv") == 0
    warning = "links    warning: none.csv holds no links, so the data alone decide\n"
    assert warning in capsys.readouterr().err
    assert "holds no links" not in clustered[0].err
    header = "i,j,kind,weight,source,wrong,word_i,word_j\n"
    assert Path("suspects.csv").read_text() == header


def test_columns_of_links_that_mean_nothing_are_named(clustered, files, capsys):
    Path("typo.csv").write_text("i,j,kind,wieght,when\np0,p1,may,3,monday\n")
    assert run(*FIT, "--links", "typo.csv") == 0
    note = "links    columns that mean nothing here, left out: wieght, when\n"
    assert note in capsys.readouterr().err
    assert "mean nothing" not in clustered[0].err


@pytest.mark.parametrize(
    ("words", "guess"),
    [
        (("cluster", "data.csv", "--method", "tvclst"), "tvclust"),
        (("cluster", "data.csv", "--method", "RDP-means"), "rdpmeans"),
        (("cluster", "data.csv", "--family", "gausian"), "gaussian"),
        (("compare", "data.csv", "--links", "links.csv", "--methods", "tvclust,lcvq"), "lcvqe"),
    ],
)
def test_a_mistyped_name_gets_a_guess(words, guess, files, capsys):
    assert run(*words) == 2
    assert f" (did you mean {guess!r}?)" in capsys.readouterr().err


def test_a_name_like_no_other_gets_no_guess(files, capsys):
    assert run("cluster", "data.csv", "--method", "xyz") == 2
    assert "did you mean" not in capsys.readouterr().err


def test_columns_of_links_are_mapped_and_bad_lines_kept_apart(files, capsys):
    Path("judged.csv").write_text(
        'id_a,id_b,same,said\np0,p1,x,yes\np2,nobody,x,yes\np0,p11,x,No way\np3,p4,x,"yes, sure"\n'
    )
    words = ("--links", "judged.csv", "--read-links", "i=id_a", "j=id_b", "kind=said")
    assert run(*FIT, *words, "--bad-links", "links.bad.csv") == 0
    err = capsys.readouterr().err
    assert "links    2 (2 may, 0 may-not), read as answers in csv" in err
    assert "bad lines, left out: 2 of 4" in err
    assert "line 3: id 'nobody' is none of the 20 ids of the rows" in err
    assert "line 4: answer 'No way' is not yes, no or unsure" in err
    bad = pd.read_csv("links.bad.csv")
    assert list(bad.columns) == ["id_a", "id_b", "same", "said", "line", "problem"]
    assert bad["id_b"].tolist() == ["nobody", "p11"]
    assert run(*FIT, *words, "bad_lines=error", "--quiet") == 3
    assert capsys.readouterr().err.startswith("maylink: judged.csv, line 3: id 'nobody' is none")


def test_an_unknown_table_of_links_says_how_to_name_its_columns(files, capsys):
    Path("judged.csv").write_text("from,to,said\np0,p1,yes\n")
    assert run(*FIT, "--links", "judged.csv", "--quiet") == 3
    message = capsys.readouterr().err
    assert "say --read-links i=… j=… kind=…" in message
    assert len(message) < 200


def test_a_budget_gives_the_best_so_far_and_says_so(files, capsys):
    assert run(*FIT, "--links", "links.csv", "--budget", "0.000001s") == 0
    out, err = capsys.readouterr()
    assert "stopped at the time budget" in err
    assert "The time budget ended the fit" in out
    assert run(*FIT, "--budget", "soon") == 2
    assert "'soon' is not a time" in capsys.readouterr().err
