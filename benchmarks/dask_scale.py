"""RDP-means on Dask beside the single-machine engine and dask-ml's KMeans, on the same chunks.

    python benchmarks/dask_scale.py [rows, default 10,000,000]

Blobs of 32 features in float32 lie in Parquet files in a temporary folder, which is deleted in the
end. Every run starts from the same 50 centres. The first table has one link for every ten rows: two
workers of 2 GiB, the single-machine engine, and dask-ml's KMeans, which runs in an environment of
its own (``benchmarks/peers.py``). The second has 1.6 times as many rows and one link for a hundred
of them: two workers against one that has the memory of both, on clear blobs, where bounds spare
most of the work, and on 200 blobs that overlap. The last has four times as many rows, 5.1 GB for
two workers of 2 GiB: more than they can hold. ``growth`` in place of a number prints how a sweep
grows with rows, clusters and links, on blobs that overlap.
"""

import json
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from maylink import Links
from timing import markdown

D, K, CHUNK, SWEEPS = 32, 50, 500_000, 6
OVERLAP = 0.3  # spread of the centres of blobs that overlap, in their own deviation

PEER = """
import json, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
if __name__ == "__main__":
    import dask.array as da, pyarrow.parquet as pq
    from dask import delayed
    from dask_ml.cluster import KMeans
    from distributed import Client, LocalCluster
    files, sizes, start, memory = json.loads(sys.stdin.read())
    def read(name):
        table = pq.read_table(name, use_threads=False)
        return np.column_stack([table.column(j).to_numpy() for j in range(table.num_columns)])
    with LocalCluster(n_workers=2, threads_per_worker=1, memory_limit=memory,
                      dashboard_address=None) as cluster, Client(cluster):
        start = np.array(start, np.float32)
        parts = [da.from_delayed(delayed(read)(f), (n, start.shape[1]), np.float32)
                 for f, n in zip(files, sizes)]
        X = da.concatenate(parts).persist()
        X.sum().compute()
        took = []
        for length in (1, 6):
            begin = time.perf_counter()
            KMeans(len(start), init=start, max_iter=length, tol=0.0, random_state=0).fit(X)
            took.append(time.perf_counter() - begin)
        print(json.dumps((took[1] - took[0]) / 5))
"""


def write(folder, n, n_links, k, spread):
    """Write blobs file by file; return the links and the centres to start from."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    centers = (spread * rng.standard_normal((k, D))).astype(np.float32)
    y = rng.integers(0, k, n)
    for number, low in enumerate(range(0, n, CHUNK)):
        labels = y[low : low + CHUNK]
        rows = centers[labels] + rng.standard_normal((len(labels), D), np.float32)
        table = pa.table({f"x{j}": rows[:, j] for j in range(D)})
        pq.write_table(
            table, folder / f"part-{number:04d}.parquet", compression="none", use_dictionary=False
        )
    i, j = rng.integers(0, n, (2, n_links))
    i, j = i[i != j], j[i != j]
    links = Links(n, i, j, np.where(y[i] == y[j], 1, -1))
    return links, centers + 0.5 * rng.standard_normal((k, D)).astype(np.float32)


@contextmanager
def blobs(n, n_links, k=K, spread=1.0):
    """Blobs in a folder that is deleted in the end; what they are, in words, comes with them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        links, start = write(folder, n, n_links, k, spread)
        size = sum(file.stat().st_size for file in folder.glob("*.parquet"))
        description = f"{n:,} × {D} float32, {size / 1e9:.2f} GB, {links.n_links:,} links, K = {k}"
        yield folder, links, start, description


def dask_sweeps(folder, links, start, memory, n_workers):
    """Seconds of each sweep, the highest memory of a worker, how many labels changed."""
    from distributed import Client, LocalCluster

    from maylink.engines.choice import engine_of
    from maylink.io import read_parquet
    from maylink.problem import ChunkedProblem

    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, memory_limit=memory, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        begin = time.perf_counter()
        problem = ChunkedProblem.build(read_parquet(folder, rows=CHUNK), links, "gaussian")
        engine = engine_of(problem)
        engine.reach  # noqa: B018 (a pass that is no part of a sweep)
        laid_out = time.perf_counter() - begin
        times, changed = sweep_times(engine, problem.family.coordinates(start.astype(float)))
        peaks = client.run(highest).values()
    return laid_out, times, changed, max(peaks)


def highest():
    """Bytes of this process in memory at most so far."""
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def sweep_times(engine, centers):
    """Sweep from centres; none opens."""
    labels = engine.stored(np.full(engine.n, -1))
    totals = engine.totals(labels, len(centers))
    order = np.arange(engine.n, dtype=np.int32)
    times, changed, xi = [], [], 0.01
    for _ in range(SWEEPS):
        begin = time.perf_counter()
        labels, totals, n_changed = engine.sweep(labels, totals, centers, order, (xi, xi), 1e6)
        centers = engine.means(totals)
        times.append(time.perf_counter() - begin)
        changed.append(n_changed)
        xi *= 2.0
    return times, changed


