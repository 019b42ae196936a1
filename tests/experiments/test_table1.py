"""Table 1: our means beside the printed ones."""

import pytest

from maylink.experiments import printed, table1

DATA = ("iris", "wine", "balance")


@pytest.fixture(scope="module")
def runs():
    return table1.run(DATA, "published", trials=20)


@pytest.mark.parametrize("name", DATA)
def test_rdp_means_is_within_five_hundredths_of_print(runs, name):
    means = table1.table(runs)
    assert abs(means.loc[("RDP-means", name), "F"] - printed.TABLE_1["RDP-means", name].f) < 0.05


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("method", ["K-means", "DP-means"])
def test_methods_without_links_are_within_five_hundredths_of_print(runs, method, name):
    means = table1.table(runs)
    assert abs(means.loc[(method, name), "F"] - printed.TABLE_1[method, name].f) < 0.05


def test_every_cell_is_run(runs):
    assert len(runs) == 3 * 3 * 3 * 4 * 20
    assert runs.groupby(["method", "data", "r", "p"]).size().eq(20).all()


def test_more_links_and_better_links_help(runs):
    ours = runs[runs.method == "RDP-means"].groupby(["r", "p"])["F"].mean()
    assert ours[0.05, 1.0] > ours[0.01, 1.0]
    assert ours[0.05, 1.0] > ours[0.05, 0.8]


def test_command(capsys, tmp_path):
    out = tmp_path / "runs.csv"
    table1.main(["--data", "iris", "--trials", "1", "--protocol", "stated", "--csv", str(out)])
    text = capsys.readouterr().out
    assert "protocol stated, 1 trials a cell" in text
    assert "RDP-means" in text
    assert len(out.read_text().splitlines()) == 1 + 3 * 12
