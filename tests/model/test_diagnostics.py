"""Traces for ArviZ, and whether chains agree."""

import sys

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maylink import Links
from maylink.model.diagnostics import r_hats, summary, to_arviz, warn_unmixed
from maylink.model.draws import Draws


def some_draws(m, n_sources=1, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.beta(9, 1, (m, n_sources))
    labels = np.zeros((m, 3), np.int32)
    return Draws(labels, np.ones(m, int), rng.gamma(1.0, 1.0, m), rng.normal(size=m), p, p, p)


def test_independent_draws_look_independent():
    links = Links(3, [0], [1], [1], source=["rule"])
    table = summary(some_draws(800), [400, 400], links)
    assert table.loc["alpha", "r_hat"] == pytest.approx(1.0, abs=0.02)
    assert table.loc["p[rule]", "ess_bulk"] > 500


def test_chains_of_different_lengths_are_cut():
    data = to_arviz(some_draws(30, n_sources=0), [20, 10], Links.empty(3))
    assert data.posterior["alpha"].shape == (2, 10)
    np.testing.assert_allclose(data.posterior["alpha"][1], some_draws(30, n_sources=0).alpha[20:])


def test_without_arviz_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r"maylink\[arviz\]"):
        summary(some_draws(8), [8], Links.empty(3))


def moved(draws, by):
    """The same draws, but the second half of them is another chain, elsewhere."""
    shift = np.repeat([0.0, by], len(draws.alpha) // 2)
    return draws._replace(log_joint=draws.log_joint + shift)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:invalid value")
def test_r_hat_is_that_of_arviz():
    import arviz

    links = Links(3, [0], [1], [1], source=["rule"])
    draws = moved(some_draws(400), 1.0)
    ours = r_hats(draws, [200, 200], links)
    theirs = arviz.rhat(to_arviz(draws, [200, 200], links), method="split")
    assert ours["log joint"] == pytest.approx(float(theirs["log_joint"]))
    assert ours["alpha"] == pytest.approx(float(theirs["alpha"]))
    assert ours["p"] == pytest.approx(float(theirs["p"][0]))
    assert "clusters" not in ours  # it stands still


def test_chains_that_stand_still_apart_disagree():
    draws = some_draws(400)._replace(n_clusters=np.repeat([2, 3], 200))
    assert r_hats(draws, [200, 200], Links.empty(3))["clusters"] == np.inf


def test_chains_that_disagree_are_told():
    links = Links(3, [0], [1], [1], source=["rule"])
    with pytest.warns(ConvergenceWarning, match=r"R-hat of log joint is 2\.\d\d.*raise n_warmup"):
        warn_unmixed(moved(some_draws(400), 4.0), [200, 200], links)
    warn_unmixed(some_draws(400), [200, 200], links)
    warn_unmixed(moved(some_draws(40), 4.0), [20, 20], links)  # too few to tell
