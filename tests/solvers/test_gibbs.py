"""The collapsed sampler: exact posteriors, Geweke's test, calibration."""

import os

import numpy as np
import pytest
from scipy import stats
from scipy.special import softmax

from exact import (
    evidence,
    log_joints,
    log_joints_of,
    posterior,
    reliability_means,
    some_links,
    total_variation,
)
from geweke import z_scores
from maylink import Links
from maylink.datasets import load, make_two_view
from maylink.families import DiagonalGaussian, VonMisesFisher
from maylink.families.product_with_gaps import with_gaps
from maylink.model.source_prior import PRIOR
from maylink.problem import Problem
from maylink.solvers.gibbs import CollapsedSampler, GibbsSettings
from zoo import COLLAPSED, draw, example


def make_problem(name, n, links, seed=0):
    X, _ = draw(name, n, seed, n_clusters=2)
    return Problem.build(X, links, example(name))


def sample(problem, settings, n_draws, seed=0):
    sampler = CollapsedSampler(problem, None, settings)
    rng = np.random.default_rng(seed)
    state, _ = sampler.step(sampler.init(np.zeros(problem.n, np.int64)), 200, rng)
    return sampler, sampler.step(state, n_draws, rng)[1]


# Points, whether links contradict each other, sources, and p and q where they are known.
CASES = {
    "one source": (5, True, 1, None),
    "two sources": (5, True, 2, None),
    "known": (5, False, 1, (0.8, 0.7)),
    "six points": (6, True, 2, None),
    "six points, known": (6, False, 2, (0.8, 0.7)),
    "no contradiction": (5, False, 2, None),
}


# Both moves together have their exact posterior under every family, with links of one source. What
# sources share is reckoned from links alone and takes ten times as long: with two, one family is
# enough, whose p and q are looked at, too. Each move alone and Geweke's test take long for all.
SLOW = pytest.mark.skipif(
    "MAYLINK_SLOW" not in os.environ, reason="takes long: set MAYLINK_SLOW=1 to run it"
)
OFTEN = [(name, "one source") for name in COLLAPSED]
OFTEN += [("gaussian", "known")]
RARE = [(name, case) for name in COLLAPSED for case in ("two sources", "known")]
RARE += [("gaussian", case) for case in list(CASES)[3:]]


def with_rare(often, rare):
    """All of these, those that are not often tried behind the mark."""
    return often + [pytest.param(*one, marks=SLOW) for one in rare if one not in often]


@pytest.mark.parametrize(("name", "case"), with_rare(OFTEN, RARE))
def test_draws_have_the_exact_posterior(name, case):
    n, contradictory, n_sources, reliability = CASES[case]
    links = some_links(n, contradictory=contradictory, n_sources=n_sources)
    problem = make_problem(name, n, links)
    settings = GibbsSettings(alpha=1.0, reliability=reliability, n_split_merge=1)
    sampler, draws = sample(problem, settings, 40_000 if n == 5 else 100_000)
    exact = posterior(problem, sampler.prior, reliability=reliability)
    assert total_variation(draws.labels, exact) < 0.02


@pytest.mark.parametrize(
    ("name", "n_sources"),
    with_rare([("gaussian", 1), ("full-gaussian", 1)], [(name, 2) for name in COLLAPSED]),
)
@pytest.mark.parametrize("n_split_merge", [0, 4])
def test_either_move_alone_has_the_exact_posterior(name, n_sources, n_split_merge):
    links = some_links(5, contradictory=True, n_sources=n_sources)
    problem = make_problem(name, 5, links, seed=1)
    moves = {"single_site": n_split_merge == 0, "n_split_merge": n_split_merge}
    sampler, draws = sample(problem, GibbsSettings(alpha=1.0, **moves), 60_000)
    assert total_variation(draws.labels, posterior(problem, sampler.prior)) < 0.02


@pytest.mark.parametrize("data_weight", [0.0, 0.3, 2.0])
def test_a_data_weight_is_a_power_on_the_marginals(data_weight):
    problem = make_problem("full-gaussian", 5, some_links(5, contradictory=True, n_sources=1))
    settings = GibbsSettings(alpha=1.0, data_weight=data_weight)
    sampler, draws = sample(problem, settings, 30_000)
    exact = posterior(problem, sampler.prior, data_weight=data_weight)
    assert total_variation(draws.labels, exact) < 0.02


def test_a_learned_alpha_is_integrated_out():
    problem = make_problem("gaussian", 5, some_links(5, contradictory=False, n_sources=1))
    sampler, draws = sample(problem, GibbsSettings(alpha_prior=(2.0, 1.5)), 60_000)
    gamma = stats.gamma(2.0, scale=1 / 1.5)
    alphas = gamma.ppf((np.arange(50) + 0.5) / 50)
    tables = log_joints_of(alphas, problem, sampler.prior)
    top = max(max(table.values()) for table in tables)
    weights = {z: np.mean([np.exp(t[z] - top) for t in tables]) for z in tables[0]}
    total = sum(weights.values())
    exact = {z: weight / total for z, weight in weights.items()}
    assert total_variation(draws.labels, exact) < 0.02
    mean = np.mean([a * sum(np.exp(v - top) for v in t.values()) for a, t in zip(alphas, tables,
                   strict=True)]) / total  # fmt: skip
    assert draws.alpha.mean() == pytest.approx(mean, rel=0.03)


