"""What every estimator must do, for whatever estimators the library has."""

import inspect
import os
import pickle
from functools import cache

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from found import ESTIMATORS, LINKED, PREDICTING, build, plain
from maylink import Links, RDPMeans, TVClust, Variational
from maylink.errors import LinksError
from maylink.runtime.threads import least_work

X, Y = make_blobs(90, centers=3, n_features=3, random_state=0, cluster_std=0.8)
LINKS = Links.from_labels(Y, sample=200, rng=0)

every = pytest.mark.parametrize("cls", ESTIMATORS)
linked = pytest.mark.parametrize("cls", LINKED)
predicting = pytest.mark.parametrize("cls", PREDICTING)


@cache
def fitted(cls):
    """One fit with what "auto" chooses, for all that only look at it."""
    return cls(random_state=0).fit(X)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


NOT_FOR_CLUSTERERS = "asks for tags that only classifiers have once predict_proba takes sparse data"


# What "auto" chooses is nothing to these checks, and takes ten times as long.
CHECKED = [plain(cls, n_init=1, inference=Variational(n_init=1)) for cls in ESTIMATORS]
if "MAYLINK_SLOW" in os.environ:
    CHECKED += [cls() for cls in ESTIMATORS]


@parametrize_with_checks(
    CHECKED,
    expected_failed_checks=lambda model: (
        dict.fromkeys(
            ("check_estimator_sparse_array", "check_estimator_sparse_matrix"), NOT_FOR_CLUSTERERS
        )
        if isinstance(model, TVClust)
        else {}
    ),
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


# ---------------------------------------------------------------------- fitted attributes


@every
def test_labels_are_numbered_by_first_appearance(cls):
    labels = fitted(cls).labels_
    first = [labels.tolist().index(k) for k in range(labels.max() + 1)]
    assert first == sorted(first)


@every
def test_same_seed_same_labels(cls):
    for state in (3, np.random.RandomState, np.random.default_rng):
        make = state if callable(state) else lambda seed: seed
        one, two = (plain(cls, random_state=make(3)).fit(X).labels_ for _ in range(2))
        assert one.tolist() == two.tolist()
    assert cls(random_state=0).fit(X).labels_.tolist() == fitted(cls).labels_.tolist()


@every
def test_clone_and_pickle(cls):
    model = fitted(cls)
    again = pickle.loads(pickle.dumps(model))
    assert again.labels_.tolist() == model.labels_.tolist()
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "labels_")


@every
def test_every_parameter_is_documented(cls):
    for name in inspect.signature(cls).parameters:
        assert f"    {name} : " in cls.__doc__


@every
def test_three_clear_clusters_are_found_without_being_told(cls):
    assert fitted(cls).n_clusters_ == 3


@every
def test_sparse_and_dense_data_give_the_same_labels(cls):
    """Under one family: "auto" takes sparse rows that are nowhere negative for directions."""
    positive = np.abs(X)
    given = {"family": "diagonal-gaussian", "random_state": 0, "n_clusters_hint": 3}
    dense = build(cls, **given).fit(positive)
    for form in (sparse.csr_array, sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array):
        thin = build(cls, **given).fit(form(positive))
        assert thin.labels_.tolist() == dense.labels_.tolist()


@every
def test_data_frames(cls):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = cls(random_state=0).fit(frame)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.labels_.tolist() == fitted(cls).labels_.tolist()


@predicting
def test_predict_of_the_training_data_is_the_fit_where_there_are_no_links(cls):
    model = fitted(cls)
    assert model.predict(X).tolist() == model.labels_.tolist()


@pytest.mark.parametrize("cls", [cls for cls in PREDICTING if hasattr(cls, "transform")])
def test_transform_and_set_output(cls):
    model = plain(cls, random_state=0).set_output(transform="pandas").fit(X)
    table = model.transform(X)
    assert list(table.columns) == [f"{cls.__name__.lower()}{k}" for k in range(3)]
    assert table.to_numpy().argmin(axis=1).tolist() == model.predict(X).tolist()


@predicting
def test_a_pipeline_scores_with_routing_on_and_off(cls, routing):
    pipeline = make_pipeline(StandardScaler(), plain(cls, random_state=0)).fit(X)
    expected = pipeline[-1].score(StandardScaler().fit_transform(X))
    assert pipeline.score(X) == pytest.approx(expected)
    with sklearn.config_context(enable_metadata_routing=False):
        assert pipeline.score(X) == pytest.approx(expected)


