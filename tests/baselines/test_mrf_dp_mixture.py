"""The mixture with a Markov random field: exact posteriors by enumeration, and the face."""

from math import lgamma, log

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from exact import some_links, total_variation
from maylink import Gibbs, Links, TVClust
from maylink.baselines.mrf_dp_mixture import MRFDPMixture
from maylink.datasets import sample_links
from maylink.errors import DomainError, LinksError, MaylinkError
from maylink.families import Gaussian
from maylink.metrics import adjusted_rand
from maylink.problem import Problem
from reference import all_partitions
from zoo import draw, draw_pairs, example

QUICK = {"n_sweeps": 40, "burn_in": 10, "random_state": 0}
CONTRADICTORY = {n: some_links(n, contradictory=True, n_sources=2) for n in (5, 6)}


def log_weight(X, links, labels, family, alpha, may, may_not):
    """Log of the restaurant, the marginals and the field, link by link and cluster by cluster."""
    return log_weight_of(Problem.build(X, None, family), links, labels, alpha, may, may_not)


def log_weight_of(problem, links, labels, alpha, may, may_not):
    z = np.asarray(labels)
    value = lgamma(alpha) - lgamma(alpha + len(z))
    for k in set(z.tolist()):
        members = problem.X[z == k]
        statistics = problem.family.cluster_statistics(members, np.zeros(len(members), int), 1)
        value += log(alpha) + lgamma(len(members))
        value += float(problem.family.log_marginal(statistics, problem.prior)[0])
    for i, j, kind, weight in zip(links.i, links.j, links.kind, links.weight, strict=True):
        if z[i] == z[j]:
            value += may * weight if kind > 0 else -may_not * weight
    return value


def all_log_weights(X, links, family, alpha, may, may_not):
    problem = Problem.build(X, None, family)
    return {
        labels: log_weight_of(problem, links, labels, alpha, may, may_not)
        for labels in all_partitions(len(X))
    }


def exact_posterior(*arguments):
    logs = all_log_weights(*arguments)
    top = max(logs.values())
    total = sum(np.exp(value - top) for value in logs.values())
    posterior = {labels: float(np.exp(value - top) / total) for labels, value in logs.items()}
    assert max(posterior.values()) < 0.9, "one partition alone tests little"
    return posterior


