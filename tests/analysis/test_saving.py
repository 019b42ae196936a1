"""A saved model comes back to the bit, and nothing is written over or left half-written."""

import os

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import maylink as ml
from found import BASELINES, ESTIMATORS, build
from maylink import (
    DPMeans,
    Gibbs,
    Links,
    RDPMeans,
    Schedule,
    Tuning,
    TVClust,
    Variational,
    sample_links,
)
from maylink.errors import FileError, MaylinkError
from maylink.families import Family, Gaussian, Product
from maylink.families.gaussian import NormalGamma
from zoo import FAMILIES, draw, example, pieces, true_links

QUICK = {"data_weight": 1.0, "inference": Variational(n_init=1, interval_draws=50)}
SHORT = {"data_weight": 1.0, "inference": Gibbs(n_chains=1, n_warmup=2, n_draws=8)}
MAKERS = {
    "variational": lambda family: TVClust(family, **QUICK, random_state=0),
    "gibbs": lambda family: TVClust(family, **SHORT, random_state=0),
    "RDPMeans": lambda family: RDPMeans(family, n_clusters_hint=3, n_init=1, random_state=0),
    "DPMeans": lambda family: DPMeans(family, n_clusters_hint=3, n_init=1, random_state=0),
}
QUESTIONS = ("predict", "predict_proba", "transform", "score")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.npz"


@pytest.fixture(scope="module")
def fitted():
    X, y = draw("gaussian", 60, 0)
    return TVClust(Gaussian(), **QUICK, random_state=0).fit(X, links=true_links(y, 40, 0)), X


def again(model, path, **options):
    ml.save(model, path, **options)
    return ml.load(path)


def assert_same(one, two):
    """Equal to the bit, in types and shapes too."""
    if isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, two, check_exact=True)
    elif isinstance(one, (tuple, list)):
        assert type(one) is type(two)
        for a, b in zip(one, two, strict=True):
            assert_same(a, b)
    elif isinstance(one, np.ndarray):
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two)
    else:
        assert one == two


def assert_same_model(one, two, X):
    assert type(one) is type(two)
    names = {name for name in vars(one) if name.endswith("_") and name != "problem_"}
    assert names == {name for name in vars(two) if name.endswith("_")}
    simple = (np.ndarray, pd.DataFrame, int, float, str, tuple, list)
    for name in names:
        if isinstance(getattr(one, name), simple):
            assert_same(getattr(one, name), getattr(two, name))
    for question in QUESTIONS:
        if hasattr(one, question):
            assert_same(getattr(one, question)(X), getattr(two, question)(X))


# ---------------------------------------------------------------------- round trips


# Every family once, since all models store family and prior alike; every model with two families.
PAIRS = [("variational", family) for family in FAMILIES]
PAIRS += [(maker, name) for maker in MAKERS for name in ("gaussian", "product")][2:]


@pytest.mark.parametrize(("maker", "family"), PAIRS)
def test_every_estimator_and_every_family(maker, family, path):
    X, y = draw(family, 60, 1)
    links = true_links(y, 60, 1)
    model = MAKERS[maker](example(family))
    model.fit(X, **({} if maker == "DPMeans" else {"links": links}))
    loaded = again(model, path)
    assert_same_model(model, loaded, X)
    assert path.stat().st_size < 100_000
    if isinstance(model, TVClust):
        assert_same(model.suspect_links(), loaded.suspect_links())
        assert_same(model.coclustering(), loaded.coclustering())
        assert_same(model.predict_proba(X, links=links), loaded.predict_proba(X, links=links))
    if maker == "gibbs":
        assert_same(model.draws_, loaded.draws_)
        assert_same(model.point_estimate("binder"), loaded.point_estimate("binder"))
        assert_same(model.credible_ball(), loaded.credible_ball())


@pytest.mark.parametrize("cls", ESTIMATORS + BASELINES)
def test_every_estimator_and_baseline(cls, path):
    X, _ = draw("gaussian", 40, 2)
    model = build(cls, n_clusters=3, n_sweeps=20, burn_in=5, random_state=0).fit(X)
    loaded = again(model, path)
    assert_same_model(model, loaded, X)
    assert str(loaded.get_params()) == str(model.get_params())


QUICK_TUNING = Tuning(data_weights=(1.0, 0.1), cluster_hints=(1, 3), n_folds_of_few=2)


