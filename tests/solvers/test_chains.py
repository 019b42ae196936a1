"""Chains: what they are made of, and what their checkpoints know."""

import numpy as np
import pytest

from maylink.datasets import make_two_view
from maylink.errors import MaylinkError
from maylink.model.draws import Draws
from maylink.problem import Problem
from maylink.runtime.interrupts import NEVER, Stop
from maylink.solvers.chains import Chain, Plan, fingerprint, gather, load, run_chain, save
from maylink.solvers.gibbs import Sampler, Settings

VIEW = make_two_view(40, 2, rng=0)


class One:
    def __call__(self, rng):
        return np.zeros(40, np.int64)

    def told(self):
        return "one"


def sampler(X=VIEW.X, **settings):
    return Sampler(Problem.build(X, VIEW.links, "gaussian"), None, Settings(**settings))


def test_warm_up_is_thrown_away():
    chain = run_chain(sampler(), One(), Plan(n_warmup=30, n_draws=20), 7, 0, "", NEVER)
    assert len(chain.draws.alpha) == 20
    assert (chain.n_warmup, chain.stopped) == (30, False)


def test_a_stopped_chain_says_so_and_gives_where_it_stands(tmp_path):
    stop = Stop(tmp_path / "stop")
    stop.ask()
    chain = run_chain(sampler(), One(), Plan(), 7, 0, "", stop)
    assert chain.stopped
    draws = gather([chain, chain])
    assert draws.labels.shape == (2, 40)
    assert draws.factors.shape == (2, 2)


def test_chains_with_draws_are_joined():
    chain = run_chain(sampler(), One(), Plan(n_warmup=0, n_draws=5), 7, 0, "", NEVER)
    none = Chain(Draws.empty(40, 1, 2), chain.state, 0, True)
    assert gather([chain, none, chain]).labels.shape == (10, 40)


def test_a_checkpoint_comes_back_whole(tmp_path):
    rng = np.random.default_rng(1)
    chain = run_chain(sampler(), One(), Plan(n_warmup=0, n_draws=5), 7, 0, "", NEVER)
    save(tmp_path / "c.npz", "mark", rng, chain)
    expected = rng.random()
    other = np.random.default_rng(2)
    again = load(tmp_path / "c.npz", "mark", other)
    assert other.random() == expected
    for a, b in zip([*chain.draws, *chain.state], [*again.draws, *again.state], strict=True):
        np.testing.assert_array_equal(a, b)
    assert [path.name for path in tmp_path.iterdir()] == ["c.npz"]
    with pytest.raises(MaylinkError, match="other data"):
        load(tmp_path / "c.npz", "another", other)
    assert load(tmp_path / "none.npz", "mark", other) is None


def test_the_fingerprint_knows_what_decides_the_draws():
    plan = Plan()
    base = fingerprint(sampler(), One(), plan, 1)
    assert base == fingerprint(sampler(), One(), plan, 1)
    others = [
        fingerprint(sampler(VIEW.X + 1.0), One(), plan, 1),
        fingerprint(sampler(alpha=2.0), One(), plan, 1),
        fingerprint(sampler(), One(), Plan(n_draws=7), 1),
        fingerprint(sampler(), One(), plan, 2),
    ]
    assert base not in others
    assert len(set(others)) == 4
    assert base == fingerprint(sampler(), One(), Plan(n_jobs=1, n_chains=9), 1)
