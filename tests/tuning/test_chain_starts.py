"""Chains start from partitions that differ."""

import numpy as np
import pytest

from maylink import Gibbs, Tuning, TVClust
from maylink.datasets import make_two_view
from maylink.problem import Problem
from maylink.tuning.chain_starts import ChainStarts
from maylink.tuning.starts import ProblemStart

VIEW = make_two_view(80, 2, rng=2)
PROBLEM = Problem.build(VIEW.X, VIEW.links, "gaussian")


def partitions(differ, count=5):
    starts = ChainStarts(ProblemStart(PROBLEM, "rdp-means", Tuning()), differ)
    return [starts(np.random.default_rng(number), number) for number in range(count)]


def test_chains_start_apart():
    first, pieces, one, drawn, more_pieces = partitions(differ=True)
    assert pieces.max() > 2 * first.max()
    assert not one.any()
    assert len({tuple(z) for z in (first, pieces, one, drawn, more_pieces)}) == 5


def test_where_the_user_says_where_all_start_there():
    starts = ChainStarts(ProblemStart(PROBLEM, VIEW.y, Tuning()), differ=False)
    for number in range(4):
        assert starts(np.random.default_rng(number), number).tolist() == VIEW.y.tolist()


def test_the_first_draws_of_two_chains_differ_only_where_the_start_is_chosen():
    def clusters(init):
        inference = Gibbs(n_chains=2, n_warmup=0, n_draws=1)
        model = TVClust(
            "gaussian", covariance="spherical", data_weight=1.0, inference=inference, init=init,
            n_jobs=1, random_state=0,
        )  # fmt: skip
        return model.fit(VIEW.X, links=VIEW.links).draws_.n_clusters

    chosen, given = clusters("auto"), clusters(VIEW.y)
    assert chosen[1] > 2 * chosen[0]
    assert abs(given[1] - given[0]) < 4


@pytest.mark.parametrize("name", ["plda", "full-gaussian"])
def test_every_family_has_pieces(name):
    problem = Problem.build(VIEW.X, VIEW.links, name)
    starts = ChainStarts(ProblemStart(problem, "one", Tuning()), differ=True)
    assert starts(np.random.default_rng(0), 1).shape == (80,)
