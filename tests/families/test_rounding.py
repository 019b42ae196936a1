"""Rounded values: formulas against averages over the interval, and fits that find no phantoms."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import maylink as ml
from maylink.families import (
    PLDA,
    DiagonalGaussian,
    FullGaussian,
    Gaussian,
    ProductWithGaps,
    SharedGaussian,
)
from maylink.families.base import Family, Statistics
from maylink.families.rounding import ROWS, rounding_variances

FAMILIES = (Gaussian, DiagonalGaussian, FullGaussian, SharedGaussian)


def ratings(seed, n=300, k=4, d=10):
    """Answers from 1 to 5 of k groups of people to d questions."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    answers = rng.uniform(1, 5, (k, d))[y] + rng.normal(0, 0.8, (n, d))
    return np.clip(np.round(answers), 1, 5), y


X = ratings(0, n=60, k=2, d=3)[0] * [1.0, 2.0, 0.5]


def test_width_is_the_smallest_difference():
    rng = np.random.default_rng(0)
    columns = [
        rng.integers(1, 6, 200),
        np.log1p(rng.integers(0, 4, 200)),  # not a grid: the nearest two are log 3 and log 4
        rng.normal(size=200),
        np.full(200, 7.0),
        0.1 * rng.integers(0, 9, 200) + 0.2,  # values that arithmetic makes unequal
    ]
    expected = [1.0, np.log(4 / 3), 0.0, 0.0, 0.1]
    width = np.sqrt(12 * rounding_variances(np.column_stack(columns)))
    np.testing.assert_allclose(width, expected, atol=1e-9)


def test_numbers_that_rows_do_not_share_are_not_rounded():
    assert rounding_variances(np.random.default_rng(0).normal(size=(50, 4))) is None
    assert rounding_variances(np.arange(10.0)[:, None]) is None
    assert rounding_variances(np.empty((0, 2))) is None
    assert rounding_variances(np.ones((1, 2))) is None


def test_many_rows_are_told_by_some():
    many = np.random.default_rng(0).integers(0, 50, (5 * ROWS, 2)).astype(np.float32)
    np.testing.assert_allclose(12 * rounding_variances(many), 1.0)


def around(family, rows):
    """Return rows whose mean of a quadratic is its mean over the interval, and how many a row."""
    step = np.sqrt(family.grain)
    return np.concatenate([rows + step * signs for signs in product((-1, 1), repeat=step.size)])


@pytest.mark.parametrize("cls", FAMILIES)
def test_likelihood_is_the_mean_over_the_interval(cls):
    family = cls(rounded=True).adapt(X)
    plain = replace(family, rounded=False, grain=None)
    rng = np.random.default_rng(1)
    prior = family.default_prior(X)
    theta = np.stack([family.sample_parameters(prior, rng) for _ in range(3)])
    expected = plain.log_likelihood(around(family, X), theta).reshape(-1, len(X), 3).mean(axis=0)
    np.testing.assert_allclose(family.log_likelihood(X, theta), expected, rtol=1e-9)


@pytest.mark.parametrize("cls", FAMILIES)
def test_marginal_is_that_of_wider_squares(cls):
    family = cls(rounded=True).adapt(X)
    plain = replace(family, rounded=False, grain=None)
    prior, labels = family.default_prior(X), np.arange(len(X)) % 2
    near = around(family, X)
    copies = len(near) // len(X)
    wider = plain.cluster_statistics(near, np.tile(labels, copies), 2)
    mean = Statistics(*(part / copies for part in wider))
    found = family.log_marginal(family.cluster_statistics(X, labels, 2), prior)
    np.testing.assert_allclose(found, plain.log_marginal(mean, prior), rtol=1e-9)


@pytest.mark.parametrize("cls", FAMILIES)
def test_predictions_make_the_marginal(cls):
    family = cls(rounded=True).adapt(X)
    prior = family.default_prior(X)
    rows, value = X[:6], 0.0
    for i in range(6):
        before = family.cluster_statistics(rows[:i], np.zeros(i, np.int64), 1)
        posterior = family.posterior(prior, before)
        one = type(posterior)(*(part[0] for part in posterior))
        value += family.log_predictive(rows[i : i + 1], one if i else prior)[0]
    all_rows = family.cluster_statistics(rows, np.zeros(6, np.int64), 1)
    assert value == pytest.approx(family.log_marginal(all_rows, prior)[0])


@pytest.mark.parametrize("cls", FAMILIES)
def test_expected_likelihood_is_affine_in_the_statistics(cls):
    family = cls(rounded=True).adapt(X)
    statistics = family.cluster_statistics(X, np.arange(len(X)) % 3, 3)
    posterior = family.posterior(family.default_prior(X), statistics)
    found = family.expected_log_likelihood(X, posterior)
    np.testing.assert_allclose(found, Family.expected_log_likelihood(family, X, posterior))


