"""Cells: keys, seeds, and what the code's digest covers."""

from dataclasses import replace

import numpy as np
import pytest

from maylink.experiments.cells import Cell, code_files, code_fingerprint
from maylink.experiments.scoring import RunResult

CELL = Cell("grid", "stated", "K-means", "iris", 0.03, 0.9, 1)


def test_every_field_is_in_the_key():
    others = [
        replace(CELL, **{name: value})
        for name, value in {
            "protocol": "published", "method": "LCVQE", "data": "wine", "rate": 0.01,
            "accuracy": 1.0, "trial": 2, "seed": 1, "variant": "k + 1",
        }.items()
    ]  # fmt: skip
    keys = {cell.key("code") for cell in (CELL, *others)}
    assert len(keys) == len(others) + 1
    assert replace(CELL).key("code") == CELL.key("code") != CELL.key("other code")


def test_methods_and_variants_of_a_trial_share_their_links():
    same = replace(CELL, method="LCVQE", variant="k + 1", protocol="published")
    assert same.links_seed == CELL.links_seed
    for change in ({"trial": 2}, {"rate": 0.01}, {"accuracy": 1.0}, {"data": "wine"}, {"seed": 1}):
        assert replace(CELL, **change).links_seed != CELL.links_seed
    np.random.default_rng(CELL.links_seed)  # is a seed


def test_the_fingerprint_covers_the_library_but_not_what_shows_results():
    names = {file.name for file in code_files("grid")}
    assert {"links.py", "nearest.py", "protocols.py", "grid.py", "cells.py", "scoring.py"} <= names
    inside = {f"{file.parent.name}/{file.name}" for file in code_files("grid")}
    shown = ("table1", "runner", "store", "compare")
    assert not {"plots/partition.py", *(f"experiments/{name}.py" for name in shown)} & inside
    assert "flipped.py" in {file.name for file in code_files("flipped")}
    assert all(file.is_file() for file in code_files("grid"))
    assert len({code_fingerprint("grid"), code_fingerprint("flipped")}) == 2


def test_a_run_depends_on_its_cell_alone():
    one, two = CELL.run(), CELL.run()
    assert one == two
    assert isinstance(one, RunResult)
    assert one.K == 3
    assert one.F > 0.7
    with pytest.raises(KeyError):
        replace(CELL, method="nobody").run()
