"""Priors of the partition: probabilities that sum to one, the rules of joining and opening."""

from math import factorial

import numpy as np
import pytest
from scipy.special import gammaln

from maylink.errors import MaylinkError
from maylink.model.partition_priors import (
    DirichletProcess,
    Microclustering,
    PitmanYor,
    UniformPartitions,
    as_partition_prior,
)
from maylink.model.partition_sums import log_renewal, negative_binomial
from reference import all_partitions

PRIORS = [
    DirichletProcess(),
    PitmanYor(0.0),
    PitmanYor(0.5),
    PitmanYor(0.95),
    Microclustering(),
    Microclustering(2.0, 1.0),
    Microclustering(1.001, 30.0),
    Microclustering(mean_size=(3.0, 40.0), shape=0.3),
    UniformPartitions(),
    UniformPartitions(0.0),
]


def sizes_of(labels):
    return np.bincount(labels).astype(float)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("alpha", [0.3, 4.0, None])
def test_probabilities_sum_to_one(prior, alpha):
    for n in (1, 4, 7):
        logs = [prior.log_probability(sizes_of(z), alpha) for z in all_partitions(n)]
        assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-11)


@pytest.mark.parametrize("prior", [DirichletProcess(), PitmanYor(0.5), Microclustering()])
def test_probabilities_of_eight_points_sum_to_one(prior):
    logs = [prior.log_probability(sizes_of(z), 1.7) for z in all_partitions(8)]
    assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-11)


@pytest.mark.parametrize("discount", [0.0, 0.4])
def test_processes_point_by_point(discount):
    z, alpha = [0, 0, 1, 0, 2, 1], 0.7
    expected, sizes = 1.0, []
    for i, k in enumerate(z):
        opened = alpha + discount * len(sizes)
        expected *= (opened if k == len(sizes) else sizes[k] - discount) / (i + alpha)
        if k == len(sizes):
            sizes.append(0)
        sizes[k] += 1
    found = PitmanYor(discount).log_probability(np.array(sizes, float), alpha)
    assert np.exp(found) == pytest.approx(expected)


def test_without_discount_it_is_the_dirichlet_process():
    rng = np.random.default_rng(0)
    for alpha in (0.2, 1.0, 30.0, None):
        sizes = rng.integers(1, 50, 20).astype(float)
        one = PitmanYor(0.0).log_probability(sizes, alpha)
        assert one == pytest.approx(DirichletProcess().log_probability(sizes, alpha), abs=1e-12)
        a, b = sizes[:10], sizes[10:]
        np.testing.assert_allclose(
            PitmanYor(0.0).merger_gains(sizes, a, b, alpha),
            DirichletProcess().merger_gains(sizes, a, b, alpha),
            atol=1e-12,
        )


def test_microclustering_by_its_definition():
    """K! ∏ n_k! μ(n_k) / (n! u_n), with u_n the sum over all sequences of sizes."""
    r, log_p, constant = negative_binomial(2.5, 0.7)
    m = np.arange(1, 6)
    mu = np.exp(gammaln(m + r) + m * log_p + constant - gammaln(m + 1.0))

    def renewal(n):
        return 1.0 if n == 0 else sum(mu[m - 1] * renewal(n - m) for m in range(1, n + 1))

    assert log_renewal(2.5, 0.7, 5) == pytest.approx(np.log(renewal(5)))
    sizes = [2, 2, 1]
    expected = factorial(3) * np.prod([factorial(m) * mu[m - 1] for m in sizes])
    expected /= factorial(5) * renewal(5)
    found = Microclustering(2.5, 0.7).log_probability(np.array(sizes, float), None)
    assert np.exp(found) == pytest.approx(expected)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("alpha", [0.6, None])
def test_gains_of_mergers_are_differences(prior, alpha):
    sizes = np.array([3.0, 1.0, 1.0, 6.0, 2.0])
    before = prior.log_probability(sizes, alpha)
    gains = prior.merger_gains(sizes, sizes[:4], sizes[1:], alpha)
    for k in range(4):
        merged = np.append(np.delete(sizes, [k, k + 1]), sizes[k] + sizes[k + 1])
        assert gains[k] == pytest.approx(prior.log_probability(merged, alpha) - before, abs=1e-9)


@pytest.mark.parametrize("prior", PRIORS)
def test_weights_of_a_next_point_are_ratios(prior):
    sizes = np.array([3.0, 1.0, 6.0])
    after = [prior.log_probability(sizes + np.eye(3)[k], 0.6) for k in range(3)]
    after.append(prior.log_probability(np.append(sizes, 1.0), 0.6))
    weights = prior.log_weights(sizes, 0.6)
    np.testing.assert_allclose(weights - weights[0], np.array(after) - after[0], atol=1e-9)


def test_words_and_objects():
    assert as_partition_prior("pitman-yor") == PitmanYor()
    assert as_partition_prior(Microclustering(2)).mean_size == 2.0
    with pytest.raises(MaylinkError, match=r"partition_prior: 'pitman-yer' is not one of.*did you"):
        as_partition_prior("pitman-yer")
    with pytest.raises(MaylinkError, match="partition_prior: 3 is not one of"):
        as_partition_prior(3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PitmanYor(1.0), "discount: 1.0 is not at least 0 and below 1"),
        (lambda: PitmanYor(-0.1), "discount: -0.1"),
        (lambda: Microclustering(1.0), "mean_size: 1.0; give finite numbers above 1"),
        (lambda: Microclustering(shape=(1.0, 0.0)), r"shape: \(1.0, 0.0\); give finite"),
        (lambda: Microclustering(()), r"mean_size: \(\)"),
        (lambda: UniformPartitions(np.inf), "cluster_cost: inf is not a number from 0 to 50"),
        (lambda: UniformPartitions(-1), "cluster_cost: -1 is not a number from 0"),
        (lambda: UniformPartitions("x"), "cluster_cost: 'x' is not a number"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make, message):
    with pytest.raises(MaylinkError, match=message):
        make()
