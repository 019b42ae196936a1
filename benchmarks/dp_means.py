"""Whole DP-means fits against pdc-dp-means (Dinari & Freifeld 2022), same data and λ.

Both start from one cluster. pdc-dp-means stops when centres move little, so it is timed against
ours up to the sweep whose objective is not higher; ours is also timed until nothing changes.
"""

import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from maylink import DPMeans
from peers import MissingError, Peer
from timing import blobs, markdown, seconds, verdict

SIZES = [(20_000, 16, 20), (100_000, 16, 20), (20_000, 64, 50)]
LIMIT = 1 / 8
PROGRAM = """
from pdc_dp_means import DPMeans
def run(X, a):
    model = DPMeans(n_clusters=1, n_init=1, delta=a["penalty"], random_state=0).fit(X)
    return {"labels": model.labels_.tolist(), "sweeps": int(model.n_iter_)}
"""


def objective(X, labels, penalty):
    codes = np.unique(labels, return_inverse=True)[1]
    size = np.bincount(codes)
    total = sum(np.bincount(codes, np.square(X[:, j], dtype=np.float64)) for j in range(X.shape[1]))
    means = [np.bincount(codes, X[:, j]) ** 2 / size for j in range(X.shape[1])]
    return float((total - sum(means)).sum()) + penalty * len(size)


def table():
    rows = []
    for n, d, k in SIZES:
        for apart, what in ((2.0, "clear"), (1.0, "overlapping")):
            X, _, _ = blobs(n, d, k, np.float32, apart)
            penalty = (3.0 + apart) * d
            model = DPMeans(cluster_penalty=penalty, n_init=1, keep="objective", random_state=0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(X)
                shown = compare(X, penalty, model)
            rows.append((f"{n:,}", d, what, *shown))
    columns = (
        "n", "d", "clusters", "pdc-dp-means, s", "DPMeans until not worse, s",
        "ratio (0.125 asked)", "DPMeans until nothing changes, s", "clusters, theirs / ours",
        "sweeps, theirs / ours", "our last objective in theirs",
    )  # fmt: skip
    return markdown("DP-means from one cluster, one run, float32", columns, rows)


def compare(X, penalty, model):
    """Time both, interleaved; ours also up to the sweep that is as good as their result."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "X.npy"
        np.save(data, X)
        try:
            with Peer("pdc-dp-means", PROGRAM, data) as peer:
                theirs = [peer.run(penalty=penalty)]
                whole = seconds(lambda: model.fit(X))
                trace, n_clusters, labels = model.trace_, model.n_clusters_, model.labels_
                goal = objective(X, np.array(theirs[0]["labels"]), penalty)
                enough = int(np.argmax(trace["objective"] <= goal)) + 1
                reached = bool((trace["objective"] <= goal).any())
                short = clone(model).set_params(schedule__max_sweeps=enough if reached else 300)
                ours = []
                for _ in range(2):
                    ours.append(seconds(lambda: short.fit(X)))
                    theirs.append(peer.run(penalty=penalty))
        except MissingError as error:
            whole = seconds(lambda: model.fit(X))
            return (str(error), "", "", f"{whole:.2f}", f"– / {model.n_clusters_}",
                    f"– / {model.n_iter_}", "")  # fmt: skip
    best = min(answer["seconds"] for answer in theirs)
    ratio = objective(X, labels, penalty) / goal
    return (
        f"{best:.2f}",
        f"{min(ours):.3f}" if reached else "never",
        verdict(min(ours) / best, LIMIT) if reached else "(lost)",
        f"{whole:.2f}",
        f"{len(set(theirs[0]['labels']))} / {n_clusters}",
        f"{theirs[0]['sweeps']} / {len(trace)}",
        f"{ratio:.3f}" + (" (higher)" if ratio > 1.0005 else ""),
    )
