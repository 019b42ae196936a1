"""Whether intervals and probabilities hold."""

import numpy as np
import pytest

from maylink.experiments import coverage
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.runner import run_cells
from maylink.experiments.store import ResultStore


def cell(method, run=0, data="overlapping", links=2.0, sources=1):
    return Cell("coverage", "model", method, data, links, 0.9, run, 0, f"{sources}")


@pytest.fixture(scope="module")
def runs():
    methods = (coverage.DEFAULT, coverage.FACTORS, coverage.TRUE)
    cells = [cell(method, run) for run in range(2) for method in methods]
    cells += [cell(coverage.TRUE, run, sources=3) for run in range(100)]
    with ResultStore(":memory:") as store:
        run_cells(cells, store, n_jobs=1, progress=False)
        return store.frame(cells)


def test_every_cell_is_run():
    cells = coverage.cells(RunPlan(("stated",), (), None, 20))
    by_method = {method: sum(one.method == method for one in cells) for method in coverage.METHODS}
    settings = len(coverage.SETTINGS)
    assert by_method.pop(coverage.CHOSEN) == 20 * settings
    assert set(by_method.values()) == {200 * settings}


def test_draws_are_independent_and_shared_by_methods():
    one, same, other = (coverage.make_trial(c) for c in (cell("a"), cell("b"), cell("a", run=1)))
    np.testing.assert_array_equal(one.view.X, same.view.X)
    assert one.reliability == same.reliability != other.reliability
    assert (one.view.X != other.view.X).all()


def test_intervals_of_the_true_partition_hold(runs):
    part = runs[(runs["method"] == coverage.TRUE) & (runs["variant"] == "3")]
    for name in "pq":  # 300 intervals: three deviations around 95%
        assert 0.91 < part[f"{name}_held"].sum() / part["n_sources"].sum() < 0.985


def test_statements_are_counted_in_their_ranges():
    said, true = np.array([0.4, 0.6, 0.95, 0.99, 1.0]), np.array([1, 0, 1, 1, 0], bool)
    counted = coverage.in_ranges("pair", said, true)
    assert [counted[f"pair_n_{at}"] for at in range(4)] == [1, 0, 1, 2]
    assert [counted[f"pair_true_{at}"] for at in range(4)] == [0, 0, 1, 1]
    assert counted["pair_said_3"] == pytest.approx(1.99)


def test_tables_and_figure(runs):
    tables = coverage.tables(runs)
    assert list(tables) == [
        "95% intervals", "pairs, said / true", "new points, said / true",
        "suspect links, said / true",
    ]  # fmt: skip
    held = tables["95% intervals"]["p held"]
    assert held.between(0.0, 1.0).all()
    wide = tables["95% intervals"]["p width"]["overlapping", 2.0, "1"]
    assert wide[coverage.DEFAULT] > wide[coverage.TRUE]
    assert len(coverage.figure(runs).axes) == 3
    assert coverage.tables(runs[:0]) == {}
