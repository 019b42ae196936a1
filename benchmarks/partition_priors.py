"""What a prior of the partition that held-out links may choose is worth: ARI by links.

python benchmarks/partition_priors.py

Simulated data of many features; links on random and on look-alike pairs; TVClust under the
Dirichlet process beside the default, which may be another prior.
"""

import sys
import warnings

import numpy as np

import maylink as ml
from maylink.datasets import sample_links, sample_look_alikes
from maylink.metrics import adjusted_rand
from simulated import embeddings, images, records, texts
from timing import markdown

SETS = {
    "texts": texts,
    "short texts": lambda seed: texts(seed, length=7, shared=0.6),
    "embeddings": embeddings,
    "images": images,
    "records": lambda seed: records(seed, 400),
}
LINKS = {"n/2": 0.5, "2n": 2.0, "4n": 4.0}
ACCURACIES = (1.0, 0.9)
PRIORS = ("dirichlet-process", "auto")
SEEDS = range(51, 53)


def table():
    """Return mean ARI of both priors by data, links and pairs."""
    lines = []
    for name, draw in SETS.items():
        for pairs in ("look-alike", "random"):
            cells = [cell(draw, pairs, per_point) for per_point in LINKS.values()]
            lines.append([name, pairs, *(f"{one:.3f} / {other:.3f}" for one, other in cells)])
    return markdown(
        "Mean ARI over p = 1, .9 and two draws: Dirichlet process / default",
        ["data", "pairs", *LINKS],
        lines,
    )


def cell(draw, pairs, per_point):
    """Return the mean ARI under each prior."""
    found = []
    for seed in SEEDS:
        X, y = draw(seed)
        for accuracy in ACCURACIES:
            links = links_of(pairs, X, y, per_point, accuracy, seed)
            models = [ml.TVClust(partition_prior=one, random_state=0) for one in PRIORS]
            found.append([adjusted_rand(y, one.fit(X, links=links).labels_) for one in models])
    return np.mean(found, axis=0)


def links_of(pairs, X, y, per_point, accuracy, seed):
    """Return links on random pairs, or most of them on pairs that look alike."""
    if pairs == "random":
        return sample_links(y, 2 * per_point / y.size, accuracy, rng=seed)
    return sample_look_alikes(X, y, int(per_point * y.size), accuracy, rng=seed)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        raise SystemExit(__doc__)
    warnings.simplefilter("ignore")
    print(table())
