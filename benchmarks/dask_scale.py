"""RDP-means on Dask beside the single-machine engine and dask-ml's KMeans, on the same chunks.

    python benchmarks/dask_scale.py [rows, default 10,000,000] [workers' memory, default 2GiB]

Blobs of 32 features in float32 with one link for every ten rows lie in Parquet files in a temporary
folder, which is deleted in the end. Every sweep starts from the same 50 centres. dask-ml runs in an
environment of its own (``benchmarks/peers.py``).
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from maylink import Links
from timing import markdown

D, K, CHUNK, SWEEPS = 32, 50, 500_000, 6

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


def write(folder, n):
    """Write blobs file by file; return the links and the centres to start from."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    centers = rng.standard_normal((K, D)).astype(np.float32)
    y = rng.integers(0, K, n)
    for number, low in enumerate(range(0, n, CHUNK)):
        own = y[low : low + CHUNK]
        rows = centers[own] + rng.standard_normal((len(own), D), np.float32)
        table = pa.table({f"x{j}": rows[:, j] for j in range(D)})
        pq.write_table(
            table, folder / f"part-{number:04d}.parquet", compression="none", use_dictionary=False
        )
    i, j = rng.integers(0, n, (2, n // 10))
    i, j = i[i != j], j[i != j]
    links = Links(n, i, j, np.where(y[i] == y[j], 1, -1))
    return links, centers + 0.5 * rng.standard_normal((K, D)).astype(np.float32)


def dask_sweeps(folder, links, start, memory, n_workers):
    """Seconds of each sweep, the highest memory of a worker, how many labels changed."""
    from distributed import Client, LocalCluster

    from maylink.big import read_parquet
    from maylink.big.problem import BigProblem

    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, memory_limit=memory, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        begin = time.perf_counter()
        problem = BigProblem.build(read_parquet(folder, rows=CHUNK), links, "gaussian")
        engine = problem.engine(None)
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


def main(n=10_000_000, memory="2GiB"):
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        links, start = write(folder, n)
        size = sum(file.stat().st_size for file in folder.glob("*.parquet"))
        print(f"{n} × {D} float32, {size / 1e9:.2f} GB, {links.n_links} links, K = {K}", flush=True)
        rows, known = [], []
        for n_workers in (2, 1):
            laid_out, times, changed, peak = dask_sweeps(folder, links, start, memory, n_workers)
            known.append(changed)
            first, rest = times[0], float(np.median(times[1:]))
            cells = f"{laid_out:.1f}", f"{first:.2f}", f"{rest:.2f}", f"{peak / 2**30:.2f}"
            rows.append([f"Dask, {n_workers} workers of {memory}", *cells])
            print(rows[-1], changed, flush=True)
        times, changed = single(folder, links, start)
        known.append(changed)
        rows.append(["one machine", "", f"{times[0]:.2f}", f"{np.median(times[1:]):.2f}", ""])
        found = peer(folder, start, memory)
        shown = found if isinstance(found, str) else f"{found:.2f}"
        rows.append(["dask-ml KMeans, 2 workers", "", "", shown, ""])
    columns = ["what", "laying out, s", "first sweep, s", "later sweeps, s", "worker, GiB"]
    print(markdown(f"RDP-means on Dask, {n} × {D}", columns, rows))
    print("labels changed alike:", all(one == known[0] for one in known))


if __name__ == "__main__":
    given = sys.argv[1:]
    main(*[int(value) for value in given[:1]], *given[1:])
