"""The peak of memory of a whole fit, beyond the data themselves."""

import subprocess
import sys
from pathlib import Path

from timing import markdown, verdict

LIMIT = 1.5
SIZES = [(1_000_000, 32, 50), (500_000, 64, 50), (200_000, 384, 50)]
CHILD = """
import sys, warnings
sys.path.insert(0, sys.argv[1])
warnings.simplefilter("ignore")
import numpy as np
from timing import blobs, highest, resident
import maylink as ml
n, d, k = map(int, sys.argv[2:])
X, links, _ = blobs(n, d, k, np.float32, 2.0)
settings = dict(cluster_penalty=5.0 * d, random_state=0, schedule=ml.Schedule(max_sweeps=30))
ml.{estimator}(**settings).fit(X[:20_000].copy(){small})
before = resident()
ml.{estimator}(**settings).fit(X{large})
peak = highest()
print((peak - before) / X.nbytes)
"""


def peak(size, estimator):
    linked = estimator == "RDPMeans"
    code = CHILD.format(
        estimator=estimator,
        small="",
        large=", links=links" if linked else "",
    )
    command = [sys.executable, "-c", code, str(Path(__file__).parent), *map(str, size)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def table():
    rows = [
        (estimator, f"{size[0]:,}", size[1], verdict(peak(size, estimator), LIMIT))
        for estimator in ("DPMeans", "RDPMeans")
        for size in SIZES
    ]
    columns = ("estimator", "n", "d", f"peak beyond X, in units of X ({LIMIT} asked)")
    return markdown("Memory of a float32 fit, 4 runs, 10% linked for RDPMeans", columns, rows)
