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


def build(drawn):
    half = len(drawn) // 2
    links = Links.from_pairs(may=drawn[:half], may_not=drawn[half:], n=N)
    _ = links.csr
    return links


def table():
    rows = []
    for m in (1_000_000, 10_000_000):
        drawn = pairs(m)
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            links = build(drawn)
            seconds.append(time.perf_counter() - start)
        own = sum(column.nbytes for column in (*links.csr, links.i, links.j, links.kind))
        del links
        tracemalloc.start()
        build(drawn)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        rows.append(f"| {m:,} | {min(seconds):.2f} | {own / 1e6:.0f} | {peak / own:.2f} |\n")
    return (
        f"## Links.from_pairs with its signed CSR, {N:,} points\n\n"
        "| pairs | seconds | MB | peak memory in units of that |\n| --- | --- | --- | --- |\n"
        + "".join(rows)
    )
