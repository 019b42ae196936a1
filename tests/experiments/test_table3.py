"""Tables 2 and 3: by accuracy, and by rate and accuracy."""

import pytest

from maylink.experiments import paper_scores, table2, table3
from maylink.experiments.cells import RunPlan
from maylink.experiments.runner import run_cells
from maylink.experiments.store import ResultStore


@pytest.fixture(scope="module")
def runs():
    cells = table3.cells(RunPlan(("pilot",), ("iris",), ("RDP-means", "K-means"), 1))
    with ResultStore(":memory:") as store:
        run_cells(cells, store, n_jobs=1, progress=False)
        return store.frame(cells)


def test_every_cell_is_run(runs):
    assert len(runs) == 2 * 3 * 4
    assert set(zip(runs.r, runs.p, strict=True)) == set(paper_scores.BEST_OF_TABLE_3)


def test_the_best_of_ours_beside_the_best_printed(runs):
    best = table3.tables(runs)["pilot: the best of ours, the best printed"]
    assert best["F"].between(0.5, 1.0).all()
    assert best.loc[(0.05, 1.0), "best printed F"] == 1.0
    assert best.loc[(0.05, 1.0), "F reached"]
    assert (best["by (F)"] == "RDP-means").all()


def test_tables_and_figures(runs):
    means = table3.tables(runs)["pilot"]
    assert means.loc[("RDP-means", 0.05, 1.0), "F"] > 0.9
    assert (
        means.loc[("K-means", 0.05, 1.0), "printed F"]
        == paper_scores.TABLE_3["K-means", 0.05, 1.0].f
    )
    by_accuracy = table2.tables(runs)["pilot"]
    assert by_accuracy.loc[("RDP-means", 0.8), "printed F"] == 0.75
    for file in (table2, table3):
        assert file.figure(runs).axes
