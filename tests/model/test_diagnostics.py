"""Traces for ArviZ."""

import sys

import numpy as np
import pytest

from maylink import Links
from maylink.model.diagnostics import summary, to_arviz
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
