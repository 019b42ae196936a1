"""Batches of data at hand: a bound that never falls, and what the whole finds."""

import numpy as np
import pytest

from maylink import TVClust, Variational
from maylink.datasets import make_two_view
from maylink.families import Gaussian
from maylink.metrics import pair_f
from maylink.problem import Problem
from maylink.solvers import loop
from maylink.solvers.variational import VariationalSettings, VariationalSolver
from maylink.solvers.variational_batches import BatchSolver

VIEW = make_two_view(150, 2, rng=3)
PROBLEM = Problem.build(VIEW.X, VIEW.links, "gaussian")
ONE = np.zeros(150, np.int64)


def fit(solver, labels):
    return loop.run(solver, solver.init(labels))


def batches_of(batch_size, **settings):
    rng = np.random.default_rng(0)
    return BatchSolver(PROBLEM, PROBLEM.prior, VariationalSettings(**settings), batch_size, rng)


@pytest.mark.parametrize("batch_size", [7, 60, 1000])
@pytest.mark.parametrize("labels", [ONE, np.arange(150) % 5], ids=["one", "five"])
def test_the_bound_never_falls(batch_size, labels):
    bounds = fit(batches_of(batch_size, tol=0.0, max_sweeps=25), labels).trace.column("bound")
    assert np.diff(bounds).min() >= -1e-9 * np.abs(bounds).max()


def test_one_batch_is_a_sweep_over_all_points():
    """Of a known α; a learned one reaches the sticks a sweep earlier in batches."""
    whole = VariationalSolver(PROBLEM, PROBLEM.prior, VariationalSettings(alpha=1.0))
    parts = batches_of(150, alpha=1.0)
    labels = np.arange(150) % 5
    ours, theirs = parts.step(parts.init(labels)), whole.step(whole.init(labels))
    np.testing.assert_allclose(ours.responsibilities, theirs.responsibilities, atol=1e-9)
    assert ours.factors.bound == pytest.approx(theirs.factors.bound)


def test_every_point_is_in_one_batch_and_its_statistics_are_kept():
    solver = batches_of(40)
    assert [rows.size for rows in solver.batches] == [40, 40, 40, 30]
    assert sorted(np.concatenate(solver.batches)) == list(range(150))
    state = solver.step(solver.init(np.arange(150) % 5))
    for rows, statistics in zip(solver.batches, state.by_batch, strict=True):
        expected = PROBLEM.family.soft_statistics(PROBLEM.X[rows], state.responsibilities[rows])
        np.testing.assert_allclose(statistics.total, expected.total)


# ---------------------------------------------------------------------- the estimator


def model(batch_size=None, **options):
    inference = Variational(n_init=1, batch_size=batch_size, interval_draws=0)
    options = {"data_weight": 1, "random_state": 0} | options
    return TVClust(Gaussian(), inference=inference, **options)


@pytest.mark.parametrize("seed", range(3))
def test_batches_find_what_the_whole_finds(seed):
    view = make_two_view(400, 3, reliability={"a": (0.95, 0.95), "b": (0.7, 0.7)}, rng=seed)
    whole, parts = (model(size).fit(view.X, links=view.links) for size in (None, 80))
    assert pair_f(whole.labels_, parts.labels_) > 0.95
    np.testing.assert_allclose(parts.reliability_["p"], whole.reliability_["p"], atol=0.05)


Y = np.arange(90) % 3
X = np.random.default_rng(0).normal(size=(90, 2)) + 9.0 * np.array([[0, 0], [1, 0], [0, 1]])[Y]


@pytest.mark.parametrize("batch_size", [1, 5, 50])
def test_small_batches_find_clusters(batch_size):
    assert pair_f(Y, model(batch_size).fit(X).labels_) > 0.99


def test_labels_to_start_from():
    assert pair_f(Y, model(20, init=Y).fit(X).labels_) == 1.0
