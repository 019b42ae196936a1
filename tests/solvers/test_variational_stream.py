"""Streams: each batch is seen once; clusters, links and reliabilities are kept."""

from itertools import pairwise

import numpy as np
import pytest

from maylink import Links, TVClust
from maylink.datasets import make_two_view, sample_links
from maylink.errors import MaylinkError
from maylink.families import Gaussian
from maylink.metrics import pair_f
from maylink.problem import Problem
from maylink.solvers import loop
from maylink.solvers.variational import VariationalSettings, VariationalSolver
from maylink.solvers.variational_stream import StreamBatchSolver, VariationalStream
from zoo import true_links


class OneCluster:
    """The start of a batch: all its points are in one cluster."""

    needs_no_search = False

    def several(self, problem, count):
        return [np.zeros(problem.n, np.int64)] * count

    def later(self):
        return self


VIEW = make_two_view(150, 2, rng=3)
PROBLEM = Problem.build(VIEW.X, VIEW.links, "gaussian")


def stream_of(settings, cuts):
    stream = VariationalStream.begin(PROBLEM.family, PROBLEM.prior, settings)
    for low, high in pairwise(cuts):
        stream = stream.add(VIEW.X[low:high], VIEW.links[np.arange(high)], OneCluster())
    return stream


def test_the_bound_of_a_batch_never_falls():
    settings = VariationalSettings(tol=0.0, max_sweeps=25)
    stream = stream_of(settings, [0, 100])
    solver = StreamBatchSolver(stream, VIEW.X[100:], VIEW.links)
    size = len(stream.statistics.size)
    start = np.random.default_rng(0).dirichlet(np.ones(size + 3), 50)  # three clusters are new
    bounds = loop.run(solver, solver.init(start)).trace.column("bound")
    assert len(bounds) > 5
    assert np.diff(bounds).min() >= -1e-9 * np.abs(bounds).max()


def test_points_of_earlier_batches_do_not_move():
    settings = VariationalSettings()
    one, two = stream_of(settings, [0, 100]), stream_of(settings, [0, 100, 150])
    assert two.n == 150
    assert two.labels[:100].tolist() == one.labels.tolist()
    assert two.statistics.size.sum() == pytest.approx(150.0)
    points = PROBLEM.family.points(VIEW.X)
    np.testing.assert_allclose(two.sums.sum(axis=0), points.sum(axis=0), atol=1e-9)


def test_the_first_batch_is_a_variational_fit():
    settings = VariationalSettings(truncation=1)
    solver = VariationalSolver(PROBLEM, PROBLEM.prior, settings)
    whole = loop.run(solver, solver.init(np.zeros(150, np.int64))).state
    stream = stream_of(settings, [0, 150])
    np.testing.assert_allclose(stream.statistics.total, whole_statistics(whole).total)
    counts = stream.earlier_counts(VIEW.links.sources)
    np.testing.assert_allclose(counts, whole.factors.counts)


def whole_statistics(state):
    return PROBLEM.family.soft_statistics(PROBLEM.X, state.responsibilities)


# ---------------------------------------------------------------------- the estimator


def test_a_stream_finds_clusters_as_they_come():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0]])
    model = TVClust(Gaussian(), data_weight=1, random_state=0)
    for number in range(3):  # each batch brings a cluster that none had before
        y = rng.integers(0, number + 1, 80)
        model.partial_fit(centers[y] + rng.normal(size=(80, 2)))
    assert model.n_clusters_ == 3
    assert model.labels_.size == 240
    assert model.predict(centers).tolist() == [model.predict(c[None])[0] for c in centers]
    assert len(set(model.predict(centers).tolist())) == 3


def test_links_to_earlier_points_are_honoured():
    """Two overlapping clusters: only links tell which points of the second batch go where."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 2)) + np.where(y == 0, -0.6, 0.6)[:, None]
    order = rng.permutation(120)
    X, y = X[order], y[order]
    first, both = np.arange(60), true_links(y, 2000, 0)
    model = TVClust(Gaussian(), data_weight=1, random_state=0)
    model.partial_fit(X[:60], links=both[first]).partial_fit(X[60:], links=both)
    alone = TVClust(Gaussian(), data_weight=1, random_state=0)
    alone.partial_fit(X[:60], links=both[first]).partial_fit(X[60:])
    assert pair_f(y, model.labels_) > 0.97
    assert pair_f(y, model.labels_) > pair_f(y, alone.labels_) + 0.05


def test_a_stream_keeps_reliability_and_suspects():
    y = np.arange(200) % 2
    X = np.random.default_rng(0).normal(size=(200, 2)) + 8.0 * y[:, None]
    good, bad = (sample_links(y, 0.05, accuracy, rng=0) for accuracy in (0.95, 0.55))
    links = Links(200, good.i, good.j, good.kind, source=["good"] * good.n_links)
    links = links + Links(200, bad.i, bad.j, bad.kind, source=["bad"] * bad.n_links)
    model = TVClust(Gaussian(), data_weight=1, random_state=0)
    for low in range(0, 200, 50):
        model.partial_fit(X[low : low + 50], links=links[np.arange(low + 50)])
    assert len(model.suspect_links()) == links.n_links  # each link once
    assert model.reliability_.loc["good", "p"] == pytest.approx(0.95, abs=0.03)
    assert model.reliability_.loc["bad", "p"] == pytest.approx(0.55, abs=0.06)
    assert model.suspect_links()["wrong"].between(0, 1).all()


def test_points_that_come_one_by_one_open_clusters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) + np.where(np.arange(30) % 2, 0.0, 40.0)[:, None]
    prior = Gaussian().unit_prior(2)
    model = TVClust(Gaussian(), data_weight=1, prior=prior, random_state=0)
    for row in X:
        model.partial_fit(row[None])
    assert pair_f(np.arange(30) % 2, model.labels_) == 1.0


def test_a_feature_that_begins_to_vary_is_a_warning():
    rng = np.random.default_rng(0)
    first = np.column_stack([rng.normal(size=40), np.zeros(40)])
    model = TVClust(Gaussian(), data_weight=1, random_state=0).partial_fit(first)
    with pytest.warns(UserWarning, match="column 1 of X was constant"):
        model.partial_fit(first + [0.0, 3.0])


def test_a_stream_tells_how_sure_it_was_of_links():
    y = np.arange(120) % 2
    X = np.random.default_rng(0).normal(size=(120, 1)) + 2.5 * y[:, None]
    links = sample_links(y, 0.02, 0.8, rng=0)
    wrong = (
        TVClust(Gaussian(), data_weight=1, init="rdp-means", random_state=0)
        .partial_fit(X, links=links)
        .suspect_links()["wrong"]
    )
    assert ((wrong > 0.01) & (wrong < 0.99)).any()


def test_labels_to_start_from():
    y = np.arange(90) % 3
    X = np.random.default_rng(0).normal(size=(90, 2)) + 9.0 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    model = TVClust(Gaussian(), data_weight=1, init=y[:60], random_state=0)
    model.partial_fit(X[:60]).partial_fit(X[60:])
    assert pair_f(y, model.labels_) == 1.0


def test_errors():
    with pytest.raises(MaylinkError, match="partial_fit: only"):
        TVClust(inference="gibbs").partial_fit([[0.0], [1.0]])
    model = TVClust(Gaussian(), data_weight=1, random_state=0).partial_fit(
        np.random.default_rng(0).random((9, 2))
    )
    with pytest.raises(ValueError, match="3 features"):
        model.partial_fit(np.zeros((4, 3)))
    with pytest.raises(MaylinkError, match="keeps no data"):
        model.log_joint(np.zeros(9))
