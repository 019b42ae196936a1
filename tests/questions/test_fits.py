"""Fits inside an interview: when they are made, what they say, and how far they are believed."""

import numpy as np
import pandas as pd

import maylink as ml
from maylink.errors import MaylinkError
from maylink.questions import Answer, Interview
from maylink.questions.fits import FitOpinion, fitted_clusters

RINGS = ml.datasets.make_pattern("rings", rng=0)


def pairs_of_clusters(seed):
    """Three pairs of clusters that touch, which no tree of pieces cuts well."""
    rng = np.random.default_rng(seed)
    centers = np.repeat(8 * rng.normal(size=(3, 5)), 2, axis=0)
    step = rng.normal(size=(3, 5))
    centers[1::2] += 3.0 * step / np.linalg.norm(step, axis=1)[:, None]
    y = np.repeat(np.arange(6), 50)
    return centers[y] + rng.normal(size=(300, 5)), y


def answered(X, y, n, accuracy=0.9, **more):
    interview, rng = Interview(X, random_state=0, **more), np.random.default_rng(1)
    while len(interview.answers) < n:
        (asked,) = interview.questions(1)
        right = (y[asked.i] == y[asked.j]) == (rng.random() < accuracy)
        interview.add([Answer(asked.i, asked.j, 1 if right else -1)])
    return interview


def heard_at(interview):
    return [one.n_heard for one in interview._mind.fits]


def test_a_fit_is_made_whenever_there_are_twice_as_many_answers():
    X, y = pairs_of_clusters(0)
    interview = answered(X, y, 70)
    assert heard_at(interview) == [16, 32, 64]
    assert heard_at(answered(X, y, 20, refit=False)) == []
    assert heard_at(answered(X, y, 20, labels=y)) == [0]


def test_links_that_there_were_are_fitted_at_once():
    X, y = pairs_of_clusters(0)
    links = ml.sample_links(y, rate=0.002, rng=0)
    assert heard_at(Interview(X, links, random_state=0)) == [links.n_links]


def test_a_fit_that_foretells_well_is_believed():
    X, y = pairs_of_clusters(2)
    with_fits, without = (answered(X, y, 60, refit=refit) for refit in (True, False))
    found, usual = (ml.metrics.adjusted_rand(y, one.labels) for one in (with_fits, without))
    assert found > usual + 0.05
    assert with_fits._mind.believes_fit


def test_a_fit_that_foretells_badly_is_not_believed():
    interview = answered(RINGS.X, RINGS.y, 60)
    assert ml.metrics.adjusted_rand(RINGS.y, interview._mind.fits[-1].labels) < 0.5
    assert not interview._mind.believes_fit
    assert ml.metrics.adjusted_rand(RINGS.y, interview.labels) > 0.95


def test_an_answer_that_is_taken_back_takes_with_it_the_fits_that_heard_it():
    X, y = pairs_of_clusters(0)
    interview = answered(X, y, 40)
    last, early = interview.answers[-1], interview.answers[20]
    interview.take_back(last)
    assert heard_at(interview) == [16, 32]
    interview.take_back(early)
    assert heard_at(interview) == [16, 38]  # no other is due before 64
    interview.add([last])
    assert heard_at(interview) == [16, 38]


def test_a_fit_whose_last_answer_is_taken_back_is_made_again_when_it_is_due():
    X, y = pairs_of_clusters(0)
    interview = answered(X, y, 16)
    last = interview.answers[-1]
    interview.take_back(last)
    assert heard_at(interview) == []
    interview.add([last])
    assert heard_at(interview) == [16]


def test_fits_have_their_say_again_when_all_is_heard_again():
    X, y = pairs_of_clusters(0)
    mind = answered(X, y, 40)._mind
    before = mind._experts.weights.shape[0]
    mind._hear_again()
    assert mind._fit is mind.fits[-1]
    assert mind._experts.weights.shape[0] == before
    assert mind._latest_fit(15) is None
    assert [mind._latest_fit(n).n_heard for n in (16, 31, 32, 1000)] == [16, 16, 32, 32]


def test_rows_go_with_their_cluster_in_a_fit_that_is_believed():
    X, y = pairs_of_clusters(0)
    interview = Interview(X, labels=y, random_state=0)
    mind = interview._mind
    assert mind.believes_fit
    pieces = mind.outlook.clusters[mind.pieces.of_row]
    index = ml.metrics.adjusted_rand
    assert index(y, interview.labels) > index(y, pieces)
    assert index(y, interview.labels) > 0.95


def test_only_the_rows_that_are_named_are_fitted():
    X, y = pairs_of_clusters(0)
    rows = np.sort(np.random.default_rng(0).choice(300, 200, replace=False))
    labels = fitted_clusters(X, ml.sample_links(y, rate=0.01, rng=0), rows, seed=0)
    fit = FitOpinion(labels)
    np.testing.assert_array_equal(fit.seen, rows)
    assert fit.n_clusters == len(np.unique(labels[rows]))
    assert ml.metrics.adjusted_rand(y[rows], labels[rows]) > 0.7


def test_a_fit_is_that_at_which_rdp_means_begins():
    X, y = pairs_of_clusters(1)
    links = ml.sample_links(y, rate=0.01, rng=0)
    model = ml.RDPMeans(random_state=0).fit(X, links=links)
    labels = fitted_clusters(X, links, np.arange(300), seed=0)
    assert ml.metrics.adjusted_rand(model.labels_, labels) > 0.95


def test_fits_are_the_same_one_by_one_and_all_at_once():
    X, y = pairs_of_clusters(0)
    one_by_one = answered(X, y, 40)
    at_once = Interview(X, random_state=0)
    at_once.add(one_by_one.answers)
    assert heard_at(at_once) == heard_at(one_by_one) == [16, 32]
    for one, other in zip(at_once._mind.fits, one_by_one._mind.fits, strict=True):
        np.testing.assert_array_equal(one.labels, other.labels)


def test_answers_about_few_pairs_make_no_fit():
    """Of a table, too, which has no other way to choose its settings."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": np.repeat(["x", "y", "z"], 20)})
    frame.loc[3, "a"] = np.nan
    interview = Interview(frame, random_state=0)
    said = [Answer(i, i + 1, 1, source) for source in ("ann", "bob", "cid") for i in range(9)]
    interview.add(said)
    assert heard_at(interview) == []
    assert len(interview.answers) == 27


def test_data_that_cannot_be_fitted_make_no_fit(monkeypatch):
    def fails(*_):
        raise MaylinkError("X: cannot be fitted")

    monkeypatch.setattr("maylink.tuning.rdpmeans_views.tune", fails)
    X, y = pairs_of_clusters(0)
    interview = answered(X, y, 20)
    assert heard_at(interview) == []
    assert len(interview.answers) == 20