def test_columns_that_depend_on_each_other_are_blurred_together():
    twice = np.column_stack([X, X[:, 0] + X[:, 1]])
    family = FullGaussian(rounded=True).adapt(twice)
    assert family.basis is not None
    assert family.blur.shape == (3, 3)
    noise = np.random.default_rng(0).uniform(-0.5, 0.5, (200_000, 4)) * np.sqrt(12 * family.grain)
    moved = family.likelihood_rows(twice[:1] + noise)
    np.testing.assert_allclose(np.cov(moved.T, bias=True), family.blur, atol=2e-3)


def test_one_value_is_worth_no_more_than_being_sure_of_it():
    value = np.repeat([[2.0], [3.0]], [50, 50], axis=0)
    family = DiagonalGaussian(rounded=True).adapt(value)
    plain = DiagonalGaussian().adapt(value)
    labels = (value[:, 0] > 2).astype(np.int64)
    prior = plain.default_prior(value)._replace(rate=np.array([1e-6]))
    found = family.log_marginal(family.cluster_statistics(value, labels, 2), prior)
    without = plain.log_marginal(plain.cluster_statistics(value, labels, 2), prior)
    assert (found < 0).all()  # the log of a probability: the width is 1
    assert (without > 100).all()  # a density, as high as one likes


@pytest.mark.parametrize("cls", [*FAMILIES, PLDA])
def test_covariance_of_one_value_is_not_nothing(cls):
    bits = np.random.default_rng(0).integers(0, 2, (40, 3)).astype(float)
    family = cls(rounded=True).adapt(np.repeat(bits, 5, axis=0))
    assert np.isfinite(family.points(bits)).all()
    assert np.isfinite(family.log_base(bits)).all()


def test_sampler_gets_values_within_the_interval():
    family = DiagonalGaussian(rounded=True).adapt(X)
    apart = np.abs(family.dithered(X, np.random.default_rng(0)) - X)
    width = np.sqrt(12 * family.grain)
    assert (apart <= width / 2).all()
    assert (apart.max(axis=0) > 0.4 * width).all()
    assert Gaussian().adapt(X).dithered(X, np.random.default_rng(0)) is X


def test_parts_of_a_table_are_moved_each_by_its_own():
    table = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    parts = [(DiagonalGaussian(rounded=True), [column]) for column in range(3)]
    family = ProductWithGaps(parts).adapt(table)
    moved = (family.dithered(table, np.random.default_rng(0)) - table) / [1.0, 2.0, 0.5]
    np.testing.assert_array_equal(np.isnan(moved), np.isnan(table))
    whole = moved[~np.isnan(moved).any(axis=1)]
    assert np.abs(np.corrcoef(whole.T) - np.eye(3)).max() < 0.5


@pytest.mark.parametrize("estimator", [ml.TVClust, ml.RDPMeans])
def test_a_grid_without_clusters_is_one_cluster(estimator):
    grid = np.random.default_rng(0).integers(1, 6, (300, 4)).astype(float)
    assert estimator(random_state=0).fit(grid).n_clusters_ == 1


def test_groups_of_ratings_are_found():
    answers, y = ratings(1)
    model = ml.TVClust(random_state=0).fit(answers)
    assert model.n_clusters_ == 4
    assert ml.metrics.adjusted_rand(y, model.labels_) > 0.9


def test_a_family_that_is_given_takes_values_as_they_are(tmp_path):
    answers = ratings(0, n=120)[0][:, :3]
    given = ml.TVClust(covariance="full", random_state=0).fit(answers)
    assert given.family_.grain is None
    chosen = ml.TVClust(random_state=0).fit(answers)
    np.testing.assert_allclose(12 * chosen.family_.grain, 1.0)
    path = tmp_path / "model.maylink"
    ml.save(chosen, path)
    np.testing.assert_array_equal(
        ml.load(path).predict_proba(answers), chosen.predict_proba(answers)
    )


def test_rounding_hides_as_much_of_all_data_as_of_each_cluster():
    """Within clusters the variance is 1 with what rounding hides, so all data must count it."""
    answers = ratings(0, n=300, d=40)[0]
    family = PLDA(rounded=True).adapt(answers)
    T = family.points(answers)
    hidden = (family.whitening * family.grain) @ family.whitening.T
    everything = T.T @ T / len(T) + hidden
    np.testing.assert_allclose(everything, np.diag(1.0 + family.between), atol=1e-8)