# ---------------------------------------------------------------------- threads


@predicting
@pytest.mark.parametrize(
    ("dtype", "form"), [(np.float64, np.asarray), (np.float32, sparse.csr_array)]
)
def test_threads_do_not_change_the_labels(cls, dtype, form):
    rng = np.random.default_rng(0)
    many = form(np.abs(rng.normal(size=(300, 5))).astype(dtype))
    options = {}
    if cls in LINKED:
        options["links"] = Links.from_labels(rng.integers(0, 4, 300), sample=200, rng=0)
    thin = sparse.issparse(many)
    settings = {"n_clusters_hint": 9, "covariance": "diagonal", "n_init": 1, "random_state": 0}
    with least_work(50):
        runs = [plain(cls, sparse=thin, n_jobs=k, **settings).fit(many, **options) for k in (1, 3)]
    for run in runs[1:]:
        assert run.labels_.tolist() == runs[0].labels_.tolist()
        assert run.cluster_centers_.tobytes() == runs[0].cluster_centers_.tobytes()
        for name in ("objective_", "bound_"):
            assert getattr(run, name, None) == getattr(runs[0], name, None)


# ---------------------------------------------------------------------- links


@linked
def test_no_links_and_empty_links_are_the_same(cls):
    empty = cls(random_state=0).fit(X, links=Links.empty(90))
    assert fitted(cls).labels_.tolist() == empty.labels_.tolist()


@linked
def test_links_may_come_in_every_form(cls):
    matrix = np.zeros((90, 90))
    matrix[LINKS.i, LINKS.j] = matrix[LINKS.j, LINKS.i] = LINKS.kind
    forms = [LINKS, (LINKS.may, LINKS.may_not), LINKS.to_frame(), matrix, sparse.csr_array(matrix)]
    runs = [plain(cls, random_state=0).fit(X, links=form).labels_.tolist() for form in forms]
    assert all(run == runs[0] for run in runs)


@every
@pytest.mark.parametrize("form", [LINKS, ([(0, 1)], []), LINKS.to_frame()])
def test_links_given_by_position_are_not_ignored(cls, form):
    with pytest.raises(LinksError, match=r"fit\(X, links=links\)"):
        cls().fit(X, form)
    if cls in LINKED:
        with pytest.raises(LinksError, match=r"fit\(X, links=links\)"):
            cls().fit_predict(X, form)


@linked
def test_fit_predict_takes_links(cls):
    labels = plain(cls, random_state=0).fit(X, links=LINKS).labels_
    assert plain(cls, random_state=0).fit_predict(X, links=LINKS).tolist() == labels.tolist()


@linked
def test_links_travel_through_a_pipeline(cls, routing):
    pipeline = make_pipeline(StandardScaler(), plain(cls, random_state=0))
    pipeline.fit(X, links=LINKS)
    direct = plain(cls, random_state=0).fit(StandardScaler().fit_transform(X), links=LINKS)
    assert pipeline[-1].labels_.tolist() == direct.labels_.tolist()
    assert pipeline.fit_predict(X, links=LINKS).tolist() == direct.labels_.tolist()


@linked
def test_cross_validation_slices_links_on_both_axes(cls, routing):
    fold_links = []

    class Spy(cls):
        def fit(self, X, y=None, *, links=None):
            fold_links.append(links)
            return super().fit(X, links=links)

        def score(self, X, y=None, **options):
            return 0.0

    Spy.__init__.__signature__ = inspect.signature(cls.__init__)
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    cross_validate(
        plain(Spy, random_state=0),
        X,
        params={"links": LINKS},
        cv=folds,
        error_score="raise",
    )
    assert fold_links == [LINKS[train] for train, _ in folds]


def test_links_to_new_points_travel_through_a_pipeline(routing):
    pipeline = make_pipeline(StandardScaler(), RDPMeans(random_state=0)).fit(X, links=LINKS)
    stranger = int(np.flatnonzero(Y[0] != Y)[0])
    # Point 90 is the new one, and a hundred votes are enough for any link weight.
    links = Links.from_pairs(may=[(stranger, 90)], n=91, weight=100)
    assert pipeline.predict(X[:1], links=links) == pipeline[-1].labels_[stranger]
