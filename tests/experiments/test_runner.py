"""The runner: nothing twice, nothing lost, whatever stops it."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from maylink.errors import InfeasibleLinksError
from maylink.experiments import grid
from maylink.experiments.cells import Cell, Plan
from maylink.experiments.runner import one, run
from maylink.experiments.store import Store

PLAN = Plan(("stated",), ("iris",), ("K-means", "LCVQE", "RDP-means"), 2)
CELLS = grid.cells(PLAN)
COMMAND = """
import sys
from maylink.experiments import grid
from maylink.experiments.cells import Plan
from maylink.experiments.runner import run
from maylink.experiments.store import Store
plan = Plan(("stated",), ("iris",), ("K-means", "LCVQE", "RDP-means"), 2)
with Store(sys.argv[1]) as store:
    print("ready", flush=True)
    run(grid.cells(plan), store, n_jobs=int(sys.argv[2]), shown=False)
"""


def results(path):
    with Store(path) as store:
        return store.frame(CELLS).drop(columns="seconds")


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "r.sqlite"
    with Store(path) as store:
        assert run(CELLS, store, n_jobs=1, shown=False) == len(CELLS) == 72
        assert run(CELLS, store, n_jobs=1, shown=False) == 0
    return results(path)


def test_processes_do_not_change_results(unbroken, tmp_path):
    with Store(tmp_path / "r.sqlite") as store:
        run(CELLS, store, n_jobs=2, shown=False)
    assert results(tmp_path / "r.sqlite").equals(unbroken)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal on this system")
def test_three_kills_at_random_moments_lose_and_change_nothing(unbroken, tmp_path):
    path = tmp_path / "r.sqlite"
    moment = random.Random(0)
    before = 0
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, str(path), "1"], stdout=subprocess.PIPE
        )
        process.stdout.readline()
        with Store(path) as store:
            while len(store) < before + 3 and process.poll() is None:
                time.sleep(0.01)
        time.sleep(moment.uniform(0.0, 0.1))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        with Store(path) as store:
            assert len(store) >= before + 3
            before = len(store)
    assert before < len(CELLS)
    with Store(path) as store:
        assert run(CELLS, store, n_jobs=1, shown=False) == len(CELLS) - before
    assert results(path).equals(unbroken)


def test_a_method_that_cannot_keep_the_links_has_failed(monkeypatch):
    def refuse(cell):
        raise InfeasibleLinksError("links: no assignment")

    monkeypatch.setattr(grid, "run", refuse)
    _, scores = one(CELLS[0])
    assert scores["failure"] == "links: no assignment"
    assert scores["seconds"] >= 0.0


def test_other_errors_name_the_cell():
    with pytest.raises(KeyError) as caught:
        one(Cell("grid", "stated", "nobody", "iris", 0.03, 0.9, 0))
    assert "method='nobody'" in caught.value.__notes__[0]
