"""Constrained 1-spectral clustering: normalised cuts with links, by a relaxation that is tight.

Rangapuram, Hein, AISTATS 2012. Contradictory links on a pair cancel out but for a constant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.arrays import Array, Index
from maylink.baselines.base import BaselineRun
from maylink.baselines.centers import membership
from maylink.baselines.eigenvectors import smoothest
from maylink.baselines.graph import (
    GraphBaseline,
    SimilarityGraph,
    off_diagonal,
    pair_matrix,
    scaled_laplacian,
)
from maylink.baselines.neighbourhoods import neighbourhoods
from maylink.links import Links
from maylink.parameters import check_flag, check_integer, check_number
from maylink.runtime.threads import one_thread

Side = NDArray[np.bool_]
ROUNDS = 1000  # of the inner problem in one step
GROWTH = 4.0  # of the weight of may-not links that are still broken
VAIN_GROWTHS = 3  # in a row, after which the links that are still broken cannot be kept


class ConstrainedOneSpectral(GraphBaseline):
    """Constrained 1-spectral clustering of Rangapuram and Hein.

    In a graph of similar points with weights w and degrees d, vol(C) = Σ_{i∈C} d_i, it minimises
    the normalised cut in which links that are broken count as edges that are cut: ::

        F(C_1, …, C_K) = Σ_k ( cut(C_k) + γ m(C_k) + γ n ) / vol(C_k)

    cut(C_k) is the weight of the edges that leave C_k, m(C_k) the weight of the may links that
    leave it, and n the weight of all may-not links inside clusters. For two clusters that is ::

        F(C) = ( cut(C) + γ m(C) + γ n(C) ) / S(C),    S(C) = vol(C) vol(V∖C) / vol(V)

    whose minimum over all cuts is also the minimum over all vectors that are not constant of ::

        ( Σ w_ij |f_i − f_j| + γ Σ_may |f_i − f_j| + γ Σ_not (max f − min f − |f_i − f_j|) ) / S(f)

    with sums over pairs and ``S(f) = Σ_{i<j} d_i d_j |f_i − f_j| / vol(V)``: the relaxation is
    tight. RatioDCA lowers it step by step, a convex problem in each, and the best threshold of
    every vector on the way is taken; F never rises. More clusters come from splitting: each cluster
    is split in two in its part of the graph, and the split with the least F of all clusters counts.
    A may-not link that a split leaves inside a cluster can be kept by a later one: in a split with
    r to go, itself included, may-not links weigh γ / r².

    Parameters
    ----------
    n_clusters : int, default 8
        K, the number of clusters.
    affinity : {"neighbours", "gaussian", "precomputed"}, default "neighbours"
        The graph: each point and its nearest ones, with Gaussian weights of local scale; all pairs,
        with such weights; or X is the (n, n) matrix of weights.
    n_neighbors : int, default 10
        How many nearest points a point is joined to.
    link_weight : float, default 1.0
        What a link weighs in mean degrees: γ = link_weight · vol(V) / n.
    hard : bool, default False
        Whether to merge points that may links join, and to raise the weight of may-not links
        fourfold until all are kept (all but a share (r − 1)/(r + 1), with r splits to go), or until
        three times in a row did not help to keep more of them.
    n_starts : int, default 5
        Random starts of every split, beside those from eigenvectors.
    max_sweeps : int, default 300
        Steps after which to stop a descent in any case.
    random_state : int, RandomState or Generator, optional
        Seed of the random starts.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The cluster of each point.
    n_clusters_ : int
        Number of clusters; fewer than asked for where may links merge too many points.
    objective_ : float
        F, the constrained normalised cut.
    objective_path_ : array with one entry a sweep
        F after every step of the splits that count, for as many clusters as there are by then. With
        ``n_clusters=2`` it never rises; each further cluster adds a term.
    n_iter_ : int
        Number of steps of the splits that count.
    split_paths_ : list of arrays
        For each of these splits its own ratio after every step, which never rises.
    link_weight_ : float
        γ as used in F; the greatest one where links are hard.
    broken_weight_ : float
        The weight of the links that the partition does not keep.

    Notes
    -----
    Starts are the second eigenvector of the normalised Laplacian, the first two of the Laplacian
    in which may links are edges and may-not links are edges with a negative sign, and random
    vectors; when γ has been raised, the last cut in place of random vectors. A pair with both
    edges and links counts by the sum, so contradictory links on a pair cancel out but for the
    constant that the broken one costs.

    The publication leaves open how may-not links count with more than two clusters; n over every
    volume is what makes K = 2 the two-way form. Were they to weigh γ in every split, the first
    splits would cut through clusters to keep links that later ones keep at no cost.

    With ``hard``, may-not links inside merged points contradict may links; no partition keeps
    them, and they are left out of F. Others may have no two-way cut that keeps them all (a
    triangle): then γ stops growing. The last split is chosen by the weight of the may-not links
    that are left broken, then by F. Wrong links are obeyed like right ones; without ``hard`` a link
    is overruled by edges that outweigh it.

    A step costs some hundred passes over edges and links; a split some ten steps for each start;
    K (K − 1) / 2 splits are tried.

    References
    ----------
    Rangapuram, Hein: Constrained 1-Spectral Clustering, AISTATS 2012.
    Hein, Setzer: Beyond Spectral Clustering: Tight Relaxations of Balanced Graph Cuts, NIPS 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink import Links
    >>> from maylink.baselines import ConstrainedOneSpectral
    >>> X = np.array([[0.0], [0.1], [0.2], [4.0], [4.1], [4.2]])
    >>> links = Links.from_pairs(may=[(0, 3)], may_not=[(2, 4)], n=6)
    >>> model = ConstrainedOneSpectral(2, n_neighbors=3, link_weight=0.1, random_state=0)
    >>> model.fit(X, links=links).labels_
    array([0, 0, 0, 1, 1, 1])
    >>> model.set_params(hard=True).fit(X, links=links).labels_
    array([0, 0, 0, 0, 1, 1])
    """

    split_paths_: list[Array]
    link_weight_: float
    broken_weight_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str = "neighbours",
        n_neighbors: int = 10,
        link_weight: float = 1.0,
        hard: bool = False,
        n_starts: int = 5,
        max_sweeps: int = 300,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.link_weight = link_weight
        self.hard = hard
        self.n_starts = n_starts
        self.max_sweeps = max_sweeps
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("link_weight", self.link_weight, 0.0, above=bool(self.hard))
        check_flag("hard", self.hard)
        check_integer("n_starts", self.n_starts, 0)

    def _run(self, X: Array, links: Links, rng: np.random.Generator) -> BaselineRun:
        with one_thread():
            graph = self._graph(X)
            gamma = float(self.link_weight) * graph.volume / graph.degree.size
            problem = LinkedGraph.of(graph, links)
            of_point = np.arange(graph.degree.size)
            if self.hard:
                of_point = neighbourhoods(links).of_point
                problem = problem.merge(of_point)
            splitter = Splitter(problem, bool(self.hard), self.n_starts, self.max_sweeps, rng)
            partition = splitter.split_into(self.n_clusters, gamma)
        labels = partition.labels[of_point]
        together = labels[links.i] == labels[links.j]
        return BaselineRun(
            labels,
            partition.path,
            partition.converged,
            others={
                "split_paths_": partition.split_paths,
                "link_weight_": partition.gamma,
                "broken_weight_": float(links.weight[together != (links.kind > 0)].sum()),
            },
        )


class LinkGammas(NamedTuple):
    """γ of the links in one split."""

    may: float
    may_not: float


class LinkedGraph(NamedTuple):
    """Edges, links and masses; all matrices are symmetric without a diagonal."""

    edges: sparse.csr_array
    may: sparse.csr_array
    may_not: sparse.csr_array
    mass: Array  # (n,) the degrees

    @classmethod
    def of(cls, graph: SimilarityGraph, links: Links) -> LinkedGraph:
        """Return the graph with these links."""
        may, may_not = (pair_matrix(links, links.weight * (links.kind == k)) for k in (1, -1))
        return cls(graph.weight, may, may_not, graph.degree)

    def merge(self, of_point: Index) -> LinkedGraph:
        """Return the graph whose vertices are groups of the vertices of this one."""
        members = membership(of_point, int(of_point.max()) + 1)
        edges, may, may_not = (off_diagonal(members @ m @ members.T) for m in self[:3])
        return LinkedGraph(edges, may, may_not, members @ self.mass)

    def part(self, rows: Index) -> LinkedGraph:
        """Return the graph between some of the vertices; they keep their masses."""
        edges, may, may_not = (m[rows][:, rows] for m in self[:3])
        return LinkedGraph(edges, may, may_not, self.mass[rows])

    def signed(self, gamma: LinkGammas) -> sparse.csr_array:
        """Return what cutting each pair costs; less than zero where links reward it."""
        return (self.edges + gamma.may * self.may - gamma.may_not * self.may_not).tocsr()

    def broken(self, labels: Index) -> float:
        """Return the weight of the may-not links inside clusters."""
        links = self.may_not.tocoo()
        inside = labels[links.row] == labels[links.col]
        return float(links.data[inside].sum()) / 2.0

    def cut(self, labels: Index, gamma: float) -> float:
        """Return F of a partition without empty clusters."""
        entries = (self.edges + gamma * self.may).tocoo()
        leaves = labels[entries.row] != labels[entries.col]
        n_clusters = int(labels.max()) + 1
        leaving = np.bincount(labels[entries.row[leaves]], entries.data[leaves], n_clusters)
        volumes = np.bincount(labels, self.mass, n_clusters)
        return float(((leaving + gamma * self.broken(labels)) / volumes).sum())


class Split(NamedTuple):
    """The best cut of a part of the graph."""

    sides: list[Side]  # after every step
    ratios: Array  # of these
    gamma: float
    converged: bool


class SplitPartition(NamedTuple):
    """The partition after all splits."""

    labels: Index
    path: Array
    split_paths: list[Array]
    gamma: float
    converged: bool


class Splitter(NamedTuple):
    """Splits clusters until there are enough of them."""

    graph: LinkedGraph
    hard: bool
    n_starts: int
    max_sweeps: int
    rng: np.random.Generator

    def split_into(self, n_clusters: int, gamma: float) -> SplitPartition:
        """Split until there are K clusters, or none can be split."""
        labels = np.zeros(self.graph.mass.size, np.int64)
        path: list[float] = []
        split_paths: list[Array] = []
        converged, last = True, gamma
        for new in range(1, n_clusters):
            to_come = n_clusters - new
            best: tuple[tuple[float, float], int, Split] | None = None
            for cluster in range(new):
                candidate = self.split(np.flatnonzero(labels == cluster), gamma, to_come)
                if candidate is None:
                    continue
                after = put(labels, cluster, candidate.sides[-1], new)
                broken = self.graph.broken(after) if self.hard and to_come == 1 else 0.0
                rank = (broken, self.graph.cut(after, gamma))
                if best is None or rank < best[0]:
                    best = rank, cluster, candidate
            if best is None:
                break
            _, cluster, split = best
            last = max(last, split.gamma)
            path += [self.graph.cut(put(labels, cluster, s, new), last) for s in split.sides]
            split_paths.append(split.ratios)
            converged &= split.converged
            labels = put(labels, cluster, split.sides[-1], new)
        whole_path = np.array(path or [self.graph.cut(labels, last)])
        return SplitPartition(labels, whole_path, split_paths, last, converged)

    def split(self, rows: Index, gamma: float, to_come: int) -> Split | None:
        """Return the best cut in two of some vertices, None of a single one."""
        if rows.size < 2:
            return None
        part = self.graph.part(rows)
        weights = LinkGammas(gamma, gamma / to_come**2)
        best = self._best(part, weights, None)
        if not self.hard:
            return best
        allowed = (to_come - 1) / (to_come + 1) * float(part.may_not.sum()) / 2.0
        least, vain = part.broken(best.sides[-1].astype(np.int64)), 0
        while least > allowed and vain < VAIN_GROWTHS:
            weights = weights._replace(may_not=weights.may_not * GROWTH)
            trial = self._best(part, weights, best.sides[-1])
            broken = part.broken(trial.sides[-1].astype(np.int64))
            vain = 0 if broken < least else vain + 1
            if broken < least:
                best, least = trial, broken
        return best

    def _best(self, part: LinkedGraph, gamma: LinkGammas, before: Side | None) -> Split:
        """Descend from every start and keep the least ratio."""
        splits = [
            descend(part, gamma, f, self.max_sweeps) for f in self._starts(part, gamma, before)
        ]
        return min(splits, key=lambda split: float(split.ratios[-1]))

    def _starts(self, part: LinkedGraph, gamma: LinkGammas, before: Side | None) -> Iterator[Array]:
        n = part.mass.size
        if before is not None:
            yield before.astype(np.float64)
        root = np.sqrt(part.mass)
        yield smoothest(scaled_laplacian(part.edges, part.mass), 2, self.rng)[1][:, 1] / root
        if part.may.nnz or part.may_not.nnz:
            signed = scaled_laplacian(part.signed(gamma), part.mass)
            yield from (smoothest(signed, 2, self.rng)[1] / root[:, None]).T
        for _ in range(self.n_starts if before is None else 0):
            yield self.rng.standard_normal(n)


def descend(part: LinkedGraph, gamma: LinkGammas, start: Array, max_sweeps: int) -> Split:
    """Lower the ratio of the best threshold of ``start`` until no step does."""
    from maylink.baselines.kernels import one_spectral

    signed = part.signed(gamma)
    signed.sort_indices()
    csr = signed.indptr.astype(np.int64), signed.indices.astype(np.int64), signed.data
    upper = sparse.triu(signed, 1).tocoo()
    keep = upper.data > 0.0
    first, second = (ends[keep].astype(np.int64) for ends in (upper.row, upper.col))
    kappa = gamma.may_not * float(part.may_not.sum()) / 2.0
    n = part.mass.size
    side = np.zeros(n, np.bool_)
    ratio = one_spectral.threshold(start, *csr, kappa, part.mass, side)
    if not np.isfinite(ratio):  # a constant start: any cut will do
        side[0] = True
        ratio = one_spectral.ratio_of(side, *csr, kappa, part.mass)
    flow, p, q = np.zeros(first.size), np.full(n, kappa / n), np.full(n, kappa / n)
    sides, ratios, moved = [side.copy()], [float(ratio)], True
    while moved and len(sides) <= max_sweeps:
        ratio, moved = one_spectral.step(
            *csr, first, second, upper.data[keep], kappa, part.mass, flow, p, q, ROUNDS, side
        )
        if moved:
            sides.append(side.copy())
            ratios.append(float(ratio))
    return Split(sides, np.array(ratios), gamma.may_not, not moved)


def put(labels: Index, cluster: int, side: Side, new: int) -> Index:
    """Return the labels after one side of a cluster became the new cluster."""
    out = labels.copy()
    out[np.flatnonzero(labels == cluster)[side]] = new
    return out
