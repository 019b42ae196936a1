"""The variational solver: a bound that never falls and never exceeds the evidence."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from exact import evidence, log_joints_of, some_links
from maylink import Links
from maylink.datasets import make_two_view
from maylink.errors import MaylinkError
from maylink.problem import Problem
from maylink.solvers import loop
from maylink.solvers.fit import Status
from maylink.solvers.gibbs import CollapsedSampler, GibbsSettings
from maylink.solvers.partition_weights import log_sticks, log_weights
from maylink.solvers.variational import (
    VariationalSettings,
    VariationalSolver,
    point_scores,
    pull_of,
)
from zoo import FAMILIES, draw, draw_pairs, example


def random_problem(name, n, seed):
    X, _ = draw(name, n, seed)
    i, j, kind, weight = zip(*draw_pairs(n, 2 * n, seed), strict=True)
    source = [("rule", "expert")[k % 2] for k in range(2 * n)]
    return Problem.build(X, Links(n, i, j, kind, weight=weight, source=source), example(name))


def fit(problem, start, **settings):
    solver = VariationalSolver(problem, problem.prior, VariationalSettings(**settings))
    return loop.run(solver, solver.init(np.array(start)))


def last_bounds(problem, starts, **settings):
    return [fit(problem, start, **settings).objective for start in starts]


STARTS = ([0] * 5, [0, 0, 0, 1, 1], range(5))


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("data_weight", [1.0, 0.2])
def test_the_bound_never_falls(name, seed, data_weight):
    problem = random_problem(name, 60, seed)
    start = np.random.default_rng(seed).integers(0, 6, 60)
    trace = fit(problem, start, data_weight=data_weight, tol=0.0, max_sweeps=40).trace
    bounds = trace.column("bound")
    assert np.diff(bounds).min() >= -1e-9 * np.abs(bounds).max()
    assert bounds[-1] > bounds[0]


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("reliability", [None, (0.8, 0.7)])
@pytest.mark.parametrize("contradictory", [False, True])
def test_the_bound_never_exceeds_the_evidence(name, reliability, contradictory):
    X, _ = draw(name, 5, 3, n_clusters=2)
    links = some_links(5, contradictory=contradictory, n_sources=2)
    problem = Problem.build(X, links, example(name))
    exact = evidence(problem, problem.prior, reliability=reliability)
    bounds = last_bounds(problem, STARTS, alpha=1.0, reliability=reliability)
    assert max(bounds) <= exact + 1e-9
    assert max(bounds) > exact - 8.0  # and it is not idle


def test_the_bound_of_a_learned_alpha_never_exceeds_the_evidence():
    X, _ = draw("gaussian", 5, 3, n_clusters=2)
    problem = Problem.build(X, some_links(5, contradictory=True, n_sources=1), "gaussian")
    gamma = stats.gamma(2.0, scale=1 / 1.5)
    alphas = gamma.ppf((np.arange(30) + 0.5) / 30)
    tables = log_joints_of(alphas, problem, problem.prior)
    exact = logsumexp([list(table.values()) for table in tables]) - np.log(30)
    bounds = last_bounds(problem, STARTS, alpha_prior=(2.0, 1.5))
    assert exact - 8.0 < max(bounds) <= exact + 0.05  # of the quadrature


def test_a_data_weight_bounds_the_weighted_evidence():
    X, _ = draw("full-gaussian", 6, 3, n_clusters=2)
    problem = Problem.build(X, None, "full-gaussian")
    exact = evidence(problem, problem.prior, data_weight=0.3)
    bound = fit(problem, [0] * 6, alpha=1.0, data_weight=0.3).objective
    assert exact - 8.0 < bound <= exact + 1e-9


def test_one_sweep_is_the_formula():
    """Linked points in sequence, by the formula of the model, in plain loops."""
    problem = random_problem("diagonal-gaussian", 20, 0)
    settings = VariationalSettings()
    solver = VariationalSolver(problem, problem.prior, settings)
    state = solver.init(np.random.default_rng(0).integers(0, 3, 20))
    expected = state.responsibilities.copy()
    factors = state.factors
    weights = factors.log_weights
    scores = point_scores(problem.family, problem.X, settings, factors.posterior, weights)
    pull = pull_of(problem.links, factors.counts, settings)
    csr = problem.links.csr
    degree = problem.links.degree
    for i in [*np.flatnonzero(degree == 0), *np.flatnonzero(degree > 0)]:
        weight = scores[i].copy()
        for e in range(csr.indptr[i], csr.indptr[i + 1]):
            weight += pull[e] * expected[csr.neighbour[e]]
        expected[i] = np.exp(weight - logsumexp(weight))
    np.testing.assert_allclose(solver.step(state).responsibilities, expected, atol=1e-12)


def test_weights_of_sticks_are_expectations():
    rng = np.random.default_rng(0)
    sticks = np.array([[3.0, 2.0], [1.5, 4.0], [2.0, 0.7]])
    v = rng.beta(sticks[:, 0], sticks[:, 1], (200_000, 3))
    left = np.cumprod(np.column_stack([np.ones(len(v)), 1.0 - v[:, :-1]]), axis=1)
    np.testing.assert_allclose(
        log_weights(log_sticks(sticks)), np.log(v * left).mean(axis=0), atol=0.02
    )


@pytest.mark.parametrize("seed", range(3))
def test_p_and_q_agree_with_those_of_the_sampler(seed):
    sources = {"good": (0.95, 0.9), "bad": (0.6, 0.7)}
    view = make_two_view(200, 3, reliability=sources, links_per_point=6, rng=seed)
    problem = Problem.build(view.X, view.links, "gaussian")
    counts = fit(problem, view.y).state.factors.counts
    right, wrong = 9.0, 1.0
    p = (right + counts.may_same) / (right + wrong + counts.may_same + counts.not_same)
    votes = counts.not_different + counts.may_different
    q = (right + counts.not_different) / (right + wrong + votes)
    sampler = CollapsedSampler(problem, None, GibbsSettings())
    rng = np.random.default_rng(seed)
    state, _ = sampler.step(sampler.init(view.y), 100, rng)
    _, draws = sampler.step(state, 300, rng)
    np.testing.assert_allclose(p, draws.p.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(q, draws.q.mean(axis=0), atol=0.02)


def test_it_says_why_it_stopped():
    problem = random_problem("gaussian", 40, 1)
    start = np.random.default_rng(0).integers(0, 4, 40)
    assert fit(problem, start).status is Status.CONVERGED
    short = fit(problem, start, max_sweeps=1, tol=0.0)
    assert short.status is Status.MAX_SWEEPS
    assert len(short.trace) == 2  # the start, and one sweep


def test_a_truncation_below_the_start_is_kept():
    problem = random_problem("gaussian", 40, 1)
    solver = VariationalSolver(problem, problem.prior, VariationalSettings(truncation=2))
    assert solver.init(np.arange(40) % 5).responsibilities.shape == (40, 2)


def test_more_responsibilities_than_fit_in_memory_are_refused():
    problem = random_problem("gaussian", 40, 1)
    with pytest.raises(MaylinkError, match=r"40 points times 6 clusters are too many.*truncation"):
        fit(problem, [0] * 40, most_entries=200)
    assert fit(problem, [0] * 40, most_entries=200, truncation=5).state is not None


def test_large_clusters_come_first():
    """Sticks expect them so; labels say the clusters that hold points, 0 to K − 1."""
    problem = random_problem("gaussian", 40, 1)
    solver = VariationalSolver(problem, problem.prior, VariationalSettings())
    start = np.repeat([0, 1, 2], [5, 25, 10])
    state = solver.init(start)
    assert state.factors.sizes[:4].tolist() == [25.0, 10.0, 5.0, 0.0]
    assert solver.labels(state).tolist() == np.repeat([2, 0, 1], [5, 25, 10]).tolist()
