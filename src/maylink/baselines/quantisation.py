"""What CVQE and LCVQE share: a K-means whose links pay for being violated.

A sweep puts each point to its nearest centre, asks the links one after the other whether to move
their points, and moves the centres. The two differ in what a link may choose and what it costs.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.baselines.base import CenterBaseline, Labels, Run
from maylink.baselines.centers import check_init, initial_centers
from maylink.links import MAY, Links
from maylink.parameters import as_link_weights, check_integer

SETTLED = 1e-8  # of the variance: centres that move less, squared, stand still


class Votes(NamedTuple):
    """The links, may links first, each kind in the order given."""

    i: NDArray[np.int64]
    j: NDArray[np.int64]
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
    def _ask(self, X: Array, votes: Votes, centers: Array, labels: Labels) -> None:
        """Ask the links, may links first, whether to move their points; labels are changed."""

    @abstractmethod
    def _move(self, X: Array, votes: Votes, centers: Array, labels: Labels) -> Array:
        """Return the new centres."""

    @abstractmethod
    def _value(self, X: Array, votes: Votes, centers: Array, labels: Labels) -> float:
        """Return the objective of labels and centres."""

    def _check_parameters(self) -> None:
        as_link_weights(self.link_weight)
        check_init(self.init)
        check_integer("n_init", self.n_init, 1)
        check_integer("max_sweeps", self.max_sweeps, 1)

    def _run(self, X: Array, links: Links, rng: np.random.Generator) -> Run:
        from maylink.kernels.cvqe import nearest

        X = np.ascontiguousarray(X)
        votes = _votes(links, self.link_weight)
        centers = initial_centers(X, self.init, self.n_clusters, rng)
        still = SETTLED * float(X.var(axis=0).mean())
        path: list[float] = []
        seen: dict[int, tuple[int, Array]] = {}
        best_of_circle = -np.inf
        converged = False
        while not converged and len(path) < self.max_sweeps:
            labels = np.empty(len(X), np.int64)
            nearest(X, turned(centers), labels)
            self._ask(X, votes, centers, labels)
            centers = self._move(X, votes, centers, labels)
            path.append(self._value(X, votes, centers, labels))
            # Labels and centres as they were before: once round the circle, then to its best
            # sweep. Most circles have a length of one.
            key = hash(labels.tobytes())
            when, where = seen.get(key, (0, None))
            if where is not None and ((centers - where) ** 2).sum() <= still:
                best_of_circle = max(best_of_circle, min(path[when + 1 :]))
            seen[key] = (len(path) - 1, centers)
            converged = path[-1] <= best_of_circle
        return Run(labels, np.array(path), converged, {"cluster_centers_": centers})


def turned(centers: Array) -> Array:
    """Return the centres with one row a feature, as the kernels want them."""
    return np.ascontiguousarray(centers.T)


def _votes(links: Links, link_weight: Any) -> Votes:
    xi_may, xi_not = as_link_weights(link_weight)
    order = np.argsort(links.kind != MAY, kind="stable")
    weight = (links.weight * np.where(links.kind == MAY, xi_may, xi_not))[order]
    i, j = links.i[order].astype(np.int64), links.j[order].astype(np.int64)
    return Votes(i, j, weight, int((links.kind == MAY).sum()))
