"""The baselines: against scikit-learn's KMeans, and against another program that has two of them.

Every fit is a single run with its defaults, given the true number of clusters.
"""

import inspect
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

from maylink import Links, RDPMeans
from maylink.baselines import MPCKMeans, PCKMeans, all_baselines
from maylink.errors import InfeasibleLinksError
from maylink.runtime.threads import thread_count
from peers import MissingError, Peer
from timing import markdown, seconds, verdict

ASKED = {"CVQE": 20, "LCVQE": 20, "PCKMeans": 20, "MPCKMeans": 20}
SMALLER = {  # points for those that need n × n numbers, or go through points one by one
    "ConstrainedOneSpectral": 500, "ConstrainedSpectral": 500, "COPCobweb": 2_000,
    "MRFDPMixture": 500, "PlainSpectral": 500, "SupervisedClustering": 500,
}  # fmt: skip
PROGRAM = """
from active_semi_clustering.semi_supervised import pairwise_constraints
def run(X, a):
    model = getattr(pairwise_constraints, a["method"])(n_clusters=a["k"], max_iter=100)
    model.fit(X, ml=a["may"], cl=a["may_not"])
    return {}
"""


def data(n, d, k, n_links, wrong, std=3.0):
    """Overlapping blobs, and links of which some are wrong."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, k, n)
    X = rng.uniform(-10, 10, (k, d))[y] + std * rng.standard_normal((n, d))
    i = rng.integers(0, n, n_links)
    j = (i + rng.integers(1, n, n_links)) % n
    right = np.where(y[i] == y[j], 1, -1)
    return X, Links(n, i, j, np.where(rng.random(n_links) < wrong, -right, right))


def table():
    warnings.simplefilter("ignore")
    return "\n".join((against_k_means(), of_fewer_points(), against_peer()))


def against_k_means(n=20_000, d=16, k=10, n_links=10_000):
    ours, theirs = {}, []
    plain = KMeans(k, n_init=1, random_state=0)
    for wrong in (0.0, 0.2):
        X, links = data(n, d, k, n_links, wrong)  # the same X
        for name, cls in all_baselines().items():
            if name in SMALLER:
                continue
            model = made(cls, k)
            try:
                model.fit(X, links=links)  # also compiles
                best = np.inf
                for _ in range(5):
                    theirs.append(seconds(lambda: plain.fit(X)))  # noqa: B023
                    best = min(best, seconds(lambda: model.fit(X, links=links)))  # noqa: B023
                ours[name, wrong] = best
            except InfeasibleLinksError:
                ours[name, wrong] = None
    unit = min(theirs)
    rows = []
    for (name, wrong), best in ours.items():
        shown = ("links cannot all be kept", "") if best is None else (
            f"{1000 * best:.1f}", verdict(best / unit, ASKED.get(name, np.inf))
        )  # fmt: skip
        rows.append((name, f"{wrong:.0%}", *shown))
    columns = ("method", "wrong links", "fit, ms", "in KMeans fits (20 asked of four)")
    title = (
        f"Baselines, {n:,} × {d}, {k} clusters, {n_links:,} links, float64, "
        f"{thread_count(None)} threads; KMeans(n_init=1) takes {1000 * unit:.1f} ms"
    )
    return markdown(title, columns, rows)


def made(cls, k):
    """A baseline that is given k, where it wants to know it."""
    known = inspect.signature(cls).parameters
    settings = {"n_clusters": k, "search": True, "random_state": 0}
    return cls(**{key: value for key, value in settings.items() if key in known})


def of_fewer_points(d=16, k=10):
    """The slow ones, once each, in seconds of the processor; KMeans is too quick to compare."""
    rows = []
    for name, n in SMALLER.items():
        times = []
        for wrong in (0.0, 0.2):
            X, links = data(n, d, k, n // 2, wrong)
            model = made(all_baselines()[name], k)
            try:
                model.fit(X, links=links)  # also compiles
                begin = time.process_time()
                model.fit(X, links=links)
                times.append(f"{time.process_time() - begin:.2f}")
            except InfeasibleLinksError:
                times.append("links cannot all be kept")
        rows.append((name, f"{n:,}", *times))
    columns = ("method", "n", "all links right, s", "20% wrong, s")
    title = f"Baselines on fewer points × {d}, {k} clusters, n/2 links, seconds of the processor"
    return markdown(title, columns, rows)


def against_peer(n=2000, d=16, k=5, n_links=1000):
    rows = []
    X, links = data(n, d, k, n_links, 0.0)
    arguments = {"may": links.may.tolist(), "may_not": links.may_not.tolist(), "k": k}
    methods = {
        "PCKMeans": PCKMeans(k, random_state=0),
        "MPCKMeans": MPCKMeans(k, random_state=0),
    }
    other = RDPMeans(n_clusters_hint=k, link_weight=None, random_state=0)
    for name, model in methods.items():
        ours = [min(seconds(lambda: m.fit(X, links=links)) for _ in range(5))  # noqa: B023
                for m in (model, other)]  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            np.save(Path(folder) / "X.npy", X)
            try:
                with Peer(
                    "active-semi-supervised-clustering", PROGRAM, Path(folder) / "X.npy", 300
                ) as peer:
                    runs = 2 if name == "PCKMeans" else 1
                    theirs = min(peer.run(method=name, **arguments)["seconds"] for _ in range(runs))
            except MissingError as error:
                rows.append((name, str(error), f"{1000 * ours[0]:.1f}", "", ""))
                continue
        times = theirs / ours[0]
        shown = f"{times:.0f}" + ("" if times >= 50 else " (lost)")
        rows.append((name, f"{1000 * theirs:.0f}", f"{1000 * ours[0]:.1f}", shown,
                     f"{1000 * ours[1]:.1f}"))  # fmt: skip
    columns = (
        "method",
        "theirs, ms",
        "ours, ms",
        "times faster (50 asked)",
        "RDPMeans, 4 runs, ms",
    )
    title = f"active-semi-supervised-clustering, {n:,} × {d}, {k} clusters, {n_links:,} right links"
    return markdown(title, columns, rows)
