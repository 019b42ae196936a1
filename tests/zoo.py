"""One example of every family that the library has, with data drawn from it."""

import numpy as np

from maylink import Links
from maylink.families import Product, all_families

N_FEATURES = 3


def example(name):
    """The family of this name with its default settings, ready for three features."""
    if name == "product":
        return Product([("gaussian", [0]), ("poisson", [2]), ("bernoulli", [1])])
    return all_families()[name]()


FAMILIES = sorted(all_families())


def draw(name, n, seed, n_clusters=3):
    """Data of a few clusters drawn from the family itself, and the true labels."""
    rng = np.random.default_rng(seed)
    family = example(name)
    prior = family.unit_prior(N_FEATURES)
    labels = np.sort(rng.integers(0, n_clusters, n))
    X = np.empty((n, N_FEATURES))
    for k in range(n_clusters):
        theta = family.sample_parameters(prior, rng)
        X[labels == k] = family.sample(theta, int((labels == k).sum()), rng)
    order = rng.permutation(n)
    return X[order], labels[order]


def draw_pairs(n, n_links, seed):
    """Random links as (i, j, kind, weight), contradictions included."""
    rng = np.random.default_rng(seed)
    i = rng.integers(0, n, n_links)
    j = (i + rng.integers(1, n, n_links)) % n
    kind = rng.choice([1, -1], n_links)
    return [
        (int(a), int(b), int(k), float(w))
        for a, b, k, w in zip(i, j, kind, rng.choice([1.0, 1.0, 2.0], n_links), strict=True)
    ]


def links_of(pairs, n):
    """Links from (i, j, kind, weight)."""
    columns = list(zip(*pairs, strict=True)) if pairs else [(), (), (), ()]
    return Links(n, *(np.array(c) for c in columns[:3]), weight=np.array(columns[3]))


def random_links(n, n_links, seed):
    """Random links, contradictions included."""
    return links_of(draw_pairs(n, n_links, seed), n)
