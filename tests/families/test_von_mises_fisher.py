"""Directions, against SciPy, mpmath and numerical integration."""

import mpmath
import numpy as np
import pytest
from scipy import integrate, sparse, stats
from sklearn.metrics.pairwise import cosine_distances

from maylink import Gibbs, Links, RDPMeans, TVClust, log_joint
from maylink.errors import DomainError
from maylink.families import VonMisesFisher
from maylink.families.columns import expected_clusters
from maylink.families.von_mises_fisher import Direction, log_bessel, log_constant
from maylink.metrics import adjusted_rand

X = np.random.default_rng(0).normal(size=(20, 3))


def test_divergence_is_scikit_learns_cosine_distance():
    family = VonMisesFisher()
    D = family.divergence(X, family.points(X[:4]))
    np.testing.assert_allclose(D, cosine_distances(X, X[:4]), atol=1e-12)


@pytest.mark.parametrize("kappa", [0.1, 3.0, 700.0])
def test_likelihood_is_scipys(kappa):
    direction = np.array([0.0, 0.6, 0.8])
    family = VonMisesFisher(concentration=kappa)
    unit = family.points(X)
    expected = stats.vonmises_fisher(direction, kappa).logpdf(unit)
    value = family.log_likelihood(X, kappa * direction[None])[:, 0]
    np.testing.assert_allclose(value, expected)


def test_marginal_by_numerical_integration():
    angles = np.array([0.3, 1.1, -0.4])
    points = np.column_stack([np.cos(angles), np.sin(angles)])
    family = VonMisesFisher(concentration=4.0)

    def integrand(mu):
        return stats.vonmises.pdf(mu, 2.0, loc=0.7) * stats.vonmises.pdf(angles, 4.0, loc=mu).prod()

    value, _ = integrate.quad(integrand, -np.pi, np.pi)
    prior = Direction(2.0 * np.array([np.cos(0.7), np.sin(0.7)]))
    statistics = family.cluster_statistics(points, np.zeros(3, np.int64), 1)
    assert family.log_marginal(statistics, prior)[0] == pytest.approx(np.log(value))


