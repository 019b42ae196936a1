"""Data larger than the GPU, GPU workers on Dask, and predictions; parts of benchmarks/gpu.py."""

import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from gpu_data import made, random_problem, some_links, timed_sweeps
from gpu_soft import large_problem, n_cores, took
from maylink import RDPMeans, Schedule, TVClust
from maylink.engines.cuda import CudaEngine
from maylink.engines.settings import CudaSettings
from maylink.families import Gaussian

STREAMED = [(16_777_216, 64, 100), (8_388_608, 128, 256)]  # points, features, centres
SWEEPS = 24
AGREEMENT = 12  # problems, of each family two
LINKED = 0.01  # share of the points
WORKED = (4_194_304, 64, 50)
LEFT = 4_500_000_000  # bytes of the GPU that are left free, of data that take 4.3 GB


# ---------------------------------------------------------------------- streamed sweeps


def streamed():
    """Return a table of sweeps over data that are held and over data that are streamed."""
    import torch

    copying, rows = copy_speed(), []
    for n, d, k in STREAMED:
        X, links = made(n, d, k).cpu().numpy(), some_links(n, int(LINKED * n / 2))
        with tempfile.TemporaryDirectory() as folder:
            np.save(Path(folder) / "X.npy", X)
            mapped = np.load(Path(folder) / "X.npy", mmap_mode="r")
            cases = [("held", X, False), ("array", X, True), ("file, locked", mapped, True)]
            cases += [("file, staged", mapped, True)]
            for precision in ("exact", "fp16"):
                for name, data, stream in cases if precision == "exact" else cases[:2]:
                    locked = 0.0 if name == "file, staged" else 0.5
                    device = CudaSettings(precision, stream=stream, lock_files=locked)
                    family = Gaussian(offset=np.zeros(d))
                    begin = time.perf_counter()
                    engine = CudaEngine(data, family, None, links, device)
                    torch.cuda.synchronize()
                    made_in = time.perf_counter() - begin
                    timed_sweeps(engine, k, 6)  # compiles
                    times, changed = timed_sweeps(engine, k, SWEEPS)
                    first, settled = float(np.median(times[1:4])), float(np.median(times[-5:]))
                    floor = X.nbytes / copying * 1e3
                    cells = [f"{n:,} × {d}, {k}", precision, name, f"{made_in:.2f}"]
                    cells += [f"{value:.1f}" for value in (times[0], first, settled)]
                    cells += [f"{np.mean(changed[-5:]) / n:.2%}"]
                    cells += [f"{floor:.1f}", f"{floor / first:.0%}" if stream else ""]
                    rows.append(f"| {' | '.join(cells)} |")
                    print(rows[-1], flush=True)
                    del engine
                    torch.cuda.empty_cache()
    return [
        "## Data that stay on this machine: milliseconds a sweep of RDP-means",
        "",
        f"{LINKED:.0%} of the points have links. Arrays are locked in memory, and so are files of "
        "up to half of it; larger ones are staged by all processors. Once few points are open, "
        "these alone are picked and copied. The file is one that was just written. The floor is "
        f"one copy of locked data at {copying / 1e9:.1f} GB/s, measured here; its share is that of "
        "sweeps 2 to 4.",
        "",
        "| points, centres | precision | data | engine made, s | sweep 1 | sweeps 2 to 4 | settled "
        f"(last 5 of {SWEEPS}) | labels that still change | floor | share |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        *rows,
        "",
        *streamed_agreement(),
    ]


def copy_speed():
    """Return bytes a second that come to the GPU from locked memory."""
    import torch

    here = torch.empty(2**29, pin_memory=True)
    there, best = torch.empty(2**29, device="cuda"), np.inf
    for _ in range(4):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        there.copy_(here, non_blocking=True)
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - begin)
    return here.nbytes / best


