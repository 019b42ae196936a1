"""CVQE: a K-means in which violated links cost the distance between centres.

Davidson, Ravi, SDM 2005. Of contradictory links on a pair the may-not link decides.
"""

from __future__ import annotations

import numpy as np

from maylink.arrays import Array, Index
from maylink.baselines.centers import means_or, squared_distances
from maylink.baselines.quantisation import OrderedVotes, Quantiser, by_feature


class CVQE(Quantiser):
    """K-means with the constrained vector quantisation error.

    It seeks the least ::

        ½ Σ_i |x_i − c_z(i)|²
        + ½ Σ_{may links, z(i) ≠ z(j)}     w |c_z(i) − c_z(j)|²
        + ½ Σ_{may-not links, z(i) = z(j)} w |c_z(i) − c_h(z(i))|²

    where h(k) is the centre nearest to centre k, and w = weight of the link × ``link_weight``. A
    sweep puts each point to its nearest centre. Then each violated link, in order, moves its two
    points to the best of all K² pairs of clusters, in view of this one link. Then each centre
    becomes the mean of its points and of the centres that violated links pull it to ::

        c_k ← (Σ_{z(i)=k} x_i + Σ_m t_km c_m + u_k c_h(k)) / (n_k + Σ_m t_km + u_k)

    where t_km are the votes of violated may links between clusters k and m, u_k those of violated
    may-not links inside k, and centres on the right are those of before.

    Parameters
    ----------
    n_clusters : int, default 8
        Number of clusters K.
    link_weight : float or (float, float), default 1
        What a vote counts, for both kinds of links or for (may, may-not) links; 1 as published.
    init : {"k-means++", "random"} or array of shape (n_clusters, d), default "k-means++"
        Centres to start from.
    n_init : int, default 1
        Runs from different centres; the one with the least objective is kept.
    max_sweeps : int, default 300
        Sweeps after which to stop in any case.
    random_state : int, RandomState or Generator, optional
        Seed of the centres to start from.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The cluster of each point.
    n_clusters_ : int
        Number of clusters that have points.
    cluster_centers_ : array of shape (K, d)
        Their centres, not their means: violated links pull at them.
    objective_ : float
        The objective of labels and centres at the end.
    objective_path_ : array with one entry a sweep
        The objective after each sweep.
    n_iter_ : int
        Number of sweeps.

    Notes
    -----
    The published centre step lets a violated may link pull at the centre of its first point alone;
    here it pulls at both, since links have no order. Where links share no points, the assignment is
    the best one for the centres of before. The centre step is Jacobi's: it never raises the
    objective while only may links are violated, for votes pull alike at both centres. A violated
    may-not link pulls at its own centre and not at h(k), so that step can raise the objective; and
    where a point has several links, the last of them moves it without regard to the others. So the
    objective need not fall. A fit stops when labels repeat and centres stand still, or when sweeps
    repeat in a cycle, at the least objective of the cycle.

    Links have their turn may links first, then may-not links, each in the order given; one that
    holds is left alone. So of contradictory links on a pair the may-not link decides. Wrong links
    are obeyed where that is cheap, that is, near the border of two clusters. An empty cluster keeps
    its centre. With one cluster may-not links cost nothing.

    A sweep takes O(n d K + links K (d + K)) time; memory is O(n + links + K²) beside the data.

    References
    ----------
    Davidson, Ravi: Clustering With Constraints: Feasibility Issues and the k-Means Algorithm, SDM
    2005.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.baselines import CVQE
    >>> X = np.array([[0.0], [1.0], [4.0], [9.0], [10.0]])
    >>> CVQE(2, init=[[0.0], [10.0]]).fit(X).labels_
    array([0, 0, 0, 1, 1])
    >>> CVQE(2, init=[[0.0], [10.0]]).fit(X, links=([(2, 3)], [])).labels_
    array([0, 0, 1, 1, 1])
    """

    def _reassign(self, X: Array, votes: OrderedVotes, centers: Array, labels: Index) -> None:
        from maylink.baselines.kernels.quantisation import reassign_over_all_pairs

        gap, other = _gaps(centers)
        nearest_other = gap[np.arange(len(gap)), other] if len(gap) > 1 else np.zeros(1)
        reassign_over_all_pairs(X, by_feature(centers), gap, nearest_other, *votes, labels)

    def _move(self, X: Array, votes: OrderedVotes, centers: Array, labels: Index) -> Array:
        from maylink.baselines.kernels.quantisation import add_points

        between, inside = _violated(votes, labels, len(centers))
        _, other = _gaps(centers)
        total = between @ centers + inside[:, None] * centers[other]
        count = between.sum(axis=1) + inside
        add_points(X, labels, total, count)
        return means_or(total, count, centers)

    def _value(self, X: Array, votes: OrderedVotes, centers: Array, labels: Index) -> float:
        from maylink.baselines.kernels.quantisation import distortion

        between, inside = _violated(votes, labels, len(centers))
        gap, other = _gaps(centers)
        cost = 0.5 * (between * gap).sum() + inside @ gap[np.arange(len(gap)), other]
        return 0.5 * float(distortion(X, labels, centers) + cost)


def _gaps(centers: Array) -> tuple[Array, Index]:
    """Return squared distances between centres, and the nearest other one of each."""
    gap = squared_distances(centers, centers)
    others = gap.copy()
    np.fill_diagonal(others, np.inf)
    return gap, others.argmin(axis=1)


def _violated(votes: OrderedVotes, labels: Index, n_clusters: int) -> tuple[Array, Array]:
    """Return the votes of may links between clusters, and of may-not links inside them."""
    from maylink.baselines.kernels.quantisation import violations

    between, inside = np.zeros((n_clusters, n_clusters)), np.zeros(n_clusters)
    violations(*votes, labels, between, inside)
    return between, inside if n_clusters > 1 else np.zeros(1)
