"""What the sampler draws beside the partition, p and q of each source and α, and the log joint.

The component of the partition's prior is drawn in :mod:`maylink.kernels.partition_tables`.

``p | z ~ Beta(right + n11, wrong + n10)`` and ``q | z ~ Beta(right + n00, wrong + n01)`` by source,
where sources share a prior after a draw of that (:mod:`maylink.kernels.source_grid`); α given the
number of clusters as by Escobar & West (1995), or by Teh (2006) where there is a discount.
"""

from __future__ import annotations

from math import lgamma, log
from typing import Any, NamedTuple

from maylink.kernels.compile import compiled
from maylink.kernels.partition_tables import log_prior
from maylink.kernels.source_grid import draw_shared, shared_evidence

SMALLEST = 1e-12  # how near p and q may come to 0 and 1


class LinkArrays(NamedTuple):
    """Links by point (``indptr``, ``neighbour``, ``link``) and in a list (the others)."""

    indptr: Any
    neighbour: Any
    link: Any
    i: Any
    j: Any
    may: Any
    weight: Any
    source: Any


class Scalars(NamedTuple):
    """What is drawn beside the partition: p and q by source; α and a component, arrays of one."""

    p: Any
    q: Any
    alpha: Any
    component: Any  # of the partition's prior


@compiled(allocates=False)
def set_pull(links, scalars, pull):
    """Write the pull of each link at each of its points."""
    for e in range(pull.size):
        link = links.link[e]
        p, q = scalars.p[links.source[link]], scalars.q[links.source[link]]
        may = log(p) - log(1.0 - q)
        may_not = log(q) - log(1.0 - p)
        pull[e] = links.weight[link] * (may if links.may[link] else -may_not)


@compiled(allocates=False)
def count_kinds(links, labels, counts):
    """Count links by source: may same, may-not same, may-not different, may different."""
    for row in range(counts.shape[0]):
        for s in range(counts.shape[1]):
            counts[row, s] = 0.0
    for e in range(links.i.size):
        if labels[links.i[e]] == labels[links.j[e]]:
            row = 0 if links.may[e] else 1
        else:
            row = 3 if links.may[e] else 2
        counts[row, links.source[e]] += links.weight[e]


@compiled(allocates=False)
def draw_reliability(rng, counts, sources, scalars):
    """Draw p and q of each source given how often its links are right."""
    shared_p = draw_shared(rng, counts[0], counts[1], sources)
    shared_q = draw_shared(rng, counts[2], counts[3], sources)
    for s in range(scalars.p.size):
        of_p, of_q = sources.own, sources.own
        if sources.shares[s]:
            of_p, of_q = shared_p, shared_q
        p = rng.beta(of_p[0] + counts[0, s], of_p[1] + counts[1, s])
        q = rng.beta(of_q[0] + counts[2, s], of_q[1] + counts[3, s])
        scalars.p[s] = min(max(p, SMALLEST), 1.0 - SMALLEST)
        scalars.q[s] = min(max(q, SMALLEST), 1.0 - SMALLEST)


@compiled(allocates=False)
def draw_alpha(rng, n, n_clusters, prior, discount, scalars):
    """Draw α given the number of clusters (Escobar & West 1995; with a discount Teh 2006)."""
    if discount > 0.0:
        _draw_alpha_given_discount(rng, n, n_clusters, prior, discount, scalars)
        return
    eta = max(rng.beta(scalars.alpha[0] + 1.0, float(n)), 1e-300)
    rate = prior[1] - log(eta)
    odds = (prior[0] + n_clusters - 1.0) / (n * rate)
    more = 1.0 if rng.random() * (1.0 + odds) < odds else 0.0
    drawn = rng.gamma(prior[0] + n_clusters - 1.0 + more, 1.0 / rate)
    scalars.alpha[0] = max(drawn, 1e-300)


@compiled(allocates=False, inner=True)
def _draw_alpha_given_discount(rng, n, n_clusters, prior, discount, scalars):
    """Draw α by auxiliary variables: ∏_k (α + k·d) / ∏_i (α + i) becomes a Gamma density.

    Of each factor α + k·d one term is drawn, and Γ(α + 1) / Γ(α + n) is the integral over eta.
    """
    alpha, shape, rate = scalars.alpha[0], prior[0], prior[1]
    for k in range(1, n_clusters):
        if rng.random() * (alpha + k * discount) < alpha:
            shape += 1.0
    if n > 1:
        rate -= log(max(rng.beta(alpha + 1.0, n - 1.0), 1e-300))
    scalars.alpha[0] = max(rng.gamma(shape, 1.0 / rate), 1e-300)


@compiled(allocates=False, inner=True)
def log_joint(clusters, slots, counts, settings, scalars, base):
    """Return log p(x, E, z) given α; p and q are integrated out where they are learned."""
    weight = settings.data_weight
    value = weight * base + log_prior(settings.tables, clusters.size, scalars.alpha[0])
    for a in range(slots.count[0]):
        value += weight * clusters.norm[slots.active[a]]
    sources = settings.sources
    right, wrong = sources.own
    if right > 0.0:
        value += shared_evidence(counts[0], counts[1], sources)
        value += shared_evidence(counts[2], counts[3], sources)
    for s in range(scalars.p.size):
        if right > 0.0:
            if sources.shares[s]:
                continue
            constant = lgamma(right + wrong) - lgamma(right) - lgamma(wrong)
            for good, bad in ((counts[0, s], counts[1, s]), (counts[2, s], counts[3, s])):
                value += constant + lgamma(right + good) + lgamma(wrong + bad)
                value -= lgamma(right + wrong + good + bad)
        else:
            value += counts[0, s] * log(scalars.p[s]) + counts[1, s] * log(1.0 - scalars.p[s])
            value += counts[2, s] * log(scalars.q[s]) + counts[3, s] * log(1.0 - scalars.q[s])
    return value
