"""TVClust as its users see it."""

import numpy as np
import pytest
from scipy import integrate
from sklearn.exceptions import ConvergenceWarning

import maylink as ml
from maylink import Gibbs, Links, Tuning, TVClust, Variational
from maylink.datasets import make_two_view, sample_links
from maylink.errors import LinksError, MaylinkError
from maylink.families import Gaussian
from maylink.metrics import pair_f
from zoo import COLLAPSED, FAMILIES, draw, example

VIEW = make_two_view(150, 2, reliability={"good": (0.95, 0.95), "bad": (0.6, 0.6)}, rng=1)


def gibbs(**options):
    """Parameters of a fit with short chains."""
    return {"inference": Gibbs(**{"n_warmup": 100, "n_draws": 150, **options}), "n_jobs": 1}


SHORT = gibbs()
SHORTEST = gibbs(n_warmup=5, n_draws=20)
QUICK = Tuning(data_weights=(1.0, 0.1), n_folds_of_few=2, n_starts_of_small=1)


@pytest.fixture(scope="module", params=[{}, SHORT], ids=["variational", "gibbs"])
def model(request):
    return TVClust(Gaussian(), data_weight=1, random_state=0, **request.param).fit(
        VIEW.X, links=VIEW.links
    )


# ---------------------------------------------------------------------- what comes out


def test_clusters_are_found(model):
    assert pair_f(VIEW.y, model.labels_) > 0.95
    assert model.n_clusters_ == model.labels_.max() + 1
    assert model.cluster_centers_.shape == (model.n_clusters_, 2)
    assert model.responsibilities_.shape == (150, model.n_clusters_)
    np.testing.assert_allclose(model.responsibilities_.sum(axis=1), 1.0)
    assert (model.responsibilities_.argmax(axis=1) == model.labels_).mean() > 0.98


def test_reliability_is_found_within_its_intervals(model):
    table = model.reliability_
    for source, truth in (("good", 0.95), ("bad", 0.6)):
        for name in ("p", "q"):
            low, high = table.loc[source, f"{name}_low"], table.loc[source, f"{name}_high"]
            assert low < table.loc[source, name] < high
            assert low - 0.02 < truth < high + 0.02
    votes = table["p_votes"] + table["q_votes"]
    np.testing.assert_allclose(votes, [300, 300])


def test_suspect_links_are_the_wrong_ones(model):
    table = model.suspect_links()
    assert len(table) == VIEW.links.n_links
    assert table["wrong"].is_monotonic_decreasing
    same = VIEW.y[table["i"]] == VIEW.y[table["j"]]
    wrong = same != (table["kind"] == "may")
    assert wrong.head(50).mean() > 0.9
    np.testing.assert_array_equal(
        VIEW.links.to_frame().loc[table.index, "i"].to_numpy(), table["i"].to_numpy()
    )


def test_coclustering(model):
    matrix = model.coclustering()
    assert matrix.shape == (150, 150)
    np.testing.assert_allclose(matrix, matrix.T)
    np.testing.assert_allclose(np.diag(matrix), 1.0)
    pairs = [(0, 1), (5, 9)]
    np.testing.assert_allclose(model.coclustering(pairs), [matrix[0, 1], matrix[5, 9]])
    for bad, message in (([(0, 150)], r"pairs\[0, 1\] = 150"), ([0, 1], "pairs: shape")):
        with pytest.raises(MaylinkError, match=message):
            model.coclustering(bad)


