"""How long a question takes: the start with the first ten, ten more, an answer.

``python benchmarks/questions.py`` prints seconds for 10,000 and 100,000 rows of 64 numbers in 30
clusters, and for records of people, 20 of 9 (:func:`maylink.datasets.make_records`), best of five,
on one thread beside those that look for neighbours at the start. The peer is the fit of KMeans with
30 clusters (n_init=1) in the same run.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.cluster import KMeans

import maylink as ml

SIZES, D, K = (10_000, 100_000), 64, 30
RECORDS = (2_000, 10_000)
REPEATS = 5


def data(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw clusters that hardly overlap."""
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=n)
    centers = 1.2 * rng.normal(size=(K, D))
    return (centers[y] + rng.normal(size=(n, D))).astype(np.float32), y


def records(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw records of people, most of whom have one, two or three."""
    drawn = ml.datasets.make_records(n, 9 * n // 20, rng=0)
    return drawn.X, drawn.y


def row(name: str, X: np.ndarray, y: np.ndarray) -> str:
    """Time everything for some data."""
    n = len(y)
    peers, ask, hear = [], [], []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        KMeans(K, n_init=1, random_state=0).fit(X)
        peers.append(time.perf_counter() - begin)
    begin = time.perf_counter()
    interview = ml.Interview(X, random_state=0)
    interview.questions(10)
    start = time.perf_counter() - begin
    for _ in range(REPEATS):
        begin = time.perf_counter()
        one = interview.questions(10)[0]
        ask.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        interview.add([ml.Answer(one.i, one.j, 1 if y[one.i] == y[one.j] else -1)])
        hear.append(time.perf_counter() - begin)
    both = min(a + b for a, b in zip(ask, hear, strict=True))
    times = f"{start:8.2f} {min(ask):14.3f} {min(hear):10.3f} {both:6.3f} {min(peers):7.2f}"
    return f"{name:8} {n:8d} {times}"


def main() -> None:
    """Print the table."""
    ml.Interview(data(500)[0], random_state=0).questions(10)  # compiles
    print("data         rows    start  ten questions  an answer   both  KMeans")
    for n in SIZES:
        print(row("clusters", *data(n)))
    for n in RECORDS:
        print(row("records", *records(n)))


if __name__ == "__main__":
    main()