@pytest.mark.parametrize(
    "model",
    [
        TVClust(inference=Variational(n_init=1, tol=1e-4, truncation=7), tuning=QUICK_TUNING),
        TVClust(inference="gibbs", data_weight=1, alpha=(2.0, 1.0)).set_params(
            inference__n_draws=6, inference__n_warmup=2, inference__sampler="instantiated"
        ),
        RDPMeans(schedule=Schedule(order="shuffle", rate=1.5), tuning=QUICK_TUNING, n_init=1),
        DPMeans(schedule=Schedule(max_sweeps=99), n_clusters_hint=3),
    ],
    ids=["variational", "gibbs", "RDPMeans", "DPMeans"],
)
def test_parameters_that_hold_parameters(model, path):
    X, y = draw("gaussian", 60, 1)
    model = clone(model).set_params(family="gaussian", random_state=0)
    model.fit(X, **({} if isinstance(model, DPMeans) else {"links": true_links(y, 80, 1)}))
    loaded = again(model, path)
    assert_same_model(model, loaded, X)
    assert repr(loaded.get_params()) == repr(model.get_params())
    for name in model._parameter_objects:
        assert type(getattr(loaded, name)) is type(getattr(model, name))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_and_single_precision(form, dtype, path):
    X, y = draw("poisson", 60, 3)
    X = form(X.astype(dtype))
    model = TVClust("poisson", **QUICK, random_state=0).fit(X, links=true_links(y, 40, 3))
    loaded = again(model, path, keep_data=True)
    assert_same(model.predict_proba(X), loaded.predict_proba(X))
    assert loaded.log_joint(y) == model.log_joint(y)


def test_products_may_be_nested_and_weighed(path):
    inner = Product([("gaussian", [0]), ("bernoulli", [1])])
    family = Product([(inner, [0, 1]), ("poisson", [2])], weights=[2.0, 1.0])
    X, _ = draw("product", 60, 0)
    model = RDPMeans(family, n_clusters_hint=3, random_state=0).fit(X)
    loaded = again(model, path)
    assert loaded.family == family
    assert_same_model(model, loaded, X)


def test_prior_links_sources_and_names_of_columns(path):
    X, y = draw("gaussian", 60, 4)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    links = Links(60, [0, 1, 2], [3, 4, 5], [1, -1, 1], [1, 2, 3], ["é", 7, "é"])
    prior = NormalGamma(np.zeros(3), np.array(0.1), np.array(2.0), np.array(1.0))
    model = TVClust(Gaussian(), prior=prior, init=y, random_state=0, data_weight=1.0)
    loaded = again(model.fit(frame, links=links), path)
    assert loaded.posterior_.links == links
    assert_same(loaded.prior, prior)
    assert loaded.feature_names_in_.tolist() == ["a", "b", "c"]
    assert_same(loaded.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[["b", "a", "c"]])


def test_a_stream_goes_on_after_loading(path):
    X, y = draw("gaussian", 90, 5)
    links = true_links(y[:45], 30, 5)
    model = TVClust(Gaussian(), data_weight=1.0, random_state=0).partial_fit(X[:45], links=links)
    loaded = again(model, path)
    for each in (model, loaded):
        each.partial_fit(X[45:])
    assert_same_model(model, loaded, X)
    assert_same(model.suspect_links(), loaded.suspect_links())


@pytest.mark.parametrize("make", [RDPMeans, DPMeans])
def test_a_stream_of_means_goes_on_after_loading(make, path):
    X, _ = draw("gaussian", 90, 5)
    model = make(random_state=0).partial_fit(X[:45])
    loaded = again(model, path)
    for each in (model, loaded):
        each.partial_fit(X[45:])
    assert_same_model(model, loaded, X)


def test_a_stream_of_merged_clusters_goes_on_after_loading(path):
    X, y = pieces()
    links = sample_links(y[:200], rate=0.05, accuracy=0.9, rng=0)
    model = RDPMeans(random_state=0).partial_fit(X[:200], links=links)
    assert model.result_.state.merged is not None
    loaded = again(model, path)
    for each in (model, loaded):
        each.partial_fit(X[200:])
    assert_same_model(model, loaded, X)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_random_states(make, path):
    X, _ = draw("gaussian", 30, 0)
    model = DPMeans(n_clusters_hint=3, random_state=make(3)).fit(X)
    loaded = again(model, path)
    assert type(loaded.random_state) is type(model.random_state)
    assert loaded.random_state.random() == model.random_state.random()


def test_data_are_not_stored_unless_asked(fitted, path):
    model, _ = fitted
    with pytest.raises(MaylinkError, match=r"saved without keep_data=True; use maylink.log_joint"):
        again(model, path).log_joint(model.labels_)
    with_data = again(model, path, keep_data=True, force=True)
    assert with_data.log_joint(model.labels_) == model.log_joint(model.labels_)


