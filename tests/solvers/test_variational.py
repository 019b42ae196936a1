"""The variational solver: a bound that never falls and never exceeds the evidence."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from exact import evidence, log_joints, some_links
from maylink import Links
from maylink.datasets import make_two_view
from maylink.problem import Problem
from maylink.solvers import gibbs
from maylink.solvers.fit import Status
from maylink.solvers.variational import (
    Settings,
    init,
    log_weights,
    point_scores,
    pull_of,
    solve,
    step,
)
from zoo import FAMILIES, draw, draw_pairs, example


def random_problem(name, n, seed):
    X, _ = draw(name, n, seed)
    i, j, kind, weight = zip(*draw_pairs(n, 2 * n, seed), strict=True)
    source = [("rule", "expert")[k % 2] for k in range(2 * n)]
    return Problem.build(X, Links(n, i, j, kind, weight=weight, source=source), example(name))


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("data_weight", [1.0, 0.2])
def test_the_bound_never_falls(name, seed, data_weight):
    problem = random_problem(name, 60, seed)
    prior = problem.family.default_prior(problem.X)
    settings = Settings(data_weight=data_weight, tol=0.0, max_sweeps=40)
    start = np.random.default_rng(seed).integers(0, 6, 60)
    bounds = solve(problem, prior, settings, start).bounds
    assert np.diff(bounds).min() >= -1e-9 * np.abs(bounds).max()
    assert bounds[-1] > bounds[0]


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("reliability", [None, (0.8, 0.7)])
@pytest.mark.parametrize("contradictory", [False, True])
def test_the_bound_never_exceeds_the_evidence(name, reliability, contradictory):
    X, _ = draw(name, 6, 3, n_clusters=2)
    links = some_links(6, contradictory=contradictory, n_sources=2)
    problem = Problem.build(X, links, example(name))
    prior = problem.family.default_prior(problem.X)
    exact = evidence(problem, prior, reliability=reliability)
    settings = Settings(alpha=1.0, reliability=reliability)
    starts = ([0] * 6, [0, 0, 0, 1, 1, 1], range(6))
    bounds = [solve(problem, prior, settings, np.array(z)).bounds[-1] for z in starts]
    assert max(bounds) <= exact + 1e-9
    assert max(bounds) > exact - 8.0  # and it is not idle


def test_the_bound_of_a_learned_alpha_never_exceeds_the_evidence():
    X, _ = draw("gaussian", 6, 3, n_clusters=2)
    problem = Problem.build(X, some_links(6, contradictory=True, n_sources=1), "gaussian")
    prior = problem.family.default_prior(problem.X)
    gamma = stats.gamma(2.0, scale=1 / 1.5)
    alphas = gamma.ppf((np.arange(60) + 0.5) / 60)
    tables = [list(log_joints(problem, prior, alpha=alpha).values()) for alpha in alphas]
    exact = logsumexp(tables) - np.log(60)
    settings, starts = Settings(alpha_prior=(2.0, 1.5)), ([0] * 6, [0, 0, 0, 1, 1, 1], range(6))
    bounds = [solve(problem, prior, settings, np.array(z)).bounds[-1] for z in starts]
    assert exact - 8.0 < max(bounds) <= exact + 0.05  # of the quadrature


def test_a_data_weight_bounds_the_weighted_evidence():
    X, _ = draw("full-gaussian", 6, 3, n_clusters=2)
    problem = Problem.build(X, None, "full-gaussian")
    prior = problem.family.default_prior(problem.X)
    exact = evidence(problem, prior, data_weight=0.3)
    bound = solve(problem, prior, Settings(alpha=1.0, data_weight=0.3), np.zeros(6, int)).bounds[-1]
    assert exact - 8.0 < bound <= exact + 1e-9


def test_one_sweep_is_the_formula():
    """Shares of linked points in sequence, by the formula of the model, in plain loops."""
    problem = random_problem("diagonal-gaussian", 20, 0)
    prior, settings = problem.family.default_prior(problem.X), Settings()
    state = init(problem, prior, settings, np.random.default_rng(0).integers(0, 3, 20))
    expected = state.responsibilities.copy()
    factors = state.factors
    scores = point_scores(problem.family, problem.X, settings, factors.posterior, factors.sticks)
    pull = pull_of(problem.links, factors.counts, settings)
    csr = problem.links.csr
    degree = problem.links.degree
    for i in [*np.flatnonzero(degree == 0), *np.flatnonzero(degree > 0)]:
        weight = scores[i].copy()
        for e in range(csr.indptr[i], csr.indptr[i + 1]):
            weight += pull[e] * expected[csr.neighbour[e]]
        expected[i] = np.exp(weight - logsumexp(weight))
    np.testing.assert_allclose(
        step(problem, prior, settings, state).responsibilities, expected, atol=1e-12
    )


def test_weights_of_sticks_are_expectations():
    rng = np.random.default_rng(0)
    sticks = np.array([[3.0, 2.0], [1.5, 4.0], [2.0, 0.7]])
    v = rng.beta(sticks[:, 0], sticks[:, 1], (200_000, 3))
    left = np.cumprod(np.column_stack([np.ones(len(v)), 1.0 - v[:, :-1]]), axis=1)
    np.testing.assert_allclose(log_weights(sticks), np.log(v * left).mean(axis=0), atol=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_p_and_q_agree_with_those_of_the_sampler(seed):
    sources = {"good": (0.95, 0.9), "bad": (0.6, 0.7)}
    view = make_two_view(200, 3, reliability=sources, links_per_point=6, rng=seed)
    problem = Problem.build(view.X, view.links, "gaussian")
    prior = problem.family.default_prior(problem.X)
    counts = solve(problem, prior, Settings(), view.y).state.factors.counts
    right, wrong = 9.0, 1.0
    p = (right + counts.may_same) / (right + wrong + counts.may_same + counts.not_same)
    votes = counts.not_different + counts.may_different
    q = (right + counts.not_different) / (right + wrong + votes)
    sampler = gibbs.Sampler(problem, prior, gibbs.Settings())
    rng = np.random.default_rng(seed)
    state, _ = sampler.step(sampler.init(view.y), 100, rng)
    _, draws = sampler.step(state, 300, rng)
    np.testing.assert_allclose(p, draws.p.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(q, draws.q.mean(axis=0), atol=0.02)


def test_it_says_why_it_stopped():
    problem = random_problem("gaussian", 40, 1)
    prior = problem.family.default_prior(problem.X)
    start = np.random.default_rng(0).integers(0, 4, 40)
    assert solve(problem, prior, Settings(), start).status is Status.CONVERGED
    short = solve(problem, prior, Settings(max_sweeps=1, tol=0.0), start)
    assert short.status is Status.MAX_SWEEPS


def test_a_truncation_below_the_start_is_kept():
    problem = random_problem("gaussian", 40, 1)
    prior = problem.family.default_prior(problem.X)
    state = init(problem, prior, Settings(truncation=2), np.arange(40) % 5)
    assert state.responsibilities.shape == (40, 2)
