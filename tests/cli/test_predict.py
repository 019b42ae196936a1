"""``maylink predict``."""

from pathlib import Path

import numpy as np
import pandas as pd

import maylink as ml
from command_line import run


def test_one_new_row_can_be_predicted(clustered, files, capsys):
    Path("one.csv").write_text("who,height,width\nnew,1.0,2.0\n")
    assert run("predict", clustered[1] / "model.npz", "one.csv", "--id", "who") == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("new,")


def test_filled_cells_are_counted(clustered, files, capsys):
    Path("two.csv").write_text("who,height,width\na,1.0,2.0\nb,,2.0\n")
    model = clustered[1] / "model.npz"
    assert run("predict", model, "two.csv", "--id", "who", "--missing", "median") == 0
    assert "filled with the medians of the fit: 1" in capsys.readouterr().err


def test_gaps_are_filled_as_in_the_fit(files, capsys):
    frame = pd.read_csv("data.csv")
    frame.loc[3, "height"] = None
    frame.to_csv("gaps.csv", index=False)
    words = ("cluster", "gaps.csv", "--id", "who", "--method", "rdpmeans", "--missing", "median")
    assert run(*words, "--model", "m.npz", "--quiet") == 0
    medians = frame[["height", "width"]].median()
    np.testing.assert_allclose(ml.load("m.npz").medians_, medians)
    low, high = frame["height"].min(), frame["height"].max()
    new = pd.DataFrame({"who": ["a", "b", "c"], "height": [None, low, low], "width": [1.0, 1, 1]})
    new.to_csv("new.csv", index=False)  # whose own median is another
    filled = new.assign(height=[medians["height"], low, low])
    filled.to_csv("filled.csv", index=False)
    assert medians["height"] not in (low, high)
    capsys.readouterr()
    assert run("predict", "m.npz", "new.csv", "--id", "who", "--out", "a.csv") == 0
    assert "missing cells, filled with the medians of the fit: 1" in capsys.readouterr().err
    assert run("predict", "m.npz", "filled.csv", "--id", "who", "--out", "b.csv") == 0
    assert Path("a.csv").read_text() == Path("b.csv").read_text()


def test_gaps_that_the_fit_did_not_have_are_refused_with_what_can_be_done(files, capsys):
    words = ("cluster", "data.csv", "--id", "who", "--method", "dpmeans", "--model", "m.npz")
    assert run(*words, "--quiet") == 0
    Path("new.csv").write_text("who,height,width,other\na,1.0,2.0,\nb,,2.0,\nc,0.0,0.1,3\n")
    capsys.readouterr()
    assert run("predict", "m.npz", "new.csv", "--id", "who") == 3
    err = capsys.readouterr().err
    assert "1 cell is missing (first: row b, column 'height'); the fit had none" in err
    assert "drop-columns" not in err
    assert run("predict", "m.npz", "new.csv", "--id", "who", "--missing", "median") == 0
    words = ("--id", "who", "--drop", "other", "--missing", "drop-rows")
    assert run("predict", "m.npz", "new.csv", *words) == 0
    assert run("predict", "m.npz", "new.csv", "--id", "who", "--missing", "drop-columns") == 2