def test_prediction(model):
    proba = model.predict_proba(VIEW.X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert (model.predict(VIEW.X) == proba.argmax(axis=1)).all()
    assert pair_f(VIEW.y, model.predict(VIEW.X)) > 0.95


def test_links_of_new_points_have_a_say(model):
    """A point in the middle of two centres goes where its links say."""
    middle = model.cluster_centers_[:2].mean(axis=0)[None]
    for k in (0, 1):
        friends = np.flatnonzero(model.labels_ == k)[:8]
        links = Links(151, friends, [150] * 8, [1] * 8, source=["good"] * 8)
        assert model.predict(middle, links=links)[0] == k
    with pytest.raises(LinksError, match="first, then the new ones"):
        model.predict(middle, links=Links.empty(77))


def test_score_is_a_log_density(model):
    assert model.score(VIEW.X) > model.score(VIEW.X + 30.0)
    with pytest.raises(MaylinkError, match="sample_weight"):
        model.score(VIEW.X, sample_weight=np.ones(150))


def test_log_joint_is_the_public_one(model):
    expected = ml.log_joint(
        VIEW.X, VIEW.y, links=VIEW.links, alpha=model.alpha_, prior=model.prior_
    )
    assert model.log_joint(VIEW.y) == pytest.approx(expected)
    with pytest.raises(MaylinkError, match="labels: 3"):
        model.log_joint([0, 0, 1])


def test_the_mixture_integrates_to_one():
    X = np.concatenate([np.random.default_rng(0).normal(size=60), [9.0, 9.5, 10.0]])[:, None]
    model = TVClust(Gaussian(), data_weight=1, random_state=0).fit(X)
    total, _ = integrate.quad(
        lambda x: np.exp(model.mixture_.log_density(np.array([[x]]))[0]), -400, 400,
        points=[0, 9.5], limit=400,
    )  # fmt: skip
    assert total == pytest.approx(1.0, abs=0.02)  # the rest is in the tails of Student's t


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("inference", ["variational", "gibbs"])
def test_every_family(name, inference):
    sampler = "collapsed" if name in COLLAPSED else "instantiated"
    short = gibbs(sampler=sampler, n_warmup=40, n_draws=60)
    options = short if inference == "gibbs" else {}
    X, y = draw(name, 90, seed=4)
    links = sample_links(y, 0.1, 0.9, rng=0)
    if name != "plda":  # which finds clusters that overlap at a lower weight
        options["data_weight"] = 1.0
    model = TVClust(example(name), tuning=QUICK, random_state=0, **options).fit(X, links=links)
    assert pair_f(y, model.labels_) > 0.85
    assert np.isfinite(model.score(X))
    assert model.predict_proba(X).shape == (90, model.n_clusters_)


def test_without_links_there_is_nothing_to_suspect():
    model = TVClust(Gaussian(), data_weight=1, random_state=0).fit(VIEW.X)
    assert len(model.suspect_links()) == 0
    assert len(model.reliability_) == 0
    links = Links.from_pairs(may=[(0, 150)], n=151)
    assert model.predict(VIEW.X[:1], links=links).shape == (1,)


def test_known_reliability_is_not_learned():
    model = TVClust(Gaussian(), data_weight=1, reliability=(0.8, 0.7), random_state=0, **SHORT)
    model.fit(VIEW.X, links=VIEW.links)
    np.testing.assert_allclose(model.reliability_["p"], 0.8)
    model.set_params(inference="variational").fit(VIEW.X, links=VIEW.links)
    assert set(model.reliability_["q"]) == {0.7}
    assert set(model.reliability_["q_low"]) == {0.7}


def test_sources_of_new_links_are_known_by_name(model):
    """The same link weighs what its source deserves, in whatever order sources come."""
    middle = model.cluster_centers_[:2].mean(axis=0)[None]
    a, b = (int(np.argmax(model.labels_ == k)) for k in (0, 1))

    def odds(rows):
        i, kind, source = zip(*rows, strict=True)
        links = Links(151, i, [150] * len(i), kind, source=list(source))
        proba = model.predict_proba(middle, links=links)[0]
        return proba[0] / proba[1]

    plain = model.predict_proba(middle)[0]
    plain = plain[0] / plain[1]
    good, bad, new = (odds([(a, 1, name)]) / plain for name in ("good", "bad", "new"))
    assert good > 5.0 > bad
    expected = np.exp(model.posterior_.new_source().may_weight)  # of a source that was never seen
    assert new == pytest.approx(expected, rel=1e-3)
    assert good > new > bad
    both = [(a, 1, "good"), (b, 1, "bad")]
    assert odds(both) == pytest.approx(odds(both[::-1]), rel=1e-9)


@pytest.mark.filterwarnings("ignore:chains disagree")
def test_known_reliability_counts_for_new_links_and_in_the_joint():
    model = TVClust(
        Gaussian(), data_weight=1, reliability=(0.99, 0.98), alpha=1.0, random_state=0, **SHORT
    )
    model.fit(VIEW.X, links=VIEW.links)
    assert model.log_joint(model.draws_.labels[-1]) == pytest.approx(model.draws_.log_joint[-1])
    model.fit(VIEW.X)
    assert model._log_odds()("any") == pytest.approx((np.log(0.99 / 0.02), np.log(0.98 / 0.01)))


def test_chains_that_disagree_are_told_by_the_fit():
    """Points move one by one, so that chains stay near where they began: one at small pieces."""
    rng = np.random.default_rng(0)
    X = 1.5 * np.eye(3)[np.arange(300) % 3] + rng.normal(size=(300, 3))
    stuck = Gibbs(n_chains=2, n_warmup=0, n_draws=100, n_split_merge=0)
    model = TVClust(Gaussian(), data_weight=1, inference=stuck, random_state=1, n_jobs=1)
    with pytest.warns(ConvergenceWarning, match=r"chains disagree: R-hat of .* is [\d.]+, above"):
        model.fit(X)


def test_a_matrix_that_is_too_large_is_refused_at_once():
    model = TVClust(Gaussian(), data_weight=1, init="one", random_state=0).fit(
        np.random.default_rng(0).random((6000, 1))
    )
    with pytest.raises(MaylinkError, match="ask for pairs"):
        model.coclustering()


def test_a_fit_leaves_nothing_of_an_earlier_one():
    model = TVClust(Gaussian(), data_weight=1, random_state=0, **SHORT).fit(VIEW.X)
    model.set_params(inference="variational").fit(VIEW.X[:50])
    assert not hasattr(model, "draws_")
    model.partial_fit(VIEW.X[:40])
    assert model.labels_.size == 40
    assert not hasattr(model, "responsibilities_")
    assert model.cluster_centers_.shape == (model.n_clusters_, 2)
    model.fit(VIEW.X[:30])
    assert not hasattr(model, "stream_")
    assert model.partial_fit(VIEW.X[:20]).labels_.size == 20


def test_tight_directions():
    """Concentrations so large that Bessel functions need expansions."""
    angle = np.random.default_rng(0).normal(0, 1e-4, 400) + np.repeat([0.0, 1.0], 200)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    model = TVClust("von-mises-fisher", random_state=0).fit(X)
    assert pair_f(np.repeat([0, 1], 200), model.labels_) > 0.9


# ---------------------------------------------------------------------- starts and settings


@pytest.mark.parametrize("init", ["rdp-means", "one", "singletons", VIEW.y])
@pytest.mark.parametrize("options", [{}, SHORTEST], ids=["variational", "gibbs"])
def test_starts(init, options):
    model = TVClust(Gaussian(), data_weight=1, init=init, random_state=0, **options)
    model.fit(VIEW.X, links=VIEW.links)
    assert model.labels_.size == 150


def test_a_start_of_the_wrong_length():
    with pytest.raises(MaylinkError, match="init: 3 labels"):
        TVClust(init=[0, 0, 1]).fit(VIEW.X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inference": "mcmc"}, "inference: 'mcmc' is not one of"),
        (gibbs(sampler="slice"), "sampler: 'slice'"),
        (gibbs(loss="rand"), "loss: 'rand'"),
        ({"init": "random"}, "init: 'random'"),
        ({"data_weight": -1}, "data_weight: -1"),
        ({"alpha": 0.0}, r"alpha: 0\.0"),
        ({"alpha": (1.0, 0.0)}, "alpha: "),
        ({"reliability": (0.9, 1.0)}, "reliability: .* below 1"),
        ({"reliability_prior": 9}, "reliability_prior: 9 is not a pair"),
        (gibbs(n_draws=0), "n_draws: 0"),
        (gibbs(n_warmup=-1), "n_warmup: -1"),
        ({"inference": Variational(truncation=0)}, "truncation: 0"),
        ({**gibbs(sampler="instantiated"), "data_weight": 0.5}, "instantiated sampler needs 1"),
        ({"reliability": ("a", "b")}, "reliability: .* is not a pair"),
        ({"checkpoint": "here"}, "checkpoint: needs a random_state"),
        ({"prior": 3.0}, "prior: say what"),
        ({"covariance": "tied"}, "covariance: 'tied'"),
        ({"covariance": "full", "family": "poisson"}, "covariance: only for"),
        ({"covariance": "full", "prior": 3.0}, "prior: not a prior of 'full-gaussian'"),
        (
            {"covariance": "full", "prior": ml.families.Gaussian().unit_prior(2)},
            "NormalInverseWishart",
        ),
        (
            {"covariance": "full", "prior": ml.families.FullGaussian().unit_prior(3)},
            r"scale: \(2, 2\)",
        ),
    ],
)
def test_bad_settings(options, message):
    model = TVClust(**options)
    with pytest.raises(MaylinkError, match=message):
        model.fit(VIEW.X)
    assert not hasattr(model, "labels_")


