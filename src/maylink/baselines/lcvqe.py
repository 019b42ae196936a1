"""LCVQE: a K-means in which violated links cost distances of points, in linear time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.baselines.base import Labels
from maylink.baselines.quantisation import Quantiser, Votes, turned


class LCVQE(Quantiser):
    """K-means with the linear-time constrained vector quantisation error.

    It goes after the least ::

        ½ Σ_i |x_i − c_z(i)|²
        + ½ Σ_{may links, z(i) ≠ z(j)}     w ½ (|x_i − c_z(j)|² + |x_j − c_z(i)|²)
        + ½ Σ_{may-not links, z(i) = z(j)} w |x_r − c_s|²

    where x_r is that of the two points that is farther from their centre, c_s the centre nearest
    to x_r among all others, and w = weight of the link × ``link_weight``. A sweep puts each point
    to its nearest centre. Then each violated link is asked, in order. A may link between clusters
    k and m takes the least of ::

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
    link never looks at a third cluster, in which both points may have been, and a may-not link
    never moves the nearer point. With two clusters, may links alone, and no point in two of them,
    the assignment is the best one and the objective never rises. A fit stops when labels repeat
    and centres stand still, or when sweeps go round in a circle, at the least objective of the
    circle.

    At a weight of 1 or more moving x_r never costs more than keeping it, so every may-not link is
    obeyed in its turn, right or wrong; one is violated only when a later link moves its points
    again. A smaller weight lets it stay violated where c_s is far away. Links are asked may links
    first, then may-not links, each in the order given; one that holds is left alone. So of
    contradictory links on a pair the may-not link has the last word. An empty cluster keeps its
    centre. With one cluster may-not links cost nothing.

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

    def _ask(self, X: Array, votes: Votes, centers: Array, labels: Labels) -> None:
        from maylink.kernels.cvqe import ask_nearest

        ask_nearest(X, turned(centers), *votes, labels)

    def _move(self, X: Array, votes: Votes, centers: Array, labels: Labels) -> Array:
        from maylink.kernels.cvqe import shared_sums, sums

        total, count = np.zeros_like(centers), np.zeros(len(centers))
        sums(X, labels, total, count)
        shared_sums(X, *_ghosts(X, votes, centers, labels), total, count)
        some = count > 0
        return np.where(some[:, None], total / np.where(some, count, 1.0)[:, None], centers)

    def _value(self, X: Array, votes: Votes, centers: Array, labels: Labels) -> float:
        from maylink.kernels.cvqe import distortion

        added = _ghosts(X, votes, centers, labels)
        cost = added.share @ ((X[added.point] - centers[added.cluster]) ** 2).sum(axis=1)
        return 0.5 * float(distortion(X, labels, centers) + cost)


class Ghosts(NamedTuple):
    """Points that violated links add to clusters, beside their members."""

    point: NDArray[np.int64]
    cluster: NDArray[np.int64]
    share: Array


def _ghosts(X: Array, votes: Votes, centers: Array, labels: Labels) -> Ghosts:
    from maylink.kernels.cvqe import ghosts

    room = 2 * votes.i.size
    added = Ghosts(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room))
    size = ghosts(X, turned(centers), *votes, labels, *added)
    return Ghosts(added.point[:size], added.cluster[:size], added.share[:size])
