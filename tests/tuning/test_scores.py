"""The held-out link score, against closed forms and the exact predictive probability."""

import numpy as np
import pytest
from sklearn.cluster import DBSCAN

from exact import posterior
from maylink import Links, RDPMeans, TVClust
from maylink.baselines import PlainKMeans
from maylink.errors import MaylinkError
from maylink.metrics import adjusted_rand
from maylink.model.draws import Draws
from maylink.model.posterior import SampledPosterior
from maylink.problem import Problem
from maylink.tuning import LinkFolds, link_score
from maylink.tuning.scores import (
    beside_guess,
    by_source,
    expected,
    guessed_scores,
    log_scores,
    partition_scores,
    predicted,
    summary,
)


class Hard:
    """Labels and nothing else."""

    def __init__(self, labels):
        self.labels_ = np.array(labels)


def test_a_hard_partition_by_hand():
    train = Links.from_pairs(may=[(0, 1), (2, 3), (0, 2)], may_not=[(1, 3)], n=5)
    test = Links.from_pairs(may=[(0, 1), (0, 3)], may_not=[(2, 3), (1, 4)], n=5)
    p, q = (9 + 2) / (10 + 2), (9 + 1) / (10 + 2)  # two may links inside; one of each between
    scores = log_scores(Hard([0, 0, 1, 1, 2]), test, train)
    np.testing.assert_allclose(scores, np.log([p, 1 - q, 1 - p, q]))


def test_without_training_links_the_prior_is_believed():
    test = Links.from_pairs(may=[(0, 1)], may_not=[(1, 2), (0, 1)], n=3)
    np.testing.assert_allclose(log_scores(Hard([4, 4, 7]), test), np.log([0.9, 0.9, 0.1]))


def test_soft_pairs_by_hand():
    test = Links.from_pairs(may=[(0, 1)], may_not=[(1, 2)], n=3)
    scores = predicted(test, np.array([0.3, 0.6]), np.array([0.8]), np.array([0.7]))
    np.testing.assert_allclose(
        scores, np.log([0.3 * 0.8 + 0.7 * 0.3, 0.6 * 0.2 + 0.4 * 0.7]), rtol=1e-12
    )


def test_mean_and_standard_error_go_by_votes():
    values, votes = np.array([-1.0, -2.0, -4.0]), np.array([1.0, 2.0, 1.0])
    score = summary(values, votes)
    assert score.mean == pytest.approx(-9 / 4)
    apart = values + 9 / 4
    assert score.error == pytest.approx(np.sqrt((votes**2 * apart**2).sum()) / 4)
    assert score.n_links == 3
    equal = summary(values, np.ones(3))
    assert equal.error == pytest.approx(values.std() / np.sqrt(3))


