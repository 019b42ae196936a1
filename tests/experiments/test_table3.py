"""Table 3: TVClust beside the best printed figures."""

import pytest

from maylink.experiments import printed, table3


@pytest.fixture(scope="module")
def runs():
    return table3.run(("iris", "wine"), ["TVClust, variational"], trials=1)


def test_every_cell_is_run(runs):
    assert len(runs) == 2 * 3 * 4
    assert set(zip(runs.r, runs.p, strict=True)) == set(printed.BEST_OF_TABLE_3)


def test_table(runs):
    table = table3.table(runs)
    assert table["TVClust, variational"].between(0.5, 1.0).all()
    assert table.loc[(0.05, 1.0), "best printed"] == 1.0
    assert table.loc[(0.05, 1.0), "TVClust, variational"] > 0.98


def test_command(capsys, tmp_path):
    out = tmp_path / "runs.csv"
    options = ["--data", "iris", "--methods", "RDP-means", "--trials", "1", "--csv", str(out)]
    table3.main(options)
    assert "best printed" in capsys.readouterr().out
    assert len(out.read_text().splitlines()) == 1 + 12
