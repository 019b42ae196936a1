"""The experiment on the choice of the penalty runs and compares what it says."""

from maylink.experiments import penalty
from maylink.families import all_families


def test_table(capsys):
    frame = penalty.table(draws=1, points=60)
    assert len(frame) == 2 * len(all_families())
    assert frame.stack().between(0, 1).all()
    penalty.main(["--draws", "1", "--points", "40"])
    assert "chosen from the data" in capsys.readouterr().out
