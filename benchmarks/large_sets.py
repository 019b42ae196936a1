"""Whether the short way costs quality: RDPMeans with and without it, on data above the sample size.

python benchmarks/large_sets.py               all sets
python benchmarks/large_sets.py long tails    some of them

The short way takes the plainest family where it is clearly enough (``Tuning.plain_size``). Most of
these sets are none of its business: clusters are long, curved, heavy in their tails, or hundreds.
A tenth of the points have a link each; one link in ten is wrong.
"""

import sys
import time
import warnings

import numpy as np

import maylink
from maylink.datasets import make_embeddings
from maylink.metrics import adjusted_rand
from timing import markdown

N = 12_000


def apart(rng, k, d, far):
    """k centres in a box that they fill loosely."""
    return far * k ** (1.0 / d) * rng.uniform(size=(k, d))


def overlapping(rng, n=N, k=20, d=16):
    y = rng.integers(0, k, n)
    return rng.normal(size=(k, d))[y] + rng.normal(size=(n, d)), y


def round_clusters(rng, n=N, k=12, d=5):
    y = rng.integers(0, k, n)
    return apart(rng, k, d, 8.0)[y] + rng.normal(size=(n, d)), y


def unequal(rng, n=N, k=8, d=6):
    y = rng.choice(k, n, p=rng.dirichlet(np.full(k, 2.0)))
    widths = rng.uniform(0.3, 2.0, k)
    return apart(rng, k, d, 9.0)[y] + widths[y, None] * rng.normal(size=(n, d)), y


def long(rng, n=N, k=10, d=5):
    y = rng.integers(0, k, n)
    turned = rng.normal(size=(n, d)) * np.array([6.0, 2.0, 1.0, 1.0, 1.0])
    turns = np.stack([np.linalg.qr(rng.normal(size=(d, d)))[0] for _ in range(k)])
    return apart(rng, k, d, 9.0)[y] + np.einsum("nij,nj->ni", turns[y], turned), y


def stripes(rng, n=N, k=4):
    y = rng.integers(0, k, n)
    return np.column_stack([rng.uniform(0, 40, n), 5.0 * y + rng.normal(size=n)]), y


def tails(rng, n=N, k=6, d=4):
    y = rng.integers(0, k, n)
    return apart(rng, k, d, 14.0)[y] + rng.standard_t(2.5, size=(n, d)), y


def rings(rng, n=N):
    y, turn = rng.integers(0, 3, n), rng.uniform(0, 2 * np.pi, n)
    far = 4.0 * (1 + y) + 0.5 * rng.normal(size=n)
    return np.column_stack([far * np.cos(turn), far * np.sin(turn)]), y


def hundreds(rng, n=N, k=300, d=6):
    y = rng.integers(0, k, n)
    return apart(rng, k, d, 6.0)[y] + rng.normal(size=(n, d)), y


def embeddings(rng, n=8_000):
    drawn = make_embeddings(n, 64, 20, rng=rng)
    return drawn.X, drawn.y


SETS = {
    "overlapping": overlapping, "round": round_clusters, "unequal": unequal, "long": long,
    "stripes": stripes, "tails": tails, "rings": rings, "hundreds": hundreds,
    "embeddings": embeddings,
}  # fmt: skip


def links_of(y, rng):
    """Links of a tenth of the points, of which one in ten is wrong."""
    pairs = rng.choice(y.size, y.size // 20 * 2, replace=False).reshape(-1, 2)
    right = np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1)
    wrong = rng.random(len(pairs)) < 0.1
    return maylink.Links(y.size, *pairs.T, np.where(wrong, -right, right))


def fitted(X, links, **settings):
    """Return labels, and seconds."""
    tuning = maylink.Tuning(**settings)
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = maylink.RDPMeans(tuning=tuning, random_state=0).fit(X, links=links)
    return model.labels_, time.perf_counter() - begin


def table(names=tuple(SETS), seeds=2):
    maylink.warmup()
    lines = []
    for name in names:
        scores, counts, times = np.zeros((3, seeds, 2))
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            X, y = SETS[name](rng)
            links = links_of(y, rng)
            for way, settings in enumerate(({}, {"plain_size": 0})):
                labels, times[seed, way] = fitted(X, links, **settings)
                scores[seed, way] = adjusted_rand(y, labels)
                counts[seed, way] = labels.max() + 1
        true = len(np.unique(y))
        lines.append((
            name, f"{X.shape[0]:,}", X.shape[1], true,
            *(f"{value:.3f}" for value in scores.mean(axis=0)),
            *(f"{value:.1f}" for value in counts.mean(axis=0)),
            *(f"{value:.2f}" for value in times.min(axis=0)),
        ))  # fmt: skip
        print(f"large_sets: {lines[-1]}", file=sys.stderr, flush=True)
    columns = (
        "data", "n", "d", "k", "ARI", "ARI, all compete", "k found", "k found, all compete",
        "seconds", "seconds, all compete",
    )  # fmt: skip
    return markdown(f"Above the sample size: RDPMeans(), {seeds} draws", columns, lines)


if __name__ == "__main__":
    print(table(sys.argv[1:] or tuple(SETS)))
