"""What CVQE and LCVQE share: a K-means in which each violated link costs something.

A sweep puts each point to its nearest centre, lets the links one after the other move their points,
and moves the centres. The two differ in where a link may move its points and what it costs.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Array, Index
from maylink.baselines.base import BaselineRun, CenterBaseline
from maylink.baselines.centers import Cycle, check_init, initial_centers
from maylink.links import MAY, Links
from maylink.parameters import as_link_weights

STILL = 1e-8  # of the variance: centres that move less, squared, stand still


class OrderedVotes(NamedTuple):
    """The links, may links first, each kind in the order given."""

    i: Index
    j: Index
    weight: Array
    """Votes times the link weight of the kind."""
    n_may: int


class Quantiser(CenterBaseline):
    """A K-means with links: nearest centre, links in order, new centres."""

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        link_weight: Any = 1.0,
        init: Any = "k-means++",
        n_init: int = 1,
        max_sweeps: int = 300,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.link_weight = link_weight
        self.init = init
        self.n_init = n_init
        self.max_sweeps = max_sweeps
        self.random_state = random_state

    @abstractmethod
    def _reassign(self, X: Array, votes: OrderedVotes, centers: Array, labels: Index) -> None:
        """Change the labels of points with violated links, one link after the other."""

    @abstractmethod
    def _move(self, X: Array, votes: OrderedVotes, centers: Array, labels: Index) -> Array:
        """Return the new centres."""

    @abstractmethod
    def _value(self, X: Array, votes: OrderedVotes, centers: Array, labels: Index) -> float:
        """Return the objective of labels and centres."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        as_link_weights(self.link_weight)
        check_init(self.init)

    def _run(self, X: Array, links: Links, rng: np.random.Generator) -> BaselineRun:
        from maylink.baselines.kernels.quantisation import nearest

        X = np.ascontiguousarray(X)
        votes = _ordered_votes(links, self.link_weight)
        centers = initial_centers(X, self.init, self.n_clusters, rng)
        cycle = Cycle(STILL * float(X.var(axis=0).mean()))
        converged = False
        while not converged and len(cycle.path) < self.max_sweeps:
            labels = np.empty(len(X), np.int64)
            nearest(X, by_feature(centers), labels)
            self._reassign(X, votes, centers, labels)
            centers = self._move(X, votes, centers, labels)
            converged = cycle.ends(labels, centers, self._value(X, votes, centers, labels))
        return BaselineRun(labels, np.array(cycle.path), converged, {"cluster_centers_": centers})


def by_feature(centers: Array) -> Array:
    """Return the centres with one row a feature, as the kernels take them."""
    return np.ascontiguousarray(centers.T)


def _ordered_votes(links: Links, link_weight: Any) -> OrderedVotes:
    xi_may, xi_not = as_link_weights(link_weight)
    order = np.argsort(links.kind != MAY, kind="stable")
    weight = (links.weight * np.where(links.kind == MAY, xi_may, xi_not))[order]
    i, j = links.i[order].astype(np.int64), links.j[order].astype(np.int64)
    return OrderedVotes(i, j, weight, int((links.kind == MAY).sum()))
