"""Links and data that once made results worse: F with all defaults, K-means told k beside it.

python benchmarks/trust.py               all rows
python benchmarks/trust.py W1 tf-idf     those of these names

Data are simulated, but for iris and wine, and drawn anew for each seed; so are links. A cell is the
mean F over the draws and, in brackets, the lowest. Every row with links follows one without.
"""

import sys
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

import maylink as ml
from maylink.datasets import load, sample_links
from maylink.experiments.harm import ClusterShape, centers_apart
from maylink.metrics import pair_f
from simulated import weighted_words
from tails import clusters
from timing import markdown

METHODS = {"TVClust": ml.TVClust, "RDPMeans": ml.RDPMeans}
NONE = "none"


class Case(NamedTuple):
    """What is drawn: data with labels, then links by name, where there are any."""

    name: str
    data: Callable
    n_draws: int
    links: Callable | None = None


def blobs(k, n, apart, d=2):
    """Return a draw of round clusters, anywhere but nearer than that to another."""

    def draw(seed):
        rng = np.random.default_rng(seed)
        centers = centers_apart(ClusterShape(k, n, d, apart, True), rng)
        y = rng.permutation(np.arange(n) % k)
        return centers[y] + rng.normal(size=(n, d)), y

    return draw


def lattice(side, n, apart):
    """Return a draw of round clusters in rows and columns."""

    def draw(seed):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.arange(n) % side**2)
        return apart * np.argwhere(np.ones((side, side)))[y] + rng.normal(size=(n, 2)), y

    return draw


def three_blobs(seed, apart=3.5):
    """Three clusters at the corners of a triangle."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 300)
    corners = apart * np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.87]])
    return corners[y] + rng.normal(size=(300, 2)), y


def directions(seed, n=400, d=384, k=8):
    """Unit vectors about as far from their centre as from 0."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    centers = normalize(rng.normal(size=(k, d)))
    return normalize(centers[y] + rng.normal(size=(n, d)) / np.sqrt(d)), y


def noise_column(seed):
    """Four clusters, and a column of noise in a unit a million times as small."""
    X, y = blobs(4, 160, 8.0)(seed)
    return np.column_stack([X, 1e6 * np.random.default_rng(seed + 100).normal(size=len(y))]), y


def real(name):
    """Return a draw of a data set, which is always the same."""

    def draw(seed):
        data = load(name)
        return data.X, data.y

    return draw


def linked(*parts):
    """Return a draw of links: each part a source, its links a point, and how often it is right."""

    def draw(y, seed):
        words, told, found = [], [], {}
        for at, (source, links_per_point, accuracy) in enumerate(parts):
            links = sample_links(y, 2 * links_per_point / len(y), accuracy, rng=[seed, at])
            named = np.full(links.n_links, source)
            told.append(ml.Links(links.n, links.i, links.j, links.kind, source=named))
            words.append(f"{links_per_point:g}n, {accuracy:.0%} right")
            found["; ".join(words)] = sum(told[1:], start=told[0])
        return found

    return draw


RIGHT, EMPTY = linked(("a", 2, 1.0)), linked(("a", 2, 0.5))
CASES = (
    Case("W1, 100 blobs", blobs(100, 1000, 10.0), 2, RIGHT),
    Case("W1, 200 blobs", blobs(200, 2000, 10.0), 2, RIGHT),
    Case("W1, 100 blobs on a lattice", lattice(10, 1000, 10.0), 2, RIGHT),
    Case("W2, 3 blobs", blobs(3, 200, 10.0), 8, EMPTY),
    Case("W2, 10 blobs", blobs(10, 400, 10.0), 8, EMPTY),
    Case("W2, iris", real("iris"), 4, EMPTY),
    Case("W2, wine", real("wine"), 4, EMPTY),
    Case("W3, a good and an adversarial source", lattice(2, 200, 4.0), 8,
         linked(("good", 1, 0.9), ("adversarial", 1, 0.1))),
    Case("W4, three blobs 3.5σ apart", three_blobs, 15),
    Case("W5, unit vectors, d = 384", directions, 3, linked(("a", 2, 1.0))),
    Case("tf-idf, 600 texts, 5 topics", lambda s: weighted_words(s, 600, 5), 3, RIGHT),
    Case("a noise column × 10⁶", noise_column, 4),
    Case("heavy tails, t with 2 degrees", lambda s: clusters(s, 2, 2.0), 3),
)  # fmt: skip


def table(wanted=()):
    """Return F of the cases whose names begin so, of all by default."""
    chosen = [case for case in CASES if not wanted or case.name.startswith(tuple(wanted))]
    rows = [row for case in chosen for row in rows_of(case)]
    return markdown("F: mean of the draws (lowest)", ["data", "draws", "links", "K-means told k",
                    *METHODS], rows)  # fmt: skip


def rows_of(case):
    """Return a row without links and one for each kind of links."""
    found = {}
    for seed in range(case.n_draws):
        X, y = case.data(seed)
        told = KMeans(len(set(y)), n_init=10, random_state=0).fit(X).labels_
        for words, links in {NONE: None, **(case.links(y, seed) if case.links else {})}.items():
            models = (method(random_state=0).fit(X, links=links) for method in METHODS.values())
            scores = [pair_f(y, told), *(pair_f(y, model.labels_[: len(y)]) for model in models)]
            found.setdefault(words, []).append(scores)
    return [
        [case.name, case.n_draws, words, *map(cell, np.transpose(some))]
        for words, some in found.items()
    ]


def cell(scores):
    """Return a mean and the lowest."""
    return f"{np.mean(scores):.3f} ({min(scores):.3f})"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(table(sys.argv[1:]))
