"""The GPU beside the processor and flash-kmeans: labels, ms a sweep, whole fits, neighbours.

Prints tables and writes them to benchmarks/RESULTS_GPU.md with the name of the device; parts that
are not asked for stay as they are there.

    python benchmarks/gpu.py [agreement] [sweeps] [fit] [soft-agreement] [soft-fits] [neighbours]
                             [streamed] [crowded] [workers] [predictions]

flash-kmeans is measured where it is installed (pip install flash-kmeans==0.2.0).
"""

import platform
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from gpu_data import made, random_problem, some_links, timed_sweeps
from gpu_soft import neighbours, soft_agreement, soft_fits
from gpu_streamed import crowded, predictions, streamed, workers
from maylink import RDPMeans, Schedule
from maylink.engines.cuda import CudaEngine
from maylink.engines.settings import CudaSettings
from maylink.families import Gaussian

SHAPES = [  # points, features, centres
    (1_000_000, 32, 64),
    (1_000_000, 128, 1024),
    (8_388_608, 128, 256),
    (4_194_304, 384, 512),
    (16_777_216, 64, 100),
]
PRECISIONS = ("fp16", "tf32", "exact")
LINKED = 0.01  # share of the points
SWEEPS = 24
OUT = Path(__file__).parent / "RESULTS_GPU.md"


# ---------------------------------------------------------------------- agreement


def agreement():
    rows, n_different, worst, n_alike = [], 0, 0.0, 0
    for seed in range(30):
        name, X, links, hint = random_problem(seed)
        options = {"n_clusters_hint": hint, "n_init": 1, "random_state": seed}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            here = RDPMeans(name, **options, device="cpu").fit(X, links=links)
            there, again = (
                RDPMeans(name, **options, device="cuda").fit(X, links=links) for _ in range(2)
            )
        different = int(np.count_nonzero(here.labels_ != there.labels_))
        off = abs(there.objective_ - here.objective_) / abs(here.objective_)
        alike = np.array_equal(there.labels_, again.labels_)
        alike &= there.objective_ == again.objective_
        alike &= np.array_equal(there.cluster_centers_, again.cluster_centers_)
        n_different, worst, n_alike = n_different + different, max(worst, off), n_alike + alike
        rows.append(
            f"| {seed} | {name} | {X.shape[0]} × {X.shape[1]} | {links.n_links} | "
            f"{there.n_clusters_} | {different} | {off:.1e} | {'yes' if alike else 'no'} |"
        )
    head = "| problem | family | size | links | clusters | labels that differ | objective off | "
    return [
        "## Labels of the CPU engine and of the GPU engine (float32, exact)",
        "",
        f"30 whole fits: {n_different} labels differ, the objective is off by {worst:.1e} at most, "
        f"{n_alike} of 30 are equal to the bit in two runs.",
        "",
        head + "two runs equal |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        *rows,
    ]


# ---------------------------------------------------------------------- sweeps


def look_alone(engine, k):
    """Return ms that the GPU needs for the scores and choices of all points without links."""
    import torch

    from maylink.engines.cuda_block import LookTask
    from maylink.engines.rules import Rule

    points, rng = engine.points, np.random.default_rng(2)
    rows = torch.as_tensor(np.sort(rng.choice(engine.n, k, replace=False)), device="cuda")
    theta, c = engine.tangent(points.rows(rows)[0].astype(np.float64))
    centers = points.centers(Rule(theta, c, np.full(k, -1, np.int32), k, 1e9))
    before = torch.zeros(engine.n, dtype=torch.int32, device="cuda")
    task = LookTask(centers, before, torch.empty_like(before), points.nobody)
    took = []
    for _ in range(7):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        points._score(task, listed=False)
        end.record()
        end.synchronize()
        took.append(begin.elapsed_time(end))
    return float(np.median(took))


def flash(X, k, is_short):
    """Return ms an iteration of flash-kmeans, or why there is no figure."""
    import torch

    try:
        from flash_kmeans import batch_kmeans_Euclid
    except ImportError:
        return "not installed"
    x = (X.half() if is_short else X)[None]
    start = x[:, :k].clone()
    took = []
    try:
        for count in (2, 5, 25):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            batch_kmeans_Euclid(x, k, max_iters=count, tol=-1.0, init_centroids=start)
            torch.cuda.synchronize()
            took.append(time.perf_counter() - begin)
    except Exception as error:
        return f"fails ({type(error).__name__})"
    return f"{(took[2] - took[1]) / 20 * 1e3:.2f}"


def flash_fit(X, k, sweeps=12):
    """Return a row of flash-kmeans, which knows no links and is told k; its best of three."""
    import torch

    try:
        from flash_kmeans import batch_kmeans_Euclid
    except ImportError:
        return "| flash-kmeans, told k | not installed | | | |"
    took, start = [], X[None, :k].clone()
    for _ in range(3):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        _, means, *_ = batch_kmeans_Euclid(
            X[None], k, max_iters=sweeps, tol=-1.0, init_centroids=start
        )
        torch.cuda.synchronize()
        took.append(time.perf_counter() - begin)
    parts = X.split(1_000_000)
    objective = sum(
        float(torch.cdist(part, means[0].float()).min(1)[0].square().sum()) for part in parts
    )
    return f"| flash-kmeans, told k | {min(took):.2f} | {k} | {sweeps} | {objective:.10g} |"


