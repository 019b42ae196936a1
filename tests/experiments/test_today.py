"""The table of today: its cells, its links, labels that no method sees, and its losses."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from maylink.datasets import Dataset, sample_links
from maylink.experiments import today, today_tables
from maylink.experiments.__main__ import main
from maylink.experiments.cells import Cell, LinkPlan, RunPlan
from maylink.links import MAY

PLAN = RunPlan(("published", "stated"), ("iris", "embeddings"), None, 3)


def cell(method="K-means", data="iris", pairs="random", count=2.0, p=0.9, trial=0, n=150):
    return Cell("today", "stated", method, data, 2 * count / n, p, trial, 0, f"{pairs} {count:g}n")


def test_every_cell_is_run_and_hindsight_when_asked_for():
    cells = today.cells(PLAN)
    assert len(cells) == len(set(cells)) == 3 * 2 * 2 * 3 * 3 * 7
    assert "hindsight" not in {one.method for one in cells}
    asked = today.cells(PLAN._replace(hindsight=True))
    assert {one.method for one in asked} == set(today.METHODS)
    named = today.cells(PLAN._replace(methods=("hindsight", "HDBSCAN")))
    assert {one.method for one in named} == {"hindsight", "HDBSCAN"}


def test_a_plan_chooses_among_links():
    quick = today.cells(PLAN._replace(quick=True))
    assert {(one.variant, one.accuracy, one.trial) for one in quick} == {
        ("random 2n", 0.9, 0), ("look-alike 2n", 0.9, 0)
    }  # fmt: skip
    links = LinkPlan(("look-alike",), (0.5, 4.0), (0.8,))
    chosen = today.cells(PLAN._replace(quick=True, links=links))
    assert {one.variant for one in chosen} == {"look-alike 0.5n", "look-alike 4n"}
    assert {one.accuracy for one in chosen} == {0.8}


def test_what_is_not_there_is_left_out(monkeypatch):
    monkeypatch.delenv("MAYLINK_DATA", raising=False)
    today.data_of.cache_clear()
    with pytest.warns(UserWarning, match=r"today goes without questions19: .*set MAYLINK_DATA"):
        cells = today.cells(PLAN._replace(data=("questions19", "iris"), quick=True))
    assert {one.data for one in cells} == {"iris"}


@pytest.mark.parametrize("pairs", today.PAIRS)
@pytest.mark.parametrize("count", today.COUNTS)
def test_links_are_as_many_as_told_and_wrong_ones_are_nested(pairs, count):
    truth = today.data_of("iris", 0, 0)
    drawn = [today.draw_links(cell("", pairs=pairs, count=count, p=p), truth)[0]
             for p in today.ACCURACIES]  # fmt: skip
    right, few, many = drawn
    assert all(abs(links.n_links - 150 * count) <= 1 for links in drawn)
    assert all(np.array_equal(links.pair_keys, right.pair_keys) for links in drawn)
    assert ((truth.y[right.i] == truth.y[right.j]) == (right.kind == MAY)).all()
    wrong = few.kind != right.kind
    assert (wrong <= (many.kind != right.kind)).all()


def test_simulated_data_are_drawn_anew_in_each_trial():
    one, two = (today.data_of("embeddings", 0, trial) for trial in (0, 1))
    assert not np.array_equal(one.X, two.X)


@pytest.mark.filterwarnings("ignore:.*did not converge", "ignore:.*had not settled")
@pytest.mark.parametrize(
    ("method", "counts"),
    [("TVClust", True), ("RDP-means", True), ("PCKMeans", True), ("PCKMeans", False),
     ("links alone", False)],
)  # fmt: skip
def test_no_method_sees_the_labels(method, counts):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 15)
    words = rng.poisson(np.where(y[:, None] == np.arange(6) % 2, 6.0, 1.0))
    X = sparse.csr_array(words.astype(float)) if counts else words + rng.normal(size=words.shape)
    truth = Dataset("drawn", X, y, ("a", "b"), "drawn here")
    links = sample_links(y, rate=0.1, rng=0)
    other = replace(truth, y=rng.permutation(y))
    fits = [today.with_links(method, one, links, np.random.default_rng(1))
            for one in (truth, other)]  # fmt: skip
    assert fits[0].labels.shape == (30,)
    assert np.array_equal(fits[0].labels, fits[1].labels)


def test_what_sees_no_links_is_fitted_once():
    results = [cell(p=p, pairs=pairs).run() for p in (1.0, 0.8) for pairs in today.PAIRS]
    assert len({result.F for result in results}) == 1
    assert len({result.more["fit_seconds"] for result in results}) == 1
    assert cell("HDBSCAN").run().K >= 2
    assert cell("K-means, scaled").run().K == 3


def test_points_of_noise_are_clusters_of_one():
    labels = np.array([0, -1, 1, -1, 0])
    assert today.noise_apart(labels).tolist() == [0, 2, 1, 3, 0]
    assert today.noise_apart(np.array([-1, -1])).tolist() == [0, 1]


@pytest.fixture
def runs():
    """TVClust wins on iris, and loses on wine but for what is within an error."""
    rows = []
    scores = {
        ("iris", "random 2n"): ([0.9, 0.8, 0.9], [0.7, 0.7, 0.7]),
        ("wine", "random 2n"): ([0.5, 0.6, 0.7], [0.8, 0.8, 0.8]),
        ("wine", "look-alike 4n"): ([0.7, 0.9, 0.79], [0.8, 0.8, 0.8]),
    }
    for (data, variant), by_method in scores.items():
        for method, values in zip(("TVClust", "K-means"), by_method, strict=True):
            rows += [(data, variant, 0.9, method, trial, f, 3, 0.25)
                     for trial, f in enumerate(values)]  # fmt: skip
    names = ["data", "variant", "p", "method", "trial", "F", "K", "fit_seconds"]
    return pd.DataFrame(rows, columns=names)


def test_tables(runs):
    summary, losses, means, clusters, seconds = today_tables.tables(runs).values()
    assert summary["above K-means"].tolist() == pytest.approx([0.5 / 3, -0.2])
    assert list(summary.index.get_level_values("data")) == ["iris", "wine"]
    assert list(losses.index) == [("wine", "random", "2n", 0.9)]
    assert means.loc[("iris", "random", "2n", 0.9), "TVClust"] == pytest.approx(2.6 / 3)
    assert means.loc[("iris", "random", "2n", 0.9), "± TVClust"] == pytest.approx(0.1 / 3)
    assert clusters.loc[("wine", "look-alike", "4n", 0.9), "K-means"] == "3.0"
    assert seconds["TVClust"].unique().tolist() == ["0.25"]
    assert today_tables.tables(runs[:0]) == {}


def test_one_trial_has_no_error_and_a_table_may_have_no_losses(runs):
    first = today_tables.tables(runs[runs["trial"] == 0])
    caption = next(name for name in first if name.startswith("losses"))
    assert len(first[caption]) == 2
    captions = list(today_tables.tables(runs[runs["data"] == "iris"]))
    assert not any(caption.startswith("losses") for caption in captions)
    assert "mean F" in today_tables.tables(runs[runs["method"] == "TVClust"])


def test_figure(runs):
    axes = today_tables.figure(runs).axes
    assert [axis.get_title() for axis in axes] == ["random pairs"]
    assert today_tables.figure(runs[runs["variant"] == "look-alike 4n"]) is None


def test_the_command(tmp_path, capsys):
    options = ["today", "--data", "iris", "--methods", "K-means", "PCKMeans", "--pairs", "random"]
    options += ["--links", "0.5", "2", "--no-report", "--jobs", "1"]
    options += ["--store", str(tmp_path / "s.sqlite"), "--out", str(tmp_path)]
    main(options)
    assert "4 runs in" in capsys.readouterr().out
    main(options)
    assert "\n0 runs in" in capsys.readouterr().out
    text = (tmp_path / "today.md").read_text()
    assert "| iris | random | 0.5n | 0.9 |" in text
    assert len(pd.read_csv(tmp_path / "today.csv")) == 4


def test_its_options_are_for_it_alone(capsys):
    with pytest.raises(SystemExit):
        main(["table1", "--pairs", "random"])
    assert "--pairs: only 'today' has such a choice" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["today", "--links", "3"])
    assert "invalid choice: 3.0" in capsys.readouterr().err
