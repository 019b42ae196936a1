"""TVClust and the neighbour graph on a GPU, beside the processor; parts of benchmarks/gpu.py."""

import os
import time
import warnings

import numpy as np

from maylink import Links, TVClust
from maylink.engines.settings import CudaSettings
from maylink.problem import Problem
from maylink.solvers import loop
from maylink.solvers.cuda_variational import CudaVariationalSolver
from maylink.solvers.variational import VariationalSettings, VariationalSolver
from maylink.views.nearest import nearest

FAMILIES = ("gaussian", "diagonal-gaussian", "plda", "multinomial")
SIZES = ((2000, 8), (20_000, 33))
LARGE = (1_000_000, 128, 50, 100_000)  # points, features, clusters, links
GRAPHS = ((200_000, 64), (1_000_000, 64), (1_000_000, 128))
NEIGHBOURS = 20


def n_cores():
    return len(os.sched_getaffinity(0))


def took(work):
    """Return seconds, and what the work returns."""
    import torch

    torch.cuda.synchronize()
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = work()
    torch.cuda.synchronize()
    return time.perf_counter() - begin, result


# ---------------------------------------------------------------------- agreement


def soft_problem(name, n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(6, d))[rng.integers(6, size=n)]
    if name == "multinomial":
        X = rng.poisson(np.exp(np.clip(X / 3.0, -2.0, 2.0))) + 1
    pairs = rng.integers(n, size=(n // 2, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    kind = rng.random(len(pairs)) < 0.5
    links = Links.from_pairs(may=pairs[kind], may_not=pairs[~kind], n=n)
    return Problem.build(X.astype(np.float32), links, name)


def soft_agreement():
    rows, worst = [], 0.0
    for seed, (name, (n, d)) in enumerate((name, size) for name in FAMILIES for size in SIZES):
        problem = soft_problem(name, n, d, seed)
        settings = VariationalSettings(data_weight=0.3, max_sweeps=40)
        labels = np.random.default_rng(seed).integers(8, size=n)
        cpu = VariationalSolver(problem.prepared(), problem.prior, settings)
        here = loop.run(cpu, cpu.init(labels))
        fits = []
        for _ in range(2):
            gpu = CudaVariationalSolver(problem, problem.prior, settings, CudaSettings())
            fits.append(loop.run(gpu, gpu.init(labels)))
        first, second = (gpu.brought_here(fit.state).responsibilities for fit in fits)
        apart = float(np.abs(first - here.state.responsibilities).max())
        off = abs(fits[0].objective - here.objective) / abs(here.objective)
        bounds = [row.bound for row in fits[0].trace.sweeps]
        fall = max(0.0, float(-np.diff(bounds).min()) / abs(bounds[-1]))
        alike = np.array_equal(first, second) and fits[0].objective == fits[1].objective
        worst = max(worst, apart)
        rows.append(
            f"| {name} | {n} × {d} | {problem.links.n_links} | {len(bounds) - 1} | "
            f"{len(here.trace) - 1} | {apart:.1e} | {off:.1e} | {fall:.1e} | "
            f"{'yes' if alike else 'no'} |"
        )
    return [
        "## TVClust: responsibilities of the processor and of the GPU (double precision)",
        "",
        f"{len(rows)} fits from random partitions; responsibilities differ by {worst:.1e} at most.",
        "",
        "| family | size | links | sweeps, GPU | sweeps, CPU | responsibilities differ by | bound "
        "off | largest fall of the bound | two runs equal |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        *rows,
    ]


# ---------------------------------------------------------------------- a whole fit


def large_problem():
    """Return data, truth and links, nine of ten of which are right."""
    n, d, k, m = LARGE
    rng = np.random.default_rng(0)
    truth = rng.integers(k, size=n)
    centers = (0.35 * rng.normal(size=(k, d))).astype(np.float32)
    X = centers[truth] + rng.standard_normal(size=(n, d), dtype=np.float32)
    order, sizes = np.argsort(truth, kind="stable"), np.bincount(truth)
    pairs = rng.integers(n, size=(m, 2))
    cluster = truth[pairs[: m // 2, 0]]  # half of the pairs are of one cluster
    begin = np.cumsum(sizes) - sizes
    pairs[: m // 2, 1] = order[begin[cluster] + rng.integers(sizes[cluster])]
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    kind = np.where(rng.random(len(pairs)) < 0.9, same, ~same)
    return X, truth, Links.from_pairs(may=pairs[kind], may_not=pairs[~kind], n=n)


def soft_fits():
    from sklearn.metrics import adjusted_rand_score

    X, truth, links = large_problem()
    cases = (
        ("GPU", "everything left open", {"device": "cuda"}),
        ("GPU", "no neighbour graph", {"device": "cuda", "neighbours": False}),
        ("GPU, data streamed", "no neighbour graph",
         {"device": CudaSettings(stream=True), "neighbours": False}),
        ("CPU", "no neighbour graph", {"device": "cpu", "neighbours": False}),
    )  # fmt: skip
    rows, found = [], {}
    for where, what, options in cases:
        seconds, model = took(lambda o=options: TVClust(random_state=0, **o).fit(X, links=links))
        rand = adjusted_rand_score(truth, model.labels_)
        if what == "no neighbour graph":
            found[where] = model
        rows.append(
            f"| {where} | {what} | {seconds:.1f} | {model.family_.name} | {model.n_neighbours_} | "
            f"{model.n_clusters_} | {model.n_iter_} | {rand:.3f} | {model.bound_:.12g} |"
        )
        print(rows[-1], flush=True)
    gpu, cpu = found["GPU"], found["CPU"]
    differ = int(np.count_nonzero(gpu.labels_ != cpu.labels_))
    apart = float(np.abs(gpu.responsibilities_ - cpu.responsibilities_).max())
    n, d, k, _ = LARGE
    return [
        f"## A whole fit of TVClust: {n:,} × {d}, {k} clusters, {links.n_links:,} links",
        "",
        "`TVClust(random_state=0).fit` in this order, checks and choices included; the first fit "
        f"waits for the compilers, too. The processor has {n_cores()} cores. Without the graph "
        f"{differ} labels of GPU and CPU differ, and responsibilities by {apart:.1e} at most.",
        "",
        "| where | what | seconds | family | neighbours | clusters | sweeps | adjusted Rand index "
        "| bound |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        *rows,
        "",
        *soft_sweeps(X, links),
    ]


def soft_sweeps(X, links):
    """Return a table of what one sweep takes."""
    problem = Problem.build(X, links, "gaussian")
    settings, rows = VariationalSettings(), []
    labels = np.random.default_rng(0).integers(LARGE[2], size=len(X))
    prepared = problem.prepared()
    solvers = (
        ("GPU", CudaVariationalSolver(problem, problem.prior, settings, CudaSettings())),
        ("GPU, data streamed",
         CudaVariationalSolver(problem, problem.prior, settings, CudaSettings(stream=True))),
        ("CPU", VariationalSolver(prepared, problem.prior, settings)),
    )  # fmt: skip
    for name, solver in solvers:
        state = solver.step(solver.init(labels))
        count = 2 if name == "CPU" else 10
        seconds = [0.0] * count
        for number in range(count):
            seconds[number], state = took(lambda s=solver, before=state: s.step(before))
        rows.append(f"| {name} | {np.median(seconds) * 1e3:.1f} |")
    return [
        f"One sweep of the family gaussian with {LARGE[2] + 5} clusters, the same data and links:",
        "",
        "| where | ms |",
        "| --- | --- |",
        *rows,
    ]


# ---------------------------------------------------------------------- neighbours


def neighbours():
    rows = []
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(100, 128)).astype(np.float32)
    X = 0.5 * centers[rng.integers(100, size=1_000_000)]
    X += rng.standard_normal(size=X.shape, dtype=np.float32)
    for n, d in GRAPHS:
        data = np.ascontiguousarray(X[:n, :d])
        nearest(data[:20_000], NEIGHBOURS, device="cuda")  # compiles
        seconds, found = took(lambda rows=data: nearest(rows, NEIGHBOURS, device="cuda"))
        again = nearest(data, NEIGHBOURS, device="cuda")
        wrong = 0
        for i in rng.choice(n, 100, replace=False):
            distance = np.square(data.astype(np.float64) - data[i]).sum(axis=1)
            distance[i] = np.inf
            near = np.argpartition(distance, NEIGHBOURS)[:NEIGHBOURS]
            wrong += int(np.count_nonzero(np.sort(found[i]) != np.sort(near)))
        here = "not measured"
        if n <= 200_000:
            here = f"{took(lambda rows=data: nearest(rows, NEIGHBOURS))[0]:.1f}"
        rate = 2.0 * n * n * d / seconds / 1e12
        rows.append(
            f"| {n:,} × {d} | {seconds:.2f} | {here} | {rate:.0f} | {wrong} | "
            f"{'yes' if np.array_equal(found, again) else 'no'} |"
        )
        print(rows[-1], flush=True)
    return [
        f"## The neighbour graph: {NEIGHBOURS} nearest points of every point, exact",
        "",
        f"All pairs, copies included; 100 points are checked against all distances in double "
        f"precision, {100 * NEIGHBOURS} neighbours in all. The processor has {n_cores()} cores and "
        "compares all pairs, too. TFLOP/s count all products once; the GPU makes them twice.",
        "",
        "| points | GPU, s | CPU, s | TFLOP/s | wrong neighbours | two runs equal |",
        "| --- | --- | --- | --- | --- | --- |",
        *rows,
    ]
