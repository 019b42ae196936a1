"""How the time of a sweep grows with points, links and clusters × features: fitted exponents.

Every point is scored in full: what the engine remembers is deleted before each sweep.
"""

import numpy as np

from sweep import full, prepare
from timing import blobs, exponent, markdown, verdict

LIMIT = 1.05


def time_of(n, d, k, linked=0.1):
    X, links, start = blobs(n, d, k, np.float32, linked=linked)
    return full(*prepare(X, links, start, rate=1.0))


def table():
    studies = {
        "points": ([50_000, 100_000, 200_000, 400_000, 800_000], lambda n: time_of(n, 32, 50)),
        "links": (
            [0.1, 0.2, 0.4, 0.8],
            lambda linked: time_of(200_000, 32, 50, linked),
        ),
        "clusters": ([25, 50, 100, 200, 400], lambda k: time_of(100_000, 32, k)),
        "features": ([16, 32, 64, 128, 256], lambda d: time_of(100_000, d, 50)),
    }
    rows = []
    for name, (sizes, measure) in studies.items():
        times = [measure(size) for size in sizes]
        power = exponent(sizes, times)
        shown = ", ".join(f"{1000 * t:.1f}" for t in times)
        rows.append((name, ", ".join(map(str, sizes)), shown, verdict(power, LIMIT)))
    columns = (
        "in",
        "sizes (links: proportion of points linked)",
        "ms",
        f"exponent ({LIMIT} asked)",
    )
    return markdown("Growth of a sweep", columns, rows)
