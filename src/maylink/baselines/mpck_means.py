"""MPCK-means: PCK-means that also learns the metric of each cluster from points and links.

Bilenko, Basu, Mooney, ICML 2004. Contradictory links are paid for, never an error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maylink.arrays import Array
from maylink.baselines.base import TOO_LARGE, BaselineRun, CenterBaseline
from maylink.baselines.learned_metrics import (
    ClusterMetrics,
    DiagonalMetrics,
    FullMetrics,
    IdentityMetric,
    LinkedData,
)
from maylink.baselines.pck_means import centers_from_links, signed_votes
from maylink.errors import MaylinkError
from maylink.links import Links
from maylink.parameters import as_link_weights, check_choice, check_flag

NARROWEST = 1e-4  # least variance in a cluster, relative to that of all points
PATIENCE = 10  # sweeps in a row without a better objective, after which to stop
SETTLED = 1e-9  # relative change of the objective that counts as none


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
    of a feature, so that the unit of the data does not matter.

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

    *The widest span.* Pairs of points are measured only where their distances from the mean allow a
    wider span than the best so far, which is exact. Where more than 500 000 pairs would be left
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
        super()._check_parameters()
        check_choice("metric", self.metric, ("diagonal", "full", "identity"))
        check_flag("per_cluster", self.per_cluster)
        as_link_weights(self.link_weight)
        check_choice("link_cost", self.link_cost, ("distance", "constant"))

    def _run(self, X: Array, links: Links, rng: np.random.Generator) -> BaselineRun:
        from maylink.baselines.kernels.pck_means import move_centers
        from maylink.kernels.conditional_modes import iterated_conditional_modes

        middle = X.mean(axis=0)
        weights = as_link_weights(self.link_weight)
        votes = signed_votes(links, weights)
        data = LinkedData(X - middle, votes, self.link_cost == "distance")
        centers = centers_from_links(data.rows, links, self.n_clusters, rng)
        metrics = self._first_metrics(data.rows)
        now = data.measure(centers, metrics)
        labels = now.cost.argmin(axis=1)
        path: list[float] = []
        best, n_best, n_stale, settled = np.inf, 0, 0, False
        while not settled and n_stale < PATIENCE and len(path) < self.max_sweeps:
            order = rng.permutation(votes.linked_points)
            n_moved = iterated_conditional_modes(
                now.cost, *votes.by_point, now.between, now.far, order, labels
            )
            size = move_centers(data.rows, labels, centers)
            metrics = metrics.update(data, labels, centers, size, now.span)
            now = data.measure(centers, metrics)
            path.append(data.objective(now, labels))
            if np.isnan(path[-1]):
                raise MaylinkError(f"the objective is not a number: {TOO_LARGE}")
            least_change = SETTLED * (abs(path[-1]) + len(X))
            n_stale = 0 if path[-1] < best - least_change else n_stale + 1
            if path[-1] <= best:
                best, n_best = path[-1], len(path)
                best_state = labels.copy(), centers.copy(), metrics
            settled = n_moved == 0 and len(path) > 1 and abs(path[-1] - path[-2]) <= least_change
        labels, centers, metrics = best_state
        return BaselineRun(
            labels,
            np.array(path[:n_best]),
            settled or n_stale >= PATIENCE,
            {"cluster_centers_": centers + middle, "metrics_": metrics.matrices(len(centers))},
            {"link_weight_": weights},
        )

    def _first_metrics(self, centred: Array) -> ClusterMetrics:
        n_metrics = self.n_clusters if self.per_cluster else 1
        n_features = centred.shape[1]
        if self.metric == "identity":
            return IdentityMetric(np.ones((1, n_features)))
        variance = (centred**2).mean(axis=0)
        mean = float(variance.mean()) or 1.0
        ceiling = 1.0 / (np.where(variance > 0, variance, mean) * min(NARROWEST, 1 / n_features))
        if self.metric == "diagonal":
            return DiagonalMetrics(np.full((n_metrics, n_features), 1 / mean), ceiling)
        return FullMetrics(np.tile(np.eye(n_features) / np.sqrt(mean), (n_metrics, 1, 1)), ceiling)

    def _distances(self, X: Any) -> Array:
        distances = np.empty((len(X), len(self.cluster_centers_)))
        for k, (center, metric) in enumerate(
            zip(self.cluster_centers_, self.metrics_, strict=True)
        ):
            gap = X - center
            if metric.ndim == 1:
                distances[:, k] = gap**2 @ metric - np.log(metric).sum()
            else:
                squares = ((gap @ metric) * gap).sum(axis=1)
                distances[:, k] = squares - np.linalg.slogdet(metric)[1]
        return distances
