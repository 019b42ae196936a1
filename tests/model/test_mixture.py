"""The mixture that a fit leaves behind."""

import numpy as np
import pytest

from maylink import Links, TVClust
from maylink.errors import DomainError
from maylink.families import Gaussian
from maylink.model.mixture import Mixture, one_hot, one_of
from zoo import FAMILIES, draw, example

X = np.array([[0.0], [0.2], [5.0], [5.4], [5.1]])
LABELS = np.array([0, 0, 1, 1, 1])


def mixture(data_weight=1.0):
    family = Gaussian().adapt(X)
    prior = family.default_prior(X)
    statistics = family.soft_statistics(X, one_hot(LABELS, 2))
    return Mixture.of_statistics(family, statistics, prior, 0.5, data_weight), prior


def joint(family, prior, points, labels):
    statistics = family.cluster_statistics(points, labels, 2)
    return family.log_marginal(statistics, prior).sum()


@pytest.mark.parametrize("data_weight", [1.0, 0.3])
def test_probabilities_are_ratios_of_marginals(data_weight):
    known, prior = mixture(data_weight)
    new = np.array([[2.0]])
    weights = [
        np.log(size)
        + data_weight * joint(known.family, prior, np.vstack([X, new]), np.append(LABELS, k))
        for k, size in enumerate((2, 3))
    ]
    expected = np.exp(weights - np.logaddexp(*weights))
    np.testing.assert_allclose(known.responsibilities(new)[0], expected)


def test_density_is_the_weighted_sum_of_predictives():
    known, prior = mixture()
    new = np.array([[2.0], [7.0]])
    parts = np.exp(known.log_predictive(new)) @ [2.0, 3.0]
    fresh = 0.5 * np.exp(known.family.log_predictive(new, prior))
    np.testing.assert_allclose(np.exp(known.log_density(new)), (parts + fresh) / 5.5)


def test_a_link_multiplies_the_odds():
    known, _ = mixture()
    new = np.array([[2.0]])
    plain = known.responsibilities(new)[0]
    links = Links.from_pairs(may=[(0, 5)], n=6)
    odds = {0: (1.5, 0.7)}
    found = known.linked_responsibilities(new, one_hot(LABELS, 2), links, odds.__getitem__)[0]
    np.testing.assert_allclose(found[0] / found[1], plain[0] / plain[1] * np.exp(1.5))


@pytest.mark.parametrize("name", FAMILIES)
def test_one_of_many_posteriors(name):
    data, labels = draw(name, 12, 0)
    family = example(name).adapt(data)
    prior = family.default_prior(data)
    posterior = family.posterior(prior, family.cluster_statistics(data, labels, 3))
    alone = family.posterior(
        prior, family.cluster_statistics(data[labels == 1], np.zeros((labels == 1).sum(), int), 1)
    )
    np.testing.assert_allclose(
        family.log_predictive(data, one_of(posterior, 1)),
        family.log_predictive(data, one_of(alone, 0)),
    )


@pytest.mark.filterwarnings("error")
def test_points_beyond_double_precision_are_refused():
    """They had probabilities that were no numbers."""
    rng = np.random.default_rng(0)
    unit = np.array([1e-120, 1e120])
    X = rng.normal(size=(20, 2)) * unit
    model = TVClust(covariance="shared", data_weight=1.0, random_state=0).fit(X)
    for ask in (model.predict, model.predict_proba, model.score):
        with pytest.raises(DomainError, match="in the units of the fit"):
            ask(X[:, ::-1])
    model = TVClust(covariance="diagonal", data_weight=1.0, random_state=0).fit(X)
    assert np.isfinite(model.score(X[:, ::-1]))  # whose squares do not overflow
