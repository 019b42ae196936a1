"""``maylink label``: the whole command, from its files to its files."""

import importlib.util
import json
import os
import signal
import socket
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest

import maylink as ml
from command_line import run
from label_command import LabelCommand, ServedInside
from maylink.io.links.layouts import LAYOUTS
from maylink.label.boards import links_of_groups
from maylink.label.store import AnswerStore

LABEL = ("label", "data.csv", "--id", "who", "--out", "out.csv", "--no-browser")
IDS = [f"p{row}" for row in range(20)]


@pytest.fixture
def serve(files, monkeypatch):
    """Lets somebody answer inside the process of the tests, in place of a server."""

    def act(what):
        served = ServedInside(what)
        monkeypatch.setattr("maylink.label.server.PageServer.serve", lambda *given: served(*given))
        return served

    return act


def some_answers(page):
    page.say("ann", 0, 1, 1)
    page.say("ann", 0, 10, -1)
    page.say("bob", 2, 3, 0)
    page.say("bob", 12, 2, -1)


def say_nothing(page):
    page.get("question", who="ann")


def stored():
    from maylink.cli.inputs import ReadingOptions, read_table
    from maylink.label.same_rows import file_fingerprint

    table = read_table("data.csv", ReadingOptions(id="who", quiet=True))
    with AnswerStore("out.csv.answers.db", file_fingerprint("data.csv", table)) as store:
        return [one.answer for one in store.answers()]


def test_answers_become_links_clusters_and_a_report(serve, capsys):
    serve(some_answers)
    assert run(*LABEL) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].startswith("http://127.0.0.1:")
    assert "Verdict" in lines
    assert lines[-1] == "go on     maylink label data.csv --out out.csv --no-browser --id who"
    assert "links    3 (1 may, 2 may-not) in out.csv" in err
    links = ml.read_links("out.csv", ids=IDS)
    assert links.to_frame().to_dict("list") == {
        "i": [0, 0, 12],
        "j": [1, 10, 2],
        "kind": ["may", "may-not", "may-not"],
        "weight": [1.0] * 3,
        "source": ["ann", "ann", "bob"],
    }
    labels = pd.read_csv("out.csv.clusters.csv")
    assert list(labels.columns) == ["who", "cluster", "probability"]
    assert labels["cluster"].nunique() >= 2
    assert "<title>Clusters of data.csv</title>" in Path("out.csv.report.html").read_text("utf-8")


def test_the_same_command_goes_on_and_renews_its_files(serve, capsys):
    serve(some_answers)
    assert run(*LABEL, "--no-fit") == 0
    assert not Path("out.csv.clusters.csv").exists()
    serve(lambda page: page.say("cy", 5, 6, 1))
    assert run(*LABEL, "--no-fit") == 0
    assert "going on from 4 answers in out.csv.answers.db, of ann, bob" in capsys.readouterr().err
    assert ml.read_links("out.csv", ids=IDS).n_links == 4


def test_a_file_that_somebody_else_wrote_is_not_written_over(serve, capsys):
    Path("out.csv").write_text("mine")
    serve(some_answers)
    assert run(*LABEL, "--no-fit") == 4
    assert (
        "out.csv: is there already, and was not written from the answers" in capsys.readouterr().err
    )
    assert Path("out.csv").read_text() == "mine"
    assert not Path("out.csv.answers.db").exists()
    assert run(*LABEL, "--no-fit", "--force") == 0
    assert run(*LABEL, "--no-fit") == 0  # it is ours now
    Path("out.csv").write_text(Path("out.csv").read_text() + "p0,p5,may,1.0,mine\n")
    assert run(*LABEL, "--no-fit") == 4  # and no longer


def test_earlier_links_are_kept_and_known_to_the_interview(serve, monkeypatch):
    given = []
    from maylink.questions import Interview

    monkeypatch.setattr(
        "maylink.questions.Interview",
        lambda X, links, **more: given.append(links) or Interview(X, links, **more),
    )
    serve(some_answers)
    assert run(*LABEL, "--no-fit", "--links", "links.csv") == 0
    earlier = ml.read_links("links.csv", ids=IDS)
    assert given == [earlier]
    links = ml.read_links("out.csv", ids=IDS)
    assert links.n_links == earlier.n_links + 3
    assert links.sources == ("ann", "bob")  # ann of the file and ann of the page are one


def test_boards_are_written_with_the_votes_of_labels(serve):
    serve(lambda page: page.sort("ann", [0, 1, 2, 10, 11], [[0, 1, 2], [10]]))
    assert run(*LABEL, "--no-fit") == 0
    links = ml.read_links("out.csv", ids=IDS)
    expected = links_of_groups([[0, 1, 2], [10]], "ann", 20)
    assert links.sources == ("ann, boards",)
    assert np.allclose(links.weight, expected.weight)
    assert np.array_equal(links.kind, expected.kind)


