"""``maylink datasets``."""

import maylink as ml
from command_line import run


def test_datasets_are_listed(capsys):
    assert run("datasets") == 0
    out = capsys.readouterr().out
    assert all(name in out for name in (*ml.datasets.DATASETS, *ml.datasets.PATTERNS))


def test_datasets_are_written_with_links(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("datasets", "moons", "--out", "moons.csv", "--links", "moons_links.csv") == 0
    table = ml.read_data("moons.csv", id="id", keep_text=True)
    assert list(table.text) == ["label"]
    assert table.X.shape == (300, 2)
    links = ml.read_links("moons_links.csv", ids=table.ids)
    assert links.n_links == 4 * 300
    right = (table.text["label"][links.i] == table.text["label"][links.j]) == (links.kind == 1)
    assert 0.87 < right.mean() < 0.93
    assert run("datasets", "iris", "--out", "iris.csv") == 0
    assert ml.read_data("iris.csv", id="id", text="drop").X.shape == (150, 4)
