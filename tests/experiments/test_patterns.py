"""The patterns: five runs whatever the plan, the best and the mean."""

import pytest

from maylink.datasets import PATTERNS
from maylink.experiments import patterns
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.protocols import METHODS, PUBLISHED
from maylink.experiments.runner import run_cells
from maylink.experiments.store import ResultStore


@pytest.fixture(scope="module")
def runs():
    cells = patterns.cells(RunPlan(("stated",), ("iris",), ("K-means", "LCVQE"), 1))
    cells = [cell for cell in cells if cell.data in ("blobs", "moons")]
    with ResultStore(":memory:") as store:
        run_cells(cells, store, n_jobs=1, progress=False)
        return store.frame(cells)


def test_five_runs_of_every_method_on_every_pattern():
    cells = patterns.cells(RunPlan(("published", "stated"), (), None, 2))
    assert len(cells) == 5 * len(PATTERNS) * (len(PUBLISHED) + len(METHODS))
    assert {(cell.rate, cell.accuracy) for cell in cells} == {(0.01, 1.0)}


def test_trials_share_the_pattern_and_not_the_links():
    one, two = (Cell("patterns", "stated", "K-means", "moons", 0.01, 1.0, t) for t in (0, 1))
    (truth, task), (other, again) = patterns.make_trial(one), patterns.make_trial(two)
    assert (truth.X == other.X).all()
    assert task.links != again.links
    assert task.links == patterns.make_trial(one)[1].links


def test_best_and_mean(runs):
    table = patterns.tables(runs)["stated: F"]
    part = runs[(runs["method"] == "LCVQE") & (runs["data"] == "moons")]["F"]
    assert len(part) == 5
    assert table.loc["LCVQE", ("best of 5", "moons")] == part.max()
    assert table.loc["LCVQE", ("mean", "moons")] == pytest.approx(part.mean())
    assert table["best of 5", "all"].ge(table["mean", "all"]).all()


def test_figure_shows_the_truth_and_each_method(runs):
    drawing = patterns.figure(runs)
    assert [axis.get_title() for axis in drawing.axes[:3]] == ["truth", "K-means", "LCVQE"]
    best = runs[(runs["method"] == "K-means") & (runs["data"] == "blobs")]["F"]
    assert f"F {best.max():.2f}" in drawing.axes[1].get_xlabel()
    assert all(axis.collections for axis in drawing.axes)