def test_too_few_sweeps_are_a_warning():
    once = Variational(max_sweeps=1, tol=0.0)
    model = TVClust(Gaussian(), data_weight=1, inference=once, init="singletons")
    with pytest.warns(ConvergenceWarning, match="1 sweeps"):
        model.fit(VIEW.X)


def test_draws_are_needed_for_what_is_made_of_draws():
    model = TVClust(Gaussian(), data_weight=1, random_state=0).fit(VIEW.X)
    for name in ("credible_ball", "point_estimate", "to_arviz", "diagnostics"):
        with pytest.raises(MaylinkError, match=f"{name}: only inference='gibbs'"):
            getattr(model, name)()


# ---------------------------------------------------------------------- chains


def test_point_estimates_and_credible_ball():
    model = TVClust(Gaussian(), data_weight=1, random_state=0, **SHORT).fit(
        VIEW.X, links=VIEW.links
    )
    assert pair_f(model.point_estimate("binder"), model.labels_) > 0.95
    ball = model.credible_ball()
    assert ball.radius >= 0.0
    assert ball.coarsest.max() <= ball.finest.max()


def test_diagnostics_of_good_chains():
    model = TVClust(Gaussian(), data_weight=1, random_state=0, **gibbs(n_draws=300))
    model.fit(VIEW.X, links=VIEW.links)
    table = model.diagnostics()
    assert {"n_clusters", "alpha", "log_joint", "p[good]", "q[bad]"} <= set(table.index)
    assert (table.loc[["alpha", "p[good]", "q[bad]"], "r_hat"] < 1.1).all()
    assert (table.loc[["alpha", "p[good]"], "ess_bulk"] > 50).all()
    assert model.to_arviz().posterior["p"].shape == (2, 300, 2)


