"""Whole RDP-means fits, from the arrays to the labels, divided by their sweeps."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from maylink import RDPMeans
from maylink.runtime.threads import thread_count
from maylink.solvers.rdpmeans import RDPMeansSolver
from timing import Lloyd, blobs, markdown, seconds, verdict

SIZES = [(100_000, 16, 20), (100_000, 64, 100), (1_000_000, 32, 50)]
LIMIT = 0.3


def sweeps_of(model, X, links):
    """Count the sweeps of all runs of a fit."""
    count = 0
    step = RDPMeansSolver.step

    def counted(solver, state):
        nonlocal count
        count += 1
        return step(solver, state)

    RDPMeansSolver.step = counted
    try:
        model.fit(X, links=links)
    finally:
        RDPMeansSolver.step = step
    return count


def table():
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = []
    for n, d, k in SIZES:
        for apart, what in ((2.0, "clear"), (1.0, "overlapping")):
            X, links, start = blobs(n, d, k, np.float32, apart)
            penalty = (3.0 + apart) * d  # between the spread of a cluster and the gaps
            model = RDPMeans(cluster_penalty=penalty, link_weight=None, random_state=0)
            count = sweeps_of(model, X, links)
            start = X[np.random.default_rng(1).choice(n, model.n_clusters_, replace=False)]
            theirs, ours = Lloyd(X, start), []
            for _ in range(3):
                theirs.measure()
                ours.append(seconds(lambda: model.fit(X, links=links)))  # noqa: B023
            unit = theirs.seconds
            rows.append(
                (
                    f"{n:,}", d, what, model.n_clusters_, count, f"{min(ours):.2f}",
                    f"{1000 * min(ours) / count:.1f}", f"{1000 * unit:.1f}",
                    verdict(min(ours) / count / unit, LIMIT),
                )
            )  # fmt: skip
    columns = (
        "n", "d", "clusters", "k found", "sweeps", "fit, s", "a sweep, ms",
        "KMeans iteration at that k, ms", f"ratio ({LIMIT} asked)",
    )  # fmt: skip
    return markdown(
        f"RDPMeans().fit, 4 runs, 10% linked, float32, {thread_count(None)} threads", columns, rows
    )
