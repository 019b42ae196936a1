"""The variational factor of the clusters' weights, and what it adds to the bound.

Under the Dirichlet and the Pitman–Yor process weights are broken off a stick: stick k has the prior
Beta(1 − d, α + k·d), and the posterior is a Beta distribution again. Only clusters that points may
choose have sticks here; those beyond stay at their prior, which adds nothing to the bound. Where α
is learned its factor is a Gamma distribution. With a discount the normalisers of the sticks are not
linear in log α, but convex; in their place the bound holds their values at E log α, which are never
larger than their expectations, and the factor of α fits the tangents there. So the bound stays one,
and never falls.

Under microclustering the weights of a mean-field factor have no closed form. There the model is
that *given the number of clusters T*: every point is in each of the T clusters with probability
1/T, and the bound is one on the log probability of data and links under that model. Where all T
hold points, that is exact if sizes have a Poisson distribution without 0.

Where all partitions are alike, a partition into K clusters has ``T!/(T − K)!``, so at most T! ways
of naming its clusters 1 … T. Each way gets 1/T! of the probability of a partition, as if all T
held points: all weights are 1, and the bound is one on the log probability under that prior.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, digamma, gammaln

from maylink.arrays import Array
from maylink.model.partition_priors import PartitionPrior


class PartitionWeights(NamedTuple):
    """What the responsibilities and the bound need to know of the clusters' weights."""

    log_weights: Array  # (K,) E ln π_k
    alpha: Array  # (2,) Gamma; a known α has shape inf
    bound: float  # what weights and α add to the bound, entropies included


def fit_weights(
    sizes: Array, alpha: Array, prior: PartitionPrior, alpha_prior: tuple[float, float]
) -> PartitionWeights:
    """Fit sticks to the sizes of clusters, given the factor of α, then α, where it is learned."""
    if prior.small_clusters:
        equal = equal_weights(len(sizes))
        return PartitionWeights(equal, alpha, float(sizes @ equal))
    if not prior.sizes_matter:
        of_names = -float(gammaln(len(sizes) + 1.0))
        return PartitionWeights(
            np.zeros(len(sizes)), alpha, prior.log_probability(sizes, None) + of_names
        )
    sticks = fit_sticks(sizes, alpha, prior.discount)
    logs = log_sticks(sticks)
    if not math.isinf(alpha[0]):
        alpha = fit_alpha(logs, alpha, alpha_prior, prior.discount)
    bound = sticks_bound(sizes, sticks, logs, alpha, alpha_prior, prior.discount)
    return PartitionWeights(log_weights(logs), alpha, bound)


def weights_given_alpha(sizes: Array, alpha: Array, prior: PartitionPrior) -> Array:
    """Return E ln π_k of weights that fit the sizes, shape (K,)."""
    if prior.small_clusters:
        return equal_weights(len(sizes))
    if not prior.sizes_matter:
        return np.zeros(len(sizes))
    return log_weights(log_sticks(fit_sticks(sizes, alpha, prior.discount)))


def equal_weights(n_clusters: int) -> Array:
    """Return the logarithms of equal weights."""
    return np.full(n_clusters, -np.log(n_clusters))


class LogSticks(NamedTuple):
    """Expected logarithms of what each stick takes and of what it leaves, shape (K,)."""

    taken: Array
    rest: Array


def log_sticks(sticks: Array) -> LogSticks:
    """Return the expected logarithms of sticks with Beta distributions, shape (K, 2)."""
    total = digamma(sticks[:, 0] + sticks[:, 1])
    return LogSticks(digamma(sticks[:, 0]) - total, digamma(sticks[:, 1]) - total)


def log_weights(logs: LogSticks) -> Array:
    """Return E ln π_k, shape (K,)."""
    weights = logs.taken.copy()
    weights[1:] += np.cumsum(logs.rest[:-1])
    return weights


def fit_sticks(sizes: Array, alpha: Array, discount: float = 0.0) -> Array:
    """Return the Beta distributions of the sticks, shape (K, 2)."""
    steps = discount * np.arange(1, len(sizes) + 1)
    first = 1.0 - discount + sizes
    return np.column_stack([first, expected_alpha(alpha) + steps + _beyond(sizes)])


def fit_alpha(
    logs: LogSticks, alpha: Array, prior: tuple[float, float], discount: float = 0.0
) -> Array:
    """Return shape and rate of the Gamma distribution of α, given what they were."""
    rate, size = prior[1] - logs.rest.sum(), len(logs.rest)
    if discount == 0.0:
        return np.array([prior[0] + size, rate])
    steps, middle = discount * np.arange(1, size + 1), np.exp(_expected_log(alpha))
    slope = middle * (digamma(middle + 1.0 - discount + steps) - digamma(middle + steps))
    return np.array([prior[0] + slope.sum(), rate])


def expected_alpha(alpha: Array) -> float:
    """Return E α; of a known α, α."""
    return float(alpha[1] if math.isinf(alpha[0]) else alpha[0] / alpha[1])


def sticks_bound(
    sizes: Array,
    sticks: Array,
    logs: LogSticks,
    alpha: Array,
    prior: tuple[float, float],
    discount: float = 0.0,
) -> float:
    """Return what sticks and α add to the bound, entropies included."""
    log_stick, log_rest = logs
    a, b = sticks[:, 0], sticks[:, 1]
    entropy = betaln(a, b) - (a - 1.0) * log_stick - (b - 1.0) * log_rest
    value = float((sizes * log_stick + _beyond(sizes) * log_rest + entropy).sum())
    mean, log_mean = expected_alpha(alpha), _expected_log(alpha)
    value += (mean - 1.0) * float(log_rest.sum())
    if discount == 0.0:
        value += len(sticks) * log_mean
    else:
        steps = discount * np.arange(1, len(sticks) + 1)
        value += float(steps @ log_rest) - discount * float(log_stick.sum())
        value -= float(betaln(1.0 - discount, np.exp(log_mean) + steps).sum())
    if math.isinf(alpha[0]):
        return value
    shape, rate = alpha.tolist()
    a0, b0 = prior
    value += a0 * np.log(b0) - gammaln(a0) + (a0 - 1.0) * log_mean - b0 * mean
    return float(value + shape - np.log(rate) + gammaln(shape) + (1.0 - shape) * digamma(shape))


def _expected_log(alpha: Array) -> float:
    """Return E log α."""
    shape, rate = alpha.tolist()
    return float(np.log(rate) if math.isinf(shape) else digamma(shape) - np.log(rate))


def _beyond(sizes: Array) -> Array:
    """Return how many points are in later clusters."""
    beyond = np.zeros(len(sizes))
    beyond[:-1] = np.cumsum(sizes[:0:-1])[::-1]
    return beyond
