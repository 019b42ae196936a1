"""The experiment on flipped links: same links for all, every method run, failures counted."""

import numpy as np
import pytest

from maylink.baselines import Baseline, all_baselines
from maylink.baselines.base import Run
from maylink.errors import InfeasibleLinksError
from maylink.experiments import flipped

SEEN = []


class Brittle(Baseline):
    """Puts all points into one cluster, and gives up at every twentieth start."""

    def __init__(self, n_clusters=8, *, n_init=1, random_state=None):
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.random_state = random_state

    def _check_parameters(self):
        assert self.n_init == 10

    def _run(self, X, links, rng):
        SEEN.append((self.n_clusters, links))
        if len(SEEN) % 20 == 0:
            raise InfeasibleLinksError("links: not all can be kept")
        return Run(np.zeros(len(X), np.int64), np.zeros(1))


@pytest.fixture
def brittle(monkeypatch):
    SEEN.clear()
    monkeypatch.setattr(flipped, "all_baselines", lambda: {"Brittle": Brittle})


def test_every_method_is_there():
    assert set(flipped.methods()) == {*all_baselines(), "RDPMeans", "TVClust"}
    assert {"MRFDPMixture", "PlainKMeans", "PlainSpectral"} <= set(flipped.methods())


def test_failures_are_counted_and_k_is_told(brittle):
    """Ten starts a run, so that every second run fails."""
    runs = flipped.run(["moons"], ["Brittle"], trials=2)
    assert {k for k, _ in SEEN} == {2}
    assert runs["failed"].tolist() == [0, 1] * 4
    assert runs["F"].isna().tolist() == [False, True] * 4
    table = flipped.table(runs, ["data", "method"])
    assert table.loc[("moons", "Brittle"), "failed"].tolist() == [0.0, 1.0, 0.0, 1.0]
    assert table.loc[("moons", "Brittle"), "F"].isna().tolist() == [False, True, False, True]


def test_links_that_are_flipped_stay_so_when_more_are(brittle):
    flipped.run(["iris"], ["Brittle"], trials=1)
    none, tenth, fifth, third = (links for _, links in SEEN[::10])
    assert none.n_links == int(0.05 * 150**2 / 2)
    shares = []
    for fewer, more in ((none, none), (none, tenth), (tenth, fifth), (fifth, third)):
        np.testing.assert_array_equal(none.i, more.i)
        np.testing.assert_array_equal(none.j, more.j)
        wrong = more.kind != none.kind
        assert (wrong | (fewer.kind == none.kind)).all()
        shares.append(wrong.mean())
    np.testing.assert_allclose(shares, [0.0, 0.1, 0.2, 0.3], atol=0.05)


def test_command(capsys, tmp_path):
    out = tmp_path / "runs.csv"
    chosen = ["PlainKMeans", "PlainSpectral", "RDPMeans"]
    flipped.main(
        ["--data", "iris", "blobs", "--methods", *chosen, "--trials", "1", "--jobs", "1",
         "--csv", str(out)]
    )  # fmt: skip
    text = capsys.readouterr().out
    assert "r = 0.05, 1 trials a cell, seed 0" in text
    assert all(text.count(f"{name} ") == 3 for name in chosen)  # the means, and two data sets
    assert "failed" in text
    assert len(out.read_text().splitlines()) == 1 + 3 * 2 * 4


def test_wrong_links_hurt_only_those_who_hear_them():
    runs = flipped.run(["wine"], ["PlainKMeans", "MRFDPMixture"], trials=1)
    by = runs.set_index(["method", "flipped"])["F"]
    assert by["PlainKMeans"].nunique() == 1
    assert by["MRFDPMixture", 0.0] > 0.95
    assert by["MRFDPMixture", 0.3] < by["MRFDPMixture", 0.0]