def test_processes_do_not_change_the_draws():
    one, two = (
        TVClust(Gaussian(), data_weight=1, random_state=3, **{**SHORT, "n_jobs": k}).fit(
            VIEW.X, links=VIEW.links
        )
        for k in (1, 2)
    )
    np.testing.assert_array_equal(one.draws_.labels, two.draws_.labels)
    np.testing.assert_array_equal(one.draws_.p, two.draws_.p)


def test_a_chain_is_the_same_alone():
    one, two = (
        TVClust(Gaussian(), data_weight=1, random_state=3, **gibbs(n_chains=k)).fit(
            VIEW.X, links=VIEW.links
        )
        for k in (1, 3)
    )
    np.testing.assert_array_equal(one.draws_.labels, two.draws_.labels[:150])


def test_the_instantiated_sampler():
    model = TVClust(Gaussian(), data_weight=1, random_state=0, **gibbs(sampler="instantiated"))
    assert pair_f(VIEW.y, model.fit(VIEW.X, links=VIEW.links).labels_) > 0.95


def test_scales_of_the_prior_are_learned_when_asked():
    options = gibbs(n_draws=30, n_warmup=30, learn_prior=True)
    model = TVClust(Gaussian(), data_weight=1, random_state=0, **options).fit(
        VIEW.X, links=VIEW.links
    )
    assert pair_f(VIEW.y, model.labels_) > 0.9
    assert model.draws_.factors.shape == (60, 2)
    plain = example("gaussian").adapt(VIEW.X).default_prior(VIEW.X)
    expected = np.exp(np.log(model.draws_.factors[:, 1]).mean()) * plain.rate
    assert model.prior_.rate == pytest.approx(expected)


def test_a_progress_bar_when_asked(capsys):
    TVClust(Gaussian(), data_weight=1, random_state=0, verbose=True, **SHORT).fit(
        VIEW.X, links=VIEW.links
    )
    shown = capsys.readouterr().err
    assert "chain 1 of 2" in shown
    assert "log_joint=-" in shown
    assert "n_clusters=" in shown
