"""The fit of a command."""

import numpy as np

import maylink as ml
from maylink.analysis.methods import MethodPlan
from maylink.cli.fitting import settings_near, tells_better
from maylink.questions import Answer, Interview

TVCLUST = MethodPlan("tvclust", "auto", "")


def answered(data, n):
    interview = Interview(data.X, random_state=0)
    for _ in range(n):
        (asked,) = interview.questions(1)
        kind = 1 if data.y[asked.i] == data.y[asked.j] else -1
        interview.add([Answer(asked.i, asked.j, kind)])
    return interview


def fitted(data, interview):
    """The fit near the clusters of the questions, and the usual one."""
    usual = ml.TVClust(random_state=0).fit(data.X, links=interview.links)
    settings = settings_near(interview.labels, TVCLUST, usual)
    near = ml.TVClust(random_state=0, **settings).fit(data.X, links=interview.links)
    return near, usual


def test_clusters_that_questions_found_keep_their_shape():
    rings = ml.datasets.make_pattern("rings", rng=0)
    interview = answered(rings, 40)
    near, usual = fitted(rings, interview)
    index = ml.metrics.adjusted_rand
    assert index(rings.y, near.labels_) > 0.95 > index(rings.y, usual.labels_)
    assert tells_better(interview.links, near, usual)
    assert near.held_out_ is None
    assert np.all(near.reliability_[["p", "q"]] > 0.8)


def test_where_a_family_fits_the_usual_fit_stays():
    blobs = ml.datasets.make_pattern("blobs", rng=0)
    interview = answered(blobs, 30)
    near, usual = fitted(blobs, interview)
    assert ml.metrics.adjusted_rand(blobs.y, usual.labels_) > 0.95
    assert not tells_better(interview.links, near, usual)
    assert not tells_better(None, near, usual)


def test_what_cannot_begin_at_clusters_does_without():
    start, model = np.zeros(10, np.int64), ml.TVClust()
    assert settings_near(start, MethodPlan("rdpmeans", "auto", ""), model) == {}
    assert settings_near(None, TVCLUST, model) == {}
    assert settings_near(start, TVCLUST, model)["neighbours"] == 5
    assert settings_near(start[:3], TVCLUST, model)["neighbours"] == 2
