"""``maylink predict``."""

from pathlib import Path

from command_line import run


def test_one_new_row_can_be_predicted(clustered, files, capsys):
    Path("one.csv").write_text("who,height,width\nnew,1.0,2.0\n")
    assert run("predict", clustered[1] / "model.npz", "one.csv", "--id", "who") == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("new,")


def test_filled_cells_are_counted(clustered, files, capsys):
    Path("two.csv").write_text("who,height,width\na,1.0,2.0\nb,,2.0\n")
    model = clustered[1] / "model.npz"
    assert run("predict", model, "two.csv", "--id", "who", "--missing", "median") == 0
    assert "filled with the median of their column here: 1" in capsys.readouterr().err