def test_two_sources_have_their_exact_posterior():
    """Of partitions, and of the means of p and q, whose standard error is about .001."""
    problem = make_problem("full-gaussian", 5, some_links(5, contradictory=True, n_sources=2))
    sampler, draws = sample(problem, GibbsSettings(alpha=1.0, n_split_merge=1), 40_000)
    exact = posterior(problem, sampler.prior)
    assert total_variation(draws.labels, exact) < 0.02
    expected = np.zeros((2, 2))
    for labels, probability in exact.items():
        expected += probability * reliability_means(problem.links, np.array(labels))
    np.testing.assert_allclose(draws.p.mean(axis=0), expected[0], atol=0.004)
    np.testing.assert_allclose(draws.q.mean(axis=0), expected[1], atol=0.004)


@pytest.mark.parametrize("reliability", [None, (0.8, 0.7)])
def test_the_log_joint_of_a_draw_is_exact(reliability):
    problem = make_problem("product", 6, some_links(6, contradictory=True, n_sources=2))
    settings = GibbsSettings(alpha=1.0, reliability=reliability)
    sampler, draws = sample(problem, settings, 50)
    exact = log_joints(problem, sampler.prior, reliability=reliability)
    expected = [exact[tuple(z)] for z in draws.labels.tolist()]
    np.testing.assert_allclose(draws.log_joint, expected, atol=1e-8)


def test_scales_of_the_prior_have_their_exact_posterior():
    """One scale (Dirichlet mass), integrated by quadrature over its log-normal prior."""
    problem = make_problem("multinomial", 4, Links.empty(4))
    sampler = CollapsedSampler(problem, None, GibbsSettings(alpha=1.0, learn_prior=True))
    rng, state = np.random.default_rng(0), sampler.init(np.zeros(4, np.int64))
    logs = []
    for _ in range(4000):
        state, _ = sampler.step(state, 1, rng)
        logs.append(float(np.log(state.factors[0])))

    def log_density(log_factor):
        prior = problem.family.rescale(sampler.prior, np.exp([log_factor]))
        return evidence(problem, prior) + stats.norm.logpdf(log_factor)

    grid = np.linspace(-6, 6, 49)  # of a smooth density that is nothing at both ends
    weight = softmax([log_density(x) for x in grid])
    assert np.mean(logs) == pytest.approx(weight @ grid, abs=0.1)


def test_a_scale_of_one_column_costs_no_look_at_the_others(monkeypatch):
    """Each scale is looked at with its column: with all of them 40 columns took minutes."""
    X = np.random.default_rng(0).normal(size=(6, 40))
    X[2, 3] = np.nan
    problem = Problem.build(X, Links.empty(6), with_gaps(DiagonalGaussian(), 40))
    sampler = CollapsedSampler(
        problem, None, GibbsSettings(alpha=1.0, learn_prior=True, n_prior_draws=5)
    )
    looks, posterior_of = [], DiagonalGaussian.posterior
    monkeypatch.setattr(
        DiagonalGaussian, "posterior", lambda *given: looks.append(1) or posterior_of(*given)
    )
    state, _ = sampler.step(sampler.init(np.zeros(6, np.int64)), 1, np.random.default_rng(0))
    assert state.factors.size == 80
    assert len(looks) == 40 + 5 * 80


# ---------------------------------------------------------------------- Geweke, calibration


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=SLOW if name != "gaussian" else ()) for name in COLLAPSED]
)
def test_geweke(name):
    settings = GibbsSettings(n_split_merge=1)

    def make(problem, prior):
        return CollapsedSampler(problem, prior, settings)

    family = VonMisesFisher(2.0) if name == "von-mises-fisher" else example(name)
    assert np.abs(z_scores(family, make, steps=2000, seed=1)).max() < 4.0


def test_p_and_q_are_calibrated():
    """Simulation-based calibration: the rank of the truth among draws is uniform."""
    ranks = []
    rng = np.random.default_rng(0)
    for trial in range(200):
        p, q = rng.beta(*PRIOR), rng.beta(*PRIOR)
        view = make_two_view(12, 2, reliability=(p, q), links_per_point=5, rng=trial)
        sampler = CollapsedSampler(
            Problem(view.X, view.links, example("gaussian")),
            example("gaussian").unit_prior(2),
            GibbsSettings(alpha=1.0, thin=5),
        )
        state, _ = sampler.step(sampler.init(view.y), 20, rng)
        _, draws = sampler.step(state, 49, rng)
        ranks.append([(draws.p[:, 0] < p).sum(), (draws.q[:, 0] < q).sum()])
    for column in np.array(ranks).T:
        counts = np.bincount(column // 5, minlength=10)
        assert stats.chisquare(counts).pvalue > 0.001


# ---------------------------------------------------------------------- chains


def test_split_merge_moves_leave_a_bad_start():
    """Wine in one cluster: single points find a poor way out of it, whole groups a better one."""
    problem = Problem.build(load("wine").X, None, "full-gaussian")
    _, stuck = sample(problem, GibbsSettings(alpha=1.0, n_split_merge=0), 40)
    _, moved = sample(problem, GibbsSettings(alpha=1.0, n_split_merge=5), 40)
    assert moved.log_joint.mean() > stuck.log_joint.mean() + 10.0


def test_many_clusters_need_more_room():
    """With such an α every point is alone: from one cluster to 100."""
    problem = Problem.build(np.arange(100.0)[:, None], None, "gaussian")
    _, draws = sample(problem, GibbsSettings(alpha=1e9), 5)
    assert draws.n_clusters[-1] == 100


def test_the_same_generator_makes_the_same_draws():
    problem = make_problem("gaussian", 6, some_links(6, contradictory=True, n_sources=2))
    sampler = CollapsedSampler(problem, None, GibbsSettings())
    start = sampler.init(np.zeros(6, np.int64))
    first, again = (sampler.step(start, 20, np.random.default_rng(0))[1] for _ in range(2))
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
