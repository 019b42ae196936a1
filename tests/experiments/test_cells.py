"""Cells: keys, seeds, and what the code's digest covers."""

from dataclasses import replace

import numpy as np
import pytest

from maylink.experiments import cells
from maylink.experiments.cells import Cell, code

CELL = Cell("grid", "stated", "K-means", "iris", 0.03, 0.9, 1)


def test_every_field_is_in_the_key():
    others = [
        replace(CELL, **{name: value})
        for name, value in {
            "protocol": "published", "method": "LCVQE", "data": "wine", "rate": 0.01,
            "accuracy": 1.0, "trial": 2, "seed": 1, "variant": "k + 1",
        }.items()
    ]  # fmt: skip
    keys = {cell.key for cell in (CELL, *others)}
    assert len(keys) == len(others) + 1
    assert replace(CELL).key == CELL.key


def test_methods_and_variants_of_a_trial_share_their_links():
    same = replace(CELL, method="LCVQE", variant="k + 1", protocol="published")
    assert same.links_seed == CELL.links_seed
    for change in ({"trial": 2}, {"rate": 0.01}, {"accuracy": 1.0}, {"data": "wine"}, {"seed": 1}):
        assert replace(CELL, **change).links_seed != CELL.links_seed
    np.random.default_rng(CELL.links_seed)  # is a seed


def test_other_code_is_another_key(monkeypatch, tmp_path):
    before = CELL.key
    monkeypatch.setattr(cells, "code", lambda experiment: "other")
    assert CELL.key != before


def test_the_digest_covers_the_library_but_not_what_shows_results(monkeypatch):
    seen = []
    read = cells.Path.read_bytes
    monkeypatch.setattr(cells.Path, "read_bytes", lambda path: seen.append(path.name) or read(path))
    code.cache_clear()
    assert len(code("grid")) == 16
    assert {"links.py", "nearest.py", "protocols.py", "grid.py", "cells.py"} <= set(seen)
    assert not {"plots.py", "table1.py", "runner.py", "store.py"} & set(seen)


def test_a_run_depends_on_its_cell_alone():
    one, two = CELL.run(), CELL.run()
    assert one == two
    assert set(one) == {"F", "ARI", "NMI", "F_unlinked", "ARI_unlinked", "K"}
    with pytest.raises(KeyError):
        replace(CELL, method="nobody").run()
