"""What a fit knows: draws and shares against plain counting."""

import numpy as np
import pytest
from scipy import stats

from maylink import Links
from maylink.model.draws import Draws
from maylink.model.posterior import SampledPosterior, StreamPosterior, VariationalPosterior
from maylink.model.reliability import LinkCounts

LINKS = Links(3, [0, 0, 1], [1, 2, 2], [1, -1, 1], source=["a", "a", "b"])


def sampled():
    labels = np.array([[0, 0, 1], [0, 0, 0], [0, 1, 1], [0, 0, 1]], np.int32)
    p = np.array([[0.9, 0.5], [0.8, 0.6], [0.7, 0.7], [0.6, 0.8]])
    ones = np.ones(4)
    return SampledPosterior(Draws(labels, ones, ones, ones, p, p, np.ones((4, 0))), LINKS)


def variational():
    responsibilities = np.array([[1.0, 0.0], [0.8, 0.2], [0.1, 0.9]])
    counts = LinkCounts(*(np.array(c) for c in ([3.0, 1.0], [1.0, 2.0], [5.0, 4.0], [0.0, 2.0])))
    return VariationalPosterior(responsibilities, counts, None, (9.0, 1.0), LINKS)


def test_suspects_are_counted_over_draws():
    table = sampled().suspects()
    assert table["wrong"].is_monotonic_decreasing
    assert table.loc[[0, 1, 2], "wrong"].tolist() == [0.25, 0.25, 0.5]


def test_suspects_of_responsibilities():
    table = variational().suspects()
    np.testing.assert_allclose(table.loc[[0, 1, 2], "wrong"], [0.2, 0.1, 1 - 0.26])
    assert variational().matrix()[1, 2] == pytest.approx(0.26)


def test_reliability_of_draws():
    table = sampled().reliability()
    np.testing.assert_allclose(table["p"], [0.75, 0.65])
    assert (table["p_low"] < table["p"]).all()
    assert list(table.index) == ["a", "b"]


def test_reliability_of_responsibilities_is_a_beta():
    table = variational().reliability()
    beta = stats.beta(9.0 + 3.0, 1.0 + 1.0)
    assert table.loc["a", "p"] == pytest.approx(beta.mean())
    assert table.loc["a", "p_low"] == pytest.approx(beta.ppf(0.025))
    assert table.loc["b", "q_votes"] == 6.0


def test_log_odds_of_draws():
    may, may_not = sampled().log_odds()
    p = sampled().draws.p
    np.testing.assert_allclose(may, np.mean(np.log(p / (1 - p)), axis=0))
    np.testing.assert_allclose(may_not, may)


def test_a_stream_remembers_what_it_knew():
    plain = variational()
    stream = StreamPosterior(
        plain.responsibilities, plain.counts, None, plain.prior, LINKS, np.array([0.3, 0.2, 0.1])
    )
    np.testing.assert_allclose(stream.suspects().loc[[0, 1, 2], "wrong"], [0.7, 0.2, 0.9])