def test_exact_predictive_probability_of_a_link():
    """With p and q known, the score under the exact posterior is log p(E, new) − log p(E)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 2)) + np.array([0, 0, 3, 3, 1])[:, None]
    train = Links.from_pairs(may=[(0, 1), (2, 3)], may_not=[(0, 2)], n=5)
    problem = Problem.build(X, train, "gaussian")
    prior, reliability = problem.prior, (0.8, 0.7)
    exact = posterior(problem, prior, reliability=reliability)
    together = np.zeros((5, 5))
    for labels, probability in exact.items():
        together += probability * np.equal.outer(labels, labels)
    test = Links.from_pairs(may=[(0, 4), (1, 2)], may_not=[(0, 4), (3, 4)], n=5)
    p, q = np.array([reliability[0]]), np.array([reliability[1]])
    scores = predicted(test, together[test.i, test.j], p, q)
    for k in range(test.n_links):
        one = test.chosen(np.array([k]), 5)
        total = 0.0
        for labels, probability in exact.items():
            same = labels[one.i[0]] == labels[one.j[0]]
            chance = (reliability[0] if same else 1 - reliability[1]) if one.kind[0] == 1 else (
                1 - reliability[0] if same else reliability[1]
            )  # fmt: skip
            total += probability * chance
        assert scores[k] == pytest.approx(np.log(total))


def hand_made(exact, links, repeats, p, q):
    """A sampled posterior whose draws are all partitions, each as often as it is probable."""
    times = np.round(np.array(list(exact.values())) * repeats).astype(int)
    labels = np.repeat([list(z) for z in exact], times, axis=0)
    size, sources = len(labels), len(links.sources)
    blank = {name: np.zeros(size) for name in Draws._fields}
    blank |= {"labels": labels, "p": np.full((size, sources), p), "q": np.full((size, sources), q)}
    return SampledPosterior(Draws(**blank), links)


def test_draws_are_averaged():
    X = np.array([[0.0], [0.4], [3.0], [3.5]])
    train = Links.from_pairs(may=[(0, 1)], n=4)
    problem = Problem.build(X, train, "gaussian")
    exact = posterior(problem, problem.prior, reliability=(0.8, 0.7))
    model = Hard([0, 0, 1, 1])
    model.posterior_ = hand_made(exact, train, 20_000, 0.8, 0.7)
    test = Links.from_pairs(may=[(0, 2)], may_not=[(1, 3)], n=4)
    apart = sum(probability for z, probability in exact.items() if z[0] != z[2])
    assert log_scores(model, test)[0] == pytest.approx(
        np.log((1 - apart) * 0.8 + apart * 0.3), abs=1e-3
    )


def test_better_partitions_score_higher():
    y = np.arange(60) % 3
    links = Links.from_labels(y, sample=300, rng=0)
    train, test = links.chosen(np.arange(150), 60), links.chosen(np.arange(150, 300), 60)
    rng = np.random.default_rng(0)
    responsibilities = (0.0, 0.2, 0.5)
    spoilt = [
        np.where(rng.random(60) < share, rng.integers(0, 3, 60), y) for share in responsibilities
    ]
    means = [link_score(Hard(labels), test, train).mean for labels in spoilt]
    assert means[0] > means[1] > means[2]
    for guess in (np.zeros(60, int), np.arange(60)):
        assert link_score(Hard(guess), test, train).mean < means[1]


def test_sources_that_the_fit_did_not_see_are_as_a_new_one():
    train = Links(4, [0, 2], [1, 3], [1, 1], source=["a", "a"])
    test = Links(4, [0, 0], [2, 3], [-1, -1], source=["b", "a"])
    p, q = by_source(test, train, np.array([0.6, 0.9]), np.array([0.7, 0.8]))
    assert dict(zip(test.sources, p, strict=True)) == {"b": 0.9, "a": 0.6}
    assert dict(zip(test.sources, q, strict=True)) == {"b": 0.8, "a": 0.7}
    model = TVClust("gaussian", covariance="spherical", data_weight=1, random_state=0)
    model.fit(np.array([[0.0], [0.1], [9.0], [9.1]]), links=train)
    assert np.isfinite(log_scores(model, test)).all()
    assert model.posterior_.new_source()[:2] == pytest.approx((0.9, 0.9))


def test_expected_reliability_is_the_mean_of_its_beta():
    from maylink.model.reliability import LinkCounts

    counts = LinkCounts(*(np.array([float(v)]) for v in (5, 2, 7, 3)))
    p, q = expected(counts, (2.0, 1.0))
    assert p[0] == pytest.approx(7 / 10)
    assert q[0] == pytest.approx(9 / 13)


def test_noise_is_no_cluster():
    """Points that DBSCAN leaves out share no cluster, neither in a forecast nor in p."""
    train = Links.from_pairs(may=[(0, 1), (2, 3)], n=4)
    test = Links.from_pairs(may=[(2, 3)], n=4)
    p, q = 10 / 11, 9 / 11
    labels = [0, 0, -1, -1]
    assert log_scores(Hard(labels), test, train)[0] == pytest.approx(np.log(1 - q))
    inside = Links.from_pairs(may=[(0, 1)], n=4)
    assert log_scores(Hard(labels), inside, train)[0] == pytest.approx(np.log(p))
    model = DBSCAN(eps=1.0, min_samples=2).fit([[0.0], [0.1], [9.0], [20.0]])
    assert log_scores(model, test, train)[0] == pytest.approx(np.log(1 - q))


def test_links_of_other_points_are_refused():
    with pytest.raises(MaylinkError, match="made for 9 points, but the model has 3"):
        link_score(Hard([0, 0, 1]), Links.empty(9))


def test_a_baseline_is_scored_by_its_labels():
    X = np.array([[0.0], [0.1], [9.0], [9.1]])
    model = PlainKMeans(2, random_state=0).fit(X)
    test = Links.from_pairs(may=[(0, 1)], may_not=[(0, 2)], n=4)
    assert link_score(model, test).mean == pytest.approx(np.log(0.9))


def test_links_that_share_a_vote_are_not_so_many_votes():
    scores = np.random.default_rng(0).normal(size=40)
    whole = summary(scores, np.ones(40))
    shared = summary(np.repeat(scores, 10), np.full(400, 0.1))
    assert shared.mean == pytest.approx(whole.mean)
    assert shared.error == pytest.approx(whole.error)


def test_beside_a_guess():
    scores, guesses = np.log([0.9, 0.5, 0.2]), np.log([0.6, 0.6, 0.4])
    weight = np.array([2.0, 1.0, 1.0])
    result = beside_guess(scores, guesses, weight)
    assert result.score == pytest.approx((2 * scores[0] + scores[1] + scores[2]) / 4)
    assert result.guess == pytest.approx((2 * guesses[0] + guesses[1] + guesses[2]) / 4)
    assert result.right == (2 + 0.5) / 4
    assert result.guess_right == (2 + 1) / 4
    assert result.error == pytest.approx(summary(scores - guesses, weight).error)


def people_asked_about(y, seed):
    """Three people: one is asked about rows that are apart, two always say the same of any."""
    rng = np.random.default_rng(seed)
    i = rng.integers(y.size, size=400)
    j = (i + rng.integers(1, y.size, size=400)) % y.size
    apart, others = np.flatnonzero(y[i] != y[j])[:20], np.arange(380, 400)
    chosen = np.concatenate([apart, others])
    kind = np.repeat([-1, -1, 1], [20, 8, 12])
    source = np.repeat(["right", "never", "always"], [20, 8, 12])
    return Links(y.size, i[chosen], j[chosen], kind, source=source)


@pytest.mark.parametrize("seed", range(4))
def test_constant_partitions_are_guesses(seed):
    links = people_asked_about(np.arange(200) % 5, seed)
    fold = next(iter(LinkFolds(8, random_state=seed).split(links)))
    share, *constant = guessed_scores(fold.train, fold.test)
    both = np.zeros(200, np.int64), np.arange(200)
    for labels, found in zip(both, constant, strict=True):
        np.testing.assert_array_equal(found, partition_scores(labels, fold.test, fold.train))
    assert share @ fold.test.weight < 0.0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("estimator", [TVClust, RDPMeans])
def test_people_who_always_say_the_same_do_not_make_one_cluster_of_clear_ones(estimator, seed):
    rng, y = np.random.default_rng(1), np.arange(200) % 5
    X = 8.0 * rng.normal(size=(5, 3))[y] + rng.normal(size=(200, 3))
    model = estimator(random_state=0).fit(X, links=people_asked_about(y, seed))
    assert adjusted_rand(y, model.labels_) == 1.0