def test_many_draws_make_a_small_file(path):
    X, y = draw("gaussian", 300, 0)
    model = TVClust(Gaussian(), **SHORT, random_state=0).set_params(inference=Gibbs(n_draws=200))
    model.fit(X, links=true_links(y, 200, 0))
    ml.save(model, path)
    assert path.stat().st_size < model.draws_.labels.nbytes / 4


def test_the_same_model_makes_the_same_file(fitted, tmp_path):
    for name in ("a", "b"):
        ml.save(fitted[0], tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


# ---------------------------------------------------------------------- what cannot be saved


def test_only_fitted_models_of_maylink_are_saved(fitted, path):
    with pytest.raises(MaylinkError, match="this TVClust is not fitted"):
        ml.save(TVClust(), path)
    pipeline = make_pipeline(DPMeans(random_state=0), StandardScaler()).fit(fitted[1])
    with pytest.raises(MaylinkError, match="step 'dpmeans' of the pipeline is a DPMeans"):
        ml.save(pipeline, path)
    assert not path.exists()


def test_a_family_of_ones_own_is_refused(fitted, path):
    class Own(Gaussian):
        pass

    assert issubclass(Own, Family)
    model = DPMeans(Own(), n_clusters_hint=2, random_state=0).fit(fitted[1])
    with pytest.raises(FileError, match=r"parameters\.family: a Own cannot be saved"):
        ml.save(model, path)
    assert not path.exists()


# ---------------------------------------------------------------------- the file


def test_nothing_is_written_over_without_force(fitted, path):
    path.write_text("mine")
    with pytest.raises(FileError, match="is there already; say force=True"):
        ml.save(fitted[0], path)
    assert path.read_text() == "mine"
    ml.save(fitted[0], path, force=True)
    assert ml.load(path).n_clusters_ == fitted[0].n_clusters_


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_broken_write_leaves_what_was_there(fitted, path, monkeypatch, error):
    path.write_text("mine")

    def fail(file):
        raise error

    monkeypatch.setattr(os, "fsync", fail)
    expected = FileError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as caught:
        ml.save(fitted[0], path, force=True)
    if isinstance(error, OSError):
        assert str(caught.value).endswith("cannot be written (No space left on device)")
    assert path.read_text() == "mine"
    assert os.listdir(path.parent) == [path.name]


def test_folders_that_cannot_be(fitted, tmp_path):
    with pytest.raises(FileError, match=r"cannot be written .No such file"):
        ml.save(fitted[0], tmp_path / "no" / "model.npz")
    with pytest.raises(FileError, match="is a folder"):
        ml.save(fitted[0], tmp_path, force=True)


def test_columns_are_saved_by_name_and_found_again(tmp_path):
    from maylink.analysis.saving import columns_for, name_columns
    from maylink.io.data import read_data

    (tmp_path / "a.csv").write_text("h,w,more\n1,2,9\n3,4,9\n8,9,9\n")
    (tmp_path / "b.csv").write_text("h,v\n1,2\n3,4\n")
    table, other = read_data(tmp_path / "a.csv"), read_data(tmp_path / "b.csv")
    model = ml.RDPMeans(random_state=0).fit(table.X[:, [1, 0]])
    assert columns_for(model, other)[1].endswith("knows no names to check")
    with pytest.raises(FileError, match="fitted to 2, and the data have 3"):
        columns_for(model, table)
    with pytest.raises(MaylinkError, match="3 names for the 2 columns"):
        name_columns(model, ["a", "b", "c"])
    name_columns(model, ["w", "h"])
    ml.save(model, tmp_path / "m.npz")
    X, said = columns_for(ml.load(tmp_path / "m.npz"), table)
    assert X.columns.tolist() == ["w", "h"]
    assert X.to_numpy().tolist() == table.X[:, [1, 0]].tolist()
    assert said == "2 columns found by name; 1 more left out"
    with pytest.raises(FileError, match="asks for 'w', and the data have 'h', 'v'"):
        columns_for(model, other)


@pytest.mark.parametrize("name", ["model.npz", "model"])
def test_the_path_that_was_written_comes_back(tmp_path, name):
    X = np.array([[0.0], [0.2], [5.0], [5.2]])
    path = ml.save(DPMeans(cluster_penalty=2.0, random_state=0).fit(X), str(tmp_path / name))
    assert path == tmp_path / name
    assert [file.name for file in tmp_path.iterdir()] == [name]
    np.testing.assert_array_equal(ml.load(path).labels_, [0, 0, 1, 1])
