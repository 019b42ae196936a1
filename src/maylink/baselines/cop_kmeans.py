"""COP-KMeans: K-means that keeps every link, or fails.

Wagstaff, Cardie, Rogers, Schroedl, ICML 2001. Contradictory links are an error that names them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maylink.arrays import Array, Index
from maylink.baselines.base import BaselineRun, CenterBaseline
from maylink.baselines.centers import (
    Cycle,
    check_init,
    cluster_means,
    distortion,
    initial_centers,
    membership,
    squared_distances,
)
from maylink.baselines.colouring import ApartGraph, find_colouring, smaller_proof
from maylink.baselines.neighbourhoods import Neighbourhoods, contradiction, neighbourhoods
from maylink.errors import InfeasibleLinksError
from maylink.links import Links
from maylink.parameters import check_flag, check_integer

NAMED_LINKS = 8  # at most, in a message
STEPS_FOR_EACH = 20  # neighbourhood, in later sweeps, which have an assignment to fall back on


class COPKMeans(CenterBaseline):
    r"""COP-KMeans: K-means with hard must-link and cannot-link constraints.

    It looks for the least

    .. math:: \sum_i \lVert x_i - \mu_{z_i} \rVert^2

    over the assignments that keep *every* link: points that may links join, directly or through
    others (a neighbourhood), share a cluster, and points that a may-not link keeps apart do not.

    As published, a sweep visits the points in turn and gives each the nearest cluster that violates
    no link to the points visited before it; the rest of its neighbourhood must then follow. It does
    not look back: when some point finds no cluster the run fails, though another assignment may
    exist. With ``search=True`` neighbourhoods are placed as a whole, by the sum of their squared
    distances, and a search fails only where no assignment keeps all links.

    Parameters
    ----------
    n_clusters : int, default 8
        K.
    init : {"k-means++", "random"} or array of shape (n_clusters, d), default "k-means++"
        The centres to start from: drawn by k-means++, drawn among the points, or given.
    search : bool, default False
        Whether to search for an assignment by backtracking.
    max_steps : int, default 10_000_000
        How many times one search may give a neighbourhood a cluster before it gives up, seconds of
        work; for ``search=True``.
    n_init : int, default 1
        Runs from other centres, and in another order; the least objective is kept. Those that fail
        drop out.
    max_sweeps : int, default 300
        Sweeps after which to stop in any case.
    random_state : int, RandomState or Generator, optional
        Seed of the starts and of the order of the points.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The cluster of each point.
    n_clusters_ : int
        How many clusters have points.
    cluster_centers_ : array of shape (K, d)
        The mean of each cluster.
    objective_, objective_path_ : float, array with one entry a sweep
        The objective at the end and after each sweep.
    n_iter_ : int
        Number of sweeps.

    Raises
    ------
    InfeasibleLinksError
        When no run could keep all links; the message names some that cannot be kept together, or
        says that a search spent ``max_steps`` before it knew.

    Notes
    -----
    A sweep costs O(n d K + l) for l links. A search adds, at worst, a time exponential in the
    number of neighbourhoods in the K-core of the may-not links, those that have K or more others
    there to be apart from; the rest always find a cluster. Wrong links are obeyed like right ones,
    and links that contradict each other are an error. Links have no weights here: one vote or a
    hundred, a link is kept.

    The points are visited in one random order, drawn once for each run. The objective may rise from
    one sweep to the next, as a point that is visited early takes a cluster from one to which it
    matters more. So sweeps may repeat in a cycle; a run then stops at the cheapest assignment of
    the cycle. With ``search=True`` the objective never rises: a sweep takes the assignment of the
    search or the one before, whichever is cheaper, and moves each neighbourhood to the nearest
    cluster that the others leave open to it.

    A cluster that loses all points keeps its centre, and is left out of the result if it stays so.

    References
    ----------
    Wagstaff, Cardie, Rogers, Schroedl: Constrained K-means Clustering with Background Knowledge,
    2001.
    Brélaz: New Methods to Color the Vertices of a Graph, 1979.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.baselines import COPKMeans
    >>> X = np.array([[0.0], [0.2], [5.0], [5.2]])
    >>> COPKMeans(2, random_state=0).fit(X, links=([(1, 2)], [(0, 1)])).labels_
    array([0, 1, 1, 1])
    >>> triangle = [(0, 1), (1, 2), (0, 2)]
    >>> COPKMeans(2, search=True).fit(X, links=([], triangle))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    maylink.errors.InfeasibleLinksError: links: no assignment to n_clusters=2 clusters keeps the ...
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        search: bool = False,
        max_steps: int = 10_000_000,
        n_init: int = 1,
        max_sweeps: int = 300,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.search = search
        self.max_steps = max_steps
        self.n_init = n_init
        self.max_sweeps = max_sweeps
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_init(self.init)
        check_flag("search", self.search)
        check_integer("max_steps", self.max_steps, 1)

    def _run(self, X: Any, links: Links, rng: np.random.Generator) -> BaselineRun:
        blocks = neighbourhoods(links)
        if blocks.torn.size:
            raise InfeasibleLinksError(contradiction(links))
        centers = initial_centers(X, self.init, self.n_clusters, rng)
        assign: BacktrackingAssignment | AssignmentInOrder
        if self.search:
            assign = BacktrackingAssignment(X, links, blocks, self.max_steps)
        else:
            assign = AssignmentInOrder(X, links, blocks, rng)
        cycle = Cycle()
        converged = False
        try:
            while len(cycle.path) < self.max_sweeps and not converged:
                labels = assign(centers)[blocks.of_point]
                centers = cluster_means(X, labels, centers)
                converged = cycle.ends(labels, centers, distortion(X, labels, centers))
        except _StuckError as stuck:
            failure = InfeasibleLinksError(str(stuck))
            return BaselineRun(np.zeros(len(X), np.int64), np.array([np.inf]), failure=failure)
        return BaselineRun(labels, np.array(cycle.path), converged, {"cluster_centers_": centers})


