"""LinkSearchCV: the best by held-out links wins, whatever clusterer it is."""

import os
import pickle
import warnings

import numpy as np
import pytest
import sklearn
from scipy import stats
from sklearn.base import clone
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maylink import Links, RDPMeans, TVClust, Variational, sample_links
from maylink.baselines import COPKMeans, PlainKMeans, PlainSpectral
from maylink.errors import LinksError, MaylinkError
from maylink.tuning import LinkFolds, LinkSearchCV, link_score
from maylink.tuning.scores import log_scores

X, Y = make_blobs(60, centers=4, n_features=3, random_state=1, cluster_std=0.7)
LINKS = sample_links(Y, rate=0.08, accuracy=0.9, rng=0)
SIZES = {"n_clusters": [1, 2, 3, 4, 6]}


def search(model=None, grid=None, **options):
    model = KMeans(n_init=3) if model is None else model
    return LinkSearchCV(model, SIZES if grid is None else grid, **{"random_state": 0, **options})


def test_links_tell_k_means_how_many_clusters_there_are():
    result = search().fit(X, links=LINKS)
    assert result.best_params_ == {"n_clusters": 4}
    assert result.best_index_ == 3
    assert result.best_score_ == result.cv_results_["mean_test_score"].max()
    assert result.labels_.tolist() == result.best_estimator_.labels_.tolist()
    assert result.predict(X).tolist() == result.best_estimator_.predict(X).tolist()
    assert result.n_features_in_ == 3


def test_scores_are_those_of_fits_made_by_hand():
    folds = LinkFolds(3, random_state=7)
    model = PlainKMeans(random_state=5)
    result = search(model, cv=folds, drop=None).fit(X, links=LINKS).cv_results_
    for place, k in enumerate(SIZES["n_clusters"]):
        every, votes = [], []
        for number, fold in enumerate(folds.split(LINKS)):
            fitted = PlainKMeans(k, random_state=5).fit(X, links=fold.train)
            score = link_score(fitted, fold.test, fold.train)
            assert result[f"split{number}_test_score"][place] == pytest.approx(score.mean)
            every.append(log_scores(fitted, fold.test, fold.train))
            votes.append(fold.test.weight)
        mean = np.average(np.concatenate(every), weights=np.concatenate(votes))
        assert result["mean_test_score"][place] == pytest.approx(mean)
    assert result["n_folds"].tolist() == [3] * 5
    assert result["n_links"].tolist() == [LINKS.n_links] * 5
    assert (result["mean_behind_best"] >= 0).all()
    assert result["rank_test_score"].tolist() == stats.rankdata(-result["mean_test_score"]).tolist()


def test_the_hopeless_drop_out():
    full = search(PlainKMeans(), drop=None).fit(X, links=LINKS)
    result = search(PlainKMeans()).fit(X, links=LINKS)
    table = result.cv_results_
    assert result.best_params_ == full.best_params_ == {"n_clusters": 4}
    out = table["n_folds"] < table["n_folds"][result.best_index_]
    assert out.any() or table["n_folds"].max() < result.n_splits_
    assert table["n_folds"][0] < 4  # one cluster is hopeless
    assert np.isnan(table["split3_test_score"][0])
    assert table["rank_test_score"][result.best_index_] == 1
    np.testing.assert_allclose(
        table["split0_test_score"], full.cv_results_["split0_test_score"], rtol=1e-12
    )


def test_the_first_within_some_standard_errors_wins():
    table = search(drop=None).fit(X, links=LINKS).cv_results_
    behind = table["mean_behind_best"] / np.maximum(table["std_error_behind_best"], 1e-300)
    for within in (0.0, 1.0, float(behind[2]) + 0.01, 1e9):
        result = search(drop=None, within=within).fit(X, links=LINKS)
        assert result.best_index_ == np.flatnonzero(behind <= within)[0]
        assert result.best_score_ == table["mean_test_score"][result.best_index_]
    dropped = search(within=1e9).fit(X, links=LINKS)
    assert dropped.best_index_ == np.flatnonzero(dropped.cv_results_["n_folds"] == 4)[0]
    with pytest.raises(MaylinkError, match="within"):
        search(within=-1.0).fit(X, links=LINKS)


