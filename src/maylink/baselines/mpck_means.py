"""MPCKMeans: PCK-means that also learns the metric of each cluster from points and links.

``J = Σ_i (‖x_i − μ_{z_i}‖²_A − log det A) + Σ_{may violated} w f_M + Σ_{may-not violated} w f_C``,
A that of the cluster, f_M the squared distance of the two points, f_C the widest one less theirs.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.baselines.base import CenterBaseline, Labels, Run
from maylink.baselines.pck_means import CONSTANT, Hints, first_centers, hints_of
from maylink.links import Links
from maylink.parameters import as_link_weights, check_choice, check_flag, check_integer
from maylink.runtime.threads import share

NARROWEST = 1e-4  # least variance in a cluster, as a share of that of all points
PAIRS = 500_000  # pairs of points to measure in search of those farthest apart: all of n = 1000
PATIENCE = 10  # sweeps in a row that find nothing better, after which to stop
SETTLED = 1e-9  # change of the objective, as a share of it, that counts as none


class MPCKMeans(CenterBaseline):
    """PCK-means that learns a metric for each cluster, or one for all, from points and links.

    It seeks a small

    ``J = Σ_i (‖x_i − μ_{z_i}‖²_{A_{z_i}} − log det A_{z_i})
    + Σ_{may} w_may v_ij f_M(i, j) 1[z_i ≠ z_j] + Σ_{may-not} w_not v_ij f_C(i, j) 1[z_i = z_j]``

    with ``‖x‖²_A = xᵀ A x``, v the weight of a link (its votes), and

    ``f_M(i, j) = ½ ‖x_i − x_j‖²_{A_{z_i}} + ½ ‖x_i − x_j‖²_{A_{z_j}}``,
    ``f_C(i, j) = ‖s‖²_{A_{z_i}} − ‖x_i − x_j‖²_{A_{z_i}}``,

    where s is the difference of the two points of X that are farthest apart in that metric. So a
    may link costs more the farther apart its points, a may-not link the nearer, and f_C ≥ 0.

    Parameters
    ----------
    n_clusters : int, default 8
        K, the largest number of clusters.
    metric : {"diagonal", "full", "identity"}, default "diagonal"
        Which metrics to learn: weights of the features, any positive definite matrix, or none.
    per_cluster : bool, default True
        Whether each cluster has a metric of its own; else one for all.
    link_weight : float or pair of floats (w_may, w_not), default 1.0
        What a violated link costs. With ``link_cost="distance"`` it is a pure number, since f_M
        and f_C are squared distances, and scaling the data changes nothing. With "constant" it is
        in units of the learned squared distance, of which a point has about d from its centre.
    link_cost : {"distance", "constant"}, default "distance"
        Whether a violated link costs w f_M or w f_C, or just w, as in the simpler objective that
        the paper starts from. The identity metric with constant cost is :class:`PCKMeans` with
        half the ``link_weight``.
    n_init : int, default 1
        Runs from different starts; the one with the least objective is kept.
    max_sweeps : int, default 300
        Sweeps after which to stop in any case.
    random_state : int, RandomState or Generator, optional
        Seed of the starts and of the order of visits.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The cluster of each point.
    n_clusters_ : int
        Number of clusters that have points.
    cluster_centers_ : array of shape (K, d)
        Their means.
    metrics_ : array of shape (K, d), or (K, d, d) for full ones
        A of each cluster, or its diagonal; all the same without ``per_cluster``.
    link_weight_ : pair of floats
        The weights used, (w_may, w_not).
    objective_ : float
        J at the end.
    objective_path_ : array with one entry a sweep
        J after each sweep, up to the best one. It can rise; see the notes.
    n_iter_ : int
        Number of sweeps up to the best one.

    Notes
    -----
    *Start.* As that of :class:`PCKMeans`. The metric starts as the identity over the mean variance
    of a feature, so that the unit of the data has no say.

    *Sweep.* (1) Points in random order go where J is least, the others held; again until none
    moves. (2) Centres move to the means. (3) Metrics become ``A_k = n_k S_k⁻¹`` with
    ``S_k = Σ_{i∈k} (x_i − μ_k)(x_i − μ_k)ᵀ + ½ Σ_{may} w g gᵀ + Σ_{may-not} w (s sᵀ − g gᵀ)``
    over the violated links of the cluster, g = x_i − x_j; its diagonal is taken for diagonal
    metrics, the sum over all clusters for a shared one. (4) s is found anew.

    *What descends.* With s held, each of (1), (2) and (3) lowers J or leaves it: A_k is the exact
    minimum over all metrics allowed. Step (4) can raise it: s is the widest span in the old
    metric, perhaps no more in the new one. So J falls from sweep to sweep unless a may-not link
    is violated where s changes. The paper says that J falls in every step, as if s were fixed.
    A run ends when no label changes and J does not, or after 10 sweeps without a better J, and
    the best sweep is returned.

    *Metrics allowed.* The sum of (3) can be singular or indefinite. The paper then adds a part of
    its trace, and sets negative eigenvalues to zero, which makes log det infinite. Here A is held
    below ``10⁴ diag(1 / variance of each feature)`` instead (more where d > 10⁴): with features
    scaled to unit variance, eigenvalues of the sum below 10⁻⁴ n_k are raised to that. This is the
    exact minimum under that limit. A cluster without points keeps its centre and metric.

    *The widest span.* Points are asked in pairs only where their distances from the mean allow a
    wider span than the best known, which is exact. Where more than 500 000 pairs would be left
    (never for n ≤ 1000; for points near a sphere in many dimensions) s is twice the difference
    between the mean and the point farthest from it, which is at least as wide: f_C ≥ 0 always, up
    to rounding, and s is at most twice too long.

    A sweep costs O((n + links) K d) for diagonal metrics, d times that for full ones, and the
    search of s; memory is O((n + links)(K + d)). Contradictory links are paid for, never an error.
    Full metrics per cluster need many more points than features in each cluster; clusters with
    few points otherwise become very narrow.

    References
    ----------
    Bilenko, Basu, Mooney: Integrating Constraints and Metric Learning in Semi-Supervised
    Clustering, International Conference on Machine Learning, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.baselines import MPCKMeans
    >>> X = np.array([[0.0, 9], [0.1, 1], [0.0, 4], [1.0, 8], [1.1, 3], [1.0, 0]])
    >>> links = ([(0, 1), (1, 2), (3, 4), (4, 5)], [(0, 3), (2, 5)])
    >>> model = MPCKMeans(2, per_cluster=False, random_state=0).fit(X, links=links)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> bool(model.metrics_[0, 0] > 100 * model.metrics_[0, 1])
    True
    """

    link_weight_: tuple[float, float]
    metrics_: Array

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: str = "diagonal",
        per_cluster: bool = True,
        link_weight: float | tuple[float, float] = 1.0,
        link_cost: str = "distance",
        n_init: int = 1,
        max_sweeps: int = 300,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.per_cluster = per_cluster
        self.link_weight = link_weight
        self.link_cost = link_cost
        self.n_init = n_init
        self.max_sweeps = max_sweeps
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice("metric", self.metric, ("diagonal", "full", "identity"))
        check_flag("per_cluster", self.per_cluster)
        as_link_weights(self.link_weight)
        check_choice("link_cost", self.link_cost, ("distance", "constant"))
        check_integer("n_init", self.n_init, 1)
        check_integer("max_sweeps", self.max_sweeps, 1)

    def _run(self, X: Array, links: Links, rng: np.random.Generator) -> Run:
        from maylink.kernels.pck_means import assign, move_centers

        middle = X.mean(axis=0)
        rows = np.ascontiguousarray(X - middle)
        hints = hints_of(links, as_link_weights(self.link_weight))
        centers = first_centers(rows, links, self.n_clusters, rng)
        metrics = self._first_metrics(rows)
        view = View(rows, hints, self.link_cost == "distance")
        seen = view.look(centers, metrics)
        labels = seen.cost.argmin(axis=1)
        path: list[float] = []
        best, n_kept, n_stale, settled = np.inf, 0, 0, False
        while not settled and n_stale < PATIENCE and len(path) < self.max_sweeps:
            order = rng.permutation(hints.linked)
            n_moved = assign(seen.cost, *hints.around, seen.between, seen.far, order, labels)
            size = move_centers(rows, labels, centers)
            metrics = metrics.learned(view, labels, centers, size, seen.span)
            seen = view.look(centers, metrics)
            path.append(view.objective(seen, labels))
            least_change = SETTLED * (abs(path[-1]) + len(rows))
            n_stale = 0 if path[-1] < best - least_change else n_stale + 1
            if path[-1] <= best:
                best, n_kept = path[-1], len(path)
                kept = labels.copy(), centers.copy(), metrics
            settled = n_moved == 0 and len(path) > 1 and abs(path[-1] - path[-2]) <= least_change
        labels, centers, metrics = kept
        return Run(
            labels,
            np.array(path[:n_kept]),
            settled or n_stale >= PATIENCE,
            {"cluster_centers_": centers + middle, "metrics_": metrics.matrices(len(centers))},
            {"link_weight_": as_link_weights(self.link_weight)},
        )

    def _first_metrics(self, centred: Array) -> Metrics:
        n_metrics = self.n_clusters if self.per_cluster else 1
        n_features = centred.shape[1]
        if self.metric == "identity":
            return Identity(np.ones((1, n_features)))
        variance = (centred**2).mean(axis=0)
        mean = float(variance.mean()) or 1.0
        ceiling = 1.0 / (np.where(variance > 0, variance, mean) * min(NARROWEST, 1 / n_features))
        if self.metric == "diagonal":
            return Diagonal(np.full((n_metrics, n_features), 1 / mean), ceiling)
        return Full(np.tile(np.eye(n_features) / np.sqrt(mean), (n_metrics, 1, 1)), ceiling)

    def _distances(self, X: Any) -> Array:
        found = np.empty((len(X), len(self.cluster_centers_)))
        for k, (center, metric) in enumerate(
            zip(self.cluster_centers_, self.metrics_, strict=True)
        ):
            gap = X - center
            if metric.ndim == 1:
                found[:, k] = gap**2 @ metric - np.log(metric).sum()
            else:
                found[:, k] = ((gap @ metric) * gap).sum(axis=1) - np.linalg.slogdet(metric)[1]
        return found


class Seen(NamedTuple):
    """All that J is made of, measured with the centres and metrics of a moment."""

    cost: Array
    """(n, K) ‖x − μ_k‖² − log det A_k."""
    between: Array
    """(n_links, K or 1) ‖x_i − x_j‖² in each metric; (0, 1) where links have constant cost."""
    span: Array
    """(K or 1, d) s of each metric."""
    far: Array
    """(K or 1,) ‖s‖²."""


class View:
    """The points and the links, laid out for the kernels."""

    def __init__(self, rows: Array, hints: Hints, weighed: bool) -> None:
        i, j, signed = hints.pairs
        self.rows = rows
        self.columns = np.ascontiguousarray(rows.T)
        self.hints = hints
        self.weighed = weighed and signed.size > 0
        self.any_may_not = bool(np.any(signed < 0))
        gaps = rows[i] - rows[j] if self.weighed else np.empty((0, rows.shape[1]))
        self.gaps = np.ascontiguousarray(gaps.T)
        self._pairs: dict[int, NDArray[np.int64]] = {}  # the widest of before, to begin with

    def look(self, centers: Array, metrics: Metrics) -> Seen:
        """Measure points and links, and find the widest span in each metric."""
        cost = metrics.squares(self.columns, centers)
        cost -= metrics.log_det
        span = np.zeros((metrics.log_det.size, self.rows.shape[1]))
        if not self.weighed:
            return Seen(cost, CONSTANT[0], span, CONSTANT[1])
        nowhere = np.zeros_like(span)
        between = metrics.squares(self.gaps, nowhere)
        if self.any_may_not:
            span = metrics.widest(self)
        far = np.diagonal(metrics.squares(np.ascontiguousarray(span.T), nowhere)).copy()
        return Seen(cost, between, span, far)

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
        from maylink.kernels.pck_means import farthest

        pair = self._pairs.setdefault(k, np.zeros(2, np.int64))
        if farthest(turned, weights, square, PAIRS, pair):
            return np.asarray(self.rows[pair[0]] - self.rows[pair[1]])
        return np.asarray(2 * self.rows[square.argmax()])

    def objective(self, seen: Seen, labels: Labels) -> float:
        """Return J."""
        from maylink.kernels.pck_means import penalty

        paid: float = penalty(*self.hints.pairs, seen.between, seen.far, labels)
        return float(seen.cost[np.arange(labels.size), labels].sum()) + paid


class Metrics(Protocol):
    """One metric for each cluster, or one for all."""

    log_det: Array

    def squares(self, columns: Array, centers: Array) -> Array:
        """Return ‖x − μ_k‖² in metric k for the columns x, shape (n, K)."""

    def widest(self, view: View) -> Array:
        """Return the difference of the two points farthest apart in each metric."""

    def learned(
        self, view: View, labels: Labels, centers: Array, size: NDArray[np.int64], span: Array
    ) -> Metrics:
        """Return the metrics that make J least, all else held."""

    def matrices(self, n_clusters: int) -> Array:
        """Return the matrices, or their diagonals, one for each cluster."""


class Diagonal:
    """Weights of the features, at most ``ceiling``."""

    def __init__(self, weights: Array, ceiling: Array) -> None:
        self.weights = weights
        self.ceiling = ceiling
        self.log_det = np.log(weights).sum(axis=1)

    def squares(self, columns: Array, centers: Array) -> Array:
        """Return ‖x − μ_k‖² in metric k for the columns x, shape (n, K)."""
        from maylink.kernels.pck_means import squares

        found = np.empty((columns.shape[1], len(centers)))
        squares(columns, centers, self.matrices(len(centers)), found)
        return found

    def widest(self, view: View) -> Array:
        """Return the difference of the two points farthest apart in each metric."""
        square = np.ascontiguousarray(self.squares(view.columns, np.zeros_like(self.weights)).T)
        found = np.empty(self.weights.shape)

        def search(low: int, high: int) -> None:
            for k in range(low, high):
                found[k] = view.span(k, view.columns, self.weights[k], square[k])

        share(search, len(found), view.rows.size)
        return found

    def learned(
        self, view: View, labels: Labels, centers: Array, size: NDArray[np.int64], span: Array
    ) -> Metrics:
        """Return the metrics that make J least, all else held."""
        from maylink.kernels.pck_means import scatter

        i, j, signed = (column[: None if view.weighed else 0] for column in view.hints.pairs)
        spans = np.broadcast_to(span, centers.shape).copy()
        spread = scatter(view.rows, labels, centers, i, j, signed, spans)
        if len(self.weights) == 1:
            spread, size = spread.sum(axis=0, keepdims=True), size.sum(keepdims=True)
        count = np.maximum(size, 1)[:, None]
        found = count / np.maximum(spread, count / self.ceiling)
        return Diagonal(np.where(size[:, None] > 0, found, self.weights), self.ceiling)

    def matrices(self, n_clusters: int) -> Array:
        """Return the weights of the features for each cluster."""
        return np.broadcast_to(self.weights, (n_clusters, self.weights.shape[1])).copy()


class Identity(Diagonal):
    """The metric that is never learned."""

    def __init__(self, weights: Array) -> None:
        super().__init__(weights, weights)

    def learned(
        self, view: View, labels: Labels, centers: Array, size: NDArray[np.int64], span: Array
    ) -> Metrics:
        """Return the same."""
        return self


class Full:
    """Positive definite matrices ``A = Rᵀ R``, at most ``diag(ceiling)``."""

    def __init__(self, roots: Array, ceiling: Array) -> None:
        self.roots = roots
        self.ceiling = ceiling
        self.log_det = 2 * np.linalg.slogdet(roots)[1]

    def squares(self, columns: Array, centers: Array) -> Array:
        """Return ‖x − μ_k‖² in metric k for the columns x, shape (n, K)."""
        from maylink.kernels.pck_means import squares

        found = np.empty((columns.shape[1], len(centers)))
        shared = len(self.roots) == 1
        for k, root in enumerate(self.roots):
            own = slice(None) if shared else slice(k, k + 1)
            turned = np.ascontiguousarray(centers[own] @ root.T)
            part = np.empty((len(found), len(turned)))
            squares(root @ columns, turned, np.ones(turned.shape), part)
            found[:, own] = part
        return found

    def widest(self, view: View) -> Array:
        """Return the difference of the two points farthest apart in each metric."""
        found = np.empty(self.roots.shape[:2])

        def search(low: int, high: int) -> None:
            for k in range(low, high):
                turned = self.roots[k] @ view.columns
                square = (turned**2).sum(axis=0)
                found[k] = view.span(k, turned, np.ones(len(turned)), square)

        share(search, len(found), view.rows.size * len(view.columns))
        return found

    def learned(
        self, view: View, labels: Labels, centers: Array, size: NDArray[np.int64], span: Array
    ) -> Metrics:
        """Return the metrics that make J least, all else held."""
        spread = np.array(
            [_full_scatter(view, labels, k, center, span) for k, center in enumerate(centers)]
        )
        if len(self.roots) == 1:
            spread, size = spread.sum(axis=0, keepdims=True), size.sum(keepdims=True)
        roots = self.roots.copy()
        scale = np.sqrt(self.ceiling)  # in units of which the ceiling is the identity
        for k in np.flatnonzero(size):
            values, vectors = np.linalg.eigh(spread[k] * np.outer(scale, scale))
            gain = np.sqrt(size[k] / np.maximum(values, size[k]))
            roots[k] = gain[:, None] * vectors.T * scale
        return Full(roots, self.ceiling)

    def matrices(self, n_clusters: int) -> Array:
        """Return the matrix of each cluster."""
        found = np.array([root.T @ root for root in self.roots])
        return np.broadcast_to(found, (n_clusters, *found.shape[1:])).copy()


def _full_scatter(view: View, labels: Labels, k: int, center: Array, span: Array) -> Array:
    """Return the sum by which the full metric of cluster k is learned."""
    own = view.rows[labels == k] - center
    found = own.T @ own
    if view.weighed:
        i, j, signed = view.hints.pairs
        in_k = np.equal(labels[i], k).astype(np.int64) + np.equal(labels[j], k)
        apart, together = (signed > 0) & (in_k == 1), (signed < 0) & (in_k == 2)
        factor = np.where(apart, 0.5 * signed, np.where(together, signed, 0.0))
        paid = np.flatnonzero(factor)
        gaps = view.gaps[:, paid]
        s = span[k % len(span)]
        found += (gaps * factor[paid]) @ gaps.T - signed[together].sum() * np.outer(s, s)
    return np.asarray(found)
