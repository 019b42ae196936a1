"""Plain K-means: what the data say without links.

Lloyd, 1982, by scikit-learn. Links are accepted and ignored, contradictory ones as well.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from maylink.arrays import Array
from maylink.baselines.base import BaselineRun, CenterBaseline, draw_seed
from maylink.links import Links


class PlainKMeans(CenterBaseline):
    """K-means without links: :class:`sklearn.cluster.KMeans`; links are accepted and ignored.

    It minimises ``Σ_i ‖x_i − μ_c(i)‖²``.

    Parameters
    ----------
    n_clusters : int, default 8
        Number of clusters; where fewer points differ, fewer come out.
    n_init : int, default 1
        Starts by k-means++; the least objective is kept.
    max_sweeps : int, default 300
        Sweeps after which to stop in any case.
    random_state : int, RandomState or Generator, optional
        Seed of the starts.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of each point, numbered by first appearance.
    n_clusters_ : int
        Number of clusters.
    cluster_centers_ : array of shape (K, d)
        Their centres.
    objective_ : float
        The objective of the run that was kept.
    objective_path_ : array of shape (1,)
        The same: scikit-learn does not report earlier sweeps.
    n_iter_ : int
        Sweeps of that run.

    Notes
    -----
    A sweep costs O(n K d). Whatever links say, right, wrong or contradictory, changes nothing.

    References
    ----------
    Lloyd: Least Squares Quantization in PCM, IEEE Transactions on Information Theory 28, 1982.
    Arthur, Vassilvitskii: k-means++: The Advantages of Careful Seeding, SODA 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.baselines import PlainKMeans
    >>> X = np.array([[0.0], [0.2], [5.0], [5.2]])
    >>> PlainKMeans(2, random_state=0).fit(X).labels_
    array([0, 0, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 1,
        max_sweeps: int = 300,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_sweeps = max_sweeps
        self.random_state = random_state

    def _run(self, X: Array, links: Links, rng: np.random.Generator) -> BaselineRun:
        model = KMeans(
            self.n_clusters,
            n_init=1,
            max_iter=self.max_sweeps,
            random_state=draw_seed(rng),
        )
        with warnings.catch_warnings():
            # Fewer different points than clusters: the empty ones are dropped.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X)
        return BaselineRun(
            model.labels_.astype(np.int64),
            np.array([model.inertia_]),
            model.n_iter_ < self.max_sweeps,
            by_cluster={"cluster_centers_": model.cluster_centers_},
            others={"n_iter_": int(model.n_iter_)},
        )
