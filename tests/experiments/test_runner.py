"""The runner: nothing twice, nothing lost, whatever stops it."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from maylink.experiments import grid
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.runner import run_cell, run_cells
from maylink.experiments.store import ResultStore

PLAN = RunPlan(("stated",), ("iris",), ("K-means", "LCVQE"), 2)
CELLS = grid.cells(PLAN)
COMMAND = """
import sys
from maylink.experiments import grid
from maylink.experiments.cells import RunPlan
from maylink.experiments.runner import run_cells
from maylink.experiments.store import ResultStore
plan = RunPlan(("stated",), ("iris",), ("K-means", "LCVQE"), 2)
with ResultStore(sys.argv[1]) as store:
    print("ready", flush=True)
    run_cells(grid.cells(plan), store, n_jobs=1, progress=False)
"""


def results(path, cells=CELLS):
    with ResultStore(path) as store:
        return store.frame(cells).drop(columns="seconds")


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "r.sqlite"
    with ResultStore(path) as store:
        assert run_cells(CELLS, store, n_jobs=1, progress=False) == len(CELLS) == 48
        assert run_cells(CELLS, store, n_jobs=1, progress=False) == 0
    return results(path)


def test_processes_do_not_change_results(unbroken, tmp_path):
    with ResultStore(tmp_path / "r.sqlite") as store:
        run_cells(CELLS[:6], store, n_jobs=2, progress=False)
    assert results(tmp_path / "r.sqlite", CELLS[:6]).equals(unbroken[:6])


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal on this system")
def test_kills_at_random_moments_lose_and_change_nothing(unbroken, tmp_path):
    path = tmp_path / "r.sqlite"
    moment = random.Random(0)
    before = 0
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, str(path)], stdout=subprocess.PIPE
        )
        process.stdout.readline()
        with ResultStore(path) as store:
            while len(store) < before + 3 and process.poll() is None:
                time.sleep(0.01)
        time.sleep(moment.uniform(0.0, 0.1))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        with ResultStore(path) as store:
            assert len(store) >= before + 3
            before = len(store)
    assert before < len(CELLS)
    with ResultStore(path) as store:
        assert run_cells(CELLS, store, n_jobs=1, progress=False) == len(CELLS) - before
    assert results(path).equals(unbroken)


def test_a_method_that_cannot_fulfil_the_links_has_failed():
    _, result = run_cell(Cell("grid", "stated", "COP-KMeans", "iris", 0.05, 0.8, 0))
    assert result.failure.startswith("links: ")
    assert result.F is None
    assert result.seconds >= 0.0


def test_other_errors_name_the_cell():
    with pytest.raises(KeyError) as caught:
        run_cell(Cell("grid", "stated", "nobody", "iris", 0.03, 0.9, 0))
    assert "method='nobody'" in caught.value.__notes__[0]
