"""Centres that go beyond the means: no sweep raises the objective, and fewer are needed."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from maylink import Links, RDPMeans, Schedule
from maylink.engines.choice import engine_of
from maylink.errors import MaylinkError
from maylink.problem import Problem
from maylink.solvers import loop
from maylink.solvers.rdpmeans import RDPMeansSettings, RDPMeansSolver, objective

N, D, K = 3000, 4, 12


def blobs(seed, family="gaussian", n=N):
    """Blobs that overlap, and links of which one in ten is wrong."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    X = 1.5 * rng.normal(size=(K, D))[y] + rng.normal(size=(n, D))
    i, j = rng.permutation(n)[: n // 5].reshape(2, -1)
    right = np.where(y[i] == y[j], 1, -1)
    links = Links(n, i, j, np.where(rng.random(i.size) < 0.1, -right, right))
    X = rng.poisson(np.exp(0.5 * X)) if family == "poisson" else X
    return X, links


def states_of(seed, stretch, family="gaussian", n=N):
    """The states of a run, one after the other."""
    X, links = blobs(seed, family, n)
    problem = Problem.build(X, links, family)
    settings = RDPMeansSettings(5.0 * D, xi_may=0.1, xi_not=0.1, keep="objective", stretch=stretch)
    solver = RDPMeansSolver(problem, engine_of(problem), settings)
    states = [solver.init(np.random.default_rng(seed).permutation(n))]
    fit = loop.run(solver, states[0], after_step=lambda state, rows: states.append(state))
    assert fit.state is states[-1]
    return solver, states


@pytest.mark.parametrize("stretch", [1.5, 2.0, 30.0])
@pytest.mark.parametrize("seed", range(3))
def test_no_sweep_raises_the_objective(seed, stretch):
    solver, states = states_of(seed, stretch)
    for before, after in pairwise(states[1:]):
        weights = (before.xi_may, before.xi_not)
        was = objective(solver.settings, before, weights)
        assert after.last.objective <= was + 1e-9 * abs(was)
    assert any(state.way is not None for state in states)
    still = replace(states[-1], way=None)
    assert solver.step(still).last.n_changed == 0  # as one from the means finds it


def test_a_sweep_that_would_raise_it_is_made_from_the_means(monkeypatch):
    places = []
    solver, states = states_of(0, 30.0)
    sweep = solver.engine.sweep

    def seen(labels, totals, centers, *rest):
        places.append(centers)
        return sweep(labels, totals, centers, *rest)

    monkeypatch.setattr(solver.engine, "sweep", seen)
    far = next(one for one in states if one.way is not None and np.abs(one.way).max() > 0.01)
    after, plain = solver.step(far), solver.step(replace(far, way=None))
    assert len(places) == 3
    assert not np.array_equal(places[0], far.centers)
    assert np.array_equal(places[1], far.centers)
    assert np.array_equal(solver.engine.given(after.labels), solver.engine.given(plain.labels))


def test_it_takes_fewer_sweeps():
    plain, fewer = (
        [len(states_of(seed, stretch, n=50_000)[1]) for seed in range(3)] for stretch in (1.0, 2.0)
    )
    assert sum(fewer) < 0.8 * sum(plain)


def test_labels_do_not_depend_on_threads():
    X, links = blobs(0)
    labels = [
        RDPMeans(
            cluster_penalty=5.0 * D, link_weight=None, n_init=2, n_jobs=n_jobs, random_state=0,
            schedule=Schedule(stretch=2.0),
        ).fit(X, links=links).labels_
        for n_jobs in (1, 2, 3)
    ]  # fmt: skip
    assert np.array_equal(labels[0], labels[1])
    assert np.array_equal(labels[0], labels[2])


def test_centres_of_counts_go_to_the_means():
    assert all(state.way is None for state in states_of(0, 2.0, "poisson")[1])


def test_it_is_no_less_than_1():
    with pytest.raises(MaylinkError, match="stretch"):
        RDPMeans(schedule=Schedule(stretch=0.5)).fit(np.eye(4))
