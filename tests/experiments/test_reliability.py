"""What TVClust learns about its links."""

import pytest

from maylink.experiments import reliability
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.runner import run_cells
from maylink.experiments.store import ResultStore

ACCURACIES = (1.0, 0.9, 0.7)  # of those that are run here


@pytest.fixture(scope="module")
def runs():
    """TVClust on draws from the model; a third of the usual links, for the time it takes."""
    cells = [Cell("reliability", "stated", "TVClust", "two-view", 0.01, p, 0) for p in ACCURACIES]
    with ResultStore(":memory:") as store:
        run_cells(cells, store, n_jobs=1, progress=False)
        return store.frame(cells)


def test_every_cell_is_run():
    cells = reliability.cells(RunPlan(("published",), ("iris",), ("TVClust",), 1))
    assert len(cells) == 2 * 5
    assert {cell.protocol for cell in cells} == {"stated"}
    assert {cell.data for cell in cells} == {"iris", "two-view"}
    both = reliability.cells(RunPlan(("stated",), ("iris", "wine"), None, 2))
    assert len(both) == 2 * 3 * 5 * 2


def test_learned_reliability_follows_the_truth(runs):
    by_accuracy = runs[runs["data"] == "two-view"].set_index("p")
    for name in ("p_learned", "q_learned"):
        assert by_accuracy.loc[0.7, name] < by_accuracy.loc[0.9, name] < by_accuracy.loc[1.0, name]
        assert abs(by_accuracy.loc[0.9, name] - 0.9) < 0.05
    assert not by_accuracy.loc[1.0, ["p_held", "q_held"]].any()  # no Beta interval ends at 1


def test_the_most_suspect_links_are_wrong(runs):
    assert runs.loc[runs["p"] == 1.0, "precision"].isna().all()
    assert (runs.loc[runs["p"] == 0.9, "precision"].astype(float) > 0.8).all()


def test_wrong_links_are_nested():
    cells = [
        Cell("reliability", "stated", "TVClust", "two-view", 0.03, p, 0) for p in (1.0, 0.95, 0.8)
    ]
    (truth, none), (other, few), (_, many) = map(reliability.make_trial, cells)
    assert (truth.X == other.X).all()
    wrong = few.links.kind != none.links.kind
    more = many.links.kind != none.links.kind
    assert 0 < wrong.sum() < more.sum()
    assert (more | ~wrong).all()


def test_tables_and_figure(runs):
    table = reliability.tables(runs)["stated, r = 0.03, all data"]
    assert list(table.index) == [("TVClust", p) for p in ACCURACIES]
    assert table.loc[("TVClust", 1.0), "p in 95%"] == 0.0
    assert len(reliability.figure(runs).axes) == 4
