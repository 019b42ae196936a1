"""Small data as people try them first: some dozen rows of many columns, and bent clusters.

python benchmarks/small_data.py            both tables
python benchmarks/small_data.py rows       60 to 300 texts, records, embeddings: ARI with no links and with n/2
python benchmarks/small_data.py shapes     300 points in a plane: ARI of the fit and of 300 new points

Data are simulated. All have their defaults; K-means is told k. Links are right nine times in ten.
"""  # noqa: E501

import sys
import warnings

import numpy as np
from sklearn.cluster import KMeans

import maylink as ml
from maylink.datasets import sample_links, sample_look_alikes
from maylink.datasets.patterns import PATTERNS
from maylink.metrics import adjusted_rand
from simulated import blobs, embeddings, images, records, singles, texts
from timing import markdown

ROWS = {
    "embeddings, 64": lambda seed, n: embeddings(seed, n, 64, 5),
    "embeddings, 384": lambda seed, n: embeddings(seed, n, 384, 4),
    "texts": lambda seed, n: texts(seed, n, 4),
    "records": records,
    "records, most single": singles,
    "images": lambda seed, n: images(seed, n, 5),
    "blobs": lambda seed, n: blobs(seed, n, 4),
}
SIZES = (60, 100, 140, 300)
POINTS = 300
LINKS = (1, 2, 4)  # a point
SEEDS = range(3)
METHODS = {"TVClust": ml.TVClust, "RDPMeans": ml.RDPMeans}


def table():
    """Return both tables."""
    return rows() + "\n" + shapes()


def rows():
    """Return ARI on few rows of many columns."""
    lines = []
    for n in SIZES:
        found = {name: [rows_of(draw, n, seed) for seed in SEEDS] for name, draw in ROWS.items()}
        for method in found["texts"][0]:
            means = [np.mean([one[method] for one in each]) for each in found.values()]
            lines.append([n, method, *means, np.mean(means)])
    return markdown(
        "Few rows of many columns: ARI, three draws",
        ["rows", "method", *ROWS, "mean"],
        short(lines),
    )


def rows_of(draw, n, seed):
    """Return the ARI of every method on one draw."""
    X, y = draw(seed, n)
    told = KMeans(len(set(y)), n_init=10, random_state=0).fit(X).labels_
    links = sample_look_alikes(X, y, n // 2, 0.9, rng=seed)
    scores = {"K-means told k": adjusted_rand(y, told)}
    for name, method in METHODS.items():
        for what, given in (("no links", None), ("n/2 links", links)):
            model = method(random_state=0).fit(X, links=given)
            scores[f"{name}, {what}"] = adjusted_rand(y, model.labels_)
    return scores


def shapes():
    """Return ARI on patterns in a plane, with neighbours and without."""
    lines = []
    for count in LINKS:
        for name, method in METHODS.items():
            for neighbours in ("auto", False):
                found = [
                    np.mean([shape_of(method, one, count, neighbours, s) for s in SEEDS], axis=0)
                    for one in PATTERNS
                ]
                cells = [f"{fit:.2f} / {new:.2f}" for fit, new in found]
                means = np.mean(found, axis=0)
                what = name if neighbours == "auto" else f"{name}, neighbours=False"
                lines.append([count, what, *cells, f"{means[0]:.3f} / {means[1]:.3f}"])
    columns = ["links a point", "method", *PATTERNS, "mean"]
    return markdown(
        "Points in a plane: ARI of the fit / of new points, three draws", columns, lines
    )


def shape_of(method, name, count, neighbours, seed):
    """Return the ARI of one fit, and of what it says of as many new points."""
    data = ml.datasets.make_pattern(name, 2 * POINTS, rng=seed)
    X, y = data.X[::2], data.y[::2]
    links = sample_links(y, 2 * count / POINTS, 0.9, rng=seed)
    model = method(neighbours=neighbours, random_state=0).fit(X, links=links)
    new = model.predict(data.X[1::2])
    return adjusted_rand(y, model.labels_), adjusted_rand(data.y[1::2], new)


def short(lines):
    """Return lines with numbers of two places, the mean of three."""
    return [
        [*line[:2], *(f"{value:.2f}" for value in line[2:-1]), f"{line[-1]:.3f}"] for line in lines
    ]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    wanted = {"rows": rows, "shapes": shapes}
    print("\n".join(wanted[name]() for name in sys.argv[1:] or wanted))
