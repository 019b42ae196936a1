"""A full covariance, against SciPy and numerical integration."""

import numpy as np
import pytest
from scipy import integrate, sparse, stats
from scipy.spatial.distance import cdist

from maylink import TVClust, load, save
from maylink.errors import DomainError
from maylink.families import FullGaussian
from maylink.families.base import Family
from maylink.families.full_gaussian import NormalInverseWishart

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3)) @ RNG.normal(size=(3, 3))
SCALE = np.cov(X.T) + np.eye(3)
PRIOR = NormalInverseWishart(np.arange(3.0), np.array(0.4), np.array(5.5), SCALE)


def test_divergence_is_scipys_mahalanobis_distance():
    family = FullGaussian().adapt(X)
    inverse = np.linalg.inv(np.cov(X.T, bias=True))
    expected = cdist(X, X[:4], "mahalanobis", VI=inverse) ** 2
    np.testing.assert_allclose(family.divergence(X, family.points(X[:4])), expected, atol=1e-9)


def test_likelihood_is_scipys():
    precision = np.linalg.inv(SCALE)
    theta = np.append(precision @ np.ones(3), -0.5 * precision)[None]
    expected = stats.multivariate_normal(np.ones(3), SCALE).logpdf(X)
    np.testing.assert_allclose(FullGaussian().log_likelihood(X, theta)[:, 0], expected)


def test_predictive_is_scipys_t_and_the_quotient_of_normalisers():
    ours = FullGaussian().log_predictive(X, PRIOR)
    shape = SCALE * (0.4 + 1) / (0.4 * 3.5)
    np.testing.assert_allclose(
        ours, stats.multivariate_t(np.arange(3.0), shape, df=3.5).logpdf(X), rtol=1e-12
    )
    np.testing.assert_allclose(ours, Family.log_predictive(FullGaussian(), X, PRIOR))


@pytest.mark.parametrize("power", [3, 6, 12])
def test_predictive_of_any_units_is_that_of_one_unit(power):
    """p(Dx) = p(x)/|D|; SciPy's t takes the scale for singular."""
    unit = np.geomspace(10.0**-power, 10.0**power, 3)
    other = NormalInverseWishart(
        PRIOR.mean * unit, PRIOR.strength, PRIOR.dof, SCALE * np.outer(unit, unit)
    )
    expected = FullGaussian().log_predictive(X, PRIOR) - np.log(unit).sum()
    np.testing.assert_allclose(FullGaussian().log_predictive(X * unit, other), expected, rtol=1e-9)
    with pytest.raises(np.linalg.LinAlgError):
        stats.multivariate_t(other.mean, other.scale, df=3.5)


@pytest.mark.parametrize("far", [1e6, 1e9, 1e20, 1e100])
@pytest.mark.parametrize("d", [1, 3])
def test_a_far_outlier_leaves_posteriors_positive(far, d):
    """A code for what is missing, say: the points beside it lose their digits, not their sign."""
    rows = np.random.default_rng(0).normal(size=(30, d))
    rows[0] = far
    family = FullGaussian().adapt(rows)
    prior = family.default_prior(rows)
    labels = (np.arange(30) > 0).astype(np.int64) + (np.arange(30) > 15)
    posterior = family.posterior(prior, family.cluster_statistics(rows, labels, 3))
    assert np.isfinite(family.expected_log_likelihood(rows, posterior)).all()
    assert (np.linalg.eigvalsh(posterior.scale)[:, -1] > 0).all()
    model = TVClust("full-gaussian", data_weight=1.0, random_state=0).fit(rows)
    assert (model.labels_ == model.labels_[0]).sum() == 1
    assert np.isfinite(model.predict_proba(rows)).all()


def test_new_points_of_a_fit_on_columns_of_many_units(tmp_path):
    """A full covariance of raw measurements: predict, score, and a saved model do the same."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 60)
    mixing = rng.normal(size=(5, 5))
    rows = 6.0 * labels[:, None] + rng.normal(size=(120, 5)) @ mixing
    raw = rows * np.geomspace(1e-6, 1e6, 5) + np.geomspace(1e-6, 1e6, 5)
    models = {}
    for name, data in (("one", rows), ("raw", raw)):
        model = TVClust(covariance="full", data_weight=1.0, random_state=0).fit(data)
        save(model, tmp_path / f"{name}.npz")
        again = load(tmp_path / f"{name}.npz")
        np.testing.assert_array_equal(again.predict(data), model.predict(data))
        assert np.isfinite(model.predict_proba(data)).all()
        models[name] = model
    np.testing.assert_array_equal(models["raw"].labels_, models["one"].labels_)
    np.testing.assert_array_equal(models["raw"].predict(raw), models["one"].predict(rows))
    moved = np.log(np.geomspace(1e-6, 1e6, 5)).sum()
    assert models["raw"].score(raw) == pytest.approx(models["one"].score(rows) - moved)


def test_marginal_by_numerical_integration():
    points = np.array([[0.3], [1.9], [-0.4]])
    prior = NormalInverseWishart(np.array([0.5]), np.array(0.3), np.array(5.0), np.array([[3.4]]))

    mu, variance = np.linspace(-40, 40, 8001), np.geomspace(1e-3, 1e4, 1001)[:, None]
    # An inverse Wishart of one feature is an inverse gamma.
    density = stats.invgamma.pdf(variance, 2.5, scale=1.7)
    density = density * stats.norm.pdf(mu, 0.5, np.sqrt(variance / 0.3))
    for point in points[:, 0]:
        density = density * stats.norm.pdf(point, mu, np.sqrt(variance))
    value = integrate.simpson(integrate.simpson(density, mu, axis=1), variance[:, 0])
    family = FullGaussian()
    statistics = family.cluster_statistics(points, np.zeros(3, np.int64), 1)
    assert family.log_marginal(statistics, prior)[0] == pytest.approx(np.log(value), abs=1e-3)


def test_default_prior_is_the_papers_for_standardised_data():
    """μ0 = 0, β0 = 1, W0 = I, ν0 = d for z-scored data, without the pull of outliers."""
    clean = np.random.default_rng(0).uniform(size=(40, 3))
    prior = FullGaussian().default_prior(clean)
    np.testing.assert_allclose(prior.scale, np.diag(clean.var(axis=0)))
    np.testing.assert_allclose(prior.mean, clean.mean(axis=0))
    assert (prior.strength, prior.dof) == (1.0, 3.0)


def test_digits_of_a_point_do_not_depend_on_its_company():
    family = FullGaussian().adapt(X)
    alone = np.vstack([family.points(X[i : i + 1]) for i in range(30)])
    assert alone.tobytes() == family.points(X).tobytes()


def test_repeated_and_constant_features_are_left_out():
    wide = np.column_stack([X, X[:, 0], np.full(30, 3.0)])
    family, plain = FullGaussian().adapt(wide), FullGaussian().adapt(X)
    assert family.points(wide).shape == (30, 3)
    np.testing.assert_allclose(
        family.divergence(wide, family.points(wide)),
        plain.divergence(X, plain.points(X)),
        atol=1e-8,
    )
    labels = np.repeat([0, 1], 15)
    statistics = family.cluster_statistics(wide, labels, 2)
    assert np.isfinite(family.log_marginal(statistics, family.default_prior(wide))).all()


def test_sparse_data_are_refused_with_a_way_out():
    with pytest.raises(DomainError, match="use family='gaussian'"):
        FullGaussian().adapt(sparse.csr_array(X))
