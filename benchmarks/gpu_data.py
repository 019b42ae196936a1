"""Data for the benchmarks of the GPU, and sweeps over them."""

import time

import numpy as np

from maylink import Links

FAMILIES = ("gaussian", "diagonal-gaussian", "poisson", "multinomial", "bernoulli", "gamma")


def random_problem(seed):
    """Return a name, data, links and a penalty; families, shares of links and sizes in turn."""
    rng = np.random.default_rng(seed)
    name = FAMILIES[seed % len(FAMILIES)]
    n, d, k = int(rng.choice([300, 3000, 20_000])), int(rng.choice([3, 16, 33, 64])), 6
    X = rng.normal(size=(n, d)) + 3.0 * rng.normal(size=(k, d))[rng.integers(k, size=n)]
    if name in ("poisson", "multinomial"):
        X = rng.poisson(np.exp(np.clip(X / 3.0, -2.0, 2.0))) + (name == "multinomial")
    elif name == "bernoulli":
        X = X > 0.0
    elif name == "gamma":
        X = np.exp(X / 4.0)
    m = int(n * rng.choice([0.0, 0.02, 0.2]))
    pairs = rng.integers(n, size=(m, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    kind = rng.random(len(pairs)) < 0.5
    links = Links.from_pairs(may=pairs[kind], may_not=pairs[~kind], n=n)
    return name, X.astype(np.float32), links, int(rng.integers(2, 12))


def made(n, d, k, seed=0):
    """Return points of k clusters that overlap somewhat, on the GPU."""
    import torch

    rng = torch.Generator(device="cuda").manual_seed(seed)
    centers = torch.randn(k, d, device="cuda", generator=rng) * 0.35 * (128 / d) ** 0.5
    X = torch.empty(n, d, device="cuda")
    for low in range(0, n, 1 << 20):
        size = min(1 << 20, n - low)
        which = torch.randint(k, (size,), device="cuda", generator=rng)
        noise = torch.randn(size, d, device="cuda", generator=rng)
        X[low : low + size] = centers[which] + noise
    return X


def some_links(n, size, seed=0):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(n, size=(size, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    kind = rng.random(len(pairs)) < 0.5
    return Links.from_pairs(may=pairs[kind], may_not=pairs[~kind], n=n)


def timed_sweeps(engine, k, count):
    """Return the ms and the changed labels of each sweep from k random points on."""
    import torch

    rng, n = np.random.default_rng(1), engine.n
    rows = np.sort(rng.choice(n, k, replace=False))
    centers = engine.points.rows(torch.as_tensor(rows, device="cuda"))[0].astype(np.float64)
    labels = engine.stored(np.full(n, -1))
    totals, order = engine.totals(labels, k), np.arange(n, dtype=np.int32)
    engine.forget()
    engine.visits(order)
    penalty = 6.0 * engine.n_columns  # far enough for no cluster to open
    assert engine.reach > 0.0
    times, changed = [], []
    for _ in range(count):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        labels, totals, n_changed = engine.sweep(
            labels, totals, centers, order, (1.0, 1.0), penalty
        )
        centers = engine.means(totals)
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e3)
        changed.append(n_changed)
    return times, changed
