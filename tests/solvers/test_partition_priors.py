"""Samplers and variational fits under other priors of the partition than the Dirichlet process."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from exact import (
    evidence,
    log_joints,
    log_joints_of,
    posterior,
    some_links,
    total_variation,
)
from geweke import z_scores
from maylink import Links
from maylink.model.partition_priors import Microclustering, PitmanYor, UniformPartitions
from maylink.problem import Problem
from maylink.solvers import loop
from maylink.solvers.gibbs import CollapsedSampler, GibbsSettings
from maylink.solvers.instantiated import InstantiatedSampler
from maylink.solvers.variational import VariationalSettings, VariationalSolver
from maylink.solvers.variational_batches import BatchSolver
from zoo import draw, example

PRIORS = [PitmanYor(0.6), Microclustering(), UniformPartitions(1.0), Microclustering(2.0, 1.0)]
MOVES = {
    "both": {"n_split_merge": 1},
    "points": {"n_split_merge": 0},
    "split and merge": {"n_split_merge": 2, "single_site": False},
}


def small_problem(n=5, seed=0, n_sources=2):
    X, _ = draw("gaussian", n, seed, n_clusters=2)
    return Problem.build(X, some_links(n, contradictory=True, n_sources=n_sources), "gaussian")


def draws_of(kind, problem, settings, n_draws):
    sampler, rng = kind(problem, None, settings), np.random.default_rng(0)
    state, _ = sampler.step(sampler.init(np.zeros(problem.n, np.int64)), 100, rng)
    return sampler, sampler.step(state, n_draws, rng)[1]


# ---------------------------------------------------------------------- samplers


@pytest.mark.parametrize("prior", PRIORS[:3])
@pytest.mark.parametrize("moves", MOVES)
def test_draws_have_the_exact_posterior(prior, moves):
    problem = small_problem(n_sources=1)  # Geweke's test has two, which take ten times as long
    settings = GibbsSettings(alpha=0.8, partition_prior=prior, **MOVES[moves])
    sampler, draws = draws_of(CollapsedSampler, problem, settings, 30_000)
    exact = posterior(problem, sampler.prior, alpha=0.8, partition_prior=prior)
    assert total_variation(draws.labels, exact) < 0.02


@pytest.mark.parametrize("prior", PRIORS[:3])
def test_draws_with_parameters_have_the_exact_posterior(prior):
    X, _ = draw("gaussian", 4, 0, n_clusters=2)
    problem = Problem.build(X, Links(4, [0, 1], [1, 2], [1, -1]), "gaussian")
    settings = GibbsSettings(alpha=0.8, partition_prior=prior)
    sampler, draws = draws_of(InstantiatedSampler, problem, settings, 1000)
    exact = posterior(problem, sampler.prior, alpha=0.8, partition_prior=prior)
    assert total_variation(draws.labels, exact) < 0.08


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("kind", [CollapsedSampler, InstantiatedSampler])
def test_the_log_joint_of_a_draw_is_exact(prior, kind):
    """Components of the prior are averaged out."""
    problem = small_problem()
    settings = GibbsSettings(alpha=0.8, partition_prior=prior)
    sampler, draws = draws_of(kind, problem, settings, 30)
    exact = log_joints(problem, sampler.prior, alpha=0.8, partition_prior=prior)
    expected = [exact[tuple(z)] for z in draws.labels.tolist()]
    np.testing.assert_allclose(draws.log_joint, expected, atol=1e-8)


def averaged_over_alpha(problem, prior, partition_prior, gamma):
    """log p(x, E, z) of every partition, α integrated out on a grid, and the mean of α."""
    alphas = gamma.ppf((np.arange(30) + 0.5) / 30)
    tables = log_joints_of(alphas, problem, prior, partition_prior=partition_prior)
    joints = {z: logsumexp([table[z] for table in tables]) - np.log(30) for z in tables[0]}
    by_alpha = np.array([logsumexp(list(table.values())) for table in tables])
    return joints, float(alphas @ np.exp(by_alpha - logsumexp(by_alpha)))


def test_a_learned_alpha_is_integrated_out():
    problem, prior = small_problem(n_sources=1), PitmanYor(0.4)
    settings = GibbsSettings(alpha_prior=(2.0, 1.5), partition_prior=prior)
    sampler, draws = draws_of(CollapsedSampler, problem, settings, 30_000)
    gamma = stats.gamma(2.0, scale=1 / 1.5)
    joints, mean = averaged_over_alpha(problem, sampler.prior, prior, gamma)
    total = logsumexp(list(joints.values()))
    exact = {z: float(np.exp(value - total)) for z, value in joints.items()}
    assert total_variation(draws.labels, exact) < 0.02
    assert draws.alpha.mean() == pytest.approx(mean, rel=0.03)


@pytest.mark.parametrize("prior", PRIORS[:3])
def test_geweke(prior):
    settings = GibbsSettings(n_split_merge=1, partition_prior=prior)

    def make(problem, family_prior):
        return CollapsedSampler(problem, family_prior, settings)

    scores = z_scores(example("gaussian"), make, steps=400, seed=1, partition_prior=prior)
    assert np.abs(scores).max() < 4.0


def test_chains_of_components_go_on_from_their_state():
    problem = small_problem()
    sampler = CollapsedSampler(problem, None, GibbsSettings(partition_prior=Microclustering()))
    rng = np.random.default_rng(0)
    states = [sampler.init(np.zeros(5, np.int64))]
    for _ in range(40):
        states.append(sampler.step(states[-1], 1, rng)[0])
    assert len({state.component for state in states}) > 3
    assert all(state.alpha == 1.0 for state in states)


# ---------------------------------------------------------------------- variational


def fit(problem, start, **settings):
    solver = VariationalSolver(problem, problem.prior, VariationalSettings(**settings))
    return loop.run(solver, solver.init(np.array(start)))


@pytest.mark.parametrize(
    "prior", [PitmanYor(0.3), PitmanYor(0.9), Microclustering(), UniformPartitions(1.0)]
)
@pytest.mark.parametrize("alpha", [None, 0.7])
@pytest.mark.parametrize("seed", range(2))
def test_the_bound_never_falls(prior, alpha, seed):
    problem = small_problem(60, seed)
    start = np.random.default_rng(seed).integers(0, 8, 60)
    settings = {"partition_prior": prior, "alpha": alpha, "tol": 0.0, "max_sweeps": 40}
    bounds = fit(problem, start, **settings).trace.column("bound")
    assert np.diff(bounds).min() >= -1e-9 * np.abs(bounds).max()
    assert bounds[-1] > bounds[0]


@pytest.mark.parametrize(
    "prior", [PitmanYor(0.2), PitmanYor(0.7), UniformPartitions(1.0), UniformPartitions(0.0)]
)
def test_the_bound_never_exceeds_the_evidence(prior):
    problem = small_problem(6)
    exact = evidence(problem, problem.prior, alpha=0.8, partition_prior=prior)
    starts = ([0] * 6, [0, 0, 0, 1, 1, 1], range(6))
    bounds = [fit(problem, one, alpha=0.8, partition_prior=prior).objective for one in starts]
    assert exact - 10.0 < max(bounds) <= exact + 1e-9


def test_the_bound_of_a_learned_alpha_never_exceeds_the_evidence():
    problem, prior = small_problem(), PitmanYor(0.4)
    gamma = stats.gamma(2.0, scale=1 / 1.5)
    joints, _ = averaged_over_alpha(problem, problem.prior, prior, gamma)
    exact = logsumexp(list(joints.values()))
    bound = fit(problem, [0, 0, 0, 1, 1], alpha_prior=(2.0, 1.5), partition_prior=prior)
    assert exact - 10.0 < bound.objective <= exact + 0.05  # of the quadrature


def test_a_discount_of_nothing_changes_nothing():
    problem = small_problem(40)
    start = np.arange(40) % 4
    plain, without = fit(problem, start), fit(problem, start, partition_prior=PitmanYor(0.0))
    assert plain.objective == without.objective
    near = fit(problem, start, partition_prior=PitmanYor(1e-9)).objective
    assert near == pytest.approx(plain.objective, abs=1e-4)


def test_given_the_number_of_clusters_the_bound_is_below_the_evidence():
    """Every point in each of three clusters with probability 1/3, by enumeration."""
    problem = small_problem(6)
    no_prior = log_joints(problem, problem.prior, alpha=1.0)
    weight = PitmanYor(0.0).log_probability
    logs = []
    for labels in itertools.product(range(3), repeat=6):
        number = {k: place for place, k in enumerate(dict.fromkeys(labels))}
        z = tuple(number[k] for k in labels)
        logs.append(no_prior[z] - weight(np.bincount(z).astype(float), 1.0) - 6 * np.log(3.0))
    result = fit(problem, [0, 0, 1, 1, 2, 2], partition_prior=Microclustering())
    assert result.state.responsibilities.shape == (6, 3)  # none to spare
    assert logsumexp(logs) - 10.0 < result.objective <= logsumexp(logs) + 1e-9


@pytest.mark.parametrize("prior", [PitmanYor(0.5), Microclustering()])
def test_batches_raise_the_same_bound(prior):
    problem = small_problem(60)
    settings = VariationalSettings(partition_prior=prior, tol=0.0, max_sweeps=15)
    rng = np.random.default_rng(0)
    solver = BatchSolver(problem, problem.prior, settings, 20, rng)
    result = loop.run(solver, solver.init(np.arange(60) % 5))
    bounds = result.trace.column("bound")
    assert np.diff(bounds).min() >= -1e-9 * np.abs(bounds).max()
    assert replace(settings, tol=1.0).partition_prior == prior
