"""Missing cells are left out: against one column at a time, enumeration, and whole data."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln, gammaln
from sklearn.metrics import adjusted_rand_score

import maylink as ml
from exact import posterior, some_links, total_variation
from maylink.errors import DomainError
from maylink.families import (
    Bernoulli,
    DiagonalGaussian,
    FullGaussian,
    Gamma,
    Poisson,
    Product,
    ProductWithGaps,
)
from maylink.families.product_with_gaps import with_gaps
from maylink.problem import Problem
from maylink.solvers.gibbs import CollapsedSampler, GibbsSettings
from reference import all_partitions

NAN = np.nan
X = np.array(
    [
        [0.3, 2.0, 1.0, 1.0, 0.0, 0.0],
        [NAN, 0.0, 1.0, 0.0, 1.0, 0.0],
        [-1.2, NAN, NAN, NAN, NAN, NAN],
        [4.0, 5.0, 0.0, NAN, NAN, NAN],
        [NAN, NAN, NAN, NAN, NAN, NAN],
        [3.5, 7.0, NAN, 0.0, 0.0, 1.0],
    ]
)
PARTS = [
    ("diagonal-gaussian", [0]),
    ("poisson", [1]),
    ("bernoulli", [2]),
    ("categorical", [3, 4, 5]),
]


def seen(rows, column):
    return rows[~np.isnan(rows[:, column]), column]


def textbook(rows, prior):
    """log p of the rows of a cluster, from the cells that are there, by formulas of one column."""
    normal, rate, bit, levels = prior
    total = 0.0
    strength, shape, mean, scale = *(float(a) for a in normal[1:3]), normal.mean[0], normal.rate[0]
    for x in seen(rows, 0):  # one Student t after the other
        spread = np.sqrt(scale * (strength + 1) / (strength * shape))
        total += stats.t.logpdf(x, 2 * shape, mean, spread)
        scale += 0.5 * strength / (strength + 1) * (x - mean) ** 2
        mean = (strength * mean + x) / (strength + 1)
        strength, shape = strength + 1, shape + 0.5
    counts, a, b = seen(rows, 1), rate.shape[0], rate.rate[0]
    total += gammaln(a + counts.sum()) - gammaln(a) - gammaln(counts + 1).sum()
    total += a * np.log(b) - (a + counts.sum()) * np.log(b + counts.size)
    bits = seen(rows, 2)
    total += betaln(bit.a[0] + bits.sum(), bit.b[0] + (1 - bits).sum()) - betaln(bit.a[0], bit.b[0])
    each = np.array([seen(rows, column).sum() for column in (3, 4, 5)])
    a = levels.concentration
    total += (gammaln(a + each) - gammaln(a)).sum()
    return total + gammaln(a.sum()) - gammaln(a.sum() + each.sum())


def test_marginals_of_all_partitions_are_those_of_the_cells_that_are_there():
    family = ProductWithGaps(PARTS).adapt(X)
    prior = family.default_prior(X)
    for labels in all_partitions(len(X)):
        z = np.array(labels)
        found = family.log_marginal(family.cluster_statistics(X, z, z.max() + 1), prior)
        expected = [textbook(X[z == k], prior) for k in range(z.max() + 1)]
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_weights_are_powers_on_the_marginals_of_parts():
    weights = (1.0, 0.25, 2.0, 0.5)
    whole = np.zeros(len(X), np.int64)
    weighted = ProductWithGaps(PARTS, weights).adapt(X)
    prior = weighted.default_prior(X)
    expected = 0.0
    for part, weight, one in zip(PARTS, weights, prior, strict=True):
        alone = ProductWithGaps([(part[0], range(len(part[1])))])
        rows = X[:, part[1]]
        expected += weight * alone.log_marginal(alone.cluster_statistics(rows, whole, 1), (one,))
    found = weighted.log_marginal(weighted.cluster_statistics(X, whole, 1), prior)
    np.testing.assert_allclose(found, expected)


def test_the_sampler_knows_gaps_weights_and_categories():
    problem = Problem.build(
        X[:5],
        some_links(5, contradictory=True, n_sources=1),
        ProductWithGaps(PARTS, (1, 0.5, 2, 1)),
    )
    sampler = CollapsedSampler(problem, None, GibbsSettings(alpha=1.0, n_split_merge=1))
    rng = np.random.default_rng(0)
    state, _ = sampler.step(sampler.init(np.zeros(5, np.int64)), 200, rng)
    draws = sampler.step(state, 40_000, rng)[1]
    assert total_variation(draws.labels, posterior(problem, sampler.prior)) < 0.02


@pytest.mark.parametrize("family", [DiagonalGaussian(), Poisson(), Bernoulli(), Gamma()])
def test_without_gaps_it_is_the_family_itself(family):
    rng = np.random.default_rng(0)
    whole = rng.integers(0, 2, (30, 4)).astype(float) if family.name == "bernoulli" else None
    whole = rng.gamma(2.0, 3.0, (30, 4)).round() + 1 if whole is None else whole
    plain, split = family.adapt(whole), with_gaps(family, 4).adapt(whole)
    z = rng.integers(0, 3, 30)
    np.testing.assert_allclose(
        split.log_marginal(split.cluster_statistics(whole, z, 3), split.default_prior(whole)),
        plain.log_marginal(plain.cluster_statistics(whole, z, 3), plain.default_prior(whole)),
    )
    np.testing.assert_allclose(
        split.divergence(whole, split.points(whole[:2])),
        plain.divergence(whole, plain.points(whole[:2])),
        atol=1e-9,
    )


def test_a_cluster_without_a_value_has_that_of_all_data():
    family = with_gaps(DiagonalGaussian(), 2).adapt(np.array([[0.0, 1.0], [4.0, NAN]]))
    centers = family.centroid(family.points(np.array([[4.0, NAN]])))
    np.testing.assert_allclose(family.units(centers), [[4.0, 1.0]])


@pytest.mark.parametrize("method", [ml.TVClust, ml.RDPMeans])
def test_a_saved_model_predicts_rows_with_gaps(method, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    data = rng.normal(size=(120, 3)) + 8.0 * y[:, None]
    data[rng.random(data.shape) < 0.2] = NAN
    model = method(random_state=0).fit(data)
    ml.save(model, tmp_path / "model.npz")
    again = ml.load(tmp_path / "model.npz")
    new = np.array([[8.0, NAN, NAN], [NAN, 0.0, NAN], [NAN, NAN, 8.0], [0.0, NAN, 0.0]])
    labels = again.predict(new)
    assert labels[0] == labels[2] != labels[1] == labels[3]
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert np.isfinite(model.cluster_centers_).all()


def test_gaps_that_no_family_can_leave_out_are_refused():
    rows = np.arange(12.0).reshape(6, 2)
    rows[3, 1] = NAN
    with pytest.raises(DomainError, match=r"X\[3, 1\] is NaN; the 'full-gaussian' family knows no"):
        ml.TVClust(FullGaussian()).fit(rows)
    with pytest.raises(DomainError, match="'von-mises-fisher' family knows no gaps"):
        ml.RDPMeans("von-mises-fisher").fit(rows)
    torn = X.copy()
    torn[0, 4] = NAN
    with pytest.raises(DomainError, match=r"X\[0, 4\] is NaN, but other columns of \[3, 4, 5\]"):
        ProductWithGaps(PARTS).check(torn)
    with pytest.raises(DomainError, match=r"columns \[0\]: the 'gaussian' family knows no gaps"):
        with_gaps(Product([("gaussian", [0]), ("poisson", [1])]), 2)
    rows[:, 1] = NAN
    with pytest.raises(DomainError, match="column 1 of X is NaN in every row"):
        ml.TVClust().fit(rows)
    whole = ml.TVClust("full-gaussian", random_state=0).fit(np.arange(12.0).reshape(6, 2) ** 2)
    with pytest.raises(DomainError, match=r"X\[0, 1\] is NaN"):
        whole.predict([[1.0, NAN]])
