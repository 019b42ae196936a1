"""A variational posterior that draws when it is asked."""

import numpy as np
import pytest

import maylink as ml
from maylink.model.posterior import VariationalPosterior
from maylink.model.refined_posterior import RefinedPosterior

VIEW = ml.datasets.make_two_view(60, 2, reliability={"a": (0.9, 0.9), "b": (0.7, 0.7)}, rng=3)
GIVEN = {"family": "gaussian", "covariance": "spherical", "data_weight": 1.0, "random_state": 0}


@pytest.fixture
def model():
    return ml.TVClust(**GIVEN).fit(VIEW.X, links=VIEW.links)


def test_draws_are_made_once_and_when_they_are_asked_for(model):
    posterior = model.posterior_
    assert isinstance(posterior, RefinedPosterior)
    model.predict_proba(VIEW.X, links=VIEW.links)
    assert "sampled" not in vars(posterior)
    before = model.reliability_
    assert posterior.draws is posterior.draws
    assert len(posterior.draws.alpha) == 500
    assert before.equals(model.reliability_)


def test_without_links_no_draw_is_made_to_judge_them():
    model = ml.TVClust(**GIVEN).fit(VIEW.X)
    assert not len(model.reliability_)
    assert not len(model.suspect_links())
    assert model.summary().level == "no links"
    assert [part.size for part in model.posterior_.means()] == [0, 0]
    assert "sampled" not in vars(model.posterior_)


def test_the_same_seed_gives_the_same_intervals(model):
    again = ml.TVClust(**GIVEN).fit(VIEW.X, links=VIEW.links)
    again.suspect_links()  # whatever is asked first
    assert again.reliability_.equals(model.reliability_)


def test_all_that_is_told_comes_from_the_same_draws(model):
    draws = model.posterior_.draws
    np.testing.assert_allclose(model.reliability_["p"], draws.p.mean(axis=0))
    low = np.quantile(draws.q, 0.025, axis=0)
    np.testing.assert_allclose(model.reliability_["q_low"], low)
    matrix = model.coclustering()
    pairs = np.array([[0, 1], [5, 40]])
    np.testing.assert_allclose(model.coclustering(pairs), matrix[pairs[:, 0], pairs[:, 1]])
    shared = (draws.labels[:, 5] == draws.labels[:, 40]).mean()
    assert matrix[5, 40] == pytest.approx(shared)
    suspect = model.suspect_links().iloc[0]
    together = matrix[int(suspect["i"]), int(suspect["j"])]
    assert suspect["wrong"] in (pytest.approx(together), pytest.approx(1.0 - together))


def test_no_draws_leave_all_to_the_factors():
    inference = ml.Variational(interval_draws=0)
    model = ml.TVClust(**GIVEN, inference=inference).fit(VIEW.X, links=VIEW.links)
    assert isinstance(model.posterior_, VariationalPosterior)


def test_draws_are_saved_with_the_model(model, tmp_path):
    ml.save(model, tmp_path / "model.npz")
    loaded = ml.load(tmp_path / "model.npz")
    assert loaded.reliability_.equals(model.reliability_)
    assert loaded.suspect_links().equals(model.suspect_links())
    np.testing.assert_array_equal(loaded.coclustering(), model.coclustering())
    new = VIEW.X[:5]
    links = ml.Links.from_pairs(may=[(0, 62)], n=65)
    np.testing.assert_array_equal(
        loaded.predict_proba(new, links=links), model.predict_proba(new, links=links)
    )
