"""The experiment on flipped links: same links for all, every method run, failures counted."""

import numpy as np
import pandas as pd
import pytest

from maylink.baselines import all_baselines
from maylink.experiments import flipped
from maylink.experiments.__main__ import main
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.protocols import METHODS
from maylink.experiments.runner import run_cells
from maylink.experiments.store import ResultStore

PLAN = RunPlan(("published", "stated"), ("wine",), ("K-means", "PCKMeans"), 1)


def results(cells):
    with ResultStore(":memory:") as store:
        run_cells(cells, store, n_jobs=1, progress=False)
        return store.frame(cells)


def test_every_method_is_there():
    assert set(METHODS) < set(flipped.methods())
    assert len(flipped.methods()) == len(METHODS) + 5
    docs = " ".join(fit.__doc__ for fit in flipped.methods().values())
    plain = {"PlainKMeans"}  # scikit-learn's own in the protocols
    assert all(name in docs or name in plain for name in all_baselines())


def test_every_cell_is_run():
    cells = flipped.cells(RunPlan(("published",), ("iris", "wine", "glass"), None, 2))
    assert len(cells) == 2 * 8 * 4 * (len(METHODS) + 5)
    assert {cell.protocol for cell in cells} == {"stated"}


@pytest.mark.parametrize("name", ["iris", "moons"])
def test_links_that_are_flipped_stay_so_when_more_are(name):
    cells = [Cell("flipped", "stated", "LCVQE", name, 0.05, p, 0) for p in flipped.ACCURACIES]
    trials = [flipped.make_trial(cell) for cell in cells]
    assert all((truth.X == trials[0][0].X).all() for truth, _ in trials)
    none, tenth, fifth, third = (task.links for _, task in trials)
    assert none.n_links == int(0.05 * none.n**2 / 2)
    proportions = []
    for fewer, more in ((none, none), (none, tenth), (tenth, fifth), (fifth, third)):
        np.testing.assert_array_equal(none.i, more.i)
        np.testing.assert_array_equal(none.j, more.j)
        wrong = more.kind != none.kind
        assert (wrong | (fewer.kind == none.kind)).all()
        proportions.append(wrong.mean())
    np.testing.assert_allclose(proportions, [0.0, 0.1, 0.2, 0.3], atol=0.05)


def test_patterns_are_drawn_anew_in_each_trial():
    one, two = (Cell("flipped", "stated", "LCVQE", "moons", 0.05, 0.9, trial) for trial in (0, 1))
    assert (flipped.make_trial(one)[0].X != flipped.make_trial(two)[0].X).any()


def test_wrong_links_hurt_only_those_who_hear_them():
    runs = results([cell for cell in flipped.cells(PLAN) if cell.data == "wine"])
    by = runs.set_index(["method", "p"])["F"]
    assert by["K-means"].nunique() == 1
    assert by["PCKMeans", 1.0] > 0.9
    assert by["PCKMeans", 0.7] < by["PCKMeans", 1.0]
    assert len(flipped.figure(runs).axes) == 2


def test_failures_are_counted():
    runs = pd.DataFrame({"data": "moons", "method": "COP-KMeans", "p": [1.0, 0.9, 0.8, 0.7] * 2})
    runs["F"] = [0.9, 0.8, np.nan, np.nan, 0.7, np.nan, np.nan, np.nan]
    runs = runs.assign(F_unlinked=runs["F"], ARI=runs["F"])
    row = flipped.table(runs, ["data", "method"]).loc[("moons", "COP-KMeans")]
    assert row["failed"].tolist() == [0.0, 0.5, 1.0, 1.0]
    assert row["F"].tolist() == pytest.approx([0.8, 0.8, np.nan, np.nan], nan_ok=True)
    assert list(row["F"].index) == ["0%", "10%", "20%", "30%"]


@pytest.mark.parametrize("method", [name for name in flipped.methods() if name not in METHODS])
def test_further_methods_run(method):
    result = Cell("flipped", "stated", method, "blobs", 0.05, 1.0, 0).run()
    assert result.K == 4 or method == "supervised clustering"  # k is not told
    assert result.F > 0.5


def test_further_methods_can_be_asked_for(tmp_path, capsys):
    places = ["--store", str(tmp_path / "runs.sqlite"), "--out", str(tmp_path), "--no-report"]
    wanted = ["--methods", "COP-COBWEB", "--data", "iris", "--trials", "1", "--jobs", "1"]
    main(["flipped", *wanted, *places])
    assert "COP-COBWEB" in capsys.readouterr().out
