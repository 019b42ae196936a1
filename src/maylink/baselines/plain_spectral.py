"""Plain spectral clustering: what a graph of the data says without links.

Shi, Malik, 2000, by scikit-learn. Links are accepted and ignored, contradictory ones as well.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.cluster import SpectralClustering
from sklearn.neighbors import kneighbors_graph

from maylink.arrays import Array, Index
from maylink.baselines.base import BaselineRun, draw_seed
from maylink.baselines.graph import GraphBaseline, symmetric_weights
from maylink.links import Links


class PlainSpectral(GraphBaseline):
    """Spectral clustering without links: :class:`sklearn.cluster.SpectralClustering`.

    Links are accepted and ignored. It relaxes the normalised cut of an affinity W,
    ``Σ_k W(k, others) / W(k, all)``: K-means on the first eigenvectors of the graph's Laplacian.

    Parameters
    ----------
    n_clusters : int, default 8
        Number of clusters; where fewer points differ, each of them is a cluster.
    affinity : {"nearest_neighbors", "precomputed"}, default "nearest_neighbors"
        What W is: 1 for a point and each of its nearest neighbours, made symmetric, or X itself,
        an n × n matrix.
    n_neighbors : int, default 10
        How many neighbours, the point itself included; n at the most.
    random_state : int, RandomState or Generator, optional
        Seed of the eigensolver and of K-means (ten starts).

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of each point, numbered by first appearance.
    n_clusters_ : int
        Number of clusters.
    objective_ : float
        Normalised cut of ``labels_``.
    objective_path_ : array of shape (1,)
        The same.
    n_iter_ : int
        1: there are no sweeps.

    Notes
    -----
    About O(n n_neighbors K) for an eigensolver's step beside the search of neighbours. A graph that
    falls apart into more parts than clusters leaves the choice among them to chance. Whatever links
    say, right, wrong or contradictory, changes nothing.

    References
    ----------
    Shi, Malik: Normalized Cuts and Image Segmentation, IEEE Transactions on Pattern Analysis and
    Machine Intelligence 22, 2000.
    von Luxburg: A Tutorial on Spectral Clustering, Statistics and Computing 17, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.baselines import PlainSpectral
    >>> X = np.array([[0.0], [0.2], [0.4], [5.0], [5.2], [5.4]])
    >>> PlainSpectral(2, n_neighbors=3, random_state=0).fit(X).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    affinities: ClassVar[tuple[str, ...]] = ("nearest_neighbors", "precomputed")

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str = "nearest_neighbors",
        n_neighbors: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def _run(self, X: Array, links: Links, rng: np.random.Generator) -> BaselineRun:
        affinity = self._affinity(X)
        labels = _labels_of_distinct_rows(X, self.n_clusters)
        if labels is None:
            model = SpectralClustering(
                self.n_clusters, affinity="precomputed", random_state=draw_seed(rng)
            )
            with warnings.catch_warnings():
                # A graph in several parts, and fewer different rows of the embedding than clusters.
                warnings.simplefilter("ignore", UserWarning)
                labels = model.fit(affinity).labels_.astype(np.int64)
        return BaselineRun(labels, np.array([normalised_cut(affinity, labels)]))

    def _affinity(self, X: Array) -> Any:
        if self.affinity == "precomputed":
            return symmetric_weights(X)
        n_neighbors = min(self.n_neighbors, len(X))
        graph = kneighbors_graph(X, n_neighbors, include_self=True)
        return 0.5 * (graph + graph.T)


def normalised_cut(affinity: Any, labels: Index) -> float:
    """Return Σ_k W(k, others) / W(k, all); a cluster without any affinity counts 0."""
    entries = sparse.coo_array(affinity)
    rows, columns = labels[entries.coords[0]], labels[entries.coords[1]]
    volume = np.bincount(rows, entries.data, minlength=int(labels.max()) + 1)
    cut = np.bincount(rows, entries.data * (rows != columns), minlength=volume.size)
    return float((cut[volume > 0] / volume[volume > 0]).sum())


def _labels_of_distinct_rows(X: Array, n_clusters: int) -> Index | None:
    """Return the labels where there are clusters enough for all different rows, or None."""
    distinct, labels = np.unique(X, axis=0, return_inverse=True)
    return labels.reshape(-1).astype(np.int64) if len(distinct) <= n_clusters else None
