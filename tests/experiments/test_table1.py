"""Table 1: our means beside the printed ones."""

import pytest

from maylink.experiments import grid, paper_scores, table1
from maylink.experiments.__main__ import main
from maylink.experiments.cells import RunPlan
from maylink.experiments.runner import run_cells
from maylink.experiments.scoring import RunResult
from maylink.experiments.store import ResultStore

DATA = ("iris", "wine", "balance")
TRIALS = 3
WITHIN = ("K-means", "DP-means", "RDP-means")


@pytest.fixture(scope="module")
def runs():
    cells = table1.cells(RunPlan(("published",), DATA, WITHIN, TRIALS))
    with ResultStore(":memory:") as store:
        run_cells(cells, store, n_jobs=1, progress=False)
        return store.frame(cells)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("method", WITHIN)
def test_means_are_within_five_hundredths_of_print(runs, method, name):
    means = table1.tables(runs)["published"]
    assert means.loc[(method, name), "printed F"] == paper_scores.TABLE_1[method, name].f
    assert abs(means.loc[(method, name), "F − printed"]) < 0.05


def test_every_cell_is_run(runs):
    assert len(runs) == 3 * 3 * 3 * 4 * TRIALS
    assert runs.groupby(["method", "data", "r", "p"]).size().eq(TRIALS).all()


def test_more_links_and_better_links_help(runs):
    ours = runs[runs.method == "RDP-means"].groupby(["r", "p"])["F"].mean()
    assert ours[0.05, 1.0] > ours[0.01, 1.0]
    assert ours[0.05, 1.0] > ours[0.05, 0.8]


def test_command(capsys, tmp_path):
    options = [
        "table1", "--data", "iris", "--trials", "1", "--protocol", "stated", "--jobs", "1",
        "--methods", "K-means", "LCVQE", "--out", str(tmp_path), "--store", str(tmp_path / "r"),
    ]  # fmt: skip
    main(options)
    text = capsys.readouterr().out
    assert "Table 1: by data set; stated; 1 trial a cell" in text
    assert "24 runs in" in text
    assert len((tmp_path / "table1.csv").read_text().splitlines()) == 1 + 24
    assert (tmp_path / "table1.png").stat().st_size > 5000
    main(options)
    assert "\n0 runs in" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["table9"])


def test_figures_that_are_printed():
    assert len(paper_scores.TABLE_1) == 6 * 5
    assert len(paper_scores.TABLE_2) == 6 * 4
    assert len(paper_scores.TABLE_3) == 6 * 12
    assert paper_scores.BEST_OF_TABLE_3[0.01, 0.8].f == 0.6
    assert set(grid.DATA) == {name for _, name in paper_scores.TABLE_1}


def test_ctrl_c_says_what_is_kept(monkeypatch, tmp_path):
    finished = []

    def stopped_after_five(cell):
        if len(finished) == 5:
            raise KeyboardInterrupt
        finished.append(cell)
        return cell, RunResult(F=0.5)

    monkeypatch.setattr("maylink.experiments.runner.run_cell", stopped_after_five)
    options = [
        "table1", "--data", "iris", "--trials", "1", "--protocol", "stated", "--jobs", "1",
        "--methods", "K-means", "--out", str(tmp_path), "--store", str(tmp_path / "r"),
    ]  # fmt: skip
    with pytest.raises(SystemExit, match=r"stopped; 5 of 12 runs are kept in .*goes on from there"):
        main(options)
    with ResultStore(tmp_path / "r") as store:
        assert len(store) == 5
