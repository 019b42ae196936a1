"""Mixed columns: sums of the parts, column by column."""

import numpy as np
import pytest
from scipy import sparse

from maylink import RDPMeans
from maylink.errors import DomainError, MaylinkError
from maylink.families import Bernoulli, DiagonalGaussian, Gaussian, Multinomial, Product

RNG = np.random.default_rng(0)
X = np.column_stack(
    [RNG.normal(size=30), RNG.integers(0, 2, 30), RNG.poisson(3, 30), RNG.poisson(5, 30)]
).astype(float)
FAMILY = Product([("gaussian", [0]), (Multinomial(), [3, 2]), ("bernoulli", [1])])


def test_divergence_is_the_weighted_sum():
    family = Product(FAMILY.parts, weights=[1.0, 5.0, 0.1]).adapt(X)
    parts = [
        (1.0, Gaussian().adapt(X[:, [0]]), X[:, [0]]),
        (5.0, Multinomial(), X[:, [3, 2]]),
        (0.1, Bernoulli(), X[:, [1]]),
    ]
    expected = sum(w * f.divergence(x, f.points(x)) for w, f, x in parts)
    np.testing.assert_allclose(family.divergence(X, family.points(X)), expected, atol=1e-9)


def test_centres_come_back_in_the_order_of_the_columns():
    family = FAMILY.adapt(X)
    centers = family.units(family.points(X))
    np.testing.assert_allclose(centers[:, [0, 1]], X[:, [0, 1]], atol=1e-9)
    share = (X[:, [3, 2]] + 0.3) / (X[:, [3, 2]].sum(axis=1) + 0.6)[:, None]
    np.testing.assert_allclose(centers[:, [3, 2]], share)


def test_marginal_is_the_sum():
    labels = np.repeat([0, 1, 2], 10)
    family = FAMILY.adapt(X)
    prior = family.default_prior(X)
    total = family.log_marginal(family.cluster_statistics(X, labels, 3), prior)
    expected = np.zeros(3)
    for part, columns in (
        (Gaussian().adapt(X[:, [0]]), [0]),
        (Multinomial(), [3, 2]),
        (Bernoulli(), [1]),
    ):
        own = X[:, columns]
        statistics = part.cluster_statistics(own, labels, 3)
        expected += part.log_marginal(statistics, part.default_prior(own))
    np.testing.assert_allclose(total, expected)


def test_parts_of_other_widths_than_their_columns():
    """Whitening may drop directions, and folded counts need one column more."""
    family = Product([("full-gaussian", [0, 1]), ("multinomial", [2, 3])])
    flat = X.copy()
    flat[:, 1] = 1.0
    adapted = family.adapt(flat)
    assert adapted.widths == (1, 2)
    assert adapted.units(adapted.points(flat)).shape == X.shape
    counts = sparse.csr_array(X[:, 1:])
    folded = Product([("bernoulli", [0]), ("multinomial", [1, 2])]).adapt(counts)
    assert folded.widths == (1, 3)
    assert RDPMeans(folded, n_clusters_hint=2, random_state=0).fit(counts).n_clusters_ >= 1


def test_nested_products():
    nested = Product([(FAMILY, [0, 1, 2, 3])]).adapt(X)
    flat = FAMILY.adapt(X)
    np.testing.assert_allclose(
        nested.divergence(X, nested.points(X)), flat.divergence(X, flat.points(X))
    )


def test_bad_parts_are_refused():
    with pytest.raises(DomainError, match=r"the parts name the columns \[0, 1\]"):
        Product([("gaussian", [0, 1])]).adapt(X)
    with pytest.raises(DomainError, match=r"columns \[0, 0, 1, 2, 3\]"):
        Product([("gaussian", [0, 0, 1, 2, 3])]).adapt(X)
    with pytest.raises(DomainError, match=r"in the part with columns \[0\]: X\["):
        Product([("poisson", [0]), ("gaussian", [1, 2, 3])]).adapt(X)
    with pytest.raises(DomainError, match="one positive weight for each of 1 parts"):
        Product([(DiagonalGaussian(), [0, 1, 2, 3])], weights=[1.0, 2.0])
    with pytest.raises(DomainError, match=r"parts: \('gaussian', 0\) is not"):
        Product([("gaussian", 0)])
    with pytest.raises(MaylinkError, match="family: 'gausian' is not known"):
        Product([("gausian", [0])])
