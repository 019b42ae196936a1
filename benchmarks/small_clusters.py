"""Clusters of a few points among more points than a choice looks at: F with nothing set.

python benchmarks/small_clusters.py                 all rows
python benchmarks/small_clusters.py records         those of this name

Data are simulated: records of people, 10 records of 5 people on average, and points that lie in
pairs in 6 columns. Links are on look-alike pairs, nine in ten right, two a row. K-means is told the
number of clusters.
"""

import sys
import warnings
from time import process_time

import numpy as np
from sklearn.cluster import KMeans

import maylink as ml
from maylink.datasets import make_records, sample_look_alikes
from maylink.metrics import pair_f
from timing import markdown

SIZES = (4_000, 8_000)  # rows; a choice looks at 5,000
LINKS = (0, 2)  # a row
METHODS = {"TVClust": ml.TVClust, "RDPMeans": ml.RDPMeans}


def records(n):
    """Draw records of people."""
    drawn = make_records(n, n // 2, rng=n)
    return drawn.X, drawn.y


def pairs(n):
    """Draw points that lie in pairs."""
    rng = np.random.default_rng(n)
    y = np.repeat(np.arange(n // 2), 2)
    return rng.normal(size=(n // 2, 6))[y] + 0.05 * rng.normal(size=(len(y), 6)), y


DATA = {"records": records, "pairs": pairs}


def table(names):
    """Return F, clusters found, and processor seconds."""
    lines = []
    for name in names:
        for n in SIZES:
            X, y = DATA[name](n)
            k = int(y.max()) + 1
            begin = process_time()
            told = KMeans(k, n_init=1, random_state=0).fit_predict(X)
            lines.append([name, f"{n:,}", f"{k:,}", "", "K-means told k", *said(y, told, begin)])
            for share in LINKS:
                links = sample_look_alikes(X, y, share * n, 0.9, rng=1) if share else None
                for word, method in METHODS.items():
                    begin = process_time()
                    found = method(random_state=0).fit(X, links=links).labels_
                    lines.append(
                        [name, f"{n:,}", f"{k:,}", f"{share}n", word, *said(y, found, begin)]
                    )
    columns = ["data", "rows", "clusters", "links", "method", "F", "found", "seconds"]
    return markdown("Clusters of a few points", columns, lines)


def said(y, found, begin):
    """Return F, the number of clusters, and processor seconds, as text."""
    seconds = process_time() - begin
    return [f"{pair_f(y, found):.3f}", f"{len(np.unique(found)):,}", f"{seconds:.1f}"]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(table(sys.argv[1:] or DATA))
