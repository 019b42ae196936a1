"""RDPMeans: what is its own beyond the contract."""

import logging

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from maylink import Links, RDPMeans, Schedule, Tuning, log_joint
from maylink.errors import LinksError, MaylinkError
from maylink.metrics import pair_f
from maylink.solvers.fit import Status
from zoo import FAMILIES, draw, example, true_links

X, Y = make_blobs(120, centers=4, random_state=3, cluster_std=1.0)
LINKS = Links.from_labels(Y, sample=300, rng=0)
QUICK = Tuning(data_weights=(1.0, 0.1), cluster_hints=(1, 4, 8), n_folds_of_few=2)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_fits_predicts_and_scores(name):
    data, y = draw(name, 90, 2)
    links = true_links(y, 400, 0)
    model = RDPMeans(example(name), tuning=QUICK, random_state=0).fit(data, links=links)
    assert model.cluster_centers_.shape == (model.n_clusters_, data.shape[1])
    assert pair_f(y, model.labels_) > 0.9
    assert model.transform(data).shape == (90, model.n_clusters_)
    assert np.isfinite(model.score(data))
    assert set(model.predict(data)) <= set(range(model.n_clusters_))


@pytest.mark.parametrize("name", ["gaussian", "multinomial", "poisson", "von-mises-fisher"])
def test_centres_are_the_means_in_the_units_of_the_data(name):
    data, _ = draw(name, 60, 0)
    model = RDPMeans(name, n_clusters_hint=3, random_state=0).fit(data)
    for k in range(model.n_clusters_):
        rows = data[model.labels_ == k]
        if name == "multinomial":
            rows = (rows + 0.3) / (rows.sum(axis=1, keepdims=True) + 0.9)
        if name == "von-mises-fisher":
            rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        expected = rows.mean(axis=0)
        if name == "von-mises-fisher":
            expected /= np.linalg.norm(expected)
        np.testing.assert_allclose(model.cluster_centers_[k], expected)


def test_float32_and_float64_agree_where_no_tie_is_near():
    double = RDPMeans(tuning=QUICK, random_state=0).fit(X, links=LINKS)
    single = RDPMeans(tuning=QUICK, random_state=0).fit(X.astype(np.float32), links=LINKS)
    assert single.labels_.tolist() == double.labels_.tolist()


# ---------------------------------------------------------------------- starts


def test_start_from_labels():
    start = np.roll(Y, 1).astype(str)  # any labels will do
    once = Schedule(max_sweeps=1, order="index")
    model = RDPMeans(cluster_penalty=1e6, init=start, schedule=once)
    with pytest.warns(ConvergenceWarning):
        model.fit(X)
    centers = np.array([X[k == start].mean(axis=0) for k in np.unique(start)])
    nearest = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    assert pair_f(nearest, model.labels_) == 1.0


def test_start_from_centres_is_k_means_when_nothing_opens():
    from sklearn.cluster import KMeans

    start = X[[0, 40, 80]]
    ours = RDPMeans(cluster_penalty=1e6, init=start, keep="objective").fit(X)
    theirs = KMeans(3, init=start, n_init=1, tol=0.0).fit(X)
    assert pair_f(theirs.labels_, ours.labels_) == 1.0
    distortion = ours.objective_ - 3 * 1e6
    assert distortion == pytest.approx(theirs.inertia_, rel=1e-6)


def test_centres_of_a_fit_are_a_start():
    first = RDPMeans(random_state=0).fit(X)
    again = RDPMeans(
        cluster_penalty=first.cluster_penalty_, init=first.cluster_centers_, random_state=1
    ).fit(X)
    assert again.labels_.tolist() == first.labels_.tolist()
    assert again.n_iter_ <= 3


# ---------------------------------------------------------------------- runs


def test_more_runs_never_raise_the_objective():
    options = {"cluster_penalty": 8.0, "link_weight": 0.5, "keep": "objective"}
    options["schedule"] = Schedule(rate=1.0)
    one = RDPMeans(n_init=1, random_state=0, **options).fit(X, links=LINKS)
    many = RDPMeans(n_init=12, random_state=0, **options).fit(X, links=LINKS)
    assert many.objective_ <= one.objective_


def test_order_of_the_rows_is_one_run():
    options = {"cluster_penalty": 8.0, "schedule": Schedule(order="index")}
    one, many = (RDPMeans(n_init=k, **options).fit(X).labels_.tolist() for k in (1, 9))
    assert one == many


def test_too_few_sweeps_are_told():
    model = RDPMeans(schedule=Schedule(max_sweeps=2), random_state=0, cluster_penalty=1.0)
    with pytest.warns(ConvergenceWarning, match="not settled after 2 sweeps; raise max_sweeps"):
        model.fit(X, links=LINKS)
    assert model.status_ is Status.MAX_SWEEPS
    assert model.n_iter_ == 2


