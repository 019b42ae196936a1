"""Tables of a fit: pandas in, pandas out; names of clusters."""

import pickle

import numpy as np
import pandas as pd
import pytest

import maylink as ml
from maylink.errors import MaylinkError

Y = np.array([0, 1, 1] * 10)
INDEX = [f"row {k}" for k in range(30)]
FRAME = pd.DataFrame(
    np.random.default_rng(0).normal(size=(30, 2)) + 9.0 * Y[:, None],
    columns=["height", "weight"],
    index=INDEX,
)


@pytest.fixture(scope="module")
def tvclust():
    model = ml.TVClust("gaussian", covariance="spherical", data_weight=1.0, random_state=0)
    return model.fit(FRAME)


@pytest.fixture
def rdpmeans():
    return ml.RDPMeans(cluster_penalty=50.0, random_state=0).fit(FRAME)


def test_labels_keep_the_index(tvclust, rdpmeans):
    table = tvclust.labels_frame()
    assert table.index.tolist() == INDEX
    assert table["cluster"].tolist() == tvclust.labels_.tolist()
    np.testing.assert_array_equal(table["probability"], tvclust.responsibilities_.max(axis=1))
    assert rdpmeans.labels_frame().columns.tolist() == ["cluster"]
    dp_means = ml.DPMeans(cluster_penalty=50.0, random_state=0).fit(FRAME)
    assert dp_means.labels_frame().index.tolist() == INDEX
    assert isinstance(tvclust.labels_, np.ndarray)  # as scikit-learn has it


def test_predictions_keep_the_index(tvclust, rdpmeans):
    some = FRAME.iloc[[7, 3]]
    for model in (tvclust, rdpmeans):
        table = model.predict_frame(some)
        assert table.index.tolist() == ["row 7", "row 3"]
        assert table["cluster"].tolist() == model.predict(some).tolist()


def test_centres_have_the_names_of_columns(tvclust):
    table = tvclust.centers_frame()
    assert table.columns.tolist() == ["height", "weight"]
    np.testing.assert_array_equal(table.to_numpy(), tvclust.cluster_centers_)
    assert table.index.name == "cluster"


def test_arrays_have_numbers(rdpmeans):
    model = ml.RDPMeans(cluster_penalty=50.0, random_state=0).fit(FRAME.to_numpy())
    assert model.labels_frame().index.tolist() == list(range(30))
    assert model.centers_frame().columns.tolist() == [0, 1]
    assert model.predict_frame(FRAME.to_numpy()[:2]).index.tolist() == [0, 1]


def test_a_stream_numbers_all_its_points():
    model = ml.RDPMeans(cluster_penalty=50.0, random_state=0)
    model.partial_fit(FRAME.iloc[:20]).partial_fit(FRAME.iloc[20:])
    assert model.labels_frame().index.tolist() == list(range(30))


def test_clusters_by_size_and_by_name(rdpmeans, tmp_path):
    labels = rdpmeans.labels_.copy()
    assert np.bincount(labels).tolist() == [10, 20]
    rdpmeans.name_clusters("size")
    assert rdpmeans.cluster_names_.tolist() == [1, 0]
    assert rdpmeans.labels_frame()["cluster"].tolist() == (1 - labels).tolist()
    rdpmeans.name_clusters({1: "tall"})
    assert rdpmeans.labels_frame()["cluster"].unique().tolist() == ["1", "tall"]
    assert rdpmeans.centers_frame().index.tolist() == ["1", "tall"]
    np.testing.assert_array_equal(rdpmeans.labels_, labels)
    ml.save(rdpmeans, tmp_path / "model.npz")
    assert ml.load(tmp_path / "model.npz").cluster_names_.tolist() == ["1", "tall"]
    assert pickle.loads(pickle.dumps(rdpmeans)).labels_frame().index.tolist() == INDEX
    assert not hasattr(rdpmeans.fit(FRAME), "cluster_names_")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({5: "x"}, "there is no cluster 5, only 0 to 1"),
        (["a"], "1 names for 2 clusters"),
        (["a", "a"], "'a' names two clusters"),
        ("age", "give names by label, or 'size'"),
    ],
)
def test_names_that_cannot_be(names, message, rdpmeans):
    with pytest.raises(MaylinkError, match=message):
        rdpmeans.name_clusters(names)


def test_what_there_is_no_table_of():
    spectral = ml.SpectralRDPMeans(random_state=0).fit(FRAME)
    assert spectral.labels_frame().index.tolist() == INDEX
    with pytest.raises(MaylinkError, match="does not place new points"):
        spectral.predict_frame(FRAME)
    with pytest.raises(MaylinkError, match="has no cluster_centers_"):
        spectral.centers_frame()


def test_a_table_that_was_read_brings_its_ids(tmp_path):
    FRAME.rename_axis("who").to_csv(tmp_path / "data.csv")
    table = ml.read_table(tmp_path / "data.csv", id="who")
    model = ml.RDPMeans(cluster_penalty=50.0, random_state=0).fit(table)
    assert model.labels_frame().index.tolist() == INDEX
    assert model.predict_frame(table).index.name == "who"