@pytest.mark.parametrize(("out", "more"), [("o.jsonl", ()), ("o.mtx", ()), ("o", ("--to", "csv"))])
def test_the_name_or_the_option_tells_the_format(serve, out, more):
    serve(some_answers)
    words = [word if word != "out.csv" else out for word in LABEL]
    assert run(*words, "--no-fit", *more) == 0
    if out.endswith("mtx"):
        assert ml.read_links(out, n=20).may.tolist() == [[0, 1]]
    elif more:
        assert Path(out).read_text().startswith("i,j,kind")
    else:
        assert json.loads(Path(out).read_text().splitlines()[0])["i"] == "p0"


@pytest.mark.parametrize("layout", [name for name, one in LAYOUTS.items() if one.containers])
def test_answers_are_written_in_every_format(serve, layout):
    """Those of two people and the links of before, by all names that the format may have."""
    serve(some_answers)
    pairs = {(0, 1): 1, (0, 10): -1, (2, 12): -1, (5, 6): 1, (7, 17): -1}
    Path("links.csv").write_text("i,j,kind,source\np5,p6,may,bob\np17,p7,may-not,bob\n")
    for container in LAYOUTS[layout].containers:
        if container == "parquet" and importlib.util.find_spec("pyarrow") is None:
            continue
        out = f"out.{container}"
        words = [word if word != "out.csv" else out for word in LABEL]
        assert run(*words, "--no-fit", "--to", layout, "--links", "links.csv") == 0
        known = {"n": 20} if layout == "matrix" else {"ids": IDS}
        links = ml.read_links(out, format=layout, **known)
        found = {(min(i, j), max(i, j)): kind
                 for i, j, kind in zip(links.i, links.j, links.kind, strict=True)}  # fmt: skip
        assert found == pairs
        assert links.n == 20


def test_rows_without_ids_are_named_by_their_place_in_the_file(serve):
    lines = Path("data.csv").read_text().splitlines()
    lines[1] = lines[1].replace(lines[1].split(",")[1], "")  # the first row has a gap
    Path("data.csv").write_text("\n".join(lines))
    serve(lambda page: page.say("ann", 0, 1, 1))
    words = ("label", "data.csv", "--out", "out.csv", "--no-fit", "--no-browser")
    assert run(*words, "--missing", "drop-rows", "--drop", "who") == 0
    assert Path("out.csv").read_text().splitlines()[1].startswith("1,2,may")


def test_where_nothing_was_said_nothing_is_written(serve, capsys):
    serve(say_nothing)
    assert run(*LABEL) == 0
    out, err = capsys.readouterr()
    assert "nothing is written" in err
    assert "go on" in out
    assert not Path("out.csv").exists()
    serve(lambda page: page.say("ann", 0, 1, 0))
    assert run(*LABEL) == 0
    assert "1 answer, none of which makes a link" in capsys.readouterr().err
    assert not Path("out.csv").exists()


def test_the_page_shows_what_the_options_say(serve):
    told = []
    serve(lambda page: told.append((page.get("setup"), page.get("pair", i=0, j=1)["pair"])))
    assert run(*LABEL) == 0
    assert run(*LABEL, "--show", "width, word", "--boards") == 0
    assert [field["name"] for field in told[0][1]["fields"]] == ["height", "width", "word"]
    assert [field["name"] for field in told[1][1]["fields"]] == ["width", "word"]
    assert (told[0][0]["boards"], told[1][0]["boards"]) == (False, True)
    assert told[0][1]["a"]["name"] == "p0"


def test_a_column_that_was_dropped_is_shown_where_it_is_named(serve):
    told = []
    serve(lambda page: told.append(page.get("pair", i=0, j=1)["pair"]["fields"]))
    assert run(*LABEL, "--drop", "width") == 0
    assert run(*LABEL, "--drop", "width", "--show", "width") == 0
    assert [[field["name"] for field in fields] for fields in told] == [
        ["height", "word"],
        ["width"],
    ]


