"""Tables with columns of any kind, from the file to the report and to new rows."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from command_line import run
from maylink.cli import inputs
from zoo import true_links


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Two clusters in a number, a category and a date, with telephone numbers and gaps."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(500 * y + rng.integers(0, 200, 60), unit="D")
    frame = pd.DataFrame(
        {
            "who": [f"p{row}" for row in range(60)],
            "phone": rng.integers(10**8, 10**9, 60),
            "size": (4.0 * y + rng.normal(size=60)).round(2),
            "colour": np.where(rng.random(60) < 0.7, np.array(["red", "green"])[y], "grey"),
            "joined": day.strftime("%Y-%m-%d"),
        }
    )
    gaps = rng.random(frame.shape) < 0.1
    gaps[:, :2] = False
    frame.mask(gaps).to_csv("people.csv", index=False)
    links = true_links(y, 12, 0)
    rows = zip(links.i, links.j, links.kind, strict=True)
    lines = [f"p{i},p{j},{'may' if kind > 0 else 'may-not'}" for i, j, kind in rows]
    Path("links.csv").write_text("\n".join(["i,j,kind", *lines, ""]))
    return y


def test_one_command_from_a_table_to_a_report(table, capsys):
    words = ("cluster", "people.csv", "--id", "who", "--links", "links.csv", "--method", "rdpmeans")
    out = ("--report", "page.html", "--model", "model.npz", "--out", "labels.csv", "--no-contrast")
    assert run(*words, *out) == 0
    err = capsys.readouterr().err
    assert "data     60 rows × 5 columns of numbers, from" in err
    assert "data     identifier, set aside: phone (whole numbers of 9 digits, as names have)" in err
    assert "data     category: colour" in err
    assert "data     date: joined" in err
    assert "left out of the likelihood:" in err
    labels = pd.read_csv("labels.csv")["cluster"].to_numpy()
    assert adjusted_rand_score(table, labels) > 0.8
    assert "colour=green" in Path("page.html").read_text()
    Path("new.csv").write_text("who,size,colour,joined\na,,violet,2021-08-01\nb,0.1,red,\n")
    assert run("predict", "model.npz", "new.csv", "--id", "who", "-q") == 0
    first, second = capsys.readouterr().out.splitlines()[1:]
    assert first.split(",")[1] == str(labels[table == 1][0])
    assert second.split(",")[1] == str(labels[table == 0][0])


def test_what_the_model_does_not_know_of_new_rows_is_told(table, capsys):
    words = ("cluster", "people.csv", "--id", "who", "--method", "rdpmeans", "--model", "model.npz")
    assert run(*words, "-q") == 0
    rows = ["a,0.1,violet,2021-08-01", "b,0.2,red,soon", "c,4,Violet,2020-02-03"]
    Path("new.csv").write_text("\n".join(["who,size,colour,joined", *rows, ""]))
    predict = ("predict", "model.npz", "new.csv", "--id", "who")
    capsys.readouterr()
    assert run(*predict) == 0
    err = capsys.readouterr().err
    assert "colour: category, 2 cells taken as missing, new to the model: 'violet', 'Violet'" in err
    assert "joined: date, 1 cell taken as missing, no date: 'soon'" in err
    Path("new.csv").write_text("who,size,colour,joined\na,0.1,red,03/04/2021\n")
    assert run(*predict) == 3
    assert "column 'joined', row 0: '03/04/2021' is not a date as 2024-03-31" in (
        capsys.readouterr().err
    )
    Path("new.csv").write_text("who,size,colour,joined\na,small,red,2021-04-03\n")
    assert run(*predict) == 3
    err = capsys.readouterr().err
    assert "'small' is not a number; mend the cell, or say --read na=… if it stands for" in err
    assert "--drop" not in err
    np.save("array.npy", np.zeros((3, 3)))
    assert run("predict", "model.npz", "array.npy") == 3
    assert "the model asks for 'size', and the data have 'x0', 'x1'" in capsys.readouterr().err


@pytest.mark.parametrize("last", ["", "3.5"])
def test_texts_that_nobody_looks_at_are_told_with_what_can_be_done(last, table, capsys):
    words = ["red wine", "blue car", "green tea", "old house", "new road", "tall tree"]
    rows = [f"{words[at % 6]} {at},{at / 7:.2f},{at % 5}.5" for at in range(24)]
    Path("notes.csv").write_text("\n".join(["my note,size,weight", *rows, f"end,1,{last}", ""]))
    command = ("cluster", "notes.csv", "--method", "rdpmeans")
    assert run(*command) == 0
    told = "texts are not looked at: --as 'my note=words' takes one in beside the other columns"
    assert told in capsys.readouterr().err
    assert run(*command, "--as", "my note=text") == 0
    assert "texts are not looked at" not in capsys.readouterr().err


def test_the_user_overrules_kinds(table, capsys):
    words = ("cluster", "people.csv", "--id", "who", "--method", "rdpmeans", "--json")
    assert run(*words, "--as", "phone=number", "--as", "colour=text") == 0
    out, err = capsys.readouterr()
    assert "data     number: phone, size" in err
    assert "data     text, set aside: colour (as given)" in err
    assert json.loads(out)["rows"] == 60
    assert run(*words, "--as", "phone=fone") == 2
    assert "--as: 'phone=fone' is not COLUMN=KIND with one of number" in capsys.readouterr().err
    assert run(*words, "--as", "fone=number") == 3
    assert "there is no column 'fone'" in capsys.readouterr().err


def test_methods_without_gaps_get_them_at_the_mean_and_say_so(table, capsys):
    words = ("cluster", "people.csv", "--id", "who", "--method", "plainkmeans", "--k", "2")
    assert run(*words) == 0
    assert "plainkmeans knows no gaps: they stand at the mean" in capsys.readouterr().err
    assert run(*words, "--missing", "error") == 3
    assert "cells are missing" in capsys.readouterr().err


def test_diagnose_and_compare_take_tables(table, capsys):
    words = ("people.csv", "--id", "who", "--links", "links.csv", "-q")
    assert run("diagnose", *words, "--method", "rdpmeans") == 0
    assert run("compare", *words, "--methods", "plainkmeans", "--json") == 0
    assert "plainkmeans" in capsys.readouterr().out


def test_what_was_read_otherwise_than_it_stands_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    price = np.where(np.arange(60) < 30, 10.0, 90.0) + rng.normal(size=60)
    frame = pd.DataFrame({"price": [f"$ {value:.2f}" for value in price], "age": "40"})
    frame["age"] = rng.integers(18, 90, 60).astype(str)
    frame.loc[::10, "age"] = "Unknown"
    frame.loc[5, "price"] = "x"
    frame.to_csv("d.csv", index=False)
    words = ("cluster", "d.csv", "--method", "rdpmeans", "--model", "m.npz", "--read", "na=x,y")
    assert run(*words) == 0
    err = capsys.readouterr().err
    assert f"price: number, {frame['price'][0]} read as 1" in err
    assert "age: number, gaps: Unknown (6)" in err
    assert "missing cells, left out of the likelihood: 7" in err
    (tmp_path / "new.csv").write_text("price,age\n$ 10,unknown\n$ 91.5,30\n")
    assert run("predict", "m.npz", "new.csv", "--quiet") == 0
    first, second = (line.split(",")[1] for line in capsys.readouterr().out.splitlines()[1:])
    assert first != second
    assert run(*words[:-2], "--force") == 3
    assert "'x' is not a number; mend the cell, say --read na=… if it" in capsys.readouterr().err


def test_words_of_a_named_category_are_no_gaps_and_one_row_is_predicted(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    far = np.arange(90) % 3
    frame = pd.DataFrame({"children": np.array(["1", "2", "none"])[far], "w": 9.0 * far})
    frame["w"] += rng.normal(size=90)
    frame.to_csv("d.csv", index=False)
    words = ("cluster", "d.csv", "--method", "rdpmeans", "--model", "m.npz")
    assert run(*words, "--as", "children=category") == 0
    err = capsys.readouterr().err
    assert "90 rows × 4 columns of numbers" in err
    assert "missing cells" not in err
    (tmp_path / "new.csv").write_text("children,w\nnone,unknown\n")
    for large in (False, True):
        monkeypatch.setattr(inputs, "_is_large", lambda *_, large=large: large)
        assert run("predict", "m.npz", "new.csv", "--quiet") == 0
        assert len(capsys.readouterr().out.splitlines()) == 2


def test_a_column_that_is_empty_is_set_aside(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 2)).round(3), columns=["a", "b"])
    frame.insert(0, "note", np.nan)
    frame.to_csv("data.csv", index=False)
    assert run("cluster", "data.csv", "--method", "dpmeans") == 0
    assert "constant, set aside: note (no value)" in capsys.readouterr().err
