"""What sources share, against sums over the grid, numerical integration and simulated sources."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats

from exact import log_links, reliability_means
from maylink import Links, TVClust, log_joint
from maylink.errors import MaylinkError
from maylink.families import Gaussian
from maylink.metrics import pair_f
from maylink.model.reliability import (
    LinkCounts,
    count_links,
    differs,
    expected,
    log_evidence,
    with_new_source,
)
from maylink.model.soft_links import reliabilities
from maylink.model.source_prior import (
    NEIGHBOURS,
    PRIOR,
    SHARED,
    STRENGTHS,
    PriorGrid,
    mixture_quantile,
    shared_grid,
    source_prior,
)
from reference import all_partitions


def random_links(n, n_sources, seed, count=12):
    rng = np.random.default_rng(seed)
    i = rng.integers(n, size=count)
    j = (i + rng.integers(1, n, size=count)) % n
    kind, weight = rng.choice([-1, 1], count), rng.choice([1.0, 2.0, 0.5], count)
    return Links(n, i, j, kind, weight=weight, source=np.arange(count) % n_sources)


def votes_of(right, n_votes, n_sources, rng):
    good = rng.binomial(n_votes, right, n_sources).astype(float)
    return good, n_votes - good


def test_each_source_by_itself_has_the_mean_and_the_say_of_the_plain_prior():
    grid = shared_grid()
    weight, total = np.exp(grid.log_weight), grid.right + grid.wrong
    assert weight.sum() == pytest.approx(1.0)
    for c in (10.0, *STRENGTHS):
        some = np.isclose(total, c)
        part, m = weight[some] / weight[some].sum(), grid.right[some] / c
        mean = part @ m
        variance = part @ (m * (1 - m) / (c + 1) + m**2) - mean**2
        assert mean == pytest.approx(0.9)
        assert mean * (1 - mean) / variance - 1 == pytest.approx(10.0, rel=0.01)
    assert weight @ (grid.right / total) == pytest.approx(0.9, abs=0.005)


@pytest.mark.parametrize("n_sources", [2, 3, 5])
def test_the_evidence_is_the_sum_over_the_grid(n_sources):
    links = random_links(5, n_sources, n_sources)
    prior = source_prior(SHARED, links.sources)
    for labels in all_partitions(5):
        z = np.array(labels)
        counts = count_links(links, z)
        assert log_evidence(counts, prior) == pytest.approx(log_links(links, z), abs=1e-10)
        np.testing.assert_allclose(expected(counts, prior), reliability_means(links, z))


def test_the_evidence_by_numerical_integration():
    """At some points of the grid p of both sources is integrated out by quadrature."""
    counts = LinkCounts(*np.array([[2.0, 1.0], [1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]))
    prior = source_prior(SHARED, ("a", "b"))
    points = np.array([0, 30, 75, 100, 160])
    log_weight, right, wrong, strengths, strength = prior.grid
    some = PriorGrid(
        log_weight[points], right[points], wrong[points], strengths, strength[points]
    )  # fmt: skip
    total, rest = 0.0, np.exp(log_weight[points]).sum()
    for at in points:
        density = stats.beta(right[at], wrong[at]).pdf
        middle = [right[at] / (right[at] + wrong[at])]
        one, _ = integrate.quad(lambda p, f=density: f(p) * p**2 * (1 - p), 0, 1, points=middle)
        two, _ = integrate.quad(lambda p, f=density: f(p) * p, 0, 1, points=middle)
        total += np.exp(log_weight[at]) * one * two
    value = log_evidence(counts, replace(prior, grid=some))  # q has no votes: all of the weight
    assert value == pytest.approx(np.log(total) + np.log(rest), abs=1e-6)


def test_the_evidence_sums_to_one_over_all_link_sets():
    z, pairs, total = np.array([0, 0, 1]), np.array([(0, 1), (0, 2), (1, 2)]), 0.0
    for bits in range(8):
        kind = [1 if bits >> k & 1 else -1 for k in range(3)]
        links = Links(3, *pairs.T, kind, source=["a", "b", "b"])
        total += np.exp(log_evidence(count_links(links, z), source_prior(SHARED, links.sources)))
    assert total == pytest.approx(1.0)


def test_one_source_is_as_by_itself_and_so_is_the_neighbour_graph():
    links = random_links(6, 1, 0)
    graph = Links(6, [0, 1], [2, 3], [1, -1], source=[NEIGHBOURS] * 2)
    z = np.array([0, 0, 0, 1, 1, 1])
    for some in (links, links + graph):
        counts = count_links(some, z)
        prior = source_prior(SHARED, some.sources)
        assert log_evidence(counts, prior) == log_evidence(counts, PRIOR)
        np.testing.assert_array_equal(reliabilities(counts, prior), reliabilities(counts, PRIOR))
    three = random_links(6, 2, 1) + graph
    assert source_prior(SHARED, three.sources).shares.tolist() == [True, True, False]


def test_a_pair_is_the_prior_of_each_source_by_itself():
    links, z = random_links(5, 3, 4), np.array([0, 0, 1, 1, 1])
    X = np.arange(5.0)[:, None]
    without = log_joint(X, z)
    plain = log_joint(X, z, links=links, reliability_prior=(4, 2)) - without
    counts = count_links(links, z)
    assert plain == pytest.approx(log_evidence(counts, (4.0, 2.0)))
    shared = log_joint(X, z, links=links) - without
    assert shared == pytest.approx(log_links(links, z))
    with pytest.raises(MaylinkError, match="reliability_prior"):
        log_joint(X, z, links=links, reliability_prior="common")


def test_expected_logarithms_and_quantiles_are_those_of_the_mixture():
    rng = np.random.default_rng(0)
    good, bad = votes_of([0.9, 0.8, 0.3], 9, 3, rng)
    prior = source_prior(SHARED, range(3))
    counts = LinkCounts(good, bad, good, bad)
    weight, _ = prior.weights(good, bad)
    at = rng.choice(len(weight), 200_000, p=weight)
    drawn = rng.beta(prior.grid.right[at, None] + good, prior.grid.wrong[at, None] + bad)
    np.testing.assert_allclose(
        reliabilities(counts, prior).log_p, np.log(drawn).mean(axis=0), atol=0.01
    )
    for level in (0.025, 0.5, 0.975):
        found = mixture_quantile(*prior.betas(good, bad), level)
        np.testing.assert_allclose(found, np.quantile(drawn, level, axis=0), atol=0.01)


@pytest.mark.parametrize("right", [0.3, 0.6, 0.9])
def test_many_small_sources_are_believed_as_their_pool_is(right):
    good, bad = votes_of(right, 2, 1000, np.random.default_rng(0))
    prior = source_prior(SHARED, range(1000))
    p, _ = expected(LinkCounts(good, bad, good, bad), prior)
    pool = good.sum() / (good + bad).sum()
    np.testing.assert_allclose(p, pool, atol=0.04)
    alone, _ = expected(LinkCounts(good, bad, good, bad), PRIOR)
    assert abs(alone.mean() - pool) > abs(p.mean() - pool)


def test_a_large_source_is_believed_for_what_it_says_itself():
    good, bad = votes_of(0.6, 2, 500, np.random.default_rng(1))
    good, bad = np.append(good, 2850.0), np.append(bad, 150.0)
    p, _ = expected(LinkCounts(good, bad, good, bad), source_prior(SHARED, range(501)))
    assert p[-1] == pytest.approx(0.95, abs=0.02)
    assert p[:-1].mean() == pytest.approx(0.6, abs=0.06)


def test_some_who_say_the_opposite_are_found_among_many():
    rng = np.random.default_rng(2)
    right = np.repeat([0.9, 0.1], [40, 10])
    good, bad = votes_of(right, 8, 50, rng)
    p, _ = expected(LinkCounts(good, bad, good, bad), source_prior(SHARED, range(50)))
    assert (p[40:] < 0.5).all()
    assert p[:40].mean() == pytest.approx(0.88, abs=0.04)


def test_who_differs_from_the_others_is_told():
    """The probability is that of two hypotheses, by numerical integration."""
    good, bad = np.array([9.0, 8.0, 1.0, 0.0, 5.0]), np.array([1.0, 1.0, 8.0, 0.0, 5.0])
    none, judged = np.zeros(5), np.array([True, True, True, True, False])
    found = differs(LinkCounts(good, bad, none, none), judged)
    rest = stats.beta(9 + good[:2].sum(), 1 + bad[:2].sum())
    alike, _ = integrate.quad(lambda p: rest.pdf(p) * p * (1 - p) ** 8, 0, 1)
    unlike, _ = integrate.quad(lambda p: p * (1 - p) ** 8, 0, 1)
    assert found[2] == pytest.approx(unlike / (unlike + alike))
    assert found[2] > 0.99 > found[0]
    assert found[3] == pytest.approx(0.5)  # nothing was heard
    assert np.isnan(found[4])
    assert np.isnan(differs(LinkCounts(good, bad, none, none), judged & (good == 9.0))).all()


def test_a_new_source_is_like_those_that_were_heard():
    good, bad = votes_of(0.6, 4, 300, np.random.default_rng(3))
    counts = LinkCounts(good, bad, good, bad)
    p, q = expected(*with_new_source(counts, source_prior(SHARED, range(300))))
    assert p[-1] == pytest.approx(0.6, abs=0.04)
    assert q[-1] == p[-1]
    p, _ = expected(*with_new_source(counts, PRIOR))
    assert p[-1] == pytest.approx(0.9)


def test_small_sources_of_little_skill_do_no_harm():
    """A hundred sources of four answers, right in six of ten, once had p = .89."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = 3.0 * np.eye(3)[y] + rng.normal(size=(120, 3))
    i = rng.integers(120, size=400)
    j = (i + rng.integers(1, 120, size=400)) % 120
    right = rng.random(400) < 0.6
    kind = np.where((y[i] == y[j]) == right, 1, -1)
    links = Links(120, i, j, kind, source=np.arange(400) % 100)
    options = {"family": Gaussian(), "data_weight": 1.0, "init": y, "random_state": 0}
    found, scores = {}, {None: pair_f(y, TVClust(**options).fit(X).labels_)}
    for prior in (SHARED, PRIOR):
        model = TVClust(**options, reliability_prior=prior).fit(X, links=links)
        found[prior] = model.reliability_["q"].mean()
        scores[prior] = pair_f(y, model.labels_)
    assert found[SHARED] < 0.7
    assert found[PRIOR] > 0.75
    assert scores[SHARED] > scores[None] > scores[PRIOR]  # believed too much, they do harm
    assert scores[SHARED] > 0.97


def test_draws_have_the_mean_and_the_spread_of_the_prior():
    rng = np.random.default_rng(0)
    alone = np.array([source_prior(SHARED, ["a"]).draw(rng)[0] for _ in range(4000)])
    several = source_prior(SHARED, ["a", "b", NEIGHBOURS])
    drawn = np.array([several.draw(rng) for _ in range(4000)])
    for values in (alone, *drawn.T):  # each by itself has mean .9 and the say of ten links
        assert abs(values.mean() - 0.9) < 0.01
        assert abs(values.std() - np.sqrt(0.9 * 0.1 / 11)) < 0.01
    together = np.corrcoef(drawn.T)
    assert together[0, 1] > 0.3  # what sources share
    assert abs(together[0, 2]) < 0.05  # the neighbour graph shares nothing
