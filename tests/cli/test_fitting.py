"""The fit of a command."""

import numpy as np

import maylink as ml
from maylink.analysis.methods import MethodPlan
from maylink.cli.fitting import settings_near
from maylink.questions import Answer, Interview


def answered(data, n):
    interview = Interview(data.X, random_state=0)
    for _ in range(n):
        (asked,) = interview.questions(1)
        kind = 1 if data.y[asked.i] == data.y[asked.j] else -1
        interview.add([Answer(asked.i, asked.j, kind)])
    return interview


def test_clusters_that_questions_found_keep_their_shape():
    rings = ml.datasets.make_pattern("rings", rng=0)
    interview = answered(rings, 40)
    settings = settings_near(interview.start_for_fit, MethodPlan("tvclust", "auto", ""))
    near, usual = (
        ml.TVClust(random_state=0, **some).fit(rings.X, links=interview.links)
        for some in (settings, {})
    )
    index = ml.metrics.adjusted_rand
    assert index(rings.y, near.labels_) > 0.95 > index(rings.y, usual.labels_)
    assert near.held_out_ is None
    assert np.all(near.reliability_[["p", "q"]] > 0.8)


def test_what_cannot_begin_at_clusters_does_without():
    start = np.zeros(10, np.int64)
    assert settings_near(start, MethodPlan("rdpmeans", "auto", "")) == {}
    assert settings_near(None, MethodPlan("tvclust", "auto", "")) == {}
    assert settings_near(start, MethodPlan("tvclust", "auto", ""))["neighbours"] == 5
    assert settings_near(start[:3], MethodPlan("tvclust", "auto", ""))["neighbours"] == 2
