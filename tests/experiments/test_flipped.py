"""The experiment on flipped links: same links for all, every method run, failures counted."""

import numpy as np
import pytest

from maylink.baselines import all_baselines
from maylink.errors import InfeasibleLinksError
from maylink.experiments import flipped
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.protocols import METHODS
from maylink.experiments.runner import run_cells
from maylink.experiments.store import ResultStore

PLAN = RunPlan(("published", "stated"), ("wine",), ("K-means", "MRF mixture"), 1)


def results(cells):
    with ResultStore(":memory:") as store:
        run_cells(cells, store, n_jobs=1, progress=False)
        return store.frame(cells)


def test_every_method_is_there():
    assert set(METHODS) < set(flipped.methods())
    assert len(flipped.methods()) == len(METHODS) + 3
    docs = " ".join(fit.__doc__ for fit in flipped.methods().values())
    plain = {"PlainKMeans"}  # scikit-learn's own in the protocols
    assert all(name in docs or name in plain for name in all_baselines())


def test_every_cell_is_run():
    cells = flipped.cells(RunPlan(("published",), ("iris", "wine", "glass"), None, 2))
    assert len(cells) == 2 * 8 * 4 * (len(METHODS) + 3)
    assert {cell.protocol for cell in cells} == {"stated"}


@pytest.mark.parametrize("name", ["iris", "moons"])
def test_links_that_are_flipped_stay_so_when_more_are(name):
    cells = [Cell("flipped", "stated", "LCVQE", name, 0.05, p, 0) for p in flipped.ACCURACIES]
    drawn = [flipped.drawn(cell) for cell in cells]
    assert all((truth.X == drawn[0][0].X).all() for truth, _ in drawn)
    none, tenth, fifth, third = (task.links for _, task in drawn)
    assert none.n_links == int(0.05 * none.n**2 / 2)
    responsibilities = []
    for fewer, more in ((none, none), (none, tenth), (tenth, fifth), (fifth, third)):
        np.testing.assert_array_equal(none.i, more.i)
        np.testing.assert_array_equal(none.j, more.j)
        wrong = more.kind != none.kind
        assert (wrong | (fewer.kind == none.kind)).all()
        responsibilities.append(wrong.mean())
    np.testing.assert_allclose(responsibilities, [0.0, 0.1, 0.2, 0.3], atol=0.05)


def test_patterns_are_drawn_anew_in_each_trial():
    one, two = (Cell("flipped", "stated", "LCVQE", "moons", 0.05, 0.9, trial) for trial in (0, 1))
    assert (flipped.drawn(one)[0].X != flipped.drawn(two)[0].X).any()


def test_wrong_links_hurt_only_those_who_hear_them():
    runs = results([cell for cell in flipped.cells(PLAN) if cell.data == "wine"])
    by = runs.set_index(["method", "p"])["F"]
    assert by["K-means"].nunique() == 1
    assert by["MRF mixture", 1.0] > 0.95
    assert by["MRF mixture", 0.7] < by["MRF mixture", 1.0]
    assert len(flipped.figure(runs).axes) == 2


def test_failures_are_counted(monkeypatch):
    def refuse(task):
        if np.any(task.links.kind != right):
            raise InfeasibleLinksError("links: not all can be kept")
        return np.zeros(len(task.X), np.int64)

    cells = [cell for cell in flipped.cells(PLAN) if cell.data == "moons"]
    cells = [cell for cell in cells if cell.method == "K-means"]
    right = flipped.drawn(cells[0])[1].links.kind
    monkeypatch.setattr(flipped, "methods", lambda: {"K-means": refuse})
    table = flipped.table(results(cells), ["data", "method"])
    assert table.loc[("moons", "K-means"), "failed"].tolist() == [0.0, 1.0, 1.0, 1.0]
    assert table.loc[("moons", "K-means"), "F"].isna().tolist() == [False, True, True, True]
    assert list(table["F"].columns) == ["0%", "10%", "20%", "30%"]


@pytest.mark.parametrize("method", ["spectral", "seeded K-means", "constrained K-means"])
def test_further_methods_run(method):
    scores = Cell("flipped", "stated", method, "blobs", 0.05, 1.0, 0).run()
    assert scores["K"] == 4
    assert scores["F"] > 0.5
