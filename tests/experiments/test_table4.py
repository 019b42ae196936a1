"""Table 4 on small counts in place of the pictures."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from maylink.datasets import Dataset, load
from maylink.experiments import paper_scores, table4
from maylink.experiments.cells import RunPlan
from maylink.experiments.runner import run_cells
from maylink.experiments.store import ResultStore
from maylink.families import Multinomial

PLAN = RunPlan(("published", "stated"), ("iris",), None, 1)


def counts(n=90, d=12, k=3):
    """Rows of very unequal totals from three distributions: squared distances see totals first."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % k
    share = rng.dirichlet(np.full(d, 0.5), k)
    totals = rng.choice([20, 400], n)
    X = np.array([rng.multinomial(t, share[c]) for t, c in zip(totals, y, strict=True)], float)
    return Dataset("small", sparse.csr_array(X), y, tuple("abc"), "simulated")


def test_the_pictures_can_be_loaded(data_folder):
    assert len(table4.cells(PLAN)) == 2 * 22
    truth = load(table4.DATA)
    assert truth.X.shape == (1000, 1000)
    assert len(truth.classes) == 10


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Small counts in a folder, under the name of the pictures."""
    data = counts()
    folder = tmp_path_factory.mktemp("data")
    (folder / "counts").mkdir()
    sparse.save_npz(folder / "counts" / f"{table4.DATA}.npz", data.X)
    names = pd.Series(np.array(data.classes)[data.y], name="label")
    names.to_csv(folder / "counts" / f"{table4.DATA}_labels.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAYLINK_DATA", str(folder))
        yield data


@pytest.fixture(scope="module")
def runs(small):
    cells = table4.cells(PLAN)
    with ResultStore(":memory:") as store:
        run_cells(cells, store, n_jobs=1, progress=False)
        return store.frame(cells)


def test_table_and_curve_come_from_the_same_runs(runs):
    assert set(runs["protocol"]) == {"pilot", "stated"}
    # Six of the table, and three curves of which two begin in it.
    assert len(runs) == 2 * (6 + 3 * 6 - 2)
    tables = table4.tables(runs)
    table = tables["stated, r = 0.01"]
    assert table["printed F"].to_dict() == paper_scores.TABLE_4
    assert table.loc[("K-means", "multinomial"), "F"] > 0.95
    assert table.loc[("K-means", "gaussian"), "F"] < 0.8
    curve = tables["pilot: F by rate"]
    assert list(curve.columns) == list(table4.RATES)
    assert curve.loc[("RDP-means", "multinomial"), 0.01] == pytest.approx(
        tables["pilot, r = 0.01"].loc[("RDP-means", "multinomial"), "F"]
    )
    assert len(table4.figure(runs).axes) == 4


def test_k_means_of_divergences_finds_k_clusters_and_a_lower_distortion_than_one_start(small):
    family = Multinomial(0.3)
    labels = table4.k_means(small.X, 3, family, np.random.default_rng(0))
    assert set(labels.tolist()) == {0, 1, 2}
    adapted = family.adapt(small.X)
    points = adapted.points(small.X).toarray()

    def distortion(labels):
        centers = np.array([points[labels == k].mean(axis=0) for k in range(3)])
        table = adapted.divergence(small.X, adapted.centroid(centers))
        return table[np.arange(len(labels)), labels].sum(), table

    least, table = distortion(labels)
    assert (table.argmin(axis=1) == labels).all()  # a fixed point of Lloyd's algorithm
    start, largest = table4._spread_out(small.X, 3, family, np.random.default_rng(1))
    assert least <= distortion(start)[0]
    assert largest > 0


def test_methods_and_families_of_a_trial_share_their_links(small):
    seeds = {tuple(cell.links_seed) for cell in table4.cells(PLAN) if cell.rate == 0.01}
    assert len(seeds) == 1


def test_without_the_data_the_table_is_left_out_with_a_warning(monkeypatch):
    monkeypatch.delenv("MAYLINK_DATA", raising=False)
    with pytest.warns(UserWarning, match="table4 is left out: .*set MAYLINK_DATA"):
        cells = table4.cells(PLAN)
    with ResultStore(":memory:") as store:
        runs = store.frame(cells)
    assert table4.tables(runs) == {}
    assert table4.figure(runs) is None
