"""Seeded K-means: K-means that starts from points with known labels.

Basu, Banerjee, Mooney, ICML 2002. Links that contradict each other are no seeds.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Index
from maylink.baselines.base import BaselineRun, CenterBaseline
from maylink.baselines.centers import cluster_means, distortion, plus_plus, squared_distances
from maylink.baselines.neighbourhoods import neighbourhoods
from maylink.errors import MaylinkError
from maylink.labels import label_codes
from maylink.link_forms import LinksLike
from maylink.links import Links
from maylink.parameters import forbid_links_as_y


class SeededKMeans(CenterBaseline):
    r"""Seeded K-means: K-means whose first centres are the means of labelled points.

    It descends

    .. math:: \sum_i \lVert x_i - \mu_{z_i} \rVert^2

    from the means of the seeds, points whose label is known. After that the seeds are points like
    any other and may change clusters; :class:`ConstrainedSeededKMeans` keeps them where they are.

    Parameters
    ----------
    n_clusters : int, default 8
        K, at least the number of labels. Clusters that no label stands for start where k-means++
        puts them, given the means of the seeds.
    n_init : int, default 1
        Runs, of which the least objective is kept; they differ only where k-means++ had a choice.
    max_sweeps : int, default 300
        Sweeps after which to stop in any case.
    random_state : int, RandomState or Generator, optional
        Seed of k-means++.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The cluster of each point, numbered by first appearance.
    classes_ : array of shape (K,)
        The label that seeded each cluster; None where no label did.
    n_clusters_ : int
        How many clusters have points.
    cluster_centers_ : array of shape (K, d)
        The mean of each cluster.
    objective_, objective_path_ : float, array with one entry a sweep
        The objective at the end and after each sweep; it never rises.
    n_iter_ : int
        Number of sweeps.

    Notes
    -----
    A sweep costs O(n d K). Where no labels are given the seeds come from links: the neighbourhoods
    that may links make, the largest first (the first to appear of equal ones), K at most. One that
    a may-not link runs inside of, so that links contradict each other, is left out, and so is a
    point without may links. Nothing else of the links is used. Two neighbourhoods of one true
    cluster start two clusters, and a wrong may link starts one half way between two: seeds are
    believed. Without labels and links it is K-means from k-means++.

    A cluster that loses all points keeps its centre, and is left out of the result if it stays so.

    References
    ----------
    Basu, Banerjee, Mooney: Semi-supervised Clustering by Seeding, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.baselines import SeededKMeans
    >>> X = np.array([[0.0], [0.2], [5.0], [5.2], [9.0]])
    >>> model = SeededKMeans(2, random_state=0).fit(X, labels=["low", None, None, "high", None])
    >>> model.labels_
    array([0, 0, 1, 1, 1])
    >>> model.classes_
    array(['low', 'high'], dtype=object)
    """

    _seeds_stay: ClassVar[bool] = False

    classes_: NDArray[np.object_]

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

    def fit(
        self, X: Any, y: Any = None, *, labels: Any = None, links: LinksLike | None = None
    ) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The data.
        y : ignored
            For scikit-learn, which hands true labels on to whatever it scores.
        labels : array-like of shape (n,), optional
            The label of each point; −1, None or NaN where it is unknown.
        links : Links, pair of lists, n × n matrix, DataFrame or None
            Links between the rows, from which the seeds come where no label is known; not to be
            given together with labels.

        Returns
        -------
        self
        """
        forbid_links_as_y(y)
        seeds = None if labels is None else _seeds_of_labels(labels)
        return self._fit(X, links, partial(self._run, seeds=seeds))

    def fit_predict(
        self, X: Any, y: Any = None, *, labels: Any = None, links: LinksLike | None = None
    ) -> Index:
        """Cluster the rows of X and return their clusters; parameters as in :meth:`fit`."""
        return self.fit(X, y, labels=labels, links=links).labels_

    def _run(
        self, X: Any, links: Links, rng: np.random.Generator, seeds: Seeds | None = None
    ) -> BaselineRun:
        of_point, classes = self._seeds(len(X), links, seeds)
        rows = np.flatnonzero(of_point >= 0)
        means = cluster_means(X[rows], of_point[rows], np.empty((classes.size, X.shape[1])))
        centers = plus_plus(X, means, self.n_clusters, rng)
        labels = np.full(len(X), -1)
        path: list[float] = []
        converged = False
        while len(path) < self.max_sweeps and not converged:
            before, labels = labels, squared_distances(X, centers).argmin(axis=1)
            if self._seeds_stay:
                labels[rows] = of_point[rows]
            centers = cluster_means(X, labels, centers)
            path.append(distortion(X, labels, centers))
            converged = bool((labels == before).all())
        names = np.full(self.n_clusters, None, object)
        names[: classes.size] = classes
        by_cluster = {"cluster_centers_": centers, "classes_": names}
        return BaselineRun(labels, np.array(path), converged, by_cluster)

    def _seeds(self, n: int, links: Links, seeds: Seeds | None) -> Seeds:
        """Return the seeds that the labels give, or where there are none, those of the links."""
        if seeds is not None and seeds.of_point.size != n:
            raise MaylinkError(
                f"labels: {seeds.of_point.size} of them, but X has {n} rows; give one per row"
            )
        if seeds is None or not seeds.classes.size:
            return _seeds_of_links(links, self.n_clusters)
        if links.n_links:
            raise MaylinkError(
                "links: not used when labels are given; leave one of them out, or turn the labels "
                "into links with Links.from_labels"
            )
        if seeds.classes.size > self.n_clusters:
            raise MaylinkError(
                f"labels: {seeds.classes.size} different ones, more than "
                f"n_clusters={self.n_clusters}; raise n_clusters, or write −1 where a "
                "label is unknown"
            )
        return seeds


class Seeds(NamedTuple):
    """Points whose cluster is known before the first sweep."""

    of_point: Index
    """The number of the seed of each point, −1 for none."""
    classes: NDArray[np.object_]
    """The label of each seed; None where no label was given."""


def _seeds_of_labels(labels: Any) -> Seeds:
    codes, names = label_codes(labels, "labels")
    codes_of_seeds = [k for k, name in enumerate(names) if isinstance(name, str) or name != -1]
    new = np.full(len(names) + 1, -1)  # the last one, for labels that are missing
    new[codes_of_seeds] = np.arange(len(codes_of_seeds))
    classes = np.empty(len(codes_of_seeds), object)
    classes[:] = [names[k] for k in codes_of_seeds]
    return Seeds(new[codes], classes)


def _seeds_of_links(links: Links, n_clusters: int) -> Seeds:
    """Return the largest neighbourhoods without contradictory links, K at most."""
    blocks = neighbourhoods(links)
    largest = np.argsort(-blocks.size, kind="stable")
    can_seed = (blocks.size[largest] > 1) & ~np.isin(largest, blocks.torn)
    chosen = largest[can_seed][:n_clusters]
    seed = np.full(blocks.size.size, -1)
    seed[chosen] = np.arange(chosen.size)
    return Seeds(seed[blocks.of_point], np.full(chosen.size, None, object))
