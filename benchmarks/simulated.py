"""Data that are simulated to choose settings by: no data set of the tables is among them.

Short texts are words drawn from overlapping topics, images are strokes that are moved and bent,
records are people with typing errors, embeddings are curved clusters on a sphere.
"""

from itertools import pairwise

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from maylink.datasets import make_embeddings, make_records
from maylink.datasets.records import BEGINNINGS, GIVEN, SURNAME_ENDINGS, TOWN_ENDINGS, mistyped
from maylink.tables.text import text_features

STREETS = ("avenue", "lane", "road", "street", "way")


def embeddings(seed, n=450, d=64, k=15):
    """Unit vectors."""
    drawn = make_embeddings(n, d, k, rng=seed)
    return drawn.X, drawn.y


def counted_words(seed, n=450, k=15, words=1200, length=10, shared=0.5):
    """Short texts of overlapping topics: how often each word comes, sparse."""
    rng = np.random.default_rng(seed)
    common = rng.dirichlet(np.full(words, 0.05))
    topics = shared * common + (1 - shared) * rng.dirichlet(np.full(words, 0.01), k)
    y = rng.integers(0, k, n)
    counts = np.array([rng.multinomial(max(3, rng.poisson(length)), topics[one]) for one in y])
    return sparse.csr_array(counts[:, (counts > 0).sum(axis=0) >= 2]), y


def weighted_words(seed, n=450, k=15, words=1200, length=10, shared=0.5):
    """The same texts: TF-IDF of single words, sparse unit rows."""
    counts, y = counted_words(seed, n, k, words, length, shared)
    return TfidfTransformer(sublinear_tf=True).fit_transform(counts), y


def texts(seed, n=450, k=15, words=1200, length=10, shared=0.5):
    """The same texts in 64 directions, unit rows."""
    weights, y = weighted_words(seed, n, k, words, length, shared)
    size = min(64, weights.shape[1] - 1)
    return normalize(TruncatedSVD(size, random_state=0).fit_transform(weights)), y


def records(seed, n=800):
    """Records of people: two and three letters in a row, 64 directions, unit rows."""
    drawn = make_records(n, n * 9 // 20, rng=seed)
    return drawn.X, drawn.y


def singles(seed, n=300):
    """Records by name and street, two thirds of the people with one record only."""
    rng, lines, y = np.random.default_rng(seed), [], []
    while len(lines) < n:
        given, number = str(rng.choice(GIVEN)), int(rng.integers(1, 200))
        surname = str(rng.choice(BEGINNINGS)) + str(rng.choice(SURNAME_ENDINGS))
        street = f"{rng.choice(BEGINNINGS)}{rng.choice(TOWN_ENDINGS)} {rng.choice(STREETS)}"
        person = y[-1] + 1 if y else 0
        for _ in range(1 if rng.random() < 0.66 else int(rng.integers(2, 5))):
            words = [given, surname, street]
            words = [mistyped(word, rng) if rng.random() < 0.2 else word for word in words]
            lines.append(f"{words[0]} {words[1]} {number} {words[2]}")
            y.append(person)
    order = rng.permutation(len(lines))[:n]
    return text_features([lines[at] for at in order], "letters"), np.array(y)[order]


def images(seed, n=500, k=10, side=8):
    """Blurred strokes of 8 × 8 pixels."""
    rng = np.random.default_rng(seed)
    y, corners = rng.integers(0, k, n), rng.uniform(1, side - 2, (k, 4, 2))
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), -1)
    X = np.zeros((n, side * side))
    for row, kind in zip(X, y, strict=True):
        ends = corners[kind] + rng.normal(0, 0.55, 2) + rng.normal(0, 0.35, (4, 2))
        for a, b in pairwise(ends):
            for t in np.linspace(0, 1, 12):
                ink = np.exp(-((grid - (a + t * (b - a))) ** 2).sum(axis=-1) / 0.8)
                np.maximum(row, ink.ravel(), out=row)
    return np.round(16 * X), y


def blobs(seed, n=400, k=6, d=40):
    """Round clusters, some of which touch."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng.normal(size=(k, d))[y] * 0.8 + rng.normal(size=(n, d)), y


def many(seed, n=900, k=30, d=64, r=20, apart=5.5):
    """Round clusters in few hidden directions, in some of which they lie further apart."""
    rng = np.random.default_rng(seed)
    y = rng.choice(k, n, p=rng.dirichlet(np.full(k, 3.0)))
    centers = rng.normal(size=(k, r)) * apart / np.sqrt(2 * r) * np.linspace(1.5, 0.5, r)
    turn = np.linalg.qr(rng.normal(size=(d, r)))[0]
    hidden = centers[y] + rng.normal(size=(n, r))
    return hidden @ turn.T + 0.3 * rng.normal(size=(n, d)), y


def overlapping(seed):
    """The same, nearer to each other."""
    return many(seed, apart=4.5)


SETS = {
    "embeddings": embeddings,
    "texts": texts,
    "records": records,
    "images": images,
    "blobs": blobs,
}
MANY = {"many": many, "overlapping": overlapping}  # came later: no setting was taken from them
