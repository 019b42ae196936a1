"""What is known of mergers is what would be worked out anew."""

import numpy as np
import pytest

from maylink import Links, TVClust, sample_links
from maylink.families import Gaussian, Multinomial
from maylink.model.reliability import votes_between
from maylink.problem import Problem
from maylink.solvers import merging
from maylink.solvers.known_mergers import KnownMergers
from maylink.solvers.merging_rounds import ClusterRounds
from maylink.solvers.score_settings import ScoreSettings

N = 120


def draw(family, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(N) % 4
    X = rng.poisson(1.0 + 9.0 * np.eye(4)[y]).astype(float)
    return Problem(X, sample_links(y, 0.02, 0.9, rng=seed), family.adapt(X)), y


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("family", [Gaussian(), Multinomial()])
def test_fits_that_share_what_is_known_merge_as_fits_by_themselves(family, seed):
    problem, _ = draw(family, seed)
    pieces, known = np.arange(N) // 2, {5: KnownMergers(), 100: KnownMergers()}
    for weight in (1.0, 0.1):
        for links in (problem.links, Links.empty(N)):
            for few, shared in known.items():
                one, score = problem.linked(links), ScoreSettings(weight)
                alone = merging.merge(one, one.prior, score, pieces, few)
                again = merging.merge(one, one.prior, score, pieces, few, shared)
                np.testing.assert_array_equal(again.labels, alone.labels)
                assert again.log_joint == pytest.approx(alone.log_joint, rel=1e-12)


def test_clusters_that_did_not_merge_keep_their_gains():
    problem, _ = draw(Gaussian(), 0)
    pieces = np.arange(N) // 2
    size = int(pieces.max()) + 1
    statistics = problem.cluster_statistics(pieces, size)
    rounds = ClusterRounds(
        problem.family, problem.prior, ScoreSettings(), statistics,
        votes_between(problem.links, pieces, size),
    )  # fmt: skip
    kept = 0
    while rounds.merge_round():
        key, gain = rounds.known._key, rounds.known._gain
        kept += key.size
        assert np.all(np.diff(key) > 0)
        a, b = key // rounds.n_clusters, key % rounds.n_clusters
        both = type(rounds.statistics)(*(part[a] + part[b] for part in rounds.statistics))
        joint = problem.family.log_marginal(both, problem.prior)
        np.testing.assert_allclose(gain, joint - rounds.marginal[a] - rounds.marginal[b], rtol=1e-9)
    assert kept


def test_a_prior_that_is_given_is_not_mixed_up_with_the_familys_own():
    """The pieces of one view are merged under one prior alone."""
    problem, _ = draw(Gaussian(), 0)
    settings = {"covariance": "spherical", "neighbours": 5, "random_state": 0}
    own = TVClust(**settings).fit(problem.X, links=problem.links)
    given = TVClust(**settings, prior=own.prior_).fit(problem.X, links=problem.links)
    np.testing.assert_array_equal(own.labels_, given.labels_)
