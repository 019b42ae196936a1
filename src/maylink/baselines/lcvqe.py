"""LCVQE: a K-means in which violated links cost distances of points, in linear time.

Pelleg, Baras, ECML 2007. Of contradictory links on a pair the may-not link decides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maylink.arrays import Array, Index
from maylink.baselines.centers import means_or
from maylink.baselines.quantisation import OrderedVotes, Quantiser, by_feature


class LCVQE(Quantiser):
    """K-means with the linear-time constrained vector quantisation error.

    It seeks the least ::

        ½ Σ_i |x_i − c_z(i)|²
        + ½ Σ_{may links, z(i) ≠ z(j)}     w ½ (|x_i − c_z(j)|² + |x_j − c_z(i)|²)
        + ½ Σ_{may-not links, z(i) = z(j)} w |x_r − c_s|²

    where x_r is that of the two points that is farther from their centre, c_s the centre nearest
    to x_r among all others, and w = weight of the link × ``link_weight``. A sweep puts each point
    to its nearest centre. Then each violated link has its turn, in order. A may link between
    clusters k and m takes the least of ::

        keep both    ½ (|x_i − c_k|² + |x_j − c_m|²) + ¼ w (|x_i − c_m|² + |x_j − c_k|²)
        both to k    ½ (|x_i − c_k|² + |x_j − c_k|²)
        both to m    ½ (|x_i − c_m|² + |x_j − c_m|²)

    and a may-not link inside cluster k, with x_q the nearer of its points, of ::

        keep both    ½ (|x_q − c_k|² + |x_r − c_k|²) + ½ w |x_r − c_s|²
        move x_r     ½ |x_q − c_k|² + ½ |x_r − c_s|²

    Then, with the violated links of the labels that came out, each centre becomes ::

        c_k ← (Σ_{z(i)=k} x_i + ½ Σ_{A_k} w x + Σ_{B_k} w x) / (n_k + ½ Σ_{A_k} w + Σ_{B_k} w)

    where A_k are the points that violated may links tie to a point of cluster k, and B_k the x_r
    of violated may-not links with s = k. That is the least of the objective for these labels, r
    and s.

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
    The centre step never raises the objective of its labels, r and s. The assignment can: a may
    link never considers a third cluster, in which both points may have been, and a may-not link
    never moves the nearer point. With two clusters, may links alone, and no point in two of them,
    the assignment is the best one and the objective never rises. A fit stops when labels repeat
    and centres stand still, or when sweeps repeat in a cycle, at the least objective of the cycle.

    At a weight of 1 or more moving x_r never costs more than keeping it, so every may-not link is
    obeyed in its turn, right or wrong; one is violated only when a later link moves its points
    again. A smaller weight lets it stay violated where c_s is far away. Links have their turn may
    links first, then may-not links, each in the order given; one that holds is left alone. So of
    contradictory links on a pair the may-not link decides. An empty cluster keeps its centre. With
    one cluster may-not links cost nothing.

    A sweep takes O(n d K + links d K) time; memory is O(n + links) beside the data.

    References
    ----------
    Pelleg, Baras: K-Means with Large and Noisy Constraint Sets, ECML 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.baselines import LCVQE
    >>> X = np.array([[0.0], [1.0], [4.0], [9.0], [10.0]])
    >>> LCVQE(2, init=[[0.0], [10.0]]).fit(X).labels_
    array([0, 0, 0, 1, 1])
    >>> LCVQE(2, init=[[0.0], [10.0]]).fit(X, links=([(2, 3)], [])).labels_
    array([0, 0, 1, 1, 1])
    """

    def _reassign(self, X: Array, votes: OrderedVotes, centers: Array, labels: Index) -> None:
        from maylink.baselines.kernels.quantisation import reassign_or_keep

        reassign_or_keep(X, by_feature(centers), *votes, labels)

    def _move(self, X: Array, votes: OrderedVotes, centers: Array, labels: Index) -> Array:
        from maylink.baselines.kernels.quantisation import add_fractions, add_points

        total, count = np.zeros_like(centers), np.zeros(len(centers))
        add_points(X, labels, total, count)
        add_fractions(X, *_pulls(X, votes, centers, labels), total, count)
        return means_or(total, count, centers)

    def _value(self, X: Array, votes: OrderedVotes, centers: Array, labels: Index) -> float:
        from maylink.baselines.kernels.quantisation import distortion

        pulls = _pulls(X, votes, centers, labels)
        cost = pulls.fraction @ ((X[pulls.point] - centers[pulls.cluster]) ** 2).sum(axis=1)
        return 0.5 * float(distortion(X, labels, centers) + cost)


class Pulls(NamedTuple):
    """Points that violated links add to clusters, beside their members."""

    point: Index
    cluster: Index
    fraction: Array


def _pulls(X: Array, votes: OrderedVotes, centers: Array, labels: Index) -> Pulls:
    from maylink.baselines.kernels.quantisation import pulls_of_links

    room = 2 * votes.i.size
    pulls = Pulls(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room))
    size = pulls_of_links(X, by_feature(centers), *votes, labels, *pulls)
    return Pulls(pulls.point[:size], pulls.cluster[:size], pulls.fraction[:size])
