"""Building links from many pairs."""

import time
import tracemalloc

import numpy as np

from maylink import Links

N = 1_000_000


def pairs(m):
    rng = np.random.default_rng(0)
    i = rng.integers(0, N, m)
    return np.column_stack([i, (i + rng.integers(1, N, m)) % N])


def build(linked_pairs):
    half = len(linked_pairs) // 2
    links = Links.from_pairs(may=linked_pairs[:half], may_not=linked_pairs[half:], n=N)
    _ = links.csr
    return links


def table():
    rows = []
    for m in (1_000_000, 10_000_000):
        linked_pairs = pairs(m)
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            links = build(linked_pairs)
            seconds.append(time.perf_counter() - start)
        size = sum(column.nbytes for column in (*links.csr, links.i, links.j, links.kind))
        del links
        tracemalloc.start()
        build(linked_pairs)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        rows.append(f"| {m:,} | {min(seconds):.2f} | {size / 1e6:.0f} | {peak / size:.2f} |\n")
    return (
        f"## Links.from_pairs with its signed CSR, {N:,} points\n\n"
        "| pairs | seconds | MB | peak memory in units of that |\n| --- | --- | --- | --- |\n"
        + "".join(rows)
    )
