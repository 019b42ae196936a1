"""All clusters at once against one cluster at a time."""

import numpy as np
import pytest

from maylink.kernels import predictive
from maylink.kernels.compile import compiled
from maylink.kernels.conjugate import make_clusters, prior_of, rows_of
from maylink.problem import Problem
from sampler_kernels import gain, put, refresh
from zoo import COLLAPSED, draw, example


@compiled()
def ask(prior, clusters, table, top, x, own, scratch, out):
    predictive.gains(prior, clusters, table, top, x, scratch, out)
    return predictive.loss(prior, clusters, table, own, x, scratch)


JOIN = np.log(np.maximum(np.arange(61.0), 1.0))
JOIN[0] = -np.inf


@pytest.mark.parametrize("name", COLLAPSED)
def test_gains_of_all_clusters_are_those_of_each(name):
    X, labels = draw(name, 60, 0, n_clusters=5)
    problem = Problem.build(X, None, example(name))
    prior = prior_of(problem.family.blocks(problem.prior))
    rows = rows_of(problem.family.likelihood_rows(problem.X)).dense
    d = prior.columns.shape[1]
    clusters, scratch = make_clusters(prior, 32), np.empty(d)
    for x, k in zip(rows, labels, strict=True):
        change = gain(prior, clusters, int(k), x, 1.0, scratch)
        put(prior, clusters, int(k), x, 1.0, change, scratch)
    table = predictive.make_table(prior, 32)
    for k in range(5):
        refresh(prior, clusters, table, k, JOIN)
    out = np.empty(32)
    for i in range(0, 60, 3):
        own = int(labels[i])
        lost = ask(prior, clusters, table, 8, rows[i], own, scratch, out)
        expected = [gain(prior, clusters, k, rows[i], 1.0, scratch) for k in range(5)]
        np.testing.assert_allclose(out[:5], expected, rtol=1e-9, atol=1e-9)
        assert lost == pytest.approx(gain(prior, clusters, own, rows[i], -1.0, scratch), rel=1e-9)
    assert table.join[:5].tolist() == np.log(np.bincount(labels, minlength=5)).tolist()
    assert np.all(table.join[5:] == -np.inf)


def test_a_lone_point_in_its_cluster():
    X, _ = draw("full-gaussian", 3, 0)
    problem = Problem.build(X, None, "full-gaussian")
    prior = prior_of(problem.family.blocks(problem.prior))
    rows = rows_of(problem.family.likelihood_rows(problem.X)).dense
    clusters, scratch = make_clusters(prior, 32), np.empty(rows.shape[1])
    for k in range(3):
        change = gain(prior, clusters, k, rows[k], 1.0, scratch)
        put(prior, clusters, k, rows[k], 1.0, change, scratch)
    table = predictive.make_table(prior, 32)
    for k in range(3):
        refresh(prior, clusters, table, k, JOIN)
    out = np.empty(32)
    lost = ask(prior, clusters, table, 8, rows[1], 1, scratch, out)
    assert lost == pytest.approx(gain(prior, clusters, 1, rows[1], -1.0, scratch))


@pytest.mark.parametrize("name", ["poisson", "multinomial"])
@pytest.mark.parametrize("most", [3, 40, 5000])
def test_large_counts_and_small_ones_in_one_row(name, most):
    rng = np.random.default_rng(most)
    X = np.floor(np.exp(rng.uniform(0.0, np.log(most), size=(40, 9)))) * (rng.random((40, 9)) < 0.7)
    X[:, 0] += 1.0
    problem = Problem.build(X, None, name)
    prior = prior_of(problem.family.blocks(problem.prior))
    rows = rows_of(problem.family.likelihood_rows(problem.X)).dense
    clusters, scratch = make_clusters(prior, 32), np.empty(rows.shape[1])
    for i, x in enumerate(rows):
        change = gain(prior, clusters, i % 3, x, 1.0, scratch)
        put(prior, clusters, i % 3, x, 1.0, change, scratch)
    table = predictive.make_table(prior, 32)
    for k in range(3):
        refresh(prior, clusters, table, k, JOIN)
    out = np.empty(32)
    for x in rows:
        ask(prior, clusters, table, 8, x, 0, scratch, out)
        expected = [gain(prior, clusters, k, x, 1.0, scratch) for k in range(3)]
        np.testing.assert_allclose(out[:3], expected, rtol=1e-9, atol=1e-8)
