"""Conventions: both ends are the two protocols, and each switch is one change."""

import numpy as np
import pytest

from maylink.datasets import load
from maylink.experiments import conventions, protocols
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.runner import run_cells
from maylink.experiments.store import ResultStore
from maylink.metrics import pair_f

PLAN = RunPlan(("stated",), ("iris",), None, 1)


def test_switches():
    every = set(conventions.SWITCHES)
    assert conventions.switched_on("stated") == set()
    assert conventions.switched_on("published") == every
    assert conventions.switched_on("stated, order") == {"order"}
    assert conventions.switched_on("published but order") == every - {"order"}


def test_cells_have_every_switch_from_both_ends():
    plan = PLAN._replace(methods=("RDP-means",))
    cells = conventions.cells(plan)
    assert len(cells) == 12 * 2 * len(conventions.SWITCHES)  # the row number is that of glass
    assert len(conventions.cells(plan._replace(data=("glass",)))) == 12 * 2 * 9
    n_others = sum(1 + len(switches) for switches in conventions.OTHERS.values())
    assert len(conventions.cells(PLAN)) == len(cells) + 12 * n_others


@pytest.mark.parametrize("end", ["stated", "published"])
def test_the_ends_are_the_protocols(end):
    """The same data, links and settings; only the seed of the runs may differ."""
    cell = Cell("conventions", "both", "RDP-means", "iris", 0.05, 1.0, 0, 0, end)
    task = protocols.make_task(load("iris"), 0.05, 1.0, end, cell.links_seed)
    labels = protocols.rdp_means(task)
    ours = conventions.fit(
        protocols.Task(task.X, task.links, task.k, "both", np.random.default_rng(1)),
        conventions.switched_on(end),
    )
    protocol_f, switched_f = (pair_f(load("iris").y, each) for each in (labels, ours))
    assert abs(protocol_f - switched_f) < 0.1


def test_tables_and_figure():
    cells = [c for c in conventions.cells(PLAN) if c.rate == 0.03 and c.accuracy == 0.9]
    with ResultStore(":memory:") as store:
        run_cells(cells, store, n_jobs=1, progress=False)
        runs = store.frame(cells)
    tables = conventions.tables(runs)
    others = {f"{method}, from published" for method in conventions.OTHERS}
    assert set(tables) == {"RDP-means, from stated", "RDP-means, from published"} | others
    assert tables["RDP-means, from stated"].loc["stated", "mean change"] == 0.0
    assert len(tables["RDP-means, from published"]) == len(conventions.SWITCHES)
    assert len(conventions.figure(runs).axes) == len(tables)
