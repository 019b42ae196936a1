"""Geweke's joint-distribution test: a sampler must leave the joint of everything as it is.

Draws of everything from the model, against a chain that alternates between the sampler (partition,
p, q, α given data and links) and the model (data and links given those). Means of a few functions
must agree.
"""

import numpy as np

from maylink import Links
from maylink.datasets.two_view import draw_partition
from maylink.model.source_prior import shared_grid
from maylink.problem import Problem
from reference import all_partitions

N = 4
PAIRS = np.array([(i, j) for i in range(N) for j in range(i)])
SOURCES = np.arange(len(PAIRS)) % 2
N_FEATURES = 3


def model_data(family, prior, z, rng):
    X = np.empty((N, N_FEATURES))
    for k in np.unique(z):
        theta = family.sample_parameters(prior, rng)
        X[z == k] = family.sample(theta, int((z == k).sum()), rng)
    return X


def model_links(z, p, q, rng):
    i, j = PAIRS.T
    may = rng.random(len(i)) < np.where(z[i] == z[j], p[SOURCES], 1.0 - q[SOURCES])
    return Links(N, i, j, np.where(may, 1, -1), source=SOURCES)


def functions(X, z, p, q, alpha, links):
    together = np.mean(z[:, None] == z)
    first = np.tanh(X[0].sum() / 20.0)
    return np.array([
        z.max() + 1.0, together, np.log(alpha), *p, *q, first, (links.kind > 0).mean(),
        (z.max() + 1.0) * p[0], together * first, together * (links.kind > 0).mean(), p[0] * p[1],
        q[0] * q[1],
    ])  # fmt: skip


def mild_prior(family):
    """A prior of clusters that overlap: far apart, the chain would hardly move."""
    factors = {"gaussian": [25.0, 1.0], "diagonal-gaussian": [25.0, 1.0]}
    factors |= {"full-gaussian": [25.0, 1.0], "product": [25.0, 1.0, 10.0, 10.0]}
    prior = family.unit_prior(N_FEATURES)
    size = family.scales(prior)
    return family.rescale(prior, np.array(factors.get(family.name, [10.0] * size)))


def draw_labels(partition_prior, alpha, rng):
    """Draw a partition from its prior, of all that there are."""
    every = [np.array(z) for z in all_partitions(N)]
    logs = [partition_prior.log_probability(np.bincount(z).astype(float), alpha) for z in every]
    return every[rng.choice(len(every), p=np.exp(logs))]


def draw_reliability(rng):
    """Draw what the sources share, then p of each."""
    log_weight, right, wrong, *_ = shared_grid()
    at = rng.choice(len(right), p=np.exp(log_weight))
    return rng.beta(right[at], wrong[at], 2)


def z_scores(family, make_sampler, *, steps, seed, partition_prior=None):
    """Differences of the means of both simulators, in standard errors."""
    rng = np.random.default_rng(seed)
    prior = mild_prior(family)

    def from_the_model():
        alpha = rng.gamma(1.0, 1.0) + 1e-300
        if partition_prior is None:
            z = draw_partition(N, alpha, rng)
        else:
            alpha = alpha if partition_prior.uses_alpha else 1.0
            z = draw_labels(partition_prior, alpha, rng)
        p, q = draw_reliability(rng), draw_reliability(rng)
        return z, p, q, alpha, model_data(family, prior, z, rng), model_links(z, p, q, rng)

    plain = []
    for _ in range(steps):
        z, p, q, alpha, X, links = from_the_model()
        plain.append(functions(X, z, p, q, alpha, links))
    z, p, q, alpha, X, links = from_the_model()
    chained, component = [], 0
    for _ in range(steps):
        sampler = make_sampler(Problem(X, links, family), prior)
        state = sampler.init(z)._replace(p=p, q=q, alpha=alpha, component=component)
        state, _ = sampler.step(state, 1, rng)
        z, p, q, alpha, component = (
            state.labels, state.p, state.q, state.alpha, state.component
        )  # fmt: skip
        X, links = model_data(family, prior, z, rng), model_links(z, p, q, rng)
        chained.append(functions(X, z, p, q, alpha, links))
    plain, chained = np.array(plain), np.array(chained)
    batches = chained.reshape(40, -1, chained.shape[1]).mean(axis=1)  # the chain is correlated
    variance = plain.var(axis=0) / steps + batches.var(axis=0, ddof=1) / 40
    difference = plain.mean(axis=0) - chained.mean(axis=0)
    return difference / np.sqrt(np.maximum(variance, 1e-300))  # α may be the same always
