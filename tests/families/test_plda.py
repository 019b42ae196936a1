"""Covariances within and between clusters: density, learning, and what changes nothing."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse, stats

import maylink as ml
from maylink.errors import DomainError
from maylink.families import PLDA
from maylink.families.plda import LEAST_BETWEEN
from maylink.families.rows import membership


def clusters(seed, n=120, d=6, k=6):
    """Clusters of one random covariance whose centres differ in some directions only."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(d, d)))[0] * np.exp(rng.normal(size=d))
    y = rng.integers(0, k, n)
    mean = rng.normal(size=(k, d)) * np.where(np.arange(d) < 3, 4.0, 0.1)
    return (mean[y] + rng.normal(size=(n, d))) @ axes.T, y


def one_hot(y):
    return membership(y, int(y.max()) + 1).T.toarray()


def log_marginals(family, X, y):
    """The log probability of each cluster's data."""
    statistics = family.cluster_statistics(X, y, int(y.max()) + 1)
    return family.log_marginal(statistics, family.default_prior(X))


# ---------------------------------------------------------------------- the density


def test_marginal_is_that_of_points_that_share_a_random_centre():
    """The points of a cluster are one draw of N(mean, I ⊗ W + 1 1ᵀ ⊗ Φ), in the units of X."""
    X, y = clusters(0, n=24, d=3, k=4)
    family = PLDA().adapt(X)
    within = family.axes.T @ family.axes
    between = family.axes.T @ np.diag(family.between) @ family.axes
    for k, value in enumerate(log_marginals(family, X, y)):
        rows = X[y == k]
        m = len(rows)
        covariance = np.kron(np.eye(m), within) + np.kron(np.ones((m, m)), between)
        normal = stats.multivariate_normal(np.tile(family.offset, m), covariance)
        assert value == pytest.approx(normal.logpdf(rows.ravel()))


def test_before_data_it_is_the_gaussian_of_variance_one():
    rows = np.random.default_rng(0).normal(size=(5, 2))
    family, prior = PLDA(), PLDA().unit_prior(2)
    statistics = family.cluster_statistics(rows, np.zeros(5, np.int64), 1)
    covariance = np.eye(5) + np.ones((5, 5)) / prior.precision[0]
    expected = sum(stats.multivariate_normal(np.zeros(5), covariance).logpdf(c) for c in rows.T)
    assert family.log_marginal(statistics, prior)[0] == pytest.approx(expected)


def test_left_out_directions_change_no_comparison_of_partitions():
    """Two partitions of the same data in 2 of 6 directions, as if there were no others."""
    X, y = clusters(1)
    family = PLDA(directions=2).adapt(X)
    assert family.points(X).shape == (120, 2)
    rows = family.points(X)
    plain = replace(family, axes=None, whitening=None, offset=None)
    other = np.roll(y, 1)
    gain = log_marginals(family, X, y).sum() - log_marginals(family, X, other).sum()
    alone = log_marginals(plain, rows, y).sum() - log_marginals(plain, rows, other).sum()
    assert gain == pytest.approx(alone)


def test_draws_have_the_covariance_within():
    X, _ = clusters(0, d=3)
    family = PLDA().adapt(X)
    drawn = family.sample(np.zeros(3), 20_000, np.random.default_rng(0))
    within = family.axes.T @ family.axes
    np.testing.assert_allclose(np.cov(drawn.T), within, atol=0.05 * np.abs(within).max())


# ---------------------------------------------------------------------- learning


def penalty(covariance, before, count):
    """What was believed before, as so many points or clusters of that covariance."""
    _, size = np.linalg.slogdet(covariance)
    return -0.5 * count * (size + np.trace(np.linalg.solve(covariance, before)))


