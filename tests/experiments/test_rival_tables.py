"""The tables of rivals: means of the fits that ended, losses, and reasons in a word."""

import numpy as np
import pandas as pd
import pytest

from maylink.experiments import rival_tables

SCORES = {
    "TVClust": (0.9, 0.8), "RDP-means": (0.8, 0.85), "K-means": (0.7, 0.9),
    "active-semi COPKMeans": (1.0, None),
}  # fmt: skip


@pytest.fixture
def runs():
    rows = [
        {
            "method": name, "data": "iris", "variant": "random 2n", "p": p, "trial": 0,
            "F_unlinked": f, "ARI_unlinked": f, "fit_seconds": 0.5 if f else np.nan,
            "peak_mb": 3.0, "failure": None if f else "BadLinks: in 3 and 4",
        }
        for name, scores in SCORES.items()
        for p, f in zip((1.0, 0.9), scores, strict=True)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_summary_says_who_ended_and_who_won(runs):
    summary = next(iter(rival_tables.tables(runs).values()))
    cop = summary.loc["active-semi COPKMeans"]
    assert cop["ended"] == "1 of 2"
    assert cop["F"] == 1.0
    assert cop["against TVClust"] == "1/0/1"
    assert summary.loc["K-means", "against RDP-means"] == "1/0/1"
    assert not summary.loc["TVClust", "k told"]


def test_losses_name_the_best_rival(runs):
    losses = rival_tables.losses(rival_tables.with_columns(runs))
    assert losses["rival"].tolist() == ["active-semi COPKMeans", "K-means"]
    assert losses["RDP-means"].tolist() == [0.8, 0.85]
    none = rival_tables.losses(rival_tables.with_columns(runs.query("method == 'TVClust'")))
    assert none.empty


def test_reasons_are_words(runs):
    failures = rival_tables.failures(rival_tables.with_columns(runs))
    assert failures.index.tolist() == [("active-semi COPKMeans", "BadLinks")]
    assert failures["fits"].tolist() == [1]
    assert rival_tables.reason("missing: needs python3.12") == "needs python3.12"
    assert rival_tables.reason("timeout") == "timeout"


def test_fits_that_did_not_end_are_counted_beside_the_mean(runs):
    table = rival_tables.by_links(rival_tables.with_columns(runs))
    assert table.loc["active-semi COPKMeans"].tolist() == ["1.000", "–"]
    both = rival_tables.by_links(rival_tables.with_columns(runs.assign(p=1.0)))
    assert both.loc["active-semi COPKMeans"].tolist() == ["1.000 (1/2)"]


def test_no_runs_make_no_tables(runs):
    assert rival_tables.tables(runs[:0]) == {}
