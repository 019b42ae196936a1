"""The exact score of a partition, against enumeration and the product of its predictives."""

import numpy as np
import pytest
from scipy.special import logsumexp

from maylink import Links, log_joint
from maylink.errors import MaylinkError
from maylink.model.reliability import count_links, log_evidence
from zoo import FAMILIES, N_FEATURES, draw, example


@pytest.mark.parametrize("name", FAMILIES)
def test_joint_predicts_the_last_point(name):
    """Summed over where the last point goes, the joint ratio is the model's predictive density."""
    if name in ("shared-gaussian", "plda"):
        pytest.skip("the data set its covariance")
    X, _ = draw(name, 5, 0)
    family = example(name)
    prior = family.unit_prior(N_FEATURES)
    z = np.array([0, 1, 0, 1])
    options = {"family": family, "prior": prior, "alpha": 0.8}
    if name == "von-mises-fisher":
        options["family"] = type(family)(concentration=20.0)
    if name == "dirichlet-multinomial":
        options["family"] = type(family)(concentration=np.inf)
    before = log_joint(X[:4], z, **options)
    after = logsumexp([log_joint(X, np.append(z, k), **options) for k in range(3)])
    fresh = family.log_predictive(X[4:], prior)[0]
    terms = [np.log(0.8 / 4.8) + fresh]
    for k in range(2):
        rows = X[:4][z == k]
        statistics = family.cluster_statistics(rows, np.zeros(2, np.int64), 1)
        together = family.cluster_statistics(np.vstack([rows, X[4:]]), np.zeros(3, np.int64), 1)
        gain = family.log_marginal(together, prior) - family.log_marginal(statistics, prior)
        terms.append(np.log(2 / 4.8) + gain[0])
    assert after - before == pytest.approx(logsumexp(terms))


def test_links_and_data_add_up():
    X, y = draw("gaussian", 20, 0)
    links = Links.from_labels(y, sample=40, rng=0)
    data, both = log_joint(X, y), log_joint(X, y, links=links)
    assert both - data == pytest.approx(log_evidence(count_links(links, y)))
    half, none = (log_joint(X, y, links=links, data_weight=w) for w in (0.5, 0.0))
    assert half == pytest.approx((both + none) / 2)


def test_true_partition_beats_random_ones():
    X, y = draw("gaussian", 60, 1)
    rng = np.random.default_rng(0)
    best = log_joint(X, y)
    assert all(best > log_joint(X, rng.permutation(y)) for _ in range(20))


@pytest.mark.parametrize(
    "options", [{"alpha": -1.0}, {"reliability_prior": (0, 1)}, {"data_weight": -0.5}]
)
def test_bad_settings(options):
    with pytest.raises(MaylinkError, match=f"^{next(iter(options))}"):
        log_joint(np.eye(3), [0, 1, 2], **options)


def test_labels_must_fit():
    with pytest.raises(MaylinkError, match="labels: 2 labels, but X has 3 rows"):
        log_joint(np.eye(3), [0, 1])
