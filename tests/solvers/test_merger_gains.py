"""What links gain by mergers, against the evidence of the merged partition."""

import itertools

import numpy as np
import pytest

from exact import log_links
from maylink import Links
from maylink.model.reliability import LinkCounts, count_links, log_evidence, votes_between
from maylink.model.source_prior import NEIGHBOURS, source_prior
from maylink.solvers.merger_gains import MergerGains
from maylink.solvers.score_settings import ScoreSettings
from zoo import draw_pairs

Z = np.arange(20) % 5


def links_of(names, seed, n_links=60):
    i, j, kind, weight = zip(*draw_pairs(20, n_links, seed), strict=True)
    source = [names[k % len(names)] for k in range(n_links)]
    return Links(20, i, j, kind, weight=weight, source=source)


def gains_of(links, settings):
    return MergerGains(votes_between(links, Z, 5), settings.for_links(links))


@pytest.mark.parametrize("names", ["a", "ab", "abcdef", ("a", "b", "c", NEIGHBOURS)])
def test_exact_gains_are_differences_of_the_evidence(names):
    links = links_of(names, 3)
    pairs, gains = gains_of(links, ScoreSettings()).exact()
    total = np.zeros(10)
    np.add.at(total, pairs, gains)
    for rank, pair in enumerate(itertools.combinations(range(5), 2)):
        merged = np.where(pair[1] == Z, pair[0], Z)
        gain = log_links(links, merged) - log_links(links, Z)
        assert total[rank] == pytest.approx(gain, abs=1e-9)


def test_a_large_table_is_made_in_parts(monkeypatch):
    gains = gains_of(links_of("abc", 4), ScoreSettings())
    whole = gains.exact()[1]
    monkeypatch.setattr("maylink.solvers.merger_gains.STEP", 100)
    np.testing.assert_allclose(gains.exact()[1], whole, atol=1e-12)


@pytest.mark.parametrize("settings", [ScoreSettings(reliability_prior=(4.0, 2.0)), ScoreSettings()])
def test_rough_gains_are_those_at_one_point(settings):
    """With the prior of each source at the likeliest point, they are exact."""
    links = links_of("abc", 5)
    gains = gains_of(links, settings)
    prior = source_prior(settings.reliability_prior, links.sources)

    def at_point(labels):
        present, counts = count_links(links, Z), count_links(links, labels)
        inside, between = prior.likeliest(*present[:2]), prior.likeliest(*present[2:])
        none, (a, b), (c, d) = np.zeros(3), inside, between  # the same of all three sources
        p = log_evidence(LinkCounts(*counts[:2], none, none), (a[0], b[0]))
        q = log_evidence(LinkCounts(none, none, *counts[2:]), (c[0], d[0]))
        return p + q

    total = np.zeros(10)
    np.add.at(total, gains.pair, gains.rough())
    for rank, (a, b) in enumerate(itertools.combinations(range(5), 2)):
        gain = at_point(np.where(b == Z, a, Z)) - at_point(Z)
        assert total[rank] == pytest.approx(gain, abs=1e-9)
    assert gains.is_shared == (settings.reliability_prior == "shared")


def test_without_links_there_is_nothing_to_gain():
    _, gains = gains_of(Links.empty(20), ScoreSettings()).exact()
    assert gains.size == 0