def test_pictures_come_from_the_folder_of_the_data(serve, capsys):
    Path("a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"0" * 20)
    frame = pd.read_csv("data.csv").assign(shot=["a.png", "/etc/passwd"] * 10)
    frame.to_csv("data.csv", index=False)
    told = []
    serve(lambda page: told.append(page.get("pair", i=0, j=1)["pair"]))
    assert run(*LABEL, "--pictures", "shot") == 0
    assert "10 of the first 20 rows have no picture in the folder" in capsys.readouterr().err
    assert told[0]["a"]["picture"]
    assert "shot" not in [field["name"] for field in told[0]["fields"]]


def test_texts_are_compared_and_shown(serve):
    told = []
    serve(lambda page: told.append(page.get("pair", i=0, j=1)["pair"]["fields"]))
    assert run(*LABEL, "--text", "word", "--no-fit") == 0
    assert [field["name"] for field in told[0]] == ["height", "width", "word"]


def test_the_browser_is_opened_unless_it_is_not_wanted(serve, monkeypatch):
    opened = []
    monkeypatch.setattr(
        "maylink.label.server.webbrowser.open", lambda url: opened.append(url) or True
    )
    serve(say_nothing)
    assert run(*LABEL) == 0
    assert opened == []
    assert run(*LABEL[:-1]) == 0
    assert len(opened) == 1


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (("label", "-", "--out", "o.csv"), 2, "DATA: name a file"),
        (("label", ".", "--out", "o.csv"), 2, "DATA: name a file"),
        (("label", "data.csv", "--out", "-"), 2, "--out: cannot go to standard output"),
        (("label", "data.csv", "--out", "data.csv"), 2, "data.csv is also DATA"),
        (("label", "data.csv", "--out", "o.csv", "--answers", "o.csv"), 2, "o.csv is also --out"),
        (("label", "data.csv", "--out", "gone/o.csv"), 4, "there is no folder"),
        (("label", "data.csv", "--out", "links"), 4, "the name does not tell a format"),
        (
            ("label", "data.csv", "--out", "o.csv", "--to", "labels"),
            4,
            "can be read, but not written",
        ),
        (
            ("label", "data.csv", "--out", "o.csv", "--show", "hight", "--quiet"),
            3,
            "did you mean 'height'",
        ),
        (
            ("label", "data.csv", "--out", "o.csv", "--pictures", "x", "--quiet"),
            2,
            "--pictures: 'x' is not one",
        ),
        (("label", "data.csv", "--out", "o.csv", "--id", "x"), 3, "there is no column 'x'"),
        (("label", "gone.csv", "--out", "o.csv"), 3, "cannot be read"),
        (("label", "data.csv"), 2, "Missing option '--out'"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_sentence(files, capsys, words, code, problem):
    before = sorted(os.listdir())
    assert run(*words, *(["--no-browser"] if len(words) > 2 else [])) == code
    err = capsys.readouterr().err
    assert problem in err
    assert err.count("\n") == 1
    assert sorted(os.listdir()) == before


def test_answers_about_other_rows_are_refused(serve, capsys):
    serve(some_answers)
    assert run(*LABEL, "--no-fit") == 0
    text = Path("data.csv").read_text()
    Path("data.csv").write_text(text.replace("p3,", "q3,"))
    assert run(*LABEL, "--no-fit") == 3
    assert "out.csv.answers.db: holds answers about other rows" in capsys.readouterr().err
    Path("data.csv").write_text(
        text.replace("low in row 3", "low in row three")
    )  # ids are the same
    assert run(*LABEL, "--no-fit") == 0


def test_a_port_that_is_taken_is_told(files, capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert run(*LABEL, "--port", port, "--quiet") == 3
    assert f"--port: {port} cannot be had" in capsys.readouterr().err


def test_without_starlette_one_sentence_says_how_to_get_it(files, capsys, monkeypatch):
    module = importlib.import_module("maylink.label.server")
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert run(*LABEL) == 3
    err = capsys.readouterr().err
    assert err == (
        "maylink: the page needs starlette and uvicorn; install them with: "
        "pip install 'maylink[label]'\n"
    )


@pytest.fixture
def command(files):
    started = []

    def start(*words):
        started.append(
            LabelCommand("data.csv", "--id", "who", "--out", "out.csv", *words, folder=files)
        )
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_a_killed_server_loses_nothing_and_goes_on(command):
    first = command("--no-fit")
    told = [first.answer("ann") for _ in range(5)] + [first.answer("bob", -1)]
    first.kill()
    second = command("--no-fit")
    assert second.origin == first.origin  # so that the browser still knows who one is
    assert second.address != first.address
    second.post("answer", told[-1])  # a browser that did not hear the answer sends it again
    said = {(answer.i, answer.j, answer.kind, answer.source) for answer in stored()}
    assert said == {(one["i"], one["j"], one["kind"], one["who"]) for one in told}
    assert len(stored()) == 6
    assert len(second.get("history", who="ann")) == 5
    second.answer("ann")
    code, out, err = second.interrupt()
    assert code == 0, err
    assert "go on" in out
    assert "Traceback" not in err
    assert ml.read_links("out.csv", ids=IDS).n_links == 7


def test_finish_on_the_page_ends_the_command(files, capsys, monkeypatch):
    def finish(address):
        origin = address.rsplit("/", 2)[0]
        for path, told in [
            ("answer", {"who": "ann", "i": 0, "j": 1, "kind": 1, "key": "0123456789"}),
            ("finish", {"who": "ann"}),
        ]:
            response = httpx.post(address + path, json=told, headers={"origin": origin})
            assert response.status_code == 200

    monkeypatch.setattr("maylink.label.server.webbrowser.open", finish)
    assert run(*LABEL[:-1], "--no-fit", "--port", _free_port()) == 0
    assert ml.read_links("out.csv", ids=IDS).may.tolist() == [[0, 1]]
    assert "out.csv.answers.db" in capsys.readouterr().out


def test_help_names_every_option(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert run("label", "--help") == 0
    out = capsys.readouterr().out
    for option in ("--out", "--answers", "--show", "--pictures", "--boards", "--show-reliability",
                   "--port", "--no-browser", "--no-fit", "--report", "--to"):  # fmt: skip
        assert option in out


def _free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
