"""Fits that time or the user ends: the best so far, and the status says why."""

import logging
import signal

import numpy as np
import pytest

from maylink import Gibbs, RDPMeans, TVClust
from maylink.datasets import make_two_view
from maylink.errors import MaylinkError
from maylink.parameters import as_time_budget
from maylink.solvers.fit import Status
from maylink.tuning.candidate_fits import CandidateFits

VIEW = make_two_view(60, rng=0)
NO_TIME = 1e-9


@pytest.mark.parametrize(
    "model",
    [
        TVClust(random_state=0),
        RDPMeans(random_state=0),
        TVClust(inference=Gibbs(n_chains=1, n_warmup=3, n_draws=3), n_jobs=1, random_state=0),
    ],
    ids=["TVClust", "RDPMeans", "Gibbs"],
)
def test_without_time_there_is_an_answer_that_says_so(model, caplog):
    with caplog.at_level(logging.INFO, "maylink"):
        model.set_params(time_budget=NO_TIME).fit(VIEW.X, links=VIEW.links)
    assert model.status_ is Status.OUT_OF_TIME
    assert model.labels_.shape == (60,)
    assert "time budget" in str(model.status_)
    assert "time budget" in caplog.text


def test_with_time_enough_it_is_the_same_fit():
    given = {"family": "gaussian", "scale": False, "neighbours": False, "random_state": 0}
    usual = RDPMeans(**given).fit(VIEW.X, links=VIEW.links)
    timed = RDPMeans(**given, time_budget="1h").fit(VIEW.X, links=VIEW.links)
    assert timed.status_ is usual.status_ is Status.CONVERGED
    np.testing.assert_array_equal(timed.labels_, usual.labels_)


def test_a_choice_that_time_cuts_short_tries_fewer(monkeypatch):
    tried = []
    fit = CandidateFits.posterior
    monkeypatch.setattr(
        CandidateFits, "posterior", lambda self, one: tried.append(one) or fit(self, one)
    )
    cut = TVClust(random_state=0, time_budget=NO_TIME).fit(VIEW.X, links=VIEW.links)
    assert len(tried) == 1
    assert cut.status_ is Status.OUT_OF_TIME


def test_ctrl_c_ends_the_race(monkeypatch, capfd):
    tried = []
    fit = CandidateFits.posterior

    def press(self, candidate):
        posterior = fit(self, candidate)
        tried.append(candidate)
        if len(tried) == 2:
            signal.raise_signal(signal.SIGINT)
        return posterior

    monkeypatch.setattr(CandidateFits, "posterior", press)
    model = TVClust(random_state=0).fit(VIEW.X, links=VIEW.links)
    assert len(tried) == 2
    assert model.status_ is Status.STOPPED
    assert "stopping after this sweep" in capfd.readouterr().err
    assert model.chosen_by_ == "evidence"  # nothing was compared by links
    assert model.held_out_ is None


@pytest.mark.parametrize("value", [0, -1.0, "soon", "5 days", "", True, np.inf, [1]])
def test_what_is_no_time_is_refused(value):
    with pytest.raises(MaylinkError, match=r"time_budget: .* is not a time"):
        RDPMeans(time_budget=value).fit(VIEW.X)


def test_times_in_words():
    assert [as_time_budget(text) for text in ("90", "60s", "5m", "1.5h", " 2 m")] == [
        90.0,
        60.0,
        300.0,
        5400.0,
        120.0,
    ]
