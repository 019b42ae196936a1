"""What is chosen where there are no links, or a few: grids over simulated data.

python benchmarks/settings.py             all tables
python benchmarks/settings.py grid        F of every data weight and number of neighbours, no links
python benchmarks/settings.py few         F with no links and with a few right ones, all defaults
python benchmarks/settings.py alone       F without links: all defaults beside the usual setting
"""

import sys
import warnings

import numpy as np
from sklearn.cluster import KMeans

import maylink as ml
from maylink.datasets import sample_links
from maylink.metrics import pair_f
from simulated import MANY, SETS
from timing import markdown

WEIGHTS, NEIGHBOURS = (1.0, 0.3, 0.1, 0.03), (0, 10, 20)
SEEDS = range(3)
FRESH_SEEDS = range(20, 23)
FEW = (0, 10, 20, 30, 60)


def table():
    """Return all tables."""
    return grid() + "\n" + few() + "\n" + alone()


def grid():
    """Return F of the family "plda" without links, by data weight and number of neighbours."""
    rows, means = [], {}
    for count in NEIGHBOURS:
        for weight in WEIGHTS:
            model = ml.TVClust("plda", data_weight=weight, neighbours=count, random_state=0)
            found = [np.mean([score(model, name, s) for s in SEEDS]) for name in SETS]
            means[count, weight] = np.mean(found)
            rows.append([count, weight, *found, means[count, weight]])
    told = [np.mean([told_k(name, seed) for seed in SEEDS]) for name in SETS]
    rows.append(["K-means told k", "", *told, np.mean(told)])
    best = max(means, key=means.get)
    title = f"Without links, 3 draws each; best on average: {best[0]} neighbours, weight {best[1]}"
    return markdown(title, ["neighbours", "data weight", *SETS, "mean"], rounded(rows))


def few():
    """Return F of all defaults with few right links on random pairs."""
    rows = []
    for name in SETS:
        model = ml.TVClust(random_state=0)
        rows.append([name, *(np.mean([score(model, name, s, m) for s in SEEDS]) for m in FEW)])
    columns = ["data", *(f"{m} links" for m in FEW)]
    return markdown("A few right links, all defaults, 3 draws each", columns, rounded(rows))


def alone():
    """Return F without links, by held-out neighbours and without that choice."""
    usual = ml.TVClust("plda", data_weight=0.3, neighbours=20, random_state=0)
    models = {
        "usual setting": usual,
        "TVClust": ml.TVClust(random_state=0),
        "RDPMeans": ml.RDPMeans(random_state=0),
    }
    rows = []
    for name in (*SETS, *MANY):
        found = [
            [told_k(name, seed), *(score(model, name, seed) for model in models.values())]
            for seed in FRESH_SEEDS
        ]
        rows.append([name, *np.mean(found, axis=0).tolist()])
    rows.append(["mean", *np.mean([row[1:] for row in rows], axis=0).tolist()])
    columns = ["data", "K-means told k", *models]
    return markdown("Without links, three draws each", columns, rounded(rows))


def rounded(rows):
    """Return rows with fractions of three digits."""
    return [[f"{c:.3f}" if isinstance(c, float) and c < 1 else c for c in row] for row in rows]


def score(model, name, seed, n_links=0):
    """Return F of a fit."""
    X, y = (SETS | MANY)[name](seed)
    links = None
    if n_links:
        links = sample_links(y, 2.0 * n_links / len(y) ** 2, rng=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pair_f(y, model.fit(X, links=links).labels_)


def told_k(name, seed):
    """Return F of K-means that is told the number of clusters."""
    X, y = (SETS | MANY)[name](seed)
    return pair_f(y, KMeans(len(set(y)), n_init=10, random_state=0).fit_predict(X))


if __name__ == "__main__":
    wanted = {"grid": grid, "few": few, "alone": alone}.get((sys.argv[1:] or [""])[0], table)
    print(wanted())
