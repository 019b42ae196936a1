"""Whole DP-means fits against pdc-dp-means (Dinari & Freifeld 2022), same data and λ.

Both start from one cluster. pdc-dp-means stops when centres move little, so it is timed against
ours up to the sweep whose objective is not higher; ours is also timed until nothing changes.
"""

import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from maylink import DPMeans, Schedule
from peers import MissingError, Peer
from timing import blobs, markdown, seconds, verdict

SIZES = [(20_000, 16, 20), (100_000, 16, 20), (20_000, 64, 50)]
LIMIT = 1 / 8
PROGRAM = """
from pdc_dp_means import DPMeans
def run(X, a):
    begin = time.process_time()
    model = DPMeans(n_clusters=1, n_init=1, delta=a["penalty"], random_state=0).fit(X)
    processor = time.process_time() - begin
    return {"labels": model.labels_.tolist(), "sweeps": int(model.n_iter_), "processor": processor}
"""


def objective(X, labels, penalty):
    codes = np.unique(labels, return_inverse=True)[1]
    size = np.bincount(codes)
    total = sum(np.bincount(codes, np.square(X[:, j], dtype=np.float64)) for j in range(X.shape[1]))
    means = [np.bincount(codes, X[:, j]) ** 2 / size for j in range(X.shape[1])]
    return float((total - sum(means)).sum()) + penalty * len(size)


class Compared(NamedTuple):
    """Both programs on one set of data; times are seconds."""

    whole: float  # ours until nothing changes
    n_clusters: int
    n_sweeps: int
    why_not: str = ""  # there is no peer
    theirs: float = np.nan
    processor: float = np.nan  # theirs in seconds of the processor
    their_clusters: int = 0
    their_sweeps: int = 0
    ours: float = np.nan  # until ours is not worse
    enough: int = 0  # sweeps for that; 0 where it never is
    ratio: float = np.nan  # of our last objective to theirs


def table():
    rows = [(f"{n:,}", d, what, *shown(compare(X, penalty))) for n, d, what, X, penalty in data()]
    columns = (
        "n", "d", "clusters", "pdc-dp-means, s", "DPMeans until not worse, s",
        "ratio (0.125 asked)", "DPMeans until nothing changes, s", "clusters, theirs / ours",
        "sweeps, theirs / ours", "our last objective in theirs",
    )  # fmt: skip
    return markdown("DP-means from one cluster, one run, float32", columns, rows)


def data():
    """The data that both fit, and λ."""
    for n, d, k in SIZES:
        for apart, what in ((2.0, "clear"), (1.0, "overlapping")):
            yield n, d, what, blobs(n, d, k, np.float32, apart)[0], (3.0 + apart) * d


def ours(penalty, max_sweeps=300, n_jobs=None):
    return DPMeans(
        cluster_penalty=penalty, n_init=1, keep="objective", n_jobs=n_jobs, random_state=0,
        schedule=Schedule(max_sweeps=max_sweeps),
    )  # fmt: skip


def shown(found):
    """What a row of the table says."""
    if found.why_not:
        return (found.why_not, "", "", f"{found.whole:.2f}", f"– / {found.n_clusters}",
                f"– / {found.n_sweeps}", "")  # fmt: skip
    return (
        f"{found.theirs:.2f}",
        f"{found.ours:.3f}" if found.enough else "never",
        verdict(found.ours / found.theirs, LIMIT) if found.enough else "(lost)",
        f"{found.whole:.2f}",
        f"{found.their_clusters} / {found.n_clusters}",
        f"{found.their_sweeps} / {found.n_sweeps}",
        f"{found.ratio:.3f}" + (" (higher)" if found.ratio > 1.0005 else ""),
    )


def compare(X, penalty):
    """Time both, interleaved; ours also up to the sweep that is as good as their result."""
    model = ours(penalty)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
        whole = seconds(lambda: model.fit(X))
        known = Compared(whole, model.n_clusters_, len(model.trace_))
        np.save(Path(folder) / "X.npy", X)
        try:
            with Peer("pdc-dp-means", PROGRAM, Path(folder) / "X.npy") as peer:
                answers = [peer.run(penalty=penalty)]
                labels = np.array(answers[0]["labels"])
                goal = objective(X, labels, penalty)
                good = model.trace_["objective"] <= goal
                enough = int(good.argmax()) + 1 if good.any() else 0
                short, times = ours(penalty, enough or 300), []
                for _ in range(2):
                    times.append(seconds(lambda: short.fit(X)))
                    answers.append(peer.run(penalty=penalty))
        except MissingError as error:
            return known._replace(why_not=str(error))
    return known._replace(
        theirs=min(answer["seconds"] for answer in answers),
        processor=min(answer["processor"] for answer in answers),
        their_clusters=len(set(answers[0]["labels"])),
        their_sweeps=answers[0]["sweeps"],
        ours=min(times),
        enough=enough,
        ratio=objective(X, model.labels_, penalty) / goal,
    )