def ceilings():
    """Return bytes a second that are read, and multiplications and additions a second, in fp16."""
    import torch

    def best(work, count=6):
        took = []
        for _ in range(count):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            work()
            torch.cuda.synchronize()
            took.append(time.perf_counter() - begin)
        return min(took)

    many = torch.empty(2**31, dtype=torch.float16, device="cuda").normal_()
    reading = many.nbytes / best(many.sum)
    A = torch.randn(8192, 8192, device="cuda").half()
    return reading, 2 * 8192**3 / best(lambda: A @ A)


def sweeps():
    import torch

    reading, multiplying = ceilings()
    rows = []
    for n, d, k in SHAPES:
        X = made(n, d, k)
        links = some_links(n, int(LINKED * n / 2))
        peers = {True: flash(X, k, True), False: flash(X, k, False)}
        torch.cuda.empty_cache()
        for precision in PRECISIONS:
            family = Gaussian(offset=np.zeros(d))
            engine = CudaEngine(X, family, None, links, CudaSettings(precision=precision))
            timed_sweeps(engine, k, 6)  # compiles
            times, changed = timed_sweeps(engine, k, SWEEPS)
            short = precision == "fp16"
            memory = n * d * (2 if short else 4) / reading * 1e3
            tensor = 2.0 * n * d * k / multiplying * 1e3
            first, settled = float(np.median(times[1:4])), float(np.median(times[-5:]))
            look = look_alone(engine, k)
            cells = [f"{n:,} × {d}, {k}", precision]
            cells += [f"{value:.2f}" for value in (times[0], first, settled)]
            cells += [f"{np.mean(changed[-5:]) / n:.2%}", peers[short], f"{look:.2f}"]
            cells += [f"{memory:.2f}", f"{tensor:.2f}", f"{max(memory, tensor) / look:.0%}"]
            rows.append(f"| {' | '.join(cells)} |")
            print(rows[-1], flush=True)
            del engine
            torch.cuda.empty_cache()
        del X
        torch.cuda.empty_cache()
    return [
        "## Milliseconds a sweep",
        "",
        f"{LINKED:.0%} of the points have links; scores, links, sums and means are included, and "
        "what Python needs to start them. The look alone is what the GPU needs for scores and "
        f"choices of all points. Floors: one read of the data at {reading / 1e12:.2f} TB/s, the "
        f"scores at {multiplying / 1e12:.0f} TFLOP/s, both measured here; the last column is the "
        "larger floor over the look. tf32 and exact store float32.",
        "",
        "| points, centres | precision | sweep 1 | sweeps 2 to 4 | settled (last 5 of "
        f"{SWEEPS}) | labels that still change | flash-kmeans, an iteration | the look alone | "
        "read once | scores | share of the floor |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        *rows,
    ]


# ---------------------------------------------------------------------- a whole fit


def fit():
    import torch

    n, d, k = 16_777_216, 64, 100
    tensor = made(n, d, k)
    X, links, rows = tensor.cpu().numpy(), some_links(n, 1_000_000), []
    options = {
        "family": "gaussian",
        "n_clusters_hint": k,
        "link_weight": None,
        "n_init": 1,
        "schedule": Schedule(max_sweeps=12),
        "random_state": 0,
    }
    for name, data, device in (("GPU", tensor, "cuda"), ("CPU", X, "cpu")):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = RDPMeans(device=device, **options).fit(data, links=links)
        took = time.perf_counter() - begin
        rows.append(
            f"| {name} | {took:.1f} | {model.n_clusters_} | {model.n_iter_} | "
            f"{model.objective_:.10g} |"
        )
        print(rows[-1], flush=True)
    rows.append(flash_fit(tensor, k))
    return [
        f"## A whole fit: {n:,} × {d}, {links.n_links:,} links, λ from a hint of {k}, 12 sweeps",
        "",
        f"The processor: {platform.processor() or platform.machine()}, "
        f"{len(__import__('os').sched_getaffinity(0))} cores.",
        "",
        "| engine | seconds | clusters | sweeps | objective |",
        "| --- | --- | --- | --- | --- |",
        *rows,
    ]


PARTS = {
    "agreement": agreement,
    "sweeps": sweeps,
    "fit": fit,
    "soft-agreement": soft_agreement,
    "soft-fits": soft_fits,
    "neighbours": neighbours,
    "streamed": streamed,
    "crowded": crowded,
    "workers": workers,
    "predictions": predictions,
}
TITLES = {
    "agreement": "## Labels of",
    "sweeps": "## Milliseconds a sweep",
    "fit": "## A whole fit:",
    "soft-agreement": "## TVClust: responsibilities",
    "soft-fits": "## A whole fit of TVClust",
    "neighbours": "## The neighbour graph",
    "streamed": "## Data that stay on this machine",
    "crowded": "## A whole fit on a GPU without room",
    "workers": "## Data on Dask",
    "predictions": "## Predictions of TVClust",
}


def written():
    """Return the parts that stand in the file, by name."""
    if not OUT.exists():
        return {}
    sections = OUT.read_text(encoding="utf-8").split("\n## ")[1:]
    texts = ["## " + section.strip() for section in sections]
    return {
        name: text.splitlines()
        for name, title in TITLES.items()
        for text in texts
        if text.startswith(title)
    }


def main(asked):
    import torch
    import triton

    for name in asked or PARTS:
        part = PARTS[name]()
        print("\n".join(part), flush=True)
        parts = written() | {name: part}
        lines = [
            "# The GPU engine, measured",
            "",
            f"By `python benchmarks/gpu.py` on one {torch.cuda.get_device_name()} "
            f"(PyTorch {torch.__version__}, Triton {triton.__version__}). Parts may come from "
            "separate runs.",
        ]
        for other in PARTS:
            lines += ["", *parts[other]] if other in parts else []
        OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
