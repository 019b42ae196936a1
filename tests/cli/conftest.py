"""A folder with data and links, and one fit of them that many tests look at."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_line import run_captured


def write_files():
    """Data of two clear clusters, with ids and words, and links by id."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 0.3, (10, 2)), rng.normal(5, 0.3, (10, 2))])
    frame = pd.DataFrame(X.round(4), columns=["height", "width"])
    frame.insert(0, "who", [f"p{row}" for row in range(20)])
    frame["word"] = [f"{'low' if row < 10 else 'high'} in row {row}" for row in range(20)]
    frame.to_csv("data.csv", index=False)
    Path("links.csv").write_text(
        "i,j,kind,source\np0,p1,may,ann\np0,p10,may-not,ann\np2,p3,may,bob\np11,p2,may,bob\n"
    )


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A new folder of these files, to work in."""
    monkeypatch.chdir(tmp_path)
    write_files()
    return tmp_path


@pytest.fixture(scope="session")
def clustered(tmp_path_factory):
    """What a fit with all outputs printed, and the folder that it wrote them into."""
    folder = tmp_path_factory.mktemp("clustered")
    before = Path.cwd()
    os.chdir(folder)
    try:
        write_files()
        finished = run_captured(
            "cluster", "data.csv", "--id", "who", "--method", "rdpmeans", "--links", "links.csv",
            "--out", "labels.csv", "--suspects", "suspects.csv", "--model", "model.npz",
            "--report", "page.html", "--missing", "median", "--read", "sep=,",
            "--read-links", "format=table", "--read-links", "id_column=x",
        )  # fmt: skip
    finally:
        os.chdir(before)
    return finished, folder
