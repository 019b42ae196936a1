"""The sampler with instantiated parameters: exact posteriors and Geweke's test."""

import os

import numpy as np
import pytest

from exact import posterior, some_links, total_variation
from geweke import z_scores
from maylink.problem import Problem
from maylink.solvers.gibbs import GibbsSettings
from maylink.solvers.instantiated import InstantiatedSampler
from zoo import FAMILIES, draw, example

SLOW = pytest.mark.skipif(
    "MAYLINK_SLOW" not in os.environ, reason="takes long: set MAYLINK_SLOW=1 to run it"
)
SOME = ("gaussian", "multinomial")  # with known p and q, and with learned ones


@pytest.mark.parametrize(
    "name", [name if name in SOME else pytest.param(name, marks=SLOW) for name in FAMILIES]
)
def test_draws_have_the_exact_posterior(name):
    X, _ = draw(name, 4, 2, n_clusters=2)
    links = some_links(5, contradictory=True, n_sources=2)[np.arange(4)]
    reliability = None if len(name) % 2 else (0.8, 0.7)  # each is tried by some families
    problem = Problem.build(X, links, example(name))
    sampler = InstantiatedSampler(problem, None, GibbsSettings(alpha=1.0, reliability=reliability))
    rng = np.random.default_rng(0)
    _, draws = sampler.step(sampler.init(np.zeros(4, np.int64)), 2000, rng)
    exact = posterior(problem, sampler.prior, reliability=reliability)
    assert total_variation(draws.labels, exact) < 0.06  # 2,000 draws, 15 partitions


@pytest.mark.parametrize("name", [pytest.param("diagonal-gaussian", marks=SLOW), "poisson"])
def test_geweke(name):
    def make(problem, prior):
        return InstantiatedSampler(problem, prior, GibbsSettings())

    assert np.abs(z_scores(example(name), make, steps=1200, seed=1)).max() < 4.0


def test_many_clusters_need_more_room():
    problem = Problem.build(np.arange(60.0)[:, None], None, "gaussian")
    sampler = InstantiatedSampler(problem, None, GibbsSettings(alpha=1e9))
    rng = np.random.default_rng(0)
    _, draws = sampler.step(sampler.init(np.zeros(60, np.int64)), 20, rng)
    assert draws.n_clusters[-1] == 60
