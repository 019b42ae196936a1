"""The deviation figure: who is told what."""

import pytest

from maylink.datasets import load
from maylink.experiments import deviation, grid
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.protocols import METHODS
from maylink.experiments.runner import run_cells
from maylink.experiments.store import ResultStore

CHOSEN = ("K-means", "LCVQE", "RDP-means", "links alone")


@pytest.fixture(scope="module")
def runs():
    cells = deviation.cells(RunPlan(("published", "stated"), ("iris",), CHOSEN, 1))
    with ResultStore(":memory:") as store:
        run_cells(cells, store, n_jobs=1, progress=False)
        return store.frame(cells)


def test_those_who_are_not_told_k_say_so():
    for method, fit in METHODS.items():
        assert (method in deviation.NOT_TOLD) == ("not told" in fit.__doc__), method


def test_numbers_of_clusters():
    assert set(deviation.CLUSTERS) == set(grid.DATA)
    for name in ("iris", "wine", "balance"):
        assert deviation.CLUSTERS[name] == len(load(name).classes)


def test_every_deviation_that_leaves_a_cluster_is_run(runs):
    told = runs[runs["method"] != "links alone"]
    assert set(told["variant"]) == {"-2", "-1", "0", "+1", "+2", "+3"}
    assert len(told) == 2 * 3 * 6
    assert len(runs) == len(told) + 1  # "links alone" has no published form
    many = deviation.cells(RunPlan(("stated",), ("ecoli",), ("K-means",), 1))
    assert [cell.variant for cell in many] == ["-3", "-2", "-1", "0", "+1", "+2", "+3"]


def test_k_means_finds_what_it_is_told(runs):
    part = runs[(runs["method"] == "K-means") & (runs["protocol"] == "stated")]
    assert part["K"].tolist() == [1, 2, 3, 4, 5, 6]


def test_no_deviation_is_the_run_of_the_grid():
    cell = Cell("deviation", "stated", "LCVQE", "iris", 0.03, 1.0, 0, 0, "0")
    assert cell.run() == Cell("grid", "stated", "LCVQE", "iris", 0.03, 1.0, 0).run()


def test_tables_and_figure(runs):
    tables = deviation.tables(runs)
    table = tables["stated: F"]
    assert list(table.columns) == ["-3", "-2", "-1", "0", "+1", "+2", "+3", "lost"]
    assert table.loc["links alone"].drop("lost").nunique() == 1
    assert table.loc["links alone", "lost"] == 0.0
    assert table.loc["K-means", "lost"] > 0.1
    assert len(deviation.figure(runs).axes) == 2