def sampled(X, links, n_draws=30_000, **options):
    """Many draws, without the search for a point estimate, which is tested elsewhere."""
    model = MRFDPMixture(n_sweeps=n_draws + 200, burn_in=200, random_state=0, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("maylink.model.partitions.point_estimate", lambda draws, *_, **__: draws[-1])
        return model.fit(X, links=links)


# ---------------------------------------------------------------------- the exact posterior


@pytest.mark.parametrize(
    ("n", "may", "may_not"), [(5, 1.3, 0.6), (5, 0.4, 2.5), (5, 0.0, 1.0), (6, 1.3, 0.6)]
)
def test_draws_have_the_exact_posterior(n, may, may_not):
    X, _ = draw("full-gaussian", n, seed=0, n_clusters=2)
    links = CONTRADICTORY[n]
    model = sampled(
        X, links, concentration=0.7, may_strength=may, not_strength=may_not,
    )  # fmt: skip
    exact = exact_posterior(X, links, "full-gaussian", 0.7, may, may_not)
    assert total_variation(model.draws_, exact) < 0.02


@pytest.mark.parametrize("name", ["diagonal-gaussian", "multinomial", "bernoulli"])
def test_other_families_have_the_exact_posterior(name):
    X, _ = draw(name, 5, seed=7, n_clusters=2)
    model = sampled(X, CONTRADICTORY[5], family=example(name), may_strength=1.5)
    exact = exact_posterior(X, CONTRADICTORY[5], example(name), 1.0, 1.5, 1.5)
    assert total_variation(model.draws_, exact) < 0.02


def test_moves_of_single_points_alone_have_the_exact_posterior():
    X, _ = draw("full-gaussian", 5, seed=1, n_clusters=2)
    model = sampled(X, CONTRADICTORY[5], may_strength=1.5, n_split_merge=0)
    exact = exact_posterior(X, CONTRADICTORY[5], "full-gaussian", 1.0, 1.5, 1.5)
    assert total_variation(model.draws_, exact) < 0.02


def test_without_not_strength_it_is_the_paper_s_field_of_may_links():
    """Positive strengths alone, as between neighbouring pixels; may-not links are not heard."""
    X, _ = draw("full-gaussian", 6, seed=2, n_clusters=2)
    grid = [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]  # two rows of three pixels
    may = Links.from_pairs(may=grid, n=6)
    both = Links.from_pairs(may=grid, may_not=[(0, 5), (1, 3)], n=6)
    options = {"may_strength": 0.8, "not_strength": 0.0}
    model = sampled(X, both, **options)
    exact = exact_posterior(X, may, "full-gaussian", 1.0, 0.8, np.nan)
    assert total_variation(model.draws_, exact) < 0.02
    alone = sampled(X, may, 500, **options).draws_
    np.testing.assert_array_equal(sampled(X, both, 500, **options).draws_, alone)


def test_without_strengths_it_is_the_plain_mixture():
    X, _ = draw("full-gaussian", 5, seed=0, n_clusters=2)
    model = sampled(X, CONTRADICTORY[5], may_strength=0.0)
    plain = exact_posterior(X, Links.empty(5), "full-gaussian", 1.0, 0.0, 0.0)
    assert total_variation(model.draws_, plain) < 0.02
    np.testing.assert_array_equal(model.draws_, sampled(X, None, may_strength=3.0).draws_)


def test_a_strength_is_the_log_odds_of_a_known_reliability():
    """At p = q the field is the link model of TVClust with p and q known."""
    X, _ = draw("gaussian", 30, seed=3)
    links = Links(30, *(list(c) for c in zip(*draw_pairs(30, 40, seed=0), strict=True)))
    field = sampled(X, links, 2500, family="gaussian", may_strength=np.log(0.8 / 0.2))
    model = TVClust(
        Gaussian(), data_weight=1, inference=Gibbs(n_chains=1, n_warmup=200, n_draws=2500),
        reliability=(0.8, 0.8), alpha=1.0, init="one", n_jobs=1, random_state=0,
    ).fit(X, links=links)  # fmt: skip
    together = [
        np.mean([z[:, None] == z for z in draws], axis=0)
        for draws in (field.draws_, model.draws_.labels)
    ]
    assert np.abs(together[0] - together[1]).max() < 0.06
    assert together[0].std() > 0.2


# ---------------------------------------------------------------------- the objective


@pytest.mark.parametrize("not_strength", [None, 0.0, 0.7])
def test_the_objective_is_that_of_the_formula(not_strength):
    X, _ = draw("full-gaussian", 12, seed=4)
    links = Links(12, *(list(c) for c in zip(*draw_pairs(12, 30, seed=1), strict=True)))
    model = MRFDPMixture(
        concentration=0.5, may_strength=1.7, not_strength=not_strength, n_sweeps=60, burn_in=20,
        random_state=0,
    ).fit(X, links=links)  # fmt: skip
    may_not = 1.7 if not_strength is None else not_strength
    expected = [
        -log_weight(X, links, labels, "full-gaussian", 0.5, 1.7, may_not)
        for labels in [*model.draws_, model.labels_]
    ]
    np.testing.assert_allclose(model.objective_path_[20:], expected, atol=1e-7)
    assert model.objective_ == model.objective_path_[-1]
    assert model.objective_path_.size == 61
    assert model.n_iter_ == 60


def test_the_draws_reach_the_best_of_all_partitions():
    """No draw is better than the best of the 203 partitions, and on every seed some draw is it."""
    links = CONTRADICTORY[6]
    for seed in range(4):
        X, _ = draw("full-gaussian", 6, seed=seed, n_clusters=2)
        logs = all_log_weights(X, links, "full-gaussian", 1.0, 2.0, 2.0)
        path = sampled(X, links, 600).objective_path_
        assert path.min() == pytest.approx(-max(logs.values()), abs=1e-8)


# ---------------------------------------------------------------------- what links do


def test_right_links_help():
    with_links, without = [], []
    for seed in range(4):
        X, y = make_blobs(90, centers=3, cluster_std=3.0, random_state=seed)
        links = sample_links(y, 0.05, rng=seed)
        fitted = MRFDPMixture(n_sweeps=200, burn_in=100, random_state=seed)
        with_links.append(adjusted_rand(y, fitted.fit(X, links=links).labels_))
        without.append(adjusted_rand(y, fitted.fit(X).labels_))
    assert np.mean(with_links) > np.mean(without) + 0.1


def test_strong_links_override_the_data():
    X = np.array([[0.0], [0.1], [9.0], [9.1]])
    model = MRFDPMixture("gaussian", may_strength=1e6, **QUICK)
    assert model.fit(X, links=([(0, 2), (1, 3)], [(0, 1)])).labels_.tolist() == [0, 1, 0, 1]


def test_it_starts_where_it_is_told():
    X, y = make_blobs(40, centers=[[0, 0], [9, 9]], random_state=0)
    for init in ("one", "singletons", "rdp-means", y):
        assert adjusted_rand(y, MRFDPMixture(init=init, **QUICK).fit(X).labels_) == 1.0
    with pytest.raises(MaylinkError, match="init: 7 labels"):
        MRFDPMixture(init=np.zeros(7)).fit(X)


def test_strengths_beyond_double_precision_are_refused():
    X = np.array([[0.0], [0.1], [9.0]])
    model = MRFDPMixture("gaussian", may_strength=1e308, **QUICK)
    assert model.fit(X, links=([(0, 2)], [])).labels_.tolist() == [0, 1, 0]
    with pytest.raises(MaylinkError, match="may_strength, not_strength: too large"):
        model.fit(X, links=([(0, 2), (0, 1)], []))


# ---------------------------------------------------------------------- the face


def test_same_seed_same_draws():
    X, y = make_blobs(50, centers=3, random_state=1)
    links = sample_links(y, 0.1, 0.8, rng=0)
    one, two = (MRFDPMixture(**QUICK).fit(X, links=links) for _ in range(2))
    np.testing.assert_array_equal(one.draws_, two.draws_)
    assert one.labels_.tolist() == two.labels_.tolist()
    other = MRFDPMixture(**{**QUICK, "random_state": 1}).fit(X, links=links)
    assert (other.draws_ != one.draws_).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"family": "cosine"}, "family"),
        ({"concentration": 0.0}, "concentration: 0.0"),
        ({"may_strength": -1.0}, "may_strength: -1.0"),
        ({"may_strength": np.inf}, "may_strength: inf"),
        ({"not_strength": -0.5}, "not_strength: -0.5"),
        ({"not_strength": "equal"}, "not_strength: 'equal'"),
        ({"init": "two"}, "init: 'two'"),
        ({"n_sweeps": 0}, "n_sweeps: 0"),
        ({"burn_in": -1}, "burn_in: -1"),
        ({"n_sweeps": 50, "burn_in": 50}, "burn_in: 50 leaves nothing of n_sweeps=50"),
        ({"n_split_merge": 1.5}, "n_split_merge: 1.5"),
        ({"loss": "pairs"}, "loss: 'pairs'"),
    ],
)
def test_bad_parameters(options, message):
    model = MRFDPMixture(**options)
    with pytest.raises(MaylinkError, match=message):
        model.fit(np.arange(10.0)[:, None])
    assert not hasattr(model, "labels_")


def test_data_outside_the_family_and_links_out_of_range_are_refused():
    with pytest.raises(DomainError, match=r"X\[1, 0\] = -1"):
        MRFDPMixture("poisson").fit([[1.0], [-1.0]])
    with pytest.raises(LinksError, match="out of range"):
        MRFDPMixture().fit([[1.0], [2.0]], links=([(0, 2)], []))
