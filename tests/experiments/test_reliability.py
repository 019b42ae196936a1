"""What TVClust learns about its links."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from maylink.datasets import Dataset
from maylink.experiments import reliability
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.runner import run_cells
from maylink.experiments.store import ResultStore
from maylink.links import Links
from maylink.tables.reading import read_table

ACCURACIES = (1.0, 0.9, 0.7)  # of those that are run here


@pytest.fixture(scope="module")
def runs():
    """TVClust on draws from the model; a third of the usual links, for the time it takes."""
    cells = [Cell("reliability", "stated", "TVClust", "two-view", 0.01, p, 0) for p in ACCURACIES]
    with ResultStore(":memory:") as store:
        run_cells(cells, store, n_jobs=1, progress=False)
        return store.frame(cells)


def test_every_cell_is_run():
    cells = reliability.cells(
        RunPlan(("published",), ("iris", "mixed table", "glass"), ("TVClust",), 1)
    )
    assert len(cells) == 2 * 5
    assert {cell.protocol for cell in cells} == {"stated"}
    assert {cell.data: cell.rate for cell in cells} == {"iris": 0.03, "mixed table": 0.01}
    both = reliability.cells(RunPlan(("stated",), reliability.SETS, None, 2))
    assert len(both) == 2 * 6 * 5 * 2


@pytest.mark.parametrize("name", reliability.FEW)
def test_two_links_a_point(name):
    cell = Cell("reliability", "stated", "TVClust", name, reliability.FEW[name], 0.9, 0)
    truth, task = reliability.make_trial(cell)
    assert abs(task.links.n_links - 2 * truth.y.size) <= 1
    assert task.X.shape[0] == truth.y.size


def test_the_table_has_columns_of_every_kind():
    frame, y = reliability.draw_table([0, 1, 2, 3])
    kinds = " ".join(read_table(frame).about())
    assert {"number:", "count:", "category:", "yes-no:"} <= set(kinds.split())
    assert len(frame) == len(y) == reliability.ROWS


def test_learned_reliability_follows_the_truth(runs):
    by_accuracy = runs[runs["data"] == "two-view"].set_index("p")
    for name in ("p_learned", "q_learned"):
        assert by_accuracy.loc[0.7, name] < by_accuracy.loc[0.9, name] < by_accuracy.loc[1.0, name]
        assert abs(by_accuracy.loc[0.9, name] - 0.9) < 0.05
    assert not by_accuracy.loc[1.0, ["p_held", "q_held"]].any()  # no Beta interval ends at 1


def test_the_most_suspect_links_are_wrong(runs):
    assert runs.loc[runs["p"] == 1.0, "precision"].isna().all()
    assert (runs.loc[runs["p"] == 0.9, "precision"].astype(float) > 0.8).all()


def test_sure_suspects_are_counted_as_they_stand_in_the_list():
    """Of five links the second and third are wrong; three are said to be, two of them rightly."""
    truth = Dataset("five", np.zeros((6, 1)), np.array([0, 0, 0, 1, 1, 1]), ("0", "1"), "made")
    links = Links(6, [0, 0, 0, 3, 4], [1, 2, 3, 4, 5], [1, -1, 1, 1, 1])
    said = pd.Series([0.1, 0.995, 0.999, 0.5, 0.9999], name="wrong").sort_values(ascending=False)
    row = dict.fromkeys(("p", "q", "p_low", "q_low", "p_high", "q_high"), 0.5)
    model = SimpleNamespace(reliability_=pd.DataFrame([row]), suspect_links=lambda: said.to_frame())
    found = reliability.link_measures(model, truth, links, 0.9)
    assert (found["wrong_links"], found["sure"], found["sure_wrong"]) == (2, 3, 2)
    assert found["precision"] == 0.5


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
    table = reliability.tables(runs)["stated, all data"]
    assert list(table.index) == [(0.01, "TVClust", p) for p in ACCURACIES]
    assert table.loc[(0.01, "TVClust", 1.0), "p in 95%"] == 0.0
    one = runs.set_index("p").loc[0.7]
    assert table.loc[(0.01, "TVClust", 0.7), "truly wrong"] == one["sure_wrong"] / one["sure"] > 0.9
    assert len(reliability.figure(runs).axes) == 4
