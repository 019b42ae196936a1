"""``maylink diagnose``."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from command_line import run


def test_tables_and_json_say_the_same(files, capsys):
    words = ("diagnose", "data.csv", "--links", "links.csv", "--id", "who", "--method", "rdpmeans")
    assert run(*words) == 0
    out = capsys.readouterr().out
    assert "points with links    6 of 20, 0.4 links a point" in out
    assert "p11  p2  may   bob" in out
    assert "- 4 linked pairs are fewer than 40" in out
    assert "judge 36 more pairs" in out
    assert run(*words, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["n_links"] == 4
    assert result["held_out"] is None
    assert result["suspects"][0]["i"] == "p11"
    assert [row["source"] for row in result["sources"]] == ["ann", "bob"]


def test_pairs_to_judge_have_no_probability_where_the_method_has_none(files, capsys):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1, (40, 2)), rng.normal(3.5, 1, (40, 2))])
    pd.DataFrame(X, columns=["a", "b"]).to_csv("near.csv", index=False)
    Path("near_links.csv").write_text("i,j,kind\n0,1,may\n0,79,may-not\n")
    words = ("diagnose", "near.csv", "--links", "near_links.csv", "--quiet", "--method", "rdpmeans")
    assert run(*words) == 0
    out = capsys.readouterr().out
    heading = out.splitlines()[out.splitlines().index("Pairs to judge next") + 1]
    assert heading.split() == ["i", "j"]
    assert "nan" not in out.lower()
