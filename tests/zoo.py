"""One example of every family that the library has, with data drawn from it."""

import numpy as np

from maylink import Links
from maylink.families import Product, ProductWithGaps, all_families

N_FEATURES = 3


def example(name):
    """The family of this name with its default settings, ready for three features."""
    if name == "product":
        return Product([("gaussian", [0]), ("poisson", [2]), ("bernoulli", [1])])
    if name == "product-with-gaps":
        return ProductWithGaps([("diagonal-gaussian", [0]), ("poisson", [2]), ("bernoulli", [1])])
    return all_families()[name]()


FAMILIES = sorted(all_families())
COLLAPSED = [
    name
    for name, cls in sorted(all_families().items())
    if cls.kind == "mixed" or cls.code is not None
]
"""Those that the collapsed sampler has a kernel for; a product has those of its parts."""


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
    if family.knows_gaps:  # a cell in six is missing, and a whole row; no column is empty
        missing = rng.random(X.shape) < 1 / 6
        missing[order[3:4]], missing[order[0]] = True, False
        X[missing] = np.nan
    return X[order], labels[order]


def pieces(n=240, seed=0):
    """Two classes, each of three blobs that lie among those of the other."""
    rng = np.random.default_rng(seed)
    blob = rng.integers(0, 6, n)
    X = np.array([[0, 0], [8, 0], [0, 8], [8, 8], [16, 0], [0, 16]])[blob]
    return X + rng.normal(size=(n, 2)), blob % 2


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


def true_links(y, n_links, seed):
    """Links between random pairs that say the truth."""
    rng = np.random.default_rng(seed)
    i = rng.integers(0, len(y), n_links)
    j = (i + rng.integers(1, len(y), n_links)) % len(y)
    return Links(len(y), i, j, np.where(y[i] == y[j], 1, -1))


def noisy_votes(n, seed, noise=1.0):
    """Votes on all pairs of points in three groups, wrong now and then: pairs' ends, and votes."""
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(n, 1)
    y = rng.integers(0, 3, n)
    votes = np.where(y[first] == y[second], 1.0, -1.0) + noise * rng.normal(size=first.size)
    return first, second, votes


# Points, the number of clusters, and links.
EDGES = {
    "one point": (np.zeros((1, 2)), 1, Links.empty(1)),
    "a cluster for each": (np.arange(6.0)[:, None], 6, random_links(6, 5, 0)),
    "all equal": (np.ones((9, 3)), 3, random_links(9, 12, 0)),
    "constant features": (np.c_[np.ones(9), np.arange(9.0), np.full(9, 1e8)], 3, None),
    "huge": (1e8 * np.random.default_rng(0).normal(size=(30, 2)), 3, random_links(30, 20, 0)),
    "tiny": (1e-8 * np.random.default_rng(0).normal(size=(30, 2)), 3, random_links(30, 20, 0)),
    "far away": (1e8 + np.random.default_rng(0).normal(size=(30, 2)), 3, random_links(30, 20, 0)),
    "huge and tiny": (
        np.random.default_rng(0).normal(size=(30, 3)) * [1e8, 1, 1e-8],
        3,
        random_links(30, 20, 0),
    ),
    "may links only": (
        np.random.default_rng(0).normal(size=(12, 2)),
        3,
        Links.from_pairs(may=[(i, i + 1) for i in range(11)], n=12),
    ),
    "may-not links only": (
        np.random.default_rng(0).normal(size=(12, 2)),
        2,
        Links.from_pairs(may_not=[(i, j) for i in range(12) for j in range(i)], n=12),
    ),
    "contradictory": (
        np.random.default_rng(0).normal(size=(8, 2)),
        2,
        Links.from_pairs(may=[(0, 1), (1, 2), (3, 4)] * 3, may_not=[(0, 1), (0, 2)] * 3, n=8),
    ),
    "more links than pairs": (
        np.random.default_rng(0).normal(size=(5, 1)),
        2,
        random_links(5, 99, 0),
    ),
    "more features than points": (
        np.random.default_rng(0).normal(size=(6, 40)),
        2,
        random_links(6, 9, 0),
    ),
}

# Points, and the number of clusters.
FEW_POINTS = [
    (np.zeros((1, 2)), 1),
    (np.array([[0.0], [1.0]]), 2),
    (np.random.default_rng(0).normal(size=(7, 2)), 7),
    (np.ones((10, 2)), 3),
    (np.random.default_rng(0).normal(size=(20, 2)) * 1e8, 3),
    (np.random.default_rng(0).normal(size=(20, 2)) * 1e-8, 3),
    (np.random.default_rng(0).normal(size=(6, 30)), 2),
    (np.column_stack([np.arange(12.0), np.ones(12)]), 3),
]


def few_links(n):
    """Every kind of small link set on n points."""
    cases = [Links.empty(n)]
    if n > 1:
        i, j = np.triu_indices(n, 1)
        cases += [
            Links.from_pairs(may=[(0, 1)], n=n),
            Links.from_pairs(may_not=[(0, 1)], n=n),
            Links.from_pairs(may=[(0, 1)], may_not=[(0, 1)], n=n),
            Links(n, np.tile(i, 2), np.tile(j, 2), np.ones(2 * i.size)),
            Links(n, np.tile(i, 2), np.tile(j, 2), -np.ones(2 * i.size)),
        ]
    if n > 2:
        cases.append(Links.from_pairs(may=[(0, 1), (1, 2)], may_not=[(0, 2)], n=n))
    return cases
