"""One covariance for all clusters: what is learned of it, its density, and what it is good for."""

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.covariance import ledoit_wolf

from maylink import Links, TVClust
from maylink.errors import DomainError
from maylink.families import SharedGaussian
from maylink.families.shared_gaussian import covariance_apart
from maylink.metrics import pair_f


def clusters(seed, n=300, d=60, k=5, apart=7.0):
    """Clusters with one random covariance, means ``apart`` deviations from 0, links 10 % wrong."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(d, d)))[0] * np.exp(rng.normal(size=d))
    mean = rng.normal(size=(k, d))
    mean *= apart / np.linalg.norm(mean, axis=1, keepdims=True)
    y = rng.integers(0, k, n)
    X = (mean[y] + rng.normal(size=(n, d))) @ axes.T
    i = rng.integers(0, n, n)
    j = (i + rng.integers(1, n, n)) % n
    kind = np.where(y[i] == y[j], 1, -1) * np.where(rng.random(n) < 0.1, -1, 1)
    return X, y, Links(n, i, j, kind), axes @ axes.T


def test_whitened_clusters_are_rounder_than_standardised_ones():
    X, _, _, covariance = clusters(0)
    family = SharedGaussian().adapt(X)
    spread = np.linalg.eigvalsh(family.whitening @ covariance @ family.whitening.T)
    plain = np.linalg.eigvalsh(covariance / np.outer(X.std(axis=0), X.std(axis=0)))
    assert np.log(spread).std() < 0.5 * np.log(plain).std()


def test_density_is_that_of_the_data():
    """Before integrating: N(x; μ, σ² S), with μ and S in the units of X."""
    X = clusters(0, n=50, d=4)[0]
    family = SharedGaussian().adapt(X)
    theta = family.sample_parameters(family.unit_prior(4), np.random.default_rng(0))
    variance = -0.5 / theta[-1]
    mean = family.units((theta[:-1] * variance)[None])[0]
    normal = stats.multivariate_normal(mean, variance * family.axes.T @ family.axes)
    np.testing.assert_allclose(family.log_likelihood(X, theta[None])[:, 0], normal.logpdf(X))
    drawn = family.sample(theta, 20_000, np.random.default_rng(1))
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=5 * np.sqrt(normal.cov.max() / 2e4))


def test_units_do_not_matter():
    X = clusters(1, n=80, d=6)[0]
    scaled = X * np.geomspace(1e-6, 1e6, 6) + 3.0
    plain, other = SharedGaussian().adapt(X), SharedGaussian().adapt(scaled)
    np.testing.assert_allclose(
        plain.divergence(X, plain.points(X)), other.divergence(scaled, other.points(scaled)),
        rtol=1e-5, atol=1e-5,
    )  # fmt: skip
    moved = np.log(np.geomspace(1e-6, 1e6, 6)).sum()
    assert other.log_volume == pytest.approx(plain.log_volume + moved)
    assert plain.log_volume == pytest.approx(0.5 * np.linalg.slogdet(plain.axes @ plain.axes.T)[1])


def test_columns_of_many_units_have_an_evidence():
    """The volume was lost in rounding, and the fit ended in an error."""
    X, y, links, _ = clusters(2, n=120, d=4, k=3)
    unit = np.array([4e5, 3e-6, 4e4, 1e6])
    model = TVClust("shared-gaussian", data_weight=1.0, random_state=0).fit(X * unit, links=links)
    assert pair_f(y, model.labels_) > 0.95
    plain = TVClust("shared-gaussian", data_weight=1.0, random_state=0).fit(X, links=links)
    assert model.bound_ == pytest.approx(plain.bound_ - 120 * np.log(unit).sum(), rel=1e-5)


def test_constant_features_are_left_out():
    X = clusters(0, n=60, d=5)[0]
    wide = np.insert(X, 2, 7.0, axis=1)
    family = SharedGaussian().adapt(wide)
    T = SharedGaussian().adapt(X).points(X)
    np.testing.assert_allclose(family.points(wide), T)
    np.testing.assert_allclose(family.units(T), wide)
    np.testing.assert_allclose(family.coordinates(wide), T)
    wide[0, 2] = 8.0
    assert family.overlooked(wide) == 2


@pytest.mark.parametrize("X", [np.ones((5, 3)), np.zeros((1, 2)), np.repeat(np.eye(3), 9, axis=0)])
def test_data_without_differences_are_only_standardised(X):
    family = SharedGaussian().adapt(X)
    deviation = X.std(axis=0)
    scale = np.where(deviation > 0, deviation, 1.0)
    np.testing.assert_allclose(family.points(X), (X - X.mean(axis=0)) / scale, atol=1e-12)


def test_many_points_are_sampled():
    X = clusters(0, n=3000, d=3)[0]
    assert np.isfinite(SharedGaussian().adapt(X).points(X)).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_better_than_a_covariance_for_each_where_features_are_many(seed):
    X, y, links, _ = clusters(seed)
    score = {
        name: pair_f(y, TVClust(name, data_weight=1, random_state=0).fit(X, links=links).labels_)
        for name in ("shared-gaussian", "diagonal-gaussian", "full-gaussian")
    }
    best_other = max(score["diagonal-gaussian"], score["full-gaussian"])
    assert score["shared-gaussian"] > best_other + 0.1


def test_sparse_data_are_refused():
    with pytest.raises(DomainError, match="would make it dense"):
        SharedGaussian().adapt(sparse.csr_array(np.eye(3)))


@pytest.mark.parametrize(("n", "d", "k"), [(40, 3, 5), (12, 8, 1), (6, 20, 2), (30, 1, 4)])
def test_the_covariance_of_neighbours_is_that_of_ledoit_and_wolf(n, d, k):
    rng = np.random.default_rng(n)
    Z = rng.normal(size=(n, d)) * rng.uniform(0.1, 3.0, d)
    neighbour = rng.integers(0, n, (n, k))
    apart = (Z[:, None, :] - Z[neighbour]).reshape(-1, d)
    expected = ledoit_wolf(apart, assume_centered=True)[0]
    np.testing.assert_allclose(covariance_apart(Z, neighbour), expected, rtol=1e-9, atol=1e-12)
