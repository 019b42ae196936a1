"""Heavy tails and outliers without links: F beside K-means that is told k.

    python benchmarks/tails.py

Four clusters, 400 points, centres 12 apart, Student-t distributed with 2, 4 or infinitely many
degrees of freedom in each feature; and Gaussian clusters with 30 more points spread over a wider
range. Three draws each. "as they are": points are not drawn in.
"""

from unittest import mock

import numpy as np
from sklearn.cluster import KMeans

import maylink as ml
from maylink.metrics import pair_f


def clusters(seed, d, freedom, outliers=0, n=400):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    centers = 12 * np.eye(4, d) if d > 2 else 12 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    noise = rng.standard_t(freedom, (n, d)) if np.isfinite(freedom) else rng.normal(size=(n, d))
    X = centers[y] + noise
    far = rng.uniform(X.min(axis=0) - 12, X.max(axis=0) + 12, (outliers, d))
    return np.vstack([X, far]), y


def scores(X, y):
    n = len(y)
    models = {"TVClust": ml.TVClust(random_state=0), "RDPMeans": ml.RDPMeans(random_state=0)}
    out = {"K-means told k": pair_f(y, KMeans(4, n_init=10, random_state=0).fit(X).labels_[:n])}
    for name, model in models.items():
        out[name] = pair_f(y, model.fit(X).labels_[:n])
        with mock.patch("maylink.tuning.heavy_tails.find_tails", return_value=None):
            out[f"{name} as they are"] = pair_f(y, model.fit(X).labels_[:n])
    return out


def main():
    print("d  freedom  outliers  " + "  ".join(scores(*clusters(0, 2, np.inf))))
    for d in (2, 6):
        for freedom, outliers in ((2, 0), (4, 0), (np.inf, 0), (np.inf, 30)):
            rows = [scores(*clusters(seed, d, freedom, outliers)) for seed in range(3)]
            cells = [
                f"{np.mean([row[name] for row in rows]):.3f}".rjust(len(name)) for name in rows[0]
            ]
            print(f"{d}  {freedom:7}  {outliers:8}  " + "  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
