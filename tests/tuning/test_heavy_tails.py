"""Heavy tails are found where they are, nowhere else, and fits are then those of the clusters."""

import numpy as np
import pytest
from scipy import stats

import maylink as ml
from maylink.datasets import make_pattern
from maylink.metrics import pair_f
from maylink.problem import Problem
from maylink.tuning.heavy_tails import CLOSE, _mixture, find_tails, with_tails

CENTERS = 12.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])


def four(seed, freedom=None, n=400):
    """Four clusters of Student-t distributed points, or of Gaussian ones."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    noise = rng.normal(size=(n, 2)) if freedom is None else rng.standard_t(freedom, size=(n, 2))
    return CENTERS[y] + noise, y


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("freedom", [2, 4])
def test_tails_of_four_clusters_are_found(freedom, seed):
    tails = find_tails(four(seed, freedom)[0])
    assert tails is not None
    assert len(tails.weights) == 4
    distance = np.linalg.norm(tails.centers[:, None] - CENTERS, axis=2)
    assert distance.min(axis=0).max() < 1.0


@pytest.mark.parametrize("seed", range(3))
def test_gaussian_clusters_have_none(seed):
    assert find_tails(four(seed)[0]) is None


@pytest.mark.parametrize("name", ["blobs", "stripes", "moons", "rings", "spirals", "cross"])
def test_patterns_have_none(name):
    assert find_tails(make_pattern(name, n=300, rng=0).X) is None


def test_one_cloud_and_hundreds_of_clusters_have_none():
    rng = np.random.default_rng(0)
    assert find_tails(stats.multivariate_t(np.zeros(2), df=4, seed=0).rvs(300)) is None
    several = 100 * rng.normal(size=(200, 2))[rng.integers(0, 200, 800)]
    assert find_tails(several + rng.normal(size=(800, 2))) is None


@pytest.mark.parametrize("X", [np.zeros((60, 2)), np.eye(60)[:, :3], np.ones((60, 1))])
def test_degenerate_data_have_none(X):
    assert find_tails(X) is None


def test_units_do_not_matter():
    X = four(0, 2)[0]
    plain, scaled = find_tails(X), find_tails(X * [1e-3, 1e5] + [7.0, -1e6])
    np.testing.assert_allclose(scaled.centers, plain.centers * [1e-3, 1e5] + [7.0, -1e6], rtol=1e-6)


@pytest.mark.parametrize("freedom", [4.0, np.inf])
def test_expectation_maximisation_never_falls(freedom, monkeypatch):
    """What must not fall is the likelihood times the prior of the covariances."""
    (X, y), spread, values = four(0, 2), np.array([0.5, 2.0]), []
    for rounds in range(1, 12):
        monkeypatch.setattr("maylink.tuning.heavy_tails.ROUNDS", rounds)
        one = _mixture(X, y, freedom, spread)
        precision = np.einsum("kij,kil->kjl", one.whitenings, one.whitenings)
        traces = np.einsum("kjj,j->", precision, spread)
        log_prior = 2.0 * (np.linalg.slogdet(precision)[1].sum() - traces)  # (d + 2)/2 of each
        values.append(one.criterion + log_prior)
    assert (np.diff(values) > -CLOSE).all()
    assert values[-1] > values[0] + 1.0


def test_given_families_stay_as_they_are():
    problem = Problem.build(four(0, 2)[0], None, "gaussian")
    assert with_tails([problem])[0] is problem


@pytest.mark.parametrize("kind", [ml.TVClust, ml.RDPMeans])
def test_four_clusters_with_heavy_tails_are_four(kind, tmp_path):
    X, y = four(0, 2)
    model = kind(random_state=0).fit(X)
    assert model.n_clusters_ == 4
    assert pair_f(y, model.labels_) > 0.93
    assert model.predict([[17.0, 17.0]]) == model.predict([[12.0, 12.0]])
    ml.save(model, tmp_path / "model.npz")
    again = ml.load(tmp_path / "model.npz")
    assert (again.predict(3 * X) == model.predict(3 * X)).all()
    assert (again.predict(X) == model.labels_).mean() > 0.98