@pytest.mark.parametrize("seed", range(4))
def test_learning_is_a_step_of_expectation_maximisation(seed):
    """The sum of log marginals plus the penalty does not fall.

    A step maximises the expected log probability of data and centres, with what was believed
    before counted as r + 2 points and r + 2 clusters. The penalty is highest where nothing
    changes, so that the log marginals by themselves do not fall either.
    """
    X, y = clusters(seed, n=60)
    family = PLDA().adapt(X)
    for _ in range(4):
        after, rows = family.learned(X, one_hot(y))
        assert rows is X
        gain = log_marginals(after, X, y).sum() - log_marginals(family, X, y).sum()
        change = after.whitening @ np.linalg.pinv(family.whitening)
        within = np.linalg.inv(change) @ np.linalg.inv(change).T  # in the whitened space before
        between = np.linalg.inv(change) @ np.diag(after.between) @ np.linalg.inv(change).T
        r = len(family.between)
        lost = penalty(np.eye(r), np.eye(r), r + 2) - penalty(within, np.eye(r), r + 2)
        old = np.diag(family.between)
        lost += penalty(old, old, r + 2) - penalty(between, old, r + 2)
        assert lost > -1e-9
        assert gain - lost > -1e-9 or after.between.min() == LEAST_BETWEEN
        assert gain > -1e-6
        family = after


def test_learning_finds_the_directions_in_which_clusters_differ():
    X, y = clusters(0, n=2000, k=40)
    family = PLDA().adapt(X)
    for _ in range(10):
        family = family.learned(X, one_hot(y))[0]
    assert (family.between > 5.0).sum() == 3
    T = family.points(X)
    means = np.stack([T[y == k].mean(axis=0) for k in range(40)])
    inside = T - means[y]
    np.testing.assert_allclose(inside.T @ inside / len(T), np.eye(6), atol=0.1)
    np.testing.assert_allclose(np.diag(np.cov(means.T)), family.between, rtol=0.4, atol=0.05)


def test_what_is_learned_from_prepared_data_is_learned_from_raw_ones():
    X, y = clusters(2)
    raw = PLDA(directions=4).adapt(X)
    ready, T = raw.prepared(X)
    for _ in range(3):
        raw, _ = raw.learned(X, one_hot(y))
        ready, T = ready.learned(T, one_hot(y))
    np.testing.assert_allclose(T, raw.points(X), atol=1e-8)
    np.testing.assert_allclose(log_marginals(ready, T, y), log_marginals(raw, X, y))
    np.testing.assert_allclose(ready.unprepared().points(X), raw.points(X), atol=1e-8)
    np.testing.assert_allclose(ready.units(T), raw.units(raw.points(X)))


def test_responsibilities_may_be_sparse_and_clusters_empty():
    X, y = clusters(0)
    full = np.insert(one_hot(y), 2, 0.0, axis=1)
    expected, _ = PLDA().adapt(X).learned(X, one_hot(y))
    for other in (full, sparse.csr_array(full)):
        found, _ = PLDA().adapt(X).learned(X, other)
        np.testing.assert_allclose(found.between, expected.between)


# ---------------------------------------------------------------------- what changes nothing


def divergences(X, **options):
    family = PLDA(**options).adapt(X)
    return family.divergence(X, family.points(X)[:10])