def test_trace_and_log(caplog):
    with caplog.at_level(logging.INFO, logger="maylink"):
        model = RDPMeans(cluster_penalty=9.0, n_init=1, random_state=0).fit(X, links=LINKS)
    trace = model.trace_
    assert f"RDP-means: converged after {model.n_iter_} steps" in caplog.text
    assert list(trace.columns) == ["objective", "n_clusters", "n_changed", "xi_may", "xi_not"]
    assert len(trace) == model.n_iter_
    assert trace["objective"].iloc[model.kept_sweep_] == model.objective_
    assert tuple(trace[["xi_may", "xi_not"]].iloc[model.kept_sweep_]) == model.link_weight_
    assert model.status_ is Status.CONVERGED


def test_progress_is_shown_on_standard_error_when_wanted(capfd):
    RDPMeans(tuning=QUICK, random_state=0).fit(X, links=LINKS)
    assert capfd.readouterr().err == ""
    RDPMeans(tuning=QUICK, random_state=0, verbose=True).fit(X, links=LINKS)
    out, err = capfd.readouterr()
    assert out == ""
    assert "RDP-means" in err
    assert "clusters=" in err


def test_default_link_weight_is_a_thousandth_of_the_penalty():
    model = RDPMeans(cluster_penalty=9.0, random_state=0).fit(X, links=LINKS)
    assert model.trace_["xi_may"].iloc[0] == pytest.approx(0.009)
    fixed = RDPMeans(cluster_penalty=9.0, link_weight=0.001, random_state=0).fit(X, links=LINKS)
    assert fixed.trace_["xi_may"].iloc[0] == 0.001


# ---------------------------------------------------------------------- new points with links


@pytest.fixture
def model():
    return RDPMeans(random_state=0, keep="objective").fit(X, links=LINKS)


def test_a_friend_among_the_known_points_decides(model):
    point = X[:1]
    for friend in range(0, 120, 17):
        links = Links.from_pairs(may=[(friend, 120)], n=121)
        assert model.predict(point, links=links).tolist() == [model.labels_[friend]]


def test_a_stranger_drives_a_point_to_the_next_cluster(model):
    cluster = model.labels_[0]
    links = Links.from_pairs(may_not=[(0, 120)], n=121)
    scores = model.transform(X[:1])[0]
    expected = np.argsort(scores)[1] if scores.argmin() == cluster else scores.argmin()
    assert model.predict(X[:1], links=links).tolist() == [expected]


def test_links_among_new_points(model):
    one = X[Y[0] == Y][:1]
    other = X[Y[0] != Y][:1]
    new = np.vstack([one, other])
    among = Links.from_pairs(may=[(0, 1)], n=2, weight=100)
    over_both = Links.from_pairs(may=[(120, 121)], n=122, weight=100)
    for links in (among, over_both, np.array([[0, 100], [100, 0]])):
        first, second = model.predict(new, links=links)
        assert first == second
    apart = model.predict(new)
    assert apart[0] != apart[1]


def test_links_between_known_points_do_not_matter(model):
    links = Links.from_pairs(may=[(0, 5), (3, 9)], n=130)
    assert model.predict(X[:10], links=links).tolist() == model.predict(X[:10]).tolist()


def test_links_have_a_say_after_a_fit_without_links():
    model = RDPMeans(random_state=0).fit(X)
    assert model.link_weight_ is None
    friend = int(np.flatnonzero(model.labels_ != model.labels_[0])[0])
    links = Links.from_pairs(may=[(friend, 120)], n=121, weight=100)
    assert model.predict(X[:1], links=links).tolist() == [model.labels_[friend]]


def test_pairs_without_a_size_are_refused_in_predict(model):
    with pytest.raises(LinksError, match="give a Links object"):
        model.predict(X[:2], links=([(0, 1)], []))


# ---------------------------------------------------------------------- score


def test_score_is_the_exact_log_probability_per_point():
    model = RDPMeans(random_state=0).fit(X, links=LINKS)
    prior = model.family_.default_prior(X)
    z = model.predict(X)
    assert model.score(X) == pytest.approx(log_joint(X, z, prior=prior) / 120)
    z = model.predict(X, links=LINKS)
    expected = log_joint(X, z, links=LINKS, prior=prior) / 120
    assert model.score(X, links=LINKS) == pytest.approx(expected)
    with pytest.raises(MaylinkError, match="sample_weight"):
        model.score(X, sample_weight=np.ones(120))


def test_grid_search_finds_a_sensible_penalty():
    search = GridSearchCV(RDPMeans(random_state=0), {"cluster_penalty": [0.05, 0.5, 20.0, 1e4]})
    assert search.fit(X).best_params_ == {"cluster_penalty": 20.0}


def test_prediction_opens_no_cluster(model):
    far = np.full((3, 2), 1e6)
    strangers = Links.from_pairs(may_not=[(i, 120) for i in range(120)], n=123)
    assert set(model.predict(far, links=strangers)) <= set(range(model.n_clusters_))