def test_fits_see_only_the_links_of_their_fold():
    fit_links = []

    class Spy(PlainKMeans):
        def fit(self, X, y=None, *, links=None):
            fit_links.append(links)
            return super().fit(X, y, links=links)

    folds = list(LinkFolds(3, random_state=0).split(LINKS))
    search(Spy(2), {"n_init": [1, 2]}, cv=LinkFolds(3, random_state=0), drop=None).fit(
        X, links=LINKS
    )
    assert len(fit_links) == 7
    assert fit_links[-1] is LINKS
    for number, links in enumerate(fit_links[:-1]):
        held = folds[number // 2].test.pair_keys
        assert not np.intersect1d(held, links.pair_keys).size
        assert links.n_links == folds[number // 2].train.n_links


def test_a_fit_that_ignores_links_is_made_once():
    fits = []

    class Counted(KMeans):
        def fit(self, X, y=None, sample_weight=None):
            fits.append(self.n_clusters)
            return super().fit(X)

    search(Counted(), refit=False).fit(X, links=LINKS)
    assert fits == SIZES["n_clusters"]


@pytest.mark.skipif("MAYLINK_SLOW" not in os.environ, reason="starts processes: MAYLINK_SLOW=1")
def test_the_result_does_not_depend_on_the_number_of_processes():
    grid = {"n_clusters_hint": [2, 4]}
    model = RDPMeans("gaussian", scale=False, neighbours=False, n_init=1, link_weight=None)
    one, two = (
        search(model, grid, n_jobs=jobs, random_state=3).fit(X, links=LINKS) for jobs in (1, 2)
    )
    for key, value in one.cv_results_.items():
        if key.endswith("score") or key == "n_folds":
            np.testing.assert_array_equal(value, two.cv_results_[key])
    assert one.labels_.tolist() == two.labels_.tolist()


def test_seeds_that_are_given_are_kept_and_others_are_filled_in():
    assert search(KMeans(random_state=9)).fit(X, links=LINKS).best_estimator_.random_state == 9
    result = search(KMeans()).fit(X, links=LINKS).best_estimator_.random_state
    assert isinstance(result, int)
    again = search(KMeans()).fit(X, links=LINKS).best_estimator_.random_state
    assert result == again


def test_soft_clusters_are_scored_by_their_posterior():
    model = TVClust(covariance="spherical", data_weight=1, inference=Variational(n_init=1))
    result = search(model, {"data_weight": [1.0, 0.5]}, cv=2).fit(X, links=LINKS)
    assert np.isfinite(result.cv_results_["mean_test_score"]).all()
    assert list(result.suspect_links().columns)[-1] == "wrong"
    assert result.predict_proba(X).shape == (60, result.n_clusters_)


# ---------------------------------------------------------------------- failures


def test_who_fails_cannot_win():
    with pytest.warns(
        FitFailedWarning, match=r"1 of 2 candidates failed and cannot win; the first"
    ):
        result = search(KMeans(), {"n_clusters": [1000, 4]}).fit(X, links=LINKS)
    assert result.best_params_ == {"n_clusters": 4}
    table = result.cv_results_
    assert np.isnan(table["mean_test_score"][0])
    assert "ValueError" in table["failure"][0]
    assert table["failure"][1] is None
    assert table["rank_test_score"].tolist() == [2, 1]


def test_all_fail():
    knot = Links.from_pairs(
        may=[(0, 1), (1, 2), (2, 3), (0, 3)], may_not=[(0, 2), (1, 3), (0, 1), (2, 3)], n=60
    )
    with pytest.raises(MaylinkError, match=r"all 2 candidates failed.*InfeasibleLinksError"):
        search(COPKMeans(), {"n_clusters": [1, 2]}, cv=2).fit(X, links=knot)


def test_unknown_parameters_are_not_failures():
    with pytest.raises(ValueError, match="Invalid parameter 'colour'"):
        search(grid={"colour": [1]}).fit(X, links=LINKS)


@pytest.mark.parametrize(
    ("options", "links", "message"),
    [
        ({}, None, "links: none given; a search needs links to hold out"),
        ({}, Links.from_pairs(may=[(0, 1), (1, 2)], n=60), "links: 2 links do not fill 4 folds"),
        ({"param_distributions": SIZES}, LINKS, "param_grid: give it or param_distributions"),
        ({"cv": 1}, LINKS, "cv: 1 is not a whole number of at least 2"),
        ({"drop": -1.0}, LINKS, "drop: -1.0 is not a finite number of at least 0"),
        ({"refit": "yes"}, LINKS, "refit: 'yes' is not True or False"),
        ({"param_grid": {"n_clusters": 4}}, LINKS, "param_grid: "),
        ({"param_grid": None}, LINKS, "param_grid: give it or param_distributions"),
        ({}, Links.empty(5), "made for 5 points, but there are 60"),
    ],
)
def test_bad_input(options, links, message):
    model = search().set_params(**options)
    with pytest.raises(MaylinkError, match=message):
        model.fit(X, links=links)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_links_by_position_are_not_ignored():
    with pytest.raises(LinksError, match=r"fit\(X, links=links\)"):
        search().fit(X, LINKS)


# ---------------------------------------------------------------------- as scikit-learn has it


def test_candidates_from_distributions():
    result = LinkSearchCV(
        KMeans(n_init=1),
        param_distributions={"n_clusters": stats.randint(2, 7)},
        n_iter=4,
        random_state=2,
    ).fit(X, links=LINKS)
    assert len(result.cv_results_["params"]) == 4
    again = clone(result).fit(X, links=LINKS)
    assert again.cv_results_["params"] == result.cv_results_["params"]


def test_lists_of_grids_leave_gaps():
    grid = [{"n_clusters": [4]}, {"init": ["random"], "n_clusters": [2]}]
    table = search(grid=grid).fit(X, links=LINKS).cv_results_
    assert table["param_init"].mask.tolist() == [True, False]
    assert table["param_n_clusters"].tolist() == [4, 2]


@pytest.mark.parametrize("routing", [False, True])
def test_pipelines_inside(routing):
    model = make_pipeline(StandardScaler(), RDPMeans(n_init=1, link_weight=0.0))
    grid = {"rdpmeans__n_clusters_hint": [1, 4]}
    with sklearn.config_context(enable_metadata_routing=routing):
        result = search(model, grid, cv=2).fit(X, links=LINKS)
    assert result.best_params_ == {"rdpmeans__n_clusters_hint": 4}
    assert result.labels_.shape == (60,)
    assert result.predict(X[:5]).shape == (5,)
    direct = RDPMeans(
        n_clusters_hint=4,
        n_init=1,
        link_weight=0.0,
        random_state=result.best_estimator_[-1].random_state,
    )
    direct.fit(StandardScaler().fit_transform(X), links=LINKS)
    assert direct.labels_.tolist() == result.labels_.tolist()


def test_pipelines_outside():
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(
            StandardScaler(), search(RDPMeans(n_init=1), {"n_clusters_hint": [4]})
        )
        model.fit(X, links=LINKS)
        among = Links.from_pairs(may=[(0, 1)], n=5)
        assert model.predict(X[:5], links=among).shape == (5,)
        assert model.fit_predict(X, links=LINKS).shape == (60,)


def test_clone_pickle_and_what_is_asked_before_a_fit():
    model = search()
    with pytest.raises(NotFittedError, match="predict: call fit first"):
        model.predict(X)
    assert not hasattr(model, "labels_")
    assert not hasattr(search(DBSCAN(), {"eps": [1.0]}), "predict")
    model.fit(X, links=LINKS)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.labels_.tolist() == model.labels_.tolist()
    assert not hasattr(clone(model), "cv_results_")
    assert "KMeans" in repr(model)
    with pytest.raises(AttributeError, match="no attribute 'fit_transform'"):
        _ = model.fit_transform


def test_without_a_refit_there_is_no_estimator():
    model = search(refit=False).fit(X, links=LINKS)
    assert model.best_params_ == {"n_clusters": 4}
    assert not hasattr(model, "best_estimator_")
    with pytest.raises(NotFittedError, match="refit=True"):
        model.predict(X)
    with pytest.raises(MaylinkError, match="refit: False leaves no clusters"):
        model.fit_predict(X, links=LINKS)


def test_a_failed_refit_keeps_the_earlier_fit():
    model = search().fit(X, links=LINKS)
    before = model.cv_results_
    with pytest.raises(MaylinkError, match="none given"):
        model.fit(X)
    assert model.cv_results_ is before


def test_every_form_of_links():
    expected = search().fit_predict(X, links=LINKS).tolist()
    may, may_not = LINKS.may.tolist(), LINKS.may_not.tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert search().fit_predict(X, links=LINKS.to_frame()).tolist() == expected
        assert search().fit(X, links=(may, may_not)).best_params_ == {"n_clusters": 4}


def test_noise_is_judged_too():
    result = search(DBSCAN(), {"eps": [0.01, 1.5, 100.0]}).fit(X, links=LINKS)
    assert result.best_params_ == {"eps": 1.5}


def test_by_point():
    result = search(PlainSpectral(), {"n_clusters": [2, 4]}, cv=LinkFolds(2, "point", 0))
    assert result.fit(X, links=LINKS).best_params_ == {"n_clusters": 4}
