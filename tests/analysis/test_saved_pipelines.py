"""Pipelines that end in an estimator of ours are saved with their steps, or refused with a word."""

import numpy as np
import pytest
import sklearn
from sklearn.cluster import KMeans
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import maylink as ml
from maylink.analysis import saved_pipelines
from maylink.errors import MaylinkError

X = np.random.default_rng(0).normal(size=(40, 5)) + 6.0 * (np.arange(40) % 2)[:, None]


def saved(pipeline, path):
    ml.save(pipeline, path / "model.npz", force=True)
    return ml.load(path / "model.npz")


@pytest.mark.parametrize("name", sorted(saved_pipelines.STEPS))
def test_every_step_that_is_listed_comes_back(name, tmp_path):
    step = saved_pipelines.STEPS[name]()
    pipeline = make_pipeline(step, ml.RDPMeans(cluster_penalty=30.0, random_state=0)).fit(X)
    again = saved(pipeline, tmp_path)
    assert [key for key, _ in again.steps] == [key for key, _ in pipeline.steps]
    np.testing.assert_array_equal(again[0].transform(X), pipeline[0].transform(X))
    np.testing.assert_array_equal(again.predict(X), pipeline.predict(X))


def test_a_pipeline_of_tvclust_predicts_the_same_and_keeps_names(tmp_path):
    pipeline = make_pipeline(StandardScaler(), "passthrough", ml.TVClust(random_state=0)).fit(X)
    pipeline[-1].name_clusters({0: "low"})
    again = saved(pipeline, tmp_path)
    np.testing.assert_array_equal(again.predict_proba(X), pipeline.predict_proba(X))
    assert again[-1].labels_frame().equals(pipeline[-1].labels_frame())


def test_what_cannot_be_saved_is_refused_with_what_to_do(tmp_path):
    unknown = make_pipeline(FunctionTransformer(), ml.RDPMeans(random_state=0)).fit(X)
    with pytest.raises(MaylinkError, match="FunctionTransformer, which cannot be saved, only MaxA"):
        ml.save(unknown, tmp_path / "model.npz")
    foreign = make_pipeline(StandardScaler(), KMeans(2)).fit(X)
    with pytest.raises(MaylinkError, match="KMeans cannot be saved"):
        ml.save(foreign, tmp_path / "model.npz")
    search = GridSearchCV(ml.RDPMeans(), {"n_init": [1]}, cv=2)
    with pytest.raises(MaylinkError, match="of a search save the one inside"):
        ml.save(search, tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_another_version_of_scikit_learn_is_told(tmp_path, monkeypatch):
    pipeline = make_pipeline(StandardScaler(), ml.RDPMeans(random_state=0)).fit(X)
    ml.save(pipeline, tmp_path / "model.npz")
    monkeypatch.setattr(sklearn, "__version__", "0.0")
    with pytest.warns(UserWarning, match="and this is 0.0; check its predictions"):
        ml.load(tmp_path / "model.npz")
