"""``--text`` and ``--embeddings``: what is clustered, and what new rows are put into."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import maylink as ml
from command_line import run
from maylink.datasets.records import draw_records
from maylink.estimators.tables import cluster_names
from maylink.tables.text import text_features

FIT = ("--method", "rdpmeans", "--id", "id")


@pytest.fixture
def people(tmp_path, monkeypatch):
    """Thirty records of six people, and links that are right."""
    monkeypatch.chdir(tmp_path)
    texts, y = draw_records(30, 6, rng=4)
    ids = [f"r{row}" for row in range(30)]
    frame = pd.DataFrame({"id": ids, "record": texts, "phone": np.arange(30) * 7919})
    frame.to_csv("people.csv", index=False)
    np.save("rows.npy", 3.0 * text_features(texts))
    Path("ids.txt").write_text("\n".join(ids))
    links = ml.sample_links(y, rate=0.3, rng=0).to_frame()
    links.assign(i="r" + links["i"].astype(str), j="r" + links["j"].astype(str)).to_csv(
        "links.csv", index=False
    )
    return y


def test_texts_are_clustered_and_predicted(people, capsys):
    words = ("cluster", "people.csv", *FIT, "--text", "record", "--links", "links.csv")
    assert run(*words, "--out", "labels.csv", "--model", "m.npz", "--report", "r.html") == 0
    out, err = capsys.readouterr()
    assert "Clusters by their words, and a row from the middle of each" in out
    assert "text     record as letters: " in err
    assert "numbers are left out" in err
    labels = pd.read_csv("labels.csv")
    assert ml.metrics.pair_f(people, labels["cluster"].to_numpy()) > 0.9
    assert ml.load("m.npz").view_.columns == ("record",)
    pd.read_csv("people.csv")[["record", "id"]].iloc[:7].to_csv("new.csv", index=False)
    assert run("predict", "m.npz", "new.csv", "--id", "id", "--out", "new_labels.csv") == 0
    model = ml.load("m.npz")
    X = pd.DataFrame(text_features(pd.read_csv("people.csv")["record"].tolist()))
    expected = cluster_names(model)[model.predict(X.set_axis(model.feature_names_in_, axis=1))]
    assert pd.read_csv("new_labels.csv")["cluster"].tolist() == expected[:7].tolist()


def test_the_python_of_the_report_makes_the_same_features(people):
    from maylink.cli.features import FeatureOptions
    from maylink.cli.inputs import ReadingOptions, reading_code

    features = FeatureOptions.of("people.csv", ["record"], "letters")
    reading = ReadingOptions("id", features=features)
    names = {}
    exec(reading_code("people.csv", "links.csv", reading, "float64"), names)
    np.testing.assert_allclose(
        names["table"].X, text_features(pd.read_csv("people.csv")["record"].tolist(), "letters")
    )
    assert names["links"].n == 30


def test_embeddings_with_and_without_data(people, capsys):
    words = (
        "--embeddings",
        "rows.npy",
        "--ids",
        "ids.txt",
        "--links",
        "links.csv",
        "--method",
        "rdpmeans",
    )
    assert run("cluster", *words, "--out", "a.csv", "--model", "m.npz") == 0
    assert run("cluster", "people.csv", "--id", "id", *words, "--out", "b.csv") == 0
    assert "embeddings of 30 rows" in capsys.readouterr().err
    assert Path("a.csv").read_text() == Path("b.csv").read_text()
    assert run("predict", "m.npz", "rows.npy", "--out", "p.csv") == 0
    assert len(pd.read_csv("p.csv")) == 30


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("people.csv", "--ids", "ids.txt"), "--ids: of which embeddings?"),
        (("people.csv", "--text", "record", "--embeddings", "rows.npy"), "give one of them"),
        (("people.csv", "--text-as", "words"), "--text-as: of which column?"),
        (("people.csv", "--text", "nothing"), "there is no column 'nothing' for text"),
        ((".", "--text", "record"), "not of a folder"),
        (
            ("people.csv", "--embeddings", "rows.npy", "--ids", "ids.txt"),
            "name their column by --id",
        ),
    ],
)
def test_what_makes_no_sense_is_told(people, words, message, capsys):
    assert run("cluster", *words) in (2, 3)
    assert message in capsys.readouterr().err


def test_ids_of_embeddings_come_from_a_file(people, capsys):
    words = ("cluster", "--embeddings", "rows.npy", "--links")
    assert run(*words, "links.csv") == 3
    assert "if it is an id, name the file of ids with --ids" in capsys.readouterr().err
    Path("numbers.csv").write_text("i,j,kind\n0,1,may\n2,29,may-not\n")
    assert run(*words, "numbers.csv", "--ids", "ids.txt") == 3
    assert "if they are row numbers, leave --ids out" in capsys.readouterr().err
    assert run("cluster", "people.csv", "--id", "id", "--links", "numbers.csv") == 3
    assert "if they are row numbers, leave --id out" in capsys.readouterr().err


def test_pairs_that_look_alike_are_written_to_be_judged(people):
    words = ("links", "alike", "people.csv", "--id", "id", "--text", "record", "--per-row", 2)
    assert run(*words, "--out", "pairs.csv") == 0
    pairs = pd.read_csv("pairs.csv")
    assert list(pairs) == ["id_a", "id_b", "record_a", "record_b", "alike", "same"]
    assert pairs["alike"].is_monotonic_decreasing
    rows = pairs[["id_a", "id_b"]].map(lambda name: int(name[1:])).to_numpy()
    same = people[rows[:, 0]] == people[rows[:, 1]]
    answers = np.where(np.arange(len(same)) < 8, np.where(same, "yes", "no"), "")
    pairs.assign(same=answers).to_csv("judged.csv", index=False)
    links = ml.read_links("judged.csv", ids=pd.read_csv("people.csv")["id"])
    assert links.n_links == 8
    assert run("links", "alike", "people.csv", "--out", "p.csv") == 2


def test_rows_without_text_are_in_no_pair_and_are_counted(people, capsys):
    frame = pd.read_csv("people.csv")
    frame.loc[[3, 8, 9], "record"] = ["", "  ", "--"]
    frame.to_csv("gaps.csv", index=False)
    words = ("links", "alike", "gaps.csv", "--id", "id", "--text", "record", "--per-row", 2)
    assert run(*words, "--out", "pairs.csv") == 0
    told = capsys.readouterr().err
    assert "data     left out, without text: 2 rows" in told
    assert "text     left out, whose text has no term to compare: 1 row" in told
    pairs = pd.read_csv("pairs.csv")
    assert set(pairs["id_a"]) | set(pairs["id_b"]) == set(frame["id"].drop([3, 8, 9]))
    cells = dict(zip(frame["id"], frame["record"], strict=True))
    assert [cells[name] for name in pairs["id_a"]] == pairs["record_a"].tolist()
    frame.assign(record=["one text", *[""] * 29]).to_csv("gaps.csv", index=False)
    assert run(*words, "--out", "none.csv") == 3
    assert not Path("none.csv").exists()


def test_a_penalty_and_a_hint_reach_the_method(people, capsys):
    words = ("cluster", "people.csv", "--id", "id", "--text", "record")
    assert run(*words, "--penalty", 0.5, "--json") == 0
    out = json.loads(capsys.readouterr().out)
    assert (out["method"], out["cluster_penalty"]) == ("RDPMeans", 0.5)
    assert sum(one["size"] for one in out["told"]) == 30
    records = set(pd.read_csv("people.csv")["record"])
    assert all(set(one["examples"]) <= records for one in out["told"])
    assert run(*words, "--clusters-hint", 6, "--method", "dpmeans", "--json") == 0
    assert json.loads(capsys.readouterr().out)["clusters"] == 6
    assert run(*words, "--penalty", 0.5, "--method", "tvclust") == 2
    assert "--penalty: tvclust has none; say --method rdpmeans" in capsys.readouterr().err
    assert run(*words, "--penalty", -1) == 3
    assert "cluster_penalty" in capsys.readouterr().err


def test_rows_without_text_are_left_out_and_counted(people, capsys):
    frame = pd.read_csv("people.csv")
    frame.loc[[2, 5, 8, 9], "record"] = ["", " ", None, ""]
    frame.to_csv("people.csv", index=False)
    words = ("cluster", "people.csv", *FIT, "--text", "record", "--links", "links.csv")
    assert run(*words, "--out", "labels.csv", "--model", "m.npz") == 0
    err = capsys.readouterr().err
    assert "data     left out, without text: 4 rows" in err
    assert "links    left out, of rows that were left out: " in err
    labels = pd.read_csv("labels.csv")
    assert set(frame["id"]) - set(labels["id"]) == {"r2", "r5", "r8", "r9"}
    kept = np.setdiff1d(np.arange(30), [2, 5, 8, 9])
    assert ml.metrics.pair_f(people[kept], labels["cluster"].to_numpy()) > 0.9
    assert run("predict", "m.npz", "people.csv", "--id", "id", "--out", "new.csv") == 0
    assert pd.read_csv("new.csv")["id"].tolist() == labels["id"].tolist()
    frame.assign(record="").to_csv("people.csv", index=False)
    assert run(*words) == 3
    assert "text: no row has text in record" in capsys.readouterr().err