def single(folder, links, start):
    """Seconds of each sweep on one machine, with as many threads as processors."""
    import pyarrow.parquet as pq

    from maylink.engines.cpu import CpuEngine
    from maylink.families import Gaussian

    files = sorted(folder.glob("*.parquet"))
    tables = (pq.read_table(file) for file in files)
    X = np.concatenate(
        [np.column_stack([c.to_numpy() for c in table.itercolumns()]) for table in tables]
    )
    family = Gaussian().adapt(X)
    engine = CpuEngine(X, family, None, links)
    return sweep_times(engine, family.coordinates(start.astype(float)))


def peer(folder, start, memory):
    """Seconds of an iteration of dask-ml's KMeans, two workers, the same chunks."""
    import pyarrow.parquet as pq

    from peers import MissingError, environment

    try:
        python = environment("dask-ml")
    except MissingError as error:
        return str(error)
    pip = [python, "-m", "pip", "install", "--quiet", "pyarrow", "distributed"]
    subprocess.run(pip, check=False, capture_output=True)
    files = sorted(folder.glob("*.parquet"))
    sizes = [pq.read_metadata(file).num_rows for file in files]
    asked = json.dumps([[str(f) for f in files], sizes, start.tolist(), memory])
    script = folder / "peer.py"
    script.write_text(PEER)
    done = subprocess.run([python, script], input=asked, capture_output=True, text=True)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["failed"])[-1]
    return float(done.stdout.strip().splitlines()[-1])


def main(n=10_000_000):
    """Print both tables."""
    print(beside_peers(n), flush=True)
    for k, spread in ((K, 1.0), (4 * K, OVERLAP)):
        print(two_against_one(n * 8 // 5, k, spread), flush=True)
    print(beyond_memory(n * 4))


def beside_peers(n):
    """Sweeps on Dask, on one machine, and of dask-ml."""
    with blobs(n, n // 10) as (folder, links, start, description):
        row, changed = dask_row(folder, links, start, "2GiB", 2)
        times, alike = single(folder, links, start)
        peer_time = peer(folder, start, "2GiB")
    other = peer_time if isinstance(peer_time, str) else f"{peer_time:.2f}"
    rows = [
        row,
        ["one machine", "", *summary(times), ""],
        ["dask-ml KMeans, 2 workers of 2GiB", "", "", other, "", ""],
    ]
    agreement = f"labels changed alike on one machine: {alike == changed}"
    return f"{markdown(description, COLUMNS, rows)}\n{agreement}\n"


def two_against_one(n, k, spread):
    """Sweeps of two workers beside those of one with the memory of both."""
    with blobs(n, n // 100, k, spread) as (folder, links, start, description):
        two, _ = dask_row(folder, links, start, "3GiB", 2)
        one, _ = dask_row(folder, links, start, "6GiB", 1)
    ratios = [f"{float(b) / float(a):.2f}" for a, b in zip(two[1:5], one[1:5], strict=True)]
    rows = [two, one, ["one / two (1.7 asked)", *ratios, ""]]
    return markdown(f"{description}, centres {spread:g} deviations apart", COLUMNS, rows)


def beyond_memory(n):
    """Sweeps of two workers that cannot hold the data."""
    with blobs(n, n // 40) as (folder, links, start, description):
        row, _ = dask_row(folder, links, start, "2GiB", 2)
    return markdown(description, COLUMNS, [row])


def growth(n=2_000_000):
    """Print sweeps as rows, clusters or links grow, one at a time."""
    cases = [(n, K, n // 100), (2 * n, K, n // 50), (4 * n, K, n // 25), (n, 4 * K, n // 100),
             (n, 16 * K, n // 100), (n, K, n // 10), (n, K, n // 2)]  # fmt: skip
    rows = []
    for size, k, n_links in cases:
        with blobs(size, n_links, k, OVERLAP) as (folder, links, start, _):
            row, _ = dask_row(folder, links, start, "2GiB", 2)
        linked = int(links.touches().sum())
        rows.append([f"{size:,}", k, f"{links.n_links:,}", f"{linked:,}", *row[2:5]])
    columns = ["n", "K", "links", "linked points", *COLUMNS[2:5]]
    print(markdown(f"Growth, {D} features, 2 workers of 2GiB", columns, rows))


COLUMNS = [
    "what", "laying out, s", "first sweep, s", "later sweeps, median s", "all sweeps, s",
    "worker, GiB",
]  # fmt: skip


def dask_row(folder, links, start, memory, n_workers):
    """A row of a table, and how many labels changed in each sweep."""
    laid_out, times, changed, peak = dask_sweeps(folder, links, start, memory, n_workers)
    what = f"Dask, {n_workers} worker{'s' * (n_workers > 1)} of {memory}"
    row = [what, f"{laid_out:.1f}", *summary(times), f"{peak / 2**30:.2f}"]
    print(row, changed, file=sys.stderr, flush=True)
    return row, changed


def summary(times):
    """First sweep, median of the others, all."""
    return f"{times[0]:.2f}", f"{np.median(times[1:]):.2f}", f"{sum(times):.2f}"


if __name__ == "__main__":
    if sys.argv[1:] == ["growth"]:
        growth()
    else:
        main(*[int(value) for value in sys.argv[1:2]])
