"""K-means and spectral clustering of scikit-learn, with the face of the baselines.

They show what the data say without links: links are accepted, and ignored.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import kneighbors_graph

from maylink.arrays import Array
from maylink.baselines.base import Baseline, CenterBaseline, Labels, Run
from maylink.errors import MaylinkError
from maylink.links import Links
from maylink.parameters import check_choice, check_integer

AFFINITIES = ("nearest_neighbors", "precomputed")
LARGEST_SEED = 2**31
ASYMMETRY = 1e-10  # by which two halves of an affinity may differ, as a part of its largest value


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
        The same: scikit-learn does not tell what came before.
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

    def _check_parameters(self) -> None:
        check_integer("n_init", self.n_init, 1)
        check_integer("max_sweeps", self.max_sweeps, 1)

    def _run(self, X: Array, links: Links, rng: np.random.Generator) -> Run:
        model = KMeans(
            self.n_clusters,
            n_init=1,
            max_iter=self.max_sweeps,
            random_state=int(rng.integers(LARGEST_SEED)),
        )
        with warnings.catch_warnings():
            # Fewer different points than clusters: the empty ones are dropped.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X)
        return Run(
            model.labels_.astype(np.int64),
            np.array([model.inertia_]),
            model.n_iter_ < self.max_sweeps,
            by_cluster={"cluster_centers_": model.cluster_centers_},
            others={"n_iter_": int(model.n_iter_)},
        )


class PlainSpectral(Baseline):
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == "precomputed"
        return tags

    def _check_parameters(self) -> None:
        check_choice("affinity", self.affinity, AFFINITIES)
        check_integer("n_neighbors", self.n_neighbors, 1)

    def _run(self, X: Array, links: Links, rng: np.random.Generator) -> Run:
        affinity = self._affinity(X)
        labels = _each_by_itself(X, self.n_clusters)
        if labels is None:
            model = SpectralClustering(
                self.n_clusters,
                affinity="precomputed",
                random_state=int(rng.integers(LARGEST_SEED)),
            )
            with warnings.catch_warnings():
                # A graph in several parts, and fewer different rows of the embedding than clusters.
                warnings.simplefilter("ignore", UserWarning)
                labels = model.fit(affinity).labels_.astype(np.int64)
        return Run(labels, np.array([normalised_cut(affinity, labels)]))

    def _affinity(self, X: Array) -> Any:
        if self.affinity == "nearest_neighbors":
            n_neighbors = min(self.n_neighbors, len(X))
            graph = kneighbors_graph(X, n_neighbors, include_self=True)
            return 0.5 * (graph + graph.T)
        if X.shape[0] != X.shape[1]:
            raise MaylinkError(f"X: shape {X.shape}; affinity='precomputed' needs an n × n matrix")
        bad = (X < 0.0) | (np.abs(X - X.T) > ASYMMETRY * np.abs(X).max())
        if bad.any():
            row, column = (int(v) for v in np.argwhere(bad)[0])
            raise MaylinkError(
                f"X[{row}, {column}] = {X[row, column]:g}: affinity='precomputed' needs a "
                "symmetric matrix without negative values"
            )
        return X


def normalised_cut(affinity: Any, labels: Labels) -> float:
    """Return Σ_k W(k, others) / W(k, all); a cluster without any affinity counts 0."""
    entries = sparse.coo_array(affinity)
    rows, columns = labels[entries.coords[0]], labels[entries.coords[1]]
    volume = np.bincount(rows, entries.data, minlength=int(labels.max()) + 1)
    cut = np.bincount(rows, entries.data * (rows != columns), minlength=volume.size)
    return float((cut[volume > 0] / volume[volume > 0]).sum())


def _each_by_itself(X: Array, n_clusters: int) -> Labels | None:
    """Return the labels where there are clusters enough for all different rows, or None."""
    distinct, labels = np.unique(X, axis=0, return_inverse=True)
    return labels.reshape(-1).astype(np.int64) if len(distinct) <= n_clusters else None
