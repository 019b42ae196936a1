"""What every table and figure has in common."""

import inspect
import re

import pandas as pd
import pytest

from maylink.experiments import grid
from maylink.experiments.__main__ import main
from maylink.experiments.averages import trials_of
from maylink.experiments.cells import RunPlan
from maylink.experiments.exhibits import EXHIBITS, load_exhibit
from maylink.experiments.protocols import METHODS, SLOW, SLOWER, SLOWEST
from maylink.experiments.runner import run_cells
from maylink.experiments.store import ResultStore

TIDY = ("method", "data", "r", "p", "trial", "seed", "F", "ARI", "NMI", "F_unlinked",
        "ARI_unlinked", "K", "seconds")  # fmt: skip
STUDIES = ("penalty", "sources", "wrong_links")  # commands of their own
FULL = RunPlan(("published", "stated"), ("iris",), None, 3)
QUICK = FULL._replace(trials=2, quick=True)


@pytest.mark.parametrize("name", [*EXHIBITS, *STUDIES])
def test_files_of_exhibits_read_alike(name):
    module = load_exhibit(name)
    assert module.TITLE
    text = " ".join(module.__doc__.split())
    separator = " " if name in EXHIBITS else "."
    assert re.search(r"Paper: .+\. Protocol: .+\. Command: ``", text)
    assert text.endswith(f"Command: ``python -m maylink.experiments{separator}{name}``.")
    functions = [f.__name__ for f in vars(module).values()
                 if inspect.isfunction(f) and f.__module__ == module.__name__]  # fmt: skip
    order = ["cells", "run", "tables", "figure"] if name in EXHIBITS else ["main", "tables"]
    if name in ("table1", "table2", "table3"):  # their runs are those of the grid
        order.remove("run")
    assert functions[: len(order)] == order


@pytest.mark.filterwarnings(
    "ignore:table4 is left out", "ignore:heldout goes without", "ignore:annotators goes without"
)
@pytest.mark.parametrize("name", EXHIBITS)
def test_every_exhibit_yields_a_tidy_frame(name):
    wanted = load_exhibit(name).cells(FULL._replace(protocols=("stated",), trials=1))
    cheap = [cell for cell in wanted if cell.method in ("K-means", "DP-means")]
    cells = (cheap or wanted)[:1]
    if not cells:
        pytest.skip("its data are not here")
    with ResultStore(":memory:") as store:
        run_cells(cells, store, n_jobs=1, progress=False)
        frame = store.frame(cells)
    assert set(TIDY) <= set(frame)
    assert frame[list(TIDY)].notna().all(axis=None)
    assert len(frame) == 1


@pytest.mark.filterwarnings(
    "ignore:table4 is left out", "ignore:heldout goes without", "ignore:annotators goes without"
)
@pytest.mark.parametrize("name", EXHIBITS)
def test_the_quick_run_is_a_part_of_the_full_one(name):
    quick, full = (set(load_exhibit(name).cells(plan)) for plan in (QUICK, FULL))
    assert quick <= full
    assert quick or not full


def test_the_quick_run_spares_slow_methods():
    assert {*SLOW, SLOWEST} <= set(METHODS)
    trials = {method: set() for method in METHODS}
    for cell in grid.cells(QUICK):
        trials[cell.method].add(cell.trial)
    for method, numbers in trials.items():
        assert numbers == (set() if method == SLOWEST else {0} if method in SLOW else {0, 1})
    for name in ("deviation", "patterns", "flipped"):
        methods = {cell.method for cell in load_exhibit(name).cells(QUICK)}
        assert not methods & {*SLOWER, SLOWEST}
        assert "TVClust" in methods
    assert {cell.trial for cell in load_exhibit("deviation").cells(QUICK)} == {0}


def test_a_method_that_is_named_is_not_spared():
    named = (*SLOW, SLOWEST)
    plan = QUICK._replace(methods=named)
    assert {cell.trial for cell in grid.cells(plan)} == {0, 1}
    assert {cell.method for cell in load_exhibit("patterns").cells(plan)} == set(named)


def test_tables_say_when_some_cells_have_fewer_trials():
    runs = pd.DataFrame({"method": ["a", "a", "b"], "data": "iris", "trial": [0, 1, 0]})
    assert trials_of(runs) == "at most 2 trials a cell"
    assert trials_of(runs[:2]) == "2 trials a cell"
    assert trials_of(runs[2:]) == "1 trial a cell"


def test_tables_without_runs_of_a_method_are_left_out(tmp_path, capsys):
    options = ["--methods", "hindsight", "--data", "iris", "--no-report", "--jobs", "1"]
    options += ["--store", str(tmp_path / "s.sqlite"), "--out", str(tmp_path)]
    with pytest.raises(SystemExit, match="table1, table3: no runs of hindsight"):
        main(["table1", "table3", *options])
    with pytest.raises(SystemExit, match="2"):
        main(["table1", "--methods", "foresight"])
    assert "invalid choice: 'foresight'" in capsys.readouterr().err
