"""One fingerprint of rows for all that ask: what one has asked the others go on with."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import maylink as ml
from command_line import run
from label_command import ServedInside
from maylink.errors import FileError
from maylink.label.same_rows import file_fingerprint
from maylink.label.store import AnswerStore

YES = """\
import json, sys
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], "answer": True}), flush=True)
"""


def table(ids=None, rows=(0, 1)):
    return SimpleNamespace(ids=ids, rows=np.array(rows))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(20, 2)), columns=["x", "y"])
    frame.insert(0, "who", [f"p{row}" for row in range(20)])
    frame.to_csv("data.csv", index=False)
    (tmp_path / "yes.py").write_text(YES)
    return tmp_path


def always(a, b):
    return True


def ask_with_the_command(*more):
    judge = f"{sys.executable} yes.py"
    words = ("--judge", judge, "--questions", "5", "--no-fit", *more)
    return run("ask", "data.csv", "--out", "links.csv", *words)


def test_rows_with_ids_stay_the_same_when_a_cell_is_put_right(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("id,x\na,1\nb,2\n")
    before = file_fingerprint(file, table(["a", "b"]))
    file.write_text("id,x\na,1\nb,3\n")
    assert file_fingerprint(file, table(["a", "b"])) == before
    assert file_fingerprint(file, table(["b", "a"])) != before


def test_rows_without_ids_are_those_of_the_file(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("x\n1\n2\n")
    before = file_fingerprint(file, table())
    assert file_fingerprint(file, table()) == before
    assert file_fingerprint(file, table(rows=(1,))) != before
    file.write_text("x\n1\n3\n")
    assert file_fingerprint(file, table()) != before


def test_what_a_command_asked_python_goes_on_with(folder):
    assert ask_with_the_command("--id", "who") == 0
    rows = ml.read_data("data.csv", id="who")
    more = {"questions": 8, "answers": "links.csv.answers.db", "random_state": 0}
    asked = ml.ask(rows.X, always, rows=rows, **more)
    with AnswerStore("links.csv.answers.db", file_fingerprint("data.csv", rows)) as store:
        sources = [one.answer.source for one in store.answers()]
    assert sources.count("always") == asked.n_new == 8
    assert len(sources) == 13
    others = ml.read_data("data.csv", drop="who")
    with pytest.raises(FileError, match="other rows"):
        ml.ask(others.X, always, rows=others, **more)


@pytest.mark.parametrize("ids", [("--id", "who"), ("--drop", "who")])
def test_what_one_command_asked_the_other_goes_on_with(ids, folder, monkeypatch):
    assert ask_with_the_command(*ids) == 0
    served = ServedInside(lambda page: page.say("ann", 0, 1, -1))
    monkeypatch.setattr("maylink.label.server.PageServer.serve", lambda *given: served(*given))
    words = ("--out", "links.csv", "--no-browser", "--no-fit", "--force")
    assert run("label", "data.csv", *ids, *words) == 0
    sources = pd.read_csv("links.csv")["source"].tolist()
    assert len(sources) == 6
    assert sources.count("ann") == 1