def streamed_agreement():
    """Return how far fits of streamed data are those of the processor."""
    n_different, n_alike, worst = 0, 0, 0.0
    for seed in range(AGREEMENT):
        name, X, links, hint = random_problem(seed)
        options = {"n_clusters_hint": hint, "n_init": 1, "random_state": seed}
        device = CudaSettings(stream=True, chunk=-(-X.size // 7))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            here = RDPMeans(name, **options, device="cpu").fit(X, links=links)
            there, again = (
                RDPMeans(name, **options, device=device).fit(X, links=links) for _ in range(2)
            )
        n_different += int(np.count_nonzero(here.labels_ != there.labels_))
        worst = max(worst, abs(there.objective_ - here.objective_) / abs(here.objective_))
        alike = np.array_equal(there.cluster_centers_, again.cluster_centers_)
        n_alike += alike and np.array_equal(there.labels_, again.labels_)
    return [
        f"{AGREEMENT} whole fits, the first problems of the first table, in 7 windows: "
        f"{n_different} labels differ from the processor's, the objective is off by "
        f"{worst:.1e} at most, {n_alike} are equal to the bit in two runs.",
    ]


# ---------------------------------------------------------------------- a fit that does not fit


def crowded():
    """Return a whole fit on a GPU that has too little memory left for the data."""
    import torch

    n, d, k = STREAMED[0]
    X, links, rows, labels = made(n, d, k).cpu().numpy(), some_links(n, 1_000_000), [], []
    options = {
        "family": "gaussian", "n_clusters_hint": k, "link_weight": None, "n_init": 1,
        "schedule": Schedule(max_sweeps=12), "random_state": 0, "device": "cuda",
    }  # fmt: skip
    torch.cuda.empty_cache()
    filler = None
    for name in ("held", "streamed, by itself"):
        if name != "held":
            torch.cuda.empty_cache()
            filler = torch.empty(
                torch.cuda.mem_get_info()[0] - LEFT, dtype=torch.uint8, device="cuda"
            )
        free = torch.cuda.mem_get_info()[0] / 1e9
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        seconds, model = took(lambda: RDPMeans(**options).fit(X, links=links))
        most = (torch.cuda.max_memory_allocated() - before) / 1e9
        labels.append(model.labels_)
        rows.append(
            f"| {name} | {free:.1f} | {most:.1f} | {seconds:.1f} | {model.n_clusters_} | "
            f"{model.n_iter_} | {model.objective_:.10g} |"
        )
        print(rows[-1], flush=True)
    del filler
    differ = int(np.count_nonzero(labels[0] != labels[1]))
    return [
        f"## A whole fit on a GPU without room for the data: {n:,} × {d}, {links.n_links:,} links",
        "",
        f"The data take {X.nbytes / 1e9:.1f} GB. `RDPMeans(device='cuda')`, λ from a hint of {k}, "
        f"12 sweeps; before the second fit most of the GPU's memory is filled. {differ} labels "
        "differ. The first fit waits for the compilers, too.",
        "",
        "| data | GB free | GB taken at most | seconds | clusters | sweeps | objective |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *rows,
    ]


# ---------------------------------------------------------------------- Dask


def workers():
    """Return a table of fits of data on Dask, whose workers share one GPU."""
    import dask.array as da
    from distributed import Client, LocalCluster

    n, d, k = WORKED
    X, links = made(n, d, k).cpu().numpy(), some_links(n, int(LINKED * n / 2))
    options = {
        "family": "gaussian", "n_clusters_hint": k, "link_weight": None, "n_init": 1,
        "schedule": Schedule(max_sweeps=12), "random_state": 0,
    }  # fmt: skip
    seconds, alone = took(lambda: RDPMeans(device="cuda", **options).fit(X, links=links))
    rows = [f"| no Dask | GPU | {seconds:.1f} | {alone.n_clusters_} | {alone.n_iter_} | 0 |"]
    for n_workers, device in ((1, "cuda"), (2, "cuda"), (2, "cpu")):
        with (
            LocalCluster(
                n_workers=n_workers, threads_per_worker=1 if device == "cuda" else n_cores() // 2,
                processes=True, dashboard_address=None,
            ) as cluster,
            Client(cluster),
        ):  # fmt: skip
            chunks = da.from_array(X, chunks=(n // (2 if device == "cuda" else n_cores()), d))
            chunks = chunks.persist()
            for word in ("first", "second"):
                seconds, model = took(
                    lambda c=chunks, where=device: RDPMeans(device=where, **options).fit(
                        c, links=links
                    )
                )
                differ = int(np.count_nonzero(np.asarray(model.labels_) != alone.labels_))
                rows.append(
                    f"| {n_workers}, {word} fit | {'GPU' if device == 'cuda' else 'CPU'} | "
                    f"{seconds:.1f} | {model.n_clusters_} | {model.n_iter_} | {differ} |"
                )
                print(rows[-1], flush=True)
    return [
        f"## Data on Dask: {n:,} × {d}, {links.n_links:,} links, λ from a hint of {k}, 12 sweeps",
        "",
        "Workers are processes of one machine that share one GPU, a chunk for each half of the "
        f"data, or its {n_cores()} cores, a chunk for each core. The first fit of a worker "
        "compiles. Labels are compared with those of the fit without Dask.",
        "",
        "| workers | where | seconds | clusters | sweeps | labels that differ |",
        "| --- | --- | --- | --- | --- | --- |",
        *rows,
    ]


# ---------------------------------------------------------------------- predictions


def predictions():
    """Return a table of predictions of TVClust for many new points."""
    import torch

    X, _, _ = large_problem()
    tensor, rows = torch.as_tensor(X, device="cuda"), []
    for covariance in ("spherical", "diagonal", "plda"):
        options = {"covariance": covariance, "neighbours": False, "random_state": 0}
        _, model = took(lambda o=options: TVClust("gaussian", device="cuda", **o).fit(X[:20_000]))
        model.predict_proba(X[:100_000])  # compiles
        of_array, found = took(lambda m=model: m.predict_proba(X))
        of_tensor, there = took(lambda m=model: m.predict_proba(tensor))
        model.set_params(device="cpu")
        here, expected = took(lambda m=model: m.predict_proba(X))
        apart = float(np.abs(found - expected).max())
        differ = int(np.count_nonzero(found.argmax(axis=1) != expected.argmax(axis=1)))
        same = "yes" if np.array_equal(there.cpu().numpy(), found) else "no"
        rows.append(
            f"| {covariance} | {model.n_clusters_} | {of_tensor * 1e3:.0f} | "
            f"{of_array * 1e3:.0f} | {here * 1e3:.0f} | {apart:.1e} | {differ} | {same} |"
        )
        print(rows[-1], flush=True)
    n, d = X.shape
    return [
        f"## Predictions of TVClust: probabilities of {n:,} × {d} new points",
        "",
        "`predict_proba` in milliseconds, checks included; of arrays the copies to the GPU and "
        f"back, too. The processor has {n_cores()} cores.",
        "",
        "| covariance | clusters | GPU, tensor | GPU, array | CPU | probabilities differ by | "
        "labels that differ | tensor and array alike |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        *rows,
    ]
