"""``maylink compare``."""

import json

import pandas as pd
import pytest

from command_line import run
from maylink.analysis.comparison import Row
from maylink.cli.compare import print_comparison

COMPARE = (
    "compare", "data.csv", "--links", "links.csv", "--id", "who", "--family", "diagonal-gaussian",
)  # fmt: skip


def test_k_comes_from_a_method_or_the_user(files, capsys):
    truth = ["low"] * 10 + ["high"] * 10
    pd.read_csv("data.csv").assign(truth=truth).to_csv("data.csv", index=False)
    words = (*COMPARE, "--labels", "truth")
    assert run(*words, "--methods", "plainkmeans,copkmeans,rdpmeans", "--json") == 0
    out, err = capsys.readouterr()
    rows = {row["method"]: row for row in json.loads(out)}
    assert rows["plainkmeans"]["told_k"] == "RDPMeans"
    assert "fit      tvclust" not in err
    assert rows["rdpmeans"]["told_k"] == ""
    assert rows["plainkmeans"]["ari"] == 1.0
    assert rows["plainkmeans"]["kept"] == 0.75
    assert "fit      copkmeans" in err
    assert run(*words, "--methods", "plainkmeans", "--k", "3") == 0
    row = capsys.readouterr().out.splitlines()[1].split()
    assert row[:3] == ["plainkmeans", "3", "you"]


@pytest.mark.parametrize("missing", ["error", "median", "drop-columns", "drop-rows"])
def test_rows_without_a_label_are_clustered_but_not_scored(missing, files, capsys):
    truth = ["0", "0", "", *["0"] * 7, *["2"] * 10]  # numbers can be labels, too
    pd.read_csv("data.csv").assign(truth=truth).to_csv("data.csv", index=False)
    words = (*COMPARE, "--labels", "truth", "--methods", "plainkmeans", "--json")
    assert run(*words, "--missing", missing) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)[0]["f"] == 1.0
    assert "data     20 rows × 2 columns" in err
    assert "labels   left out of the scores, for want of one: 1 row" in err


def test_the_table_says_which_links_chose_the_settings(capsys):
    print_comparison([Row("tvclust", 2, "", 0.1)], with_truth=False)
    last = capsys.readouterr().out.splitlines()[-1]
    assert "TVClust keeps the settings that it chose by all links" in last
