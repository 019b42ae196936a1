"""Rivals: their cells, contradicting links, and what a run says of a method that gives no fit."""

import sys

import numpy as np
import pytest

from maylink.experiments import peers, rivals, today
from maylink.experiments.cells import Cell, RunPlan, code_files
from maylink.experiments.rival_programs import OURS, RIVALS, Rival
from maylink.links import MAY

PLAN = RunPlan(("published", "stated"), ("iris",), None, 2)


def cell(method, variant="random 2n", p=1.0):
    return Cell("rivals", "stated", method, "iris", 4 / 150, p, 0, 0, variant)


def test_every_method_has_every_kind_of_links():
    cells = rivals.cells(PLAN)
    assert len(cells) == len(set(cells)) == 2 * 2 * 7 * len(RIVALS)
    quick = rivals.cells(PLAN._replace(quick=True))
    assert {one.variant for one in quick} == {"random 2n", "look-alike 2n", "contradicting 2n"}
    named = rivals.cells(PLAN._replace(methods=("K-means",)))
    assert {one.method for one in named} == {"K-means"}


def test_ours_are_told_nothing_and_have_all_links():
    assert all(not RIVALS[name].told_k and RIVALS[name].links == "all" for name in OURS)


def test_contradicting_links_say_both():
    truth = today.data_of("iris", 0, 0)
    links, _ = rivals.draw_links(cell("", "contradicting 2n"), truth)
    right = (truth.y[links.i] == truth.y[links.j]) == (links.kind == MAY)
    count = np.unique(links.pair_keys, return_counts=True)[1]
    assert links.n_links == 330
    assert (~right).sum() == 30
    assert (count > 1).sum() >= 30


def test_what_sees_no_links_is_fitted_once():
    one, two = cell("K-means").run(), cell("K-means", "contradicting 2n").run()
    assert one.K == two.K == 3
    assert one.more["fit_seconds"] == two.more["fit_seconds"]
    assert 0.7 < one.F_unlinked < 1.0


@pytest.mark.parametrize(
    ("fit", "said"),
    [("raise LookupError('no way')", "LookupError: no way"), ("time.sleep(60)", "timeout")],
)
def test_a_method_without_a_fit_says_why(fit, said, monkeypatch):
    program = f"def fit(X, may, may_not, k, seed):\n    {fit}\n"
    monkeypatch.setitem(RIVALS, "bad", Rival(program))
    monkeypatch.setattr(rivals, "PATIENCE", 0.3)
    assert cell("bad").run().failure == said
    assert ("bad" in rivals.too_slow("iris")) == (said == "timeout")
    monkeypatch.setattr(rivals, "ask", None)  # who was too slow is not asked again
    if said == "timeout":
        assert cell("bad", "contradicting 2n").run().failure == "timeout"
    rivals.too_slow("iris").discard("bad")


def test_a_rival_without_its_checkout_is_missing(monkeypatch):
    monkeypatch.delenv("MAYLINK_PCCC", raising=False)
    assert cell("PCCC").run().failure == "missing: no checkout is named by MAYLINK_PCCC"


def stub(folder, monkeypatch, files):
    """Modules in place of what is installed for a rival."""
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setattr(peers, "environment", lambda *_: sys.executable)


PCCC = """
import numpy as np
def pccc(X, n_clusters, sml, scl, perform_preprocessing, random_state):
    if len(X) > 150:
        raise RuntimeError("Model too large for size-limited license")
    assert not perform_preprocessing and sml.shape[1] == scl.shape[1] == 2
    return {"labels": (X[:, 2] > 2.5).astype(int)}
"""


def test_a_checkout_makes_the_row_of_pccc(tmp_path, monkeypatch):
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "pccc.py").write_text(PCCC)
    monkeypatch.setenv("MAYLINK_PCCC", str(checkout))
    stub(tmp_path, monkeypatch, {"gurobipy.py": "def setParam(name, value): pass\n"})
    found = cell("PCCC").run()
    assert found.K == 2
    assert 0.7 < found.F_unlinked < 0.8
    wine = Cell("rivals", "stated", "PCCC", "wine", 4 / 178, 1.0, 0, 0, "random 2n")
    assert wine.run().failure == "RuntimeError: Model too large for size-limited license"


BABAKI = """
def cop_kmeans(dataset, k, ml=[], cl=[]):
    assert isinstance(dataset[0], list) and isinstance(ml[0], tuple) and isinstance(cl[0], tuple)
    inside = set(ml) & set(cl)
    return (None, None) if inside else ([int(row[2] > 2.5) for row in dataset], None)
"""


def test_babakis_cop_kmeans_says_when_it_finds_nothing(tmp_path, monkeypatch):
    stub(tmp_path, monkeypatch, {"copkmeans-ht/cop_kmeans.py": BABAKI})
    assert cell("copkmeans-ht COPKMeans").run().K == 2
    contradicting = cell("copkmeans-ht COPKMeans", "contradicting 2n").run()
    assert contradicting.failure == "RuntimeError: finds no clusters"


def test_the_fingerprint_covers_how_rivals_are_called():
    names = {file.name for file in code_files("rivals")}
    assert {"rivals.py", "rival_programs.py", "peers.py", "today.py"} <= names
