"""Distributions of cluster sizes, and the normalising sums of priors of the partition.

What each stands for is told in :mod:`maylink.model.partition_priors`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, lambertw, logsumexp

NEGLIGIBLE = 1e-17  # probability of all larger sizes that may be left out of the renewal equation
SETTLED = 1e-12  # relative distance from its limit below which a renewal probability is the limit


@lru_cache(maxsize=256)
def negative_binomial(mean_size: float, shape: float) -> tuple[float, float, float]:
    """Return r, log p and the constant of log m! μ(m), where μ, without 0, has this mean."""

    def mean(log_odds: float) -> float:
        """Return the mean without 0; log p = −log(1 + e^−x), log(1 − p) = −log(1 + e^x)."""
        none = np.exp(-shape * np.logaddexp(0.0, log_odds))
        some = -np.expm1(-shape * np.logaddexp(0.0, log_odds))
        return float(shape * np.exp(log_odds) / some) if none < 1.0 else 1.0

    log_odds = float(brentq(lambda x: np.log(mean(x)) - np.log(mean_size), -35.0, 35.0, xtol=1e-13))
    log_p, log_rest = -np.logaddexp(0.0, -log_odds), -np.logaddexp(0.0, log_odds)
    some = np.log(-np.expm1(shape * log_rest))
    return shape, float(log_p), float(shape * log_rest - some - gammaln(shape))


@lru_cache(maxsize=256)
def log_renewal(mean_size: float, shape: float, n: int) -> float:
    """Return log u_n: how probably sizes drawn one after the other add up to n at some time.

    ``u_n = Σ_m μ(m) u_{n−m}`` with ``u_0 = 1``; for large n the limit, 1 / mean size.
    """
    r, log_p, constant = negative_binomial(mean_size, shape)
    sizes = np.arange(1.0, n + 1.0)
    logs = gammaln(sizes + r) - gammaln(sizes + 1.0) + sizes * log_p + constant
    small = np.flatnonzero(np.exp(logs) * max(1.0, mean_size) ** 2 < NEGLIGIBLE)
    past_mode = small[small >= mean_size]
    size = int(past_mode[0]) if past_mode.size else n
    chances = np.exp(logs[:size])[::-1]  # of the largest size first
    if past_mode.size:
        chances /= chances.sum()  # rounding would grow with n
    u = np.zeros(size + n + 1)  # zeros before u_0
    u[size] = 1.0
    for i in range(1, n + 1):
        u[size + i] = chances @ u[i : size + i]
        if i % size == 0 and np.abs(u[i + 1 : size + i + 1] * mean_size - 1.0).max() < SETTLED:
            return float(-np.log(mean_size))
    return float(np.log(u[-1]))


@lru_cache(maxsize=256)
def log_all_partitions(n: int, cost: float) -> float:
    """Return ``log Σ_K S(n, K) x^K``, with x = e^−cost, by ``e^−x Σ_k kⁿ x^k / k!``.

    At cost 0 these are the Bell numbers, and Dobiński's formula.
    """
    if n == 0:
        return 0.0
    x = np.exp(-cost)
    middle = x * np.exp(lambertw(n / x).real)  # the largest term is near k log(k / x) = n
    wide = 10.0 * np.sqrt(middle) + 30.0
    k = np.arange(max(1.0, np.floor(middle - wide)), middle + wide)
    return float(logsumexp(n * np.log(k) - cost * k - gammaln(k + 1.0)) - x)