@pytest.mark.parametrize("change", ["scale", "shift", "rotation"])
def test_scale_shift_and_rotation_do_not_matter(change):
    X, _ = clusters(3)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
    other = {"scale": 1e-5 * X, "shift": X + 1e3, "rotation": X @ turn}[change]
    np.testing.assert_allclose(divergences(other), divergences(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("d", [40, 600])
def test_sparse_data_are_as_dense_ones(d):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, (90, d)) * np.where(np.arange(90)[:, None] % 3 == 0, 2.0, 1.0)
    family = PLDA(directions=8).adapt(sparse.csr_array(X))
    np.testing.assert_allclose(
        family.divergence(sparse.csr_array(X), family.points(sparse.csr_array(X))[:10]),
        divergences(X, directions=8),
        rtol=1e-6,
        atol=1e-6,
    )
    np.testing.assert_allclose(family.points(sparse.csr_array(X)), family.points(X), atol=1e-8)


def test_more_features_than_points():
    X = np.random.default_rng(0).normal(size=(12, 700))
    family = PLDA(directions=32).adapt(X)
    T = family.points(X)
    assert PLDA().adapt(X).points(X).shape == (12, 4)  # a covariance of 4 holds 10 numbers
    assert T.shape == (12, 11)  # so many directions have twelve points about their mean
    assert np.isfinite(log_marginals(family, X, np.arange(12) % 2)).all()


@pytest.mark.parametrize("X", [np.full((5, 3), 2.0), np.zeros((1, 4)), np.full((9, 600), 0.1)])
def test_constant_data_have_no_directions(X):
    family = PLDA().adapt(X)
    assert family.between is None
    np.testing.assert_allclose(family.points(X), 0.0, atol=1e-12)
    assert family.learned(X, np.ones((len(X), 1)))[0] is family
    assert np.isfinite(log_marginals(family, X, np.zeros(len(X), np.int64))).all()


def test_neighbour_rows_leave_out_what_clusters_do_not_differ_in():
    X, y = clusters(0, n=400)
    family, _ = PLDA().adapt(X).learned(X, one_hot(y))
    rows, T = family.neighbour_rows(X), family.points(X)
    share = family.between / (1.0 + family.between)
    np.testing.assert_allclose(rows, T * np.sqrt(share))
    ready, prepared = family.prepared(X)
    np.testing.assert_allclose(ready.neighbour_rows(prepared), rows)


def test_variants_and_the_finer_family():
    assert [one.directions for one in PLDA().variants(20)] == [8, 16, 32]
    assert [one.directions for one in PLDA().variants(400)] == [8, 16, 32, 64]
    assert PLDA(directions=5).variants(400) == [PLDA(directions=5)]
    assert PLDA().finer() == PLDA(neighbours=1)
    assert PLDA(neighbours=3).finer() is None


@pytest.mark.parametrize(("n", "directions"), [(100, 13), (300, 25), (600, 50), (3000, 64)])
def test_the_widest_family_has_as_many_directions_as_points_can_pay_for(n, directions):
    assert PLDA(neighbours=1).widest(n) == PLDA(directions=directions, neighbours=1)
    assert PLDA(directions=5).widest(n) == PLDA(directions=5)


def test_the_narrower_family_has_half_the_variance_and_the_same_one_of_all_data():
    X = clusters(0)[0]
    family = PLDA().adapt(X)
    narrower = family.narrower()
    points = narrower.points(X[:5])
    assert narrower.divergence(X, points) == pytest.approx(
        2.0 * family.divergence(X, family.points(X[:5]))
    )
    np.testing.assert_allclose(narrower.between + 1.0, 2.0 * (family.between + 1.0))
    np.testing.assert_allclose(narrower.units(points), family.units(family.points(X[:5])))
    assert PLDA().narrower() is None  # it has seen no data
    assert PLDA().adapt(np.ones((9, 3))).narrower() is None


@pytest.mark.parametrize("name", ["directions", "neighbours"])
def test_less_than_one_is_refused(name):
    with pytest.raises(DomainError, match=f"{name}: 0 is not 1 or more"):
        PLDA(**{name: 0}).adapt(np.eye(3))


def test_columns_of_different_units_are_looked_at_in_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 40)) + 3.0 * rng.normal(size=(4, 40))[np.arange(200) % 4]
    X /= X.std(axis=0)
    unit = np.exp(rng.normal(0, 2.0, 40))
    plain, other = PLDA().adapt(X), PLDA().adapt(X * unit)
    found = other.divergence(X * unit, other.points(X[:5] * unit))
    expected = plain.divergence(X, plain.points(X[:5]))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    centers = other.units(other.points(X[:5] * unit))  # as far as few directions tell
    np.testing.assert_allclose(centers, plain.units(plain.points(X[:5])) * unit, rtol=1e-6)


@pytest.mark.parametrize("estimator", [ml.TVClust, ml.RDPMeans])
def test_a_fit_tells_in_the_columns_of_the_user(estimator):
    """Centres are the means of 200 columns, as far as the directions tell."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 4
    X = 5.0 + (3.0 * rng.normal(size=(4, 200)) * (np.arange(200) < 20))[y]
    X += rng.normal(size=X.shape)
    model = estimator("plda", random_state=0).fit(X)
    means = np.stack([X[model.labels_ == k].mean(axis=0) for k in range(model.n_clusters_)])
    assert means.shape == (4, 200)
    np.testing.assert_allclose(model.cluster_centers_, means, atol=0.1)
    np.testing.assert_array_equal(model.predict(means), np.arange(4))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
