"""Chains: what they are made of, how they stop and go on, and what their checkpoints know."""

import numpy as np
import pytest

from maylink.datasets import make_two_view
from maylink.errors import MaylinkError
from maylink.model.draws import Draws
from maylink.problem import Problem
from maylink.runtime.interrupts import NEVER, Stop
from maylink.solvers.chains import (
    ChainPlan,
    ChainSolver,
    chain_fingerprint,
    gather,
    run_chain,
    solve,
)
from maylink.solvers.fit import Status
from maylink.solvers.gibbs import CollapsedSampler, GibbsSettings
from maylink.solvers.instantiated import InstantiatedSampler

VIEW = make_two_view(40, 2, rng=0)
OTHER = make_two_view(40, 2, rng=1)


class OneCluster:
    """The start of a chain: all points are in one cluster."""

    init = "one"

    def __call__(self, rng, number):
        return np.zeros(40, np.int64)


class GivenLabels(OneCluster):
    """The start of a chain: labels that the user gave."""

    init = np.arange(40) % 3

    def __call__(self, rng, number):
        return self.init


def sampler(X=VIEW.X, links=VIEW.links, kind=CollapsedSampler, **settings):
    return kind(Problem.build(X, links, "gaussian"), None, GibbsSettings(**settings))


def run(plan, stop=NEVER, mark="", number=0, kind=CollapsedSampler):
    return run_chain(sampler(kind=kind), OneCluster(), plan, 7, number, mark, stop)


def assert_same_draws(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


def test_warm_up_is_thrown_away():
    fit = run(ChainPlan(n_warmup=30, n_draws=20))
    assert fit.state.draws.alpha.size == fit.state.n_draws == 20
    assert (fit.state.n_warmup, fit.status) == (30, Status.SAMPLED)
    assert sum(row.n_draws for row in fit.trace.sweeps) == 50
    assert fit.objective == fit.state.draws.log_joint[-1]


def test_a_stopped_chain_says_so_and_gives_where_it_stands(tmp_path):
    stop = Stop(tmp_path / "stop")
    stop.ask()
    fit = run(ChainPlan(), stop)
    assert fit.status is Status.STOPPED
    assert len(fit.trace) == 1  # one block, so that there is something to keep
    draws = gather([fit.state, fit.state])
    assert draws.labels.shape == (2, 40)
    assert draws.factors.shape == (2, 2)


def test_chains_with_draws_are_joined():
    chain = run(ChainPlan(n_warmup=0, n_draws=5)).state
    none = chain._replace(blocks=(Draws.empty(40, 1, 2),), n_draws=0)
    assert gather([chain, none, chain]).labels.shape == (10, 40)


def test_a_chain_does_not_depend_on_the_other_chains():
    plan = ChainPlan(n_chains=2, n_warmup=5, n_draws=10, n_jobs=1)
    both = solve(sampler(), OneCluster(), plan, 7)
    assert both.status is Status.SAMPLED
    for number, chain in enumerate(both.state):
        assert_same_draws(chain.draws, run(plan, number=number).state.draws)
    assert (both.state[0].draws.alpha != both.state[1].draws.alpha).any()


# ---------------------------------------------------------------------- checkpoints


class StopAfter(Stop):
    """A request to stop that comes after so many blocks."""

    def __init__(self, n_blocks):
        super().__init__()
        self.n_blocks = n_blocks

    @property
    def asked(self):
        self.n_blocks -= 1
        return self.n_blocks < 0


@pytest.mark.parametrize(("n_blocks", "n_done"), [(3, 3), (12, 12)])
def test_a_broken_chain_goes_on_to_the_draws_of_an_unbroken_one(n_blocks, n_done, tmp_path):
    """In its warm-up, and after it; the instantiated sampler makes one draw a block."""
    plan = ChainPlan(n_warmup=8, n_draws=10, checkpoint=tmp_path)
    whole = run(ChainPlan(n_warmup=8, n_draws=10), kind=InstantiatedSampler)
    broken = run(plan, StopAfter(n_blocks), kind=InstantiatedSampler)
    assert broken.status is Status.STOPPED
    assert broken.state.n_warmup + broken.state.n_draws == n_done
    assert [path.name for path in tmp_path.iterdir()] == ["chain-0.npz"]
    again = run(plan, kind=InstantiatedSampler)
    assert again.status is Status.SAMPLED
    assert_same_draws(again.state.draws, whole.state.draws)
    assert_same_draws(again.state.sampler, whole.state.sampler)


def test_a_finished_chain_is_not_made_again(tmp_path):
    plan = ChainPlan(n_warmup=0, n_draws=5, checkpoint=tmp_path)
    first, again = run(plan), run(plan)
    assert_same_draws(again.state.draws, first.state.draws)
    assert (again.objective, again.status) == (first.objective, Status.SAMPLED)
    with pytest.raises(MaylinkError, match="other data"):
        run(plan, mark="another")


def test_the_fingerprint_knows_what_decides_the_draws():
    plan = ChainPlan()
    base = chain_fingerprint(sampler(), OneCluster(), plan, 1)
    assert base == chain_fingerprint(sampler(), OneCluster(), plan, 1)
    same_number = OTHER.links.chosen(np.arange(VIEW.links.n_links), 40)
    assert same_number.n_links == VIEW.links.n_links
    others = [
        chain_fingerprint(sampler(VIEW.X + 1.0), OneCluster(), plan, 1),
        chain_fingerprint(sampler(links=same_number), OneCluster(), plan, 1),
        chain_fingerprint(sampler(alpha=2.0), OneCluster(), plan, 1),
        chain_fingerprint(sampler(kind=InstantiatedSampler), OneCluster(), plan, 1),
        chain_fingerprint(sampler(), GivenLabels(), plan, 1),
        chain_fingerprint(sampler(), OneCluster(), ChainPlan(n_draws=7), 1),
        chain_fingerprint(sampler(), OneCluster(), plan, 2),
    ]
    assert len({base, *others}) == 8
    assert base == chain_fingerprint(sampler(), OneCluster(), ChainPlan(n_jobs=1, n_chains=9), 1)


def test_a_checkpoint_of_other_links_is_refused(tmp_path):
    plan = ChainPlan(n_chains=1, n_warmup=0, n_draws=5, checkpoint=tmp_path, n_jobs=1)
    solve(sampler(), OneCluster(), plan, 7)
    same_number = OTHER.links.chosen(np.arange(VIEW.links.n_links), 40)
    for other, start in (
        (sampler(links=same_number), OneCluster()),
        (sampler(), GivenLabels()),
        (sampler(OTHER.X), OneCluster()),
    ):
        with pytest.raises(MaylinkError, match="other data, links or parameters"):
            solve(other, start, plan, 7)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    plan = ChainPlan(n_chains=1, n_draws=1, checkpoint=tmp_path / "file" / "folder", n_jobs=1)
    with pytest.raises(MaylinkError, match="cannot be made a folder"):
        solve(sampler(), OneCluster(), plan, 7)


def test_a_block_is_never_larger_than_what_is_left():
    rng = np.random.default_rng(0)
    solver = ChainSolver(sampler(), ChainPlan(n_warmup=3, n_draws=2), rng)
    assert solver.sampler.block > 3
    state = solver.step(solver.init(np.zeros(40, np.int64)))
    assert (state.n_warmup, state.n_draws) == (3, 0)
    state = solver.step(state)
    assert (state.n_warmup, state.n_draws) == (3, 2)
    assert solver.done(state, []) is Status.SAMPLED
