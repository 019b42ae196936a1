"""Other K-means on processors, and another program that takes pairs."""

import tempfile
from pathlib import Path

import numpy as np

from peers import MissingError, Peer
from sweep import course, prepare
from timing import Lloyd, blobs, markdown

SIZES = [(100_000, 16, 20), (100_000, 64, 100)]
FAISS = """
import faiss
def run(X, a):
    faiss.omp_set_num_threads(a["threads"])
    k = faiss.Kmeans(X.shape[1], a["k"], niter=a["length"], max_points_per_centroid=10**9)
    k.train(X, init_centroids=X[:a["k"]])
    return {}
"""
INTEL = """
from sklearnex.cluster import KMeans
def run(X, a):
    k = a["k"]
    model = KMeans(k, init=X[:k], n_init=1, max_iter=a["length"], tol=0.0, algorithm="lloyd").fit(X)
    return {"sweeps": int(model.n_iter_)}
"""


def iteration(package, program, data, k, length=20):
    """Seconds of an iteration: a long fit less a short one; why not, where it does not run."""
    try:
        with Peer(package, program, data) as peer:
            peer.run(k=k, length=1, threads=2)
            best = np.inf
            for _ in range(3):
                long = peer.run(k=k, length=1 + length, threads=2)
                short = peer.run(k=k, length=1, threads=2)
                done = long.get("sweeps", 1 + length) - 1
                best = min(best, (long["seconds"] - short["seconds"]) / max(done, 1))
            return best
    except MissingError as error:
        return str(error)


def table():
    rows = []
    for n, d, k in SIZES:
        X, links, _ = blobs(n, d, k)
        start = X[:k]
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "X.npy"
            np.save(data, X)
            unit = Lloyd(X, start).measure().measure().measure().seconds
            ours = min(course(*prepare(X, links, start, rate=1.0)) for _ in range(3))
            peers = [
                iteration("faiss-cpu", FAISS, data, k),
                iteration("scikit-learn-intelex", INTEL, data, k),
            ]
        ratios = [f"{p / unit:.2f}" if isinstance(p, float) else p for p in peers]
        rows.append((f"{n:,}", d, k, f"{1000 * unit:.1f}", *ratios, f"{ours / unit:.2f}"))
    columns = (
        "n", "d", "k", "KMeans iteration, ms", "faiss-cpu", "scikit-learn-intelex",
        "our sweep, 10% linked",
    )  # fmt: skip
    return markdown("K-means of others, in scikit-learn's iterations, float32", columns, rows)