@pytest.mark.parametrize("order", [-0.5, 0.0, 0.5, 3.0, 31.0, 191.0, 767.5])
@pytest.mark.parametrize("x", [1e-8, 0.3, 2.0, 11.0, 80.0, 900.0, 1e5])
def test_log_bessel_is_mpmaths(order, x):
    with mpmath.workdps(50):
        expected = float(mpmath.log(mpmath.besseli(order, x)))
    assert float(log_bessel(order, np.array(x))) == pytest.approx(expected, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("d", [2, 3, 5, 768])
def test_uniform_density_is_one_over_the_area_of_the_sphere(d):
    with mpmath.workdps(30):
        area = 2 * mpmath.pi ** (mpmath.mpf(d) / 2) / mpmath.gamma(mpmath.mpf(d) / 2)
        expected = -float(mpmath.log(area))
    assert float(log_constant(np.array(0.0), d)) == pytest.approx(expected)


def test_length_of_rows_has_no_meaning():
    family = VonMisesFisher()
    scales = np.geomspace(1e-200, 1e200, 20)[:, None]
    np.testing.assert_allclose(family.points(X * scales), family.points(X), rtol=1e-12)


def test_concentration_follows_the_spread_of_the_data():
    narrow = np.array([1.0, 0.0, 0.0]) + 0.01 * X
    assert VonMisesFisher().adapt(narrow).kappa > 100 * VonMisesFisher().adapt(X).kappa
    assert VonMisesFisher(concentration=7.0).adapt(X).kappa == 7.0
    equal = np.ones((5, 3))
    assert np.isfinite(VonMisesFisher().adapt(equal).kappa)


def test_default_concentration_of_few_columns_is_that_of_one_cluster_shared_out():
    """Small spread: 1 − E cos ≈ (d − 1)/(2κ), shared out among as many clusters as expected."""
    drawn = stats.vonmises_fisher([0.0, 0.0, 1.0], 500.0).rvs(4000, random_state=0)
    kappa = VonMisesFisher().adapt(drawn).kappa
    assert kappa == pytest.approx(500.0 * expected_clusters(4000), rel=0.05)


@pytest.mark.parametrize(
    ("d", "n", "n_clusters", "cosine"),
    [
        (8, 300, 3, 0.6),
        (8, 300, 12, 0.9),
        (64, 300, 50, 0.5),
        (200, 150, 3, 0.3),
    ],
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_default_concentration_is_that_of_separate_clusters(d, n, n_clusters, cosine, form):
    rng = np.random.default_rng(0)
    kappa = np.sqrt(cosine) * (d - cosine) / (1.0 - cosine)
    centers = VonMisesFisher().points(rng.normal(size=(n_clusters, d)))
    family = VonMisesFisher(concentration=kappa)
    drawn = [family.sample(kappa * m, n // n_clusters, rng) for m in centers]
    found = VonMisesFisher().adapt(form(np.vstack(drawn))).kappa
    assert 0.5 < found / kappa < 1.2


def test_opposite_points_have_any_direction_as_their_centre():
    """Every unit vector has the least total divergence from them, one per point."""
    family = VonMisesFisher()
    opposite = np.vstack([X, -X])
    center = family.centroid(np.zeros((1, 3)))
    assert np.linalg.norm(center) == pytest.approx(1.0)
    assert family.divergence(opposite, center).sum() == pytest.approx(40.0)


def test_objective_never_rises_on_opposite_points():
    rng = np.random.default_rng(0)
    directions = np.vstack([np.eye(2), -np.eye(2)])
    for seed in range(100):
        points = directions[rng.integers(0, 4, 9)]
        model = RDPMeans(
            family="von-mises-fisher",
            cluster_penalty=float(rng.uniform(0.1, 2.0)),
            init=rng.integers(0, 3, 9),
            keep="objective",
            n_init=1,
            random_state=seed,
        ).fit(points)
        assert np.all(np.diff(model.trace_["objective"]) <= 1e-12)


def test_what_cannot_be_a_direction_is_refused():
    with pytest.raises(DomainError, match="1 feature"):
        VonMisesFisher().adapt(np.ones((3, 1)))
    with pytest.raises(DomainError, match="concentration: 0"):
        VonMisesFisher(concentration=0.0).adapt(X)


# ---------------------------------------------------------------------- rows of zeros


def blobs_with_zeros(seed=0):
    """Three clusters of directions; every tenth row is all zeros."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 20)
    points = 4.0 * np.eye(3, 6)[y] + rng.normal(size=(60, 6))
    points[::10] = 0.0
    return points, y


def test_a_row_of_zeros_is_as_likely_everywhere_as_a_uniform_direction():
    family = VonMisesFisher(concentration=30.0)
    rows = np.vstack([np.zeros(3), X[:2]])
    theta = 30.0 * family.points(X[:4])
    uniform = -np.log(4.0 * np.pi)
    np.testing.assert_allclose(family.log_likelihood(rows, theta)[0], uniform)
    assert family.log_predictive(rows, Direction(theta[0]))[0] == pytest.approx(uniform)
    assert not family.points(rows)[0].any()
    np.testing.assert_array_equal(family.divergence(rows, family.points(X[:4]))[0], 0.0)


def test_the_exact_score_of_a_partition_does_not_care_where_rows_of_zeros_are():
    """Of clusters of the same sizes; the sizes themselves do count."""
    points, y = blobs_with_zeros()
    moved = y.copy()
    moved[[0, 20]] = y[[20, 0]]
    scores = [log_joint(points, labels, family="von-mises-fisher") for labels in (y, moved)]
    assert scores[0] == pytest.approx(scores[1])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "model",
    [
        RDPMeans("von-mises-fisher", random_state=0),
        TVClust("von-mises-fisher", random_state=0),
        TVClust(
            "von-mises-fisher",
            inference=Gibbs(n_chains=1, n_warmup=200, n_draws=50),
            random_state=0,
        ),
    ],
    ids=["rdp-means", "variational", "gibbs"],
)
def test_rows_of_zeros_open_no_cluster_and_follow_their_links(model, form):
    points, y = blobs_with_zeros()
    links = Links.from_pairs(may=[(0, 1), (0, 2), (0, 3), (40, 41), (40, 42), (40, 43)] * 3, n=60)
    labels = model.fit(form(points), links=links).labels_
    directed = points.any(axis=1)
    assert model.n_clusters_ == 3
    assert adjusted_rand(y[directed], labels[directed]) == 1.0
    assert labels[0] == labels[1]
    assert labels[40] == labels[41]
    assert set(model.predict(form(points))) <= set(labels)


def test_rows_of_zeros_in_chunks_and_streams():
    dask = pytest.importorskip("dask.array")
    points, _ = blobs_with_zeros()
    model = RDPMeans("von-mises-fisher", random_state=0)
    expected = model.fit(points).labels_
    chunked = model.fit(dask.from_array(points, chunks=(10, 6)))
    np.testing.assert_array_equal(np.asarray(chunked.labels_), expected)
    stream = RDPMeans("von-mises-fisher", cluster_penalty=0.8, random_state=0)
    for low in range(0, 60, 20):
        stream.partial_fit(points[low : low + 20])
    assert stream.n_clusters_ == 3


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_of_zeros_alone_are_one_cluster(form):
    for model in (RDPMeans("von-mises-fisher"), TVClust("von-mises-fisher")):
        assert model.fit(form(np.zeros((12, 3)))).n_clusters_ == 1