class AssignmentInOrder:
    """The published assignment: each point in turn, none is ever moved again.

    The first point of a neighbourhood decides for all of it.
    """

    def __init__(
        self, X: Array, links: Links, blocks: Neighbourhoods, rng: np.random.Generator
    ) -> None:
        self.links, self.blocks, self.graph = links, blocks, ApartGraph.of(blocks)
        order = rng.permutation(len(X))
        first = np.sort(np.unique(blocks.of_point[order], return_index=True)[1])
        self.order = blocks.of_point[order[first]]
        self.leader = np.empty((first.size, X.shape[1]))
        self.leader[self.order] = X[order[first]]

    def __call__(self, centers: Array) -> Index:
        """Return the cluster of each neighbourhood."""
        from maylink.baselines.kernels.colouring import place_in_order

        labels = np.full(self.blocks.size.size, -1)
        cost = squared_distances(self.leader, centers)
        stuck = place_in_order(self.order, cost, *self.graph, labels)
        if stuck >= 0:
            raise _StuckError(_no_cluster_left(self.links, self.blocks, labels, stuck))
        return labels


class BacktrackingAssignment:
    """An assignment by search: neighbourhoods as a whole, at no more cost than the one before."""

    def __init__(self, X: Array, links: Links, blocks: Neighbourhoods, max_steps: int) -> None:
        self.X, self.links, self.blocks, self.graph = X, links, blocks, ApartGraph.of(blocks)
        self.max_steps = max_steps
        self.members = membership(blocks.of_point, blocks.size.size)
        self.labels: Index | None = None

    def __call__(self, centers: Array) -> Index:
        """Return the cluster of each neighbourhood."""
        from maylink.baselines.kernels.colouring import move_once

        cost = np.asarray(self.members @ squared_distances(self.X, centers))
        labels = self._search(cost)
        move_once(cost, *self.graph, labels)
        if self.labels is not None:
            before = self.labels.copy()
            move_once(cost, *self.graph, before)
            rows = np.arange(before.size)
            if cost[rows, before].sum() <= cost[rows, labels].sum():
                labels = before
        self.labels = labels
        return labels

    def _search(self, cost: Array) -> Index:
        steps = self.max_steps
        if self.labels is not None:
            steps = min(steps, STEPS_FOR_EACH * self.graph.size)
        colouring = find_colouring(self.graph, cost, steps)
        if colouring.labels is not None:
            return colouring.labels
        if self.labels is not None:
            return self.labels.copy()
        if colouring.impossible.size:
            proof = smaller_proof(self.graph, colouring.impossible, cost.shape[1])
            raise InfeasibleLinksError(
                _too_few_clusters(self.links, self.blocks, proof, cost.shape[1])
            )
        raise _StuckError(
            f"links: the search made max_steps={self.max_steps} steps and found neither an "
            "assignment that keeps all links nor a proof that there is none; raise max_steps or "
            "n_clusters, or use a method that weighs links, such as RDPMeans"
        )


# ---------------------------------------------------------------------- which links cannot be kept


class _StuckError(Exception):
    """A run that failed, though another start may do better."""


def _no_cluster_left(links: Links, blocks: Neighbourhoods, labels: Index, stuck: int) -> str:
    pairs = np.asarray(links.may_not, np.int64)
    block = blocks.of_point[pairs]
    touching = np.flatnonzero((block == stuck).any(axis=1))
    other = np.where(block[touching, 0] == stuck, block[touching, 1], block[touching, 0])
    clusters = labels[other]
    _, one = np.unique(clusters, return_index=True)  # one link of each cluster shows it
    point = int(np.argmax(blocks.of_point == stuck))
    whose = f"point {point}" + " and those that may links join it to" * int(blocks.size[stuck] > 1)
    return (
        f"links: no cluster is left for {whose}: the may-not links "
        f"{_names(pairs[touching[one[clusters[one] >= 0]]])} keep it out of all clusters; the "
        "points are placed one by one and none is moved again, so another assignment may exist: "
        "set search=True, or raise n_init or n_clusters"
    )


def _too_few_clusters(links: Links, blocks: Neighbourhoods, proof: Index, n_clusters: int) -> str:
    pairs = np.asarray(links.may_not, np.int64)
    block = np.sort(blocks.of_point[pairs], axis=1)
    inside = np.flatnonzero(np.isin(block, proof).all(axis=1))
    _, one = np.unique(block[inside], axis=0, return_index=True)
    with_may = " together with may links" * bool((blocks.size[proof] > 1).any())
    return (
        f"links: no assignment to n_clusters={n_clusters} clusters keeps the may-not links "
        f"{_names(pairs[inside[np.sort(one)]])}{with_may}; raise n_clusters, drop at least one of "
        "these, or use a method that weighs links, such as RDPMeans"
    )


def _names(pairs: Index) -> str:
    names = ", ".join(f"({i}, {j})" for i, j in pairs[:NAMED_LINKS].tolist())
    return names + f" and {len(pairs) - NAMED_LINKS} more" * (len(pairs) > NAMED_LINKS)
