"""Metrics that MPCK-means learns, and what points and links measure in them.

``‖x‖²_A = xᵀ A x`` with A diagonal, full or the identity, one for each cluster or one for all. The
metric of a cluster that makes the objective of :class:`maylink.baselines.MPCKMeans` least is
``A = n S⁻¹``, S a sum of squares over its points and its violated links, n its number of points.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from maylink.arrays import Array, Index
from maylink.baselines.pck_means import CONSTANT_COST, SignedVotes
from maylink.runtime.threads import share

MOST_PAIRS = 500_000  # to measure in search of the points farthest apart: all pairs of n = 1000


class Measurements(NamedTuple):
    """The terms of the objective of MPCK-means at some centres and metrics."""

    cost: Array
    """(n, K) ‖x − μ_k‖² − log det A_k."""
    between: Array
    """(n_links, K or 1) ‖x_i − x_j‖² in each metric; (0, 1) where links have constant cost."""
    span: Array
    """(K or 1, d) s of each metric."""
    far: Array
    """(K or 1,) ‖s‖²."""


class LinkedData:
    """The points and the links, laid out for the kernels.

    Parameters
    ----------
    rows : array of shape (n, d)
        The points, with a mean of zero.
    votes : SignedVotes
        The links.
    by_distance : bool
        Whether a violated link costs by the distance of its points.
    """

    def __init__(self, rows: Array, votes: SignedVotes, by_distance: bool) -> None:
        i, j, signed = votes.pairs
        self.rows = np.ascontiguousarray(rows)
        self.columns = np.ascontiguousarray(rows.T)
        self.votes = votes
        self.by_distance = by_distance and signed.size > 0
        self.any_may_not = bool(np.any(signed < 0))
        gaps = rows[i] - rows[j] if self.by_distance else np.empty((0, rows.shape[1]))
        self.gaps = np.ascontiguousarray(gaps.T)
        self._pairs: dict[int, Index] = {}  # farthest apart in each metric so far

    def measure(self, centers: Array, metrics: ClusterMetrics) -> Measurements:
        """Measure points and links, and find the widest span in each metric."""
        cost = metrics.squares(self.columns, centers)
        cost -= metrics.log_det
        span = np.zeros((metrics.log_det.size, self.rows.shape[1]))
        if not self.by_distance:
            between, far = CONSTANT_COST
            return Measurements(cost, between, span, far)
        origins = np.zeros_like(span)
        between = metrics.squares(self.gaps, origins)
        if self.any_may_not:
            span = metrics.widest(self)
        far = np.diagonal(metrics.squares(np.ascontiguousarray(span.T), origins)).copy()
        return Measurements(cost, between, span, far)

    def span(self, k: int, turned: Array, weights: Array, square: Array) -> Array:
        """Return the difference of the two points farthest apart, or one that is at least as long.

        Parameters
        ----------
        k : int
            Which metric.
        turned : array of shape (d, n)
            The points, in coordinates in which the metric is diagonal.
        weights : array of shape (d,)
            The metric in these coordinates.
        square : array of shape (n,)
            Squared distance of each point from the mean.
        """
        from maylink.baselines.kernels.pck_means import farthest

        pair = self._pairs.setdefault(k, np.zeros(2, np.int64))
        if farthest(turned, weights, square, MOST_PAIRS, pair):
            return np.asarray(self.rows[pair[0]] - self.rows[pair[1]])
        return np.asarray(2 * self.rows[square.argmax()])

    def objective(self, now: Measurements, labels: Index) -> float:
        """Return the objective of MPCK-means."""
        from maylink.baselines.kernels.pck_means import penalty

        link_cost: float = penalty(*self.votes.pairs, now.between, now.far, labels)
        return float(now.cost[np.arange(labels.size), labels].sum()) + link_cost


class ClusterMetrics(Protocol):
    """One metric for each cluster, or one for all."""

    log_det: Array

    def squares(self, columns: Array, centers: Array) -> Array:
        """Return ‖x − μ_k‖² in metric k for the columns x, shape (n, K)."""

    def widest(self, data: LinkedData) -> Array:
        """Return the difference of the two points farthest apart in each metric."""

    def update(
        self, data: LinkedData, labels: Index, centers: Array, size: Index, span: Array
    ) -> ClusterMetrics:
        """Return the metrics that make the objective least, all else held."""

    def matrices(self, n_clusters: int) -> Array:
        """Return the matrices, or their diagonals, one for each cluster."""


class DiagonalMetrics:
    """Weights of the features, at most ``ceiling``."""

    def __init__(self, weights: Array, ceiling: Array) -> None:
        self.weights = weights
        self.ceiling = ceiling
        self.log_det = np.log(weights).sum(axis=1)

    def squares(self, columns: Array, centers: Array) -> Array:
        """Return ‖x − μ_k‖² in metric k for the columns x, shape (n, K)."""
        from maylink.baselines.kernels.pck_means import squares

        out = np.empty((columns.shape[1], len(centers)))
        squares(columns, centers, self.matrices(len(centers)), out)
        return out

    def widest(self, data: LinkedData) -> Array:
        """Return the difference of the two points farthest apart in each metric."""
        square = np.ascontiguousarray(self.squares(data.columns, np.zeros_like(self.weights)).T)
        spans = np.empty(self.weights.shape)

        def search(low: int, high: int) -> None:
            for k in range(low, high):
                spans[k] = data.span(k, data.columns, self.weights[k], square[k])

        share(search, len(spans), data.rows.size)
        return spans

    def update(
        self, data: LinkedData, labels: Index, centers: Array, size: Index, span: Array
    ) -> ClusterMetrics:
        """Return the metrics that make the objective least, all else held."""
        from maylink.baselines.kernels.pck_means import scatter

        i, j, signed = (column[: None if data.by_distance else 0] for column in data.votes.pairs)
        spans = np.broadcast_to(span, centers.shape).copy()
        spread = scatter(data.rows, labels, centers, i, j, signed, spans)
        if len(self.weights) == 1:
            spread, size = spread.sum(axis=0, keepdims=True), size.sum(keepdims=True)
        count = np.maximum(size, 1)[:, None]
        weights = count / np.maximum(spread, count / self.ceiling)
        return DiagonalMetrics(np.where(size[:, None] > 0, weights, self.weights), self.ceiling)

    def matrices(self, n_clusters: int) -> Array:
        """Return the weights of the features for each cluster."""
        return np.broadcast_to(self.weights, (n_clusters, self.weights.shape[1])).copy()


class IdentityMetric(DiagonalMetrics):
    """The Euclidean metric, which is never learned."""

    def __init__(self, weights: Array) -> None:
        super().__init__(weights, weights)

    def update(
        self, data: LinkedData, labels: Index, centers: Array, size: Index, span: Array
    ) -> ClusterMetrics:
        """Return the same metric."""
        return self


class FullMetrics:
    """Positive definite matrices ``A = Rᵀ R``, at most ``diag(ceiling)``."""

    def __init__(self, roots: Array, ceiling: Array) -> None:
        self.roots = roots
        self.ceiling = ceiling
        self.log_det = 2 * np.linalg.slogdet(roots)[1]

    def squares(self, columns: Array, centers: Array) -> Array:
        """Return ‖x − μ_k‖² in metric k for the columns x, shape (n, K)."""
        from maylink.baselines.kernels.pck_means import squares

        out = np.empty((columns.shape[1], len(centers)))
        for k, root in enumerate(self.roots):
            which = slice(None) if len(self.roots) == 1 else slice(k, k + 1)
            turned = np.ascontiguousarray(centers[which] @ root.T)
            part = np.empty((len(out), len(turned)))
            squares(root @ columns, turned, np.ones(turned.shape), part)
            out[:, which] = part
        return out

    def widest(self, data: LinkedData) -> Array:
        """Return the difference of the two points farthest apart in each metric."""
        spans = np.empty(self.roots.shape[:2])

        def search(low: int, high: int) -> None:
            for k in range(low, high):
                turned = self.roots[k] @ data.columns
                square = (turned**2).sum(axis=0)
                spans[k] = data.span(k, turned, np.ones(len(turned)), square)

        share(search, len(spans), data.rows.size * len(data.columns))
        return spans

    def update(
        self, data: LinkedData, labels: Index, centers: Array, size: Index, span: Array
    ) -> ClusterMetrics:
        """Return the metrics that make the objective least, all else held."""
        spread = np.array(
            [_full_scatter(data, labels, k, center, span) for k, center in enumerate(centers)]
        )
        if len(self.roots) == 1:
            spread, size = spread.sum(axis=0, keepdims=True), size.sum(keepdims=True)
        roots = self.roots.copy()
        scale = np.sqrt(self.ceiling)  # in units of which the ceiling is the identity
        for k in np.flatnonzero(size):
            values, vectors = np.linalg.eigh(spread[k] * np.outer(scale, scale))
            gain = np.sqrt(size[k] / np.maximum(values, size[k]))
            roots[k] = gain[:, None] * vectors.T * scale
        return FullMetrics(roots, self.ceiling)

    def matrices(self, n_clusters: int) -> Array:
        """Return the matrix of each cluster."""
        matrices = np.array([root.T @ root for root in self.roots])
        return np.broadcast_to(matrices, (n_clusters, *matrices.shape[1:])).copy()


def _full_scatter(data: LinkedData, labels: Index, k: int, center: Array, span: Array) -> Array:
    """Return the sum of squares and products from which the full metric of cluster k is learned."""
    members = data.rows[labels == k] - center
    scatter = members.T @ members
    if data.by_distance:
        i, j, signed = data.votes.pairs
        in_k = np.equal(labels[i], k).astype(np.int64) + np.equal(labels[j], k)
        apart, together = (signed > 0) & (in_k == 1), (signed < 0) & (in_k == 2)
        factor = np.where(apart, 0.5 * signed, np.where(together, signed, 0.0))
        violated = np.flatnonzero(factor)
        gaps = data.gaps[:, violated]
        s = span[k % len(span)]
        scatter += (gaps * factor[violated]) @ gaps.T - signed[together].sum() * np.outer(s, s)
    return np.asarray(scatter)
