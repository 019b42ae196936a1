"""Columns of different units: what ``scale`` does."""

import logging

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from maylink import RDPMeans, load, save
from maylink.errors import MaylinkError
from maylink.families.columns import units_differ
from maylink.metrics import pair_f
from zoo import true_links

NOISE = 1e6


def table(seed, n=160, noise=1):
    """Four blobs in four columns, and columns of noise in another unit."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4
    X = np.vstack([np.zeros(4), 7 * np.eye(4)[:3]])[y] + rng.normal(size=(n, 4))
    return np.hstack([X, NOISE * rng.normal(size=(n, noise))]), y


@pytest.mark.parametrize("noise", [1, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_column_of_noise_in_another_unit_does_not_decide(seed, noise):
    """It did, where all was left open and where a hint was given."""
    X, y = table(seed, noise=noise)
    scores = {}
    for name, settings in (
        ("open", {}),
        ("hint", {"n_clusters_hint": 4}),
        ("raw", {"n_clusters_hint": 4, "scale": False}),
    ):
        model = RDPMeans(random_state=0, **settings).fit(X)
        scores[name] = pair_f(y, model.labels_)
        assert (model.family_.name == "gaussian") == (name == "raw")
    assert scores["open"] > 0.9
    assert scores["hint"] > scores["raw"] + 0.2


def test_units_do_not_matter_where_they_differ(tmp_path):
    X, _ = table(0)
    plain = RDPMeans(scale=True, random_state=0).fit(X / np.r_[np.ones(4), NOISE])
    model = RDPMeans(random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    members = [X[model.labels_ == k].mean(axis=0) for k in range(model.n_clusters_)]
    np.testing.assert_allclose(model.cluster_centers_, members)
    new, _ = table(1)
    expected = plain.predict(new / np.r_[np.ones(4), NOISE])
    np.testing.assert_array_equal(model.predict(new), expected)
    save(model, tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert again.scale == "auto"
    np.testing.assert_array_equal(again.predict(new), expected)


def test_the_distance_that_runs_is_the_standardised_one():
    """With a hint Algorithm 1 runs as it is: the same as on data that were standardised before."""
    X, _ = table(0)
    before = StandardScaler().fit_transform(X)
    for settings in ({"n_clusters_hint": 4}, {"keep": "objective", "n_clusters_hint": 4}):
        model = RDPMeans(random_state=0, **settings).fit(X)
        plain = RDPMeans("diagonal-gaussian", random_state=0, **settings).fit(before)
        np.testing.assert_array_equal(model.labels_, plain.labels_)
        assert model.cluster_penalty_ == pytest.approx(plain.cluster_penalty_)


def test_what_is_given_in_the_unit_of_the_distance_leaves_columns_as_they_are():
    X, _ = table(0)
    for settings in (
        {"cluster_penalty": 1e12},
        {"link_weight": 0.001},
        {"family": "gaussian"},
        {"scale": False, "n_clusters_hint": 4},
    ):
        model = RDPMeans(random_state=0, n_init=1, **settings).fit(X)
        assert model.family_.name == "gaussian"
    one_unit = RDPMeans(n_clusters_hint=4, random_state=0).fit(X[:, :4])
    assert one_unit.family_.name == "gaussian"
    given = RDPMeans(scale=True, cluster_penalty=5.0, random_state=0).fit(X)
    assert given.family_.name == "diagonal-gaussian"


def test_links_choose_among_families_that_compare_columns(caplog):
    X, y = table(0)
    with caplog.at_level(logging.INFO, "maylink"):
        model = RDPMeans(random_state=0).fit(X, links=true_links(y, 80, 0))
    assert "gaussian" not in set(model.selection_["family"])
    assert "diagonal-gaussian" in set(model.selection_["family"])
    assert "columns are compared in units of their standard deviations" in caplog.text


def test_data_on_dask_and_sparse_data():
    dask_array = pytest.importorskip("dask.array")
    X, _ = table(0)
    model = RDPMeans(random_state=0, n_init=1).fit(dask_array.from_array(X, chunks=(70, 5)))
    assert model.family_.name == "diagonal-gaussian"
    hint = RDPMeans(n_clusters_hint=4, random_state=0, n_init=1)
    stored = hint.fit(sparse.csr_array(X))
    assert stored.family_.name == "gaussian"  # columns of sparse data are of one unit


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"scale": "yes"}, "scale: 'yes' is not 'auto', True or False"),
        ({"scale": 1}, "scale: 1 is not 'auto', True or False"),
        ({"scale": True, "family": "poisson"}, "scale: True with a family that is given"),
    ],
)
def test_what_makes_no_sense_is_refused(settings, words):
    with pytest.raises(MaylinkError, match=words):
        RDPMeans(**settings).fit(np.eye(4))


@pytest.mark.parametrize(
    ("deviations", "expected"),
    [
        ([1.0, 2.0, 9.0, 11.0], False),
        ([1.0, 2.0, 2.0, 21.0], True),  # one beyond ten times the middle
        ([1.0, 100.0, 100.0, 100.0], True),  # a step, and a fourth of the columns below it
        ([1e-6] * 5 + [1.0] * 5, True),
        ([1e-6] * 4 + [1.0] * 60, False),  # border pixels: fewer than a tenth
        ([1e-6] * 7 + [1.0] * 60, True),
        (list(np.geomspace(1.0, 80.0, 30)), False),  # no step, and no column far beyond the middle
        ([0.0, 0.0, 3.0], False),
        ([0.0], False),
    ],
)
def test_what_tells_that_units_differ(deviations, expected):
    for order in (deviations, deviations[::-1]):
        assert units_differ(np.array(order)) == expected
