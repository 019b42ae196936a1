"""The prior of the partition as tables: what joining a cluster and opening one weigh.

A row for each component of the prior (:mod:`maylink.model.partition_priors`), of which the sampler
draws one at a time. No kernel knows which prior the tables are of.
"""

from __future__ import annotations

from math import exp, lgamma, log
from typing import Any, NamedTuple

import numpy as np

from maylink.kernels.compile import compiled


class PartitionTables(NamedTuple):
    """Log weights by size of a cluster, 0 … n, and by number of clusters, 0 … n."""

    size: Any  # (components, n + 1) f(m)
    join: Any  # (components, n + 1) f(m + 1) − f(m); −inf of 0 points
    constant: Any  # (components,) −log u_n
    discount: float  # what each cluster adds to the weight of opening another
    opening: Any  # (n + 1,) of opening a cluster beside so many, for the present component and α
    logs: Any  # (components,) scratch


class PartitionTerms(NamedTuple):
    """The tables of the present component and α."""

    size: Any  # (n + 1,) f(m)
    join: Any  # (n + 1,) f(m + 1) − f(m)
    opening: Any  # (n + 1,) f(1) + log(α + K·d)


@compiled(allocates=False, inner=True)
def present_terms(tables, scalars):
    """Write what opening a cluster weighs now and return the tables of the present component."""
    size = tables.size[scalars.component[0]]
    for k in range(tables.opening.size):
        tables.opening[k] = size[1] + log(scalars.alpha[0] + k * tables.discount)
    return PartitionTerms(size, tables.join[scalars.component[0]], tables.opening)


@compiled(allocates=False, inner=True)
def log_components(tables, sizes):
    """Write what the sizes of clusters say of each component; those of no points do not count.

    Returns
    -------
    (float, float)
        The largest logarithm, and the sum of what the logarithms are of over the largest.
    """
    logs = tables.logs
    top, total = -np.inf, 0.0
    for h in range(logs.size):
        logs[h] = tables.constant[h]
        for k in range(sizes.size):
            if sizes[k] > 0.5:
                logs[h] += tables.size[h, int(sizes[k] + 0.5)]
        if logs[h] > top:
            top = logs[h]
    for h in range(logs.size):
        total += exp(logs[h] - top)
    return top, total


@compiled(allocates=False)
def draw_component(rng, tables, sizes, scalars):
    """Draw the component given the sizes of the clusters; nothing is drawn of one alone."""
    n_components = tables.constant.size
    if n_components == 1:
        return
    top, total = log_components(tables, sizes)
    left = rng.random() * total
    for h in range(n_components):
        scalars.component[0] = h
        left -= exp(tables.logs[h] - top)
        if left < 0.0:
            break


@compiled(allocates=False, inner=True)
def log_prior(tables, sizes, alpha):
    """Return the log probability of a partition, its components averaged out."""
    top, total = log_components(tables, sizes)
    value = top + log(total / tables.logs.size)
    n, n_clusters = 0.0, 0
    for k in range(sizes.size):
        if sizes[k] > 0.5:
            n += sizes[k]
            n_clusters += 1
    for k in range(1, n_clusters):
        value += log(alpha + k * tables.discount)
    return value + lgamma(alpha + 1.0) - lgamma(alpha + n)
