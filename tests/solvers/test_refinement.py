"""Draws on top of a variational fit: the exact posterior, a bounded cost."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.special import logsumexp

from exact import log_joints, log_links, posterior, some_links
from maylink import Links
from maylink.errors import MaylinkError
from maylink.families import Gaussian
from maylink.model.posterior import SampledPosterior
from maylink.model.reliability import PRIOR, count_links
from maylink.problem import Problem
from maylink.solvers.gibbs import SPREAD, GibbsSettings
from maylink.solvers.refinement import Refinement
from reference import all_partitions
from zoo import draw, example


def refinement(n=6, n_draws=12_000, **settings):
    X, _ = draw("gaussian", n, 0, n_clusters=2)
    links = some_links(n, contradictory=True, n_sources=1)
    problem = Problem.build(X, links, example("gaussian"))
    how = GibbsSettings(alpha=1.0, n_split_merge=1, **settings)
    return Refinement(problem, problem.prior, how, np.zeros(n, np.int64), n_draws, 0)


def quantile_of_mixture(weights, good, bad, level):
    """Where a mixture of Beta distributions, one for each partition, has this probability below."""
    beta = stats.beta(PRIOR[0] + np.array(good), PRIOR[1] + np.array(bad))
    return optimize.brentq(lambda x: np.dot(weights, beta.cdf(x)) - level, 1e-9, 1 - 1e-9)


def test_intervals_and_suspects_are_those_of_all_partitions():
    made = refinement()
    problem = made.problem
    sampled = SampledPosterior(made(), problem.links)
    exact = posterior(problem, made.prior)
    counts = [count_links(problem.links, np.array(z)) for z in exact]
    weights = np.array(list(exact.values()))
    row = sampled.reliability().iloc[0]
    for name, good, bad in (
        ("p", [c.may_same[0] for c in counts], [c.not_same[0] for c in counts]),
        ("q", [c.not_different[0] for c in counts], [c.may_different[0] for c in counts]),
    ):
        for end, level in (("low", 0.025), ("high", 0.975)):
            expected = quantile_of_mixture(weights, good, bad, level)
            assert row[f"{name}_{end}"] == pytest.approx(expected, abs=0.015)
    links = problem.links
    together = sum(w * (np.array(z)[links.i] == np.array(z)[links.j]) for z, w in exact.items())
    expected = np.where(links.kind == 1, 1.0 - together, together)
    np.testing.assert_allclose(sampled.suspects()["wrong"].sort_index(), expected, atol=0.02)


def test_scales_of_the_prior_are_drawn_from_their_posterior():
    made = refinement(n=5, n_draws=10_000, learn_prior=True, n_prior_draws=5)
    problem = made.problem
    logs = np.linspace(-3.5, 3.5, 10)
    total, no_links = {}, replace(problem, links=Links.empty(5))
    of_links = {z: log_links(problem.links, np.array(z)) for z in all_partitions(5)}
    for a in logs:
        for b in logs:
            scaled = problem.family.rescale(made.prior, np.exp([a, b]))
            believed = -0.5 * (a**2 + b**2) / SPREAD**2
            for z, value in log_joints(no_links, scaled, reliability=(0.9, 0.9)).items():
                total.setdefault(z, []).append(value + of_links[z] + believed)
    exact = {z: logsumexp(values) for z, values in total.items()}
    evidence = logsumexp(list(exact.values()))
    i, j = np.triu_indices(5, 1)
    expected = sum(
        np.exp(value - evidence) * (np.array(z)[i] == np.array(z)[j]) for z, value in exact.items()
    )
    drawn = SampledPosterior(made(), problem.links).together(i, j)
    np.testing.assert_allclose(drawn, expected, atol=0.025)
    fixed = posterior(problem, made.prior)
    plain = sum(value * (np.array(z)[i] == np.array(z)[j]) for z, value in fixed.items())
    assert np.abs(plain - expected).max() > 0.04  # the test can tell them apart


def test_the_same_seed_gives_the_same_draws():
    made = refinement(n_draws=50)
    np.testing.assert_array_equal(made().labels, made().labels)
    assert (replace(made, seed=1)().p != made().p).any()
    assert len(made().alpha) == 50


def test_the_cost_is_bounded():
    def of_size(n):
        X = np.random.default_rng(0).random((n, 2))
        problem = Problem.build(X, None, Gaussian())
        settings = GibbsSettings()
        return Refinement(problem, problem.prior, settings, np.zeros(n, np.int64), 500, 0)

    small, middle, large = of_size(150), of_size(3000), of_size(50_000)
    assert small.n_sweeps == 750
    assert 150 < middle.n_sweeps < 750
    assert middle.is_possible
    assert not large.is_possible


def test_a_family_without_a_kernel_is_left_to_the_fit(monkeypatch):
    def refuse(self, prior):
        raise MaylinkError("family: no kernel")

    made = refinement(n_draws=50)
    assert made.is_possible
    monkeypatch.setattr(type(made.problem.family), "blocks", refuse)
    assert not made.is_possible
