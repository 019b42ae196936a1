"""PCK-means: K-means that pays for each link it does not follow.

Basu, Banerjee, Mooney, SDM 2004. Contradictory links are paid for, never an error.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from maylink.arrays import Array, Index
from maylink.baselines.base import BaselineRun, CenterBaseline
from maylink.baselines.centers import plus_plus
from maylink.baselines.neighbourhoods import neighbourhoods
from maylink.links import Links
from maylink.parameters import as_link_weights


class PCKMeans(CenterBaseline):
    """Pairwise constrained K-means: K-means that pays for each link it does not follow.

    It lowers

    ``J = ½ Σ_i ‖x_i − μ_{z_i}‖²
    + Σ_{may} w_may v_ij 1[z_i ≠ z_j] + Σ_{may-not} w_not v_ij 1[z_i = z_j]``

    where v is the weight of a link (its votes) and each link counts once.

    Parameters
    ----------
    n_clusters : int, default 8
        K, the largest number of clusters.
    link_weight : float, pair of floats (w_may, w_not) or "auto", default "auto"
        What a violated link costs, in units of squared distance (one half of it, see J). "auto" is
        the mean squared distance of the points from their overall mean, for both kinds: scaling
        the data then changes nothing, while the published w = 1 is much for data measured in
        kilometres and nothing for the same data in metres.
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
    link_weight_ : pair of floats
        The weights used, (w_may, w_not).
    objective_ : float
        J at the end.
    objective_path_ : array with one entry a sweep
        J after each sweep; it never rises.
    n_iter_ : int
        Number of sweeps.

    Notes
    -----
    The factor ½ is that of the paper of 2004 on active supervision; the other paper of that year
    has none, which is the same with w doubled.

    *Start.* The neighbourhoods are the sets of two points or more that may links join. If there
    are at least K, the largest is taken, then again and again the one with the largest product of
    size and distance from the nearest one taken (weighted farthest-first traversal, which is the
    start of :class:`MPCKMeans`; the paper of this method takes the K largest); centres start at
    their means. If there are fewer, all are taken, then one point that may-not links keep from
    every neighbourhood, if there is one; the rest are drawn as K-means++ draws them, given those
    (the paper draws them at random). Points start at the nearest centre. The paper also adds to J
    the links that follow from the given ones; here the given ones alone are paid for, so that one
    wrong link is one wrong link.

    *Sweep.* Points in random order go where J is least, the others held; again until none moves;
    then centres move to the means. Both steps lower J, so a run ends, at a partition that no
    single move improves. A cluster that loses all its points keeps its centre.

    A sweep costs O(n K d + links · passes), memory is O(n (K + d) + links). Contradictory links
    are paid for, never an error. Wrong may links harm the start most: one of them joins two
    neighbourhoods.

    References
    ----------
    Basu, Banerjee, Mooney: Active Semi-Supervision for Pairwise Constrained Clustering, SIAM
    International Conference on Data Mining, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.baselines import PCKMeans
    >>> X = np.array([[0.0], [0.2], [2.4], [5.0], [5.2]])
    >>> PCKMeans(2, random_state=0).fit(X).labels_
    array([0, 0, 0, 1, 1])
    >>> PCKMeans(2, random_state=0).fit(X, links=([(2, 3)], [(0, 2)])).labels_
    array([0, 0, 1, 1, 1])
    """

    link_weight_: tuple[float, float]

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        link_weight: float | tuple[float, float] | str = "auto",
        n_init: int = 1,
        max_sweeps: int = 300,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.link_weight = link_weight
        self.n_init = n_init
        self.max_sweeps = max_sweeps
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not (isinstance(self.link_weight, str) and self.link_weight == "auto"):
            as_link_weights(self.link_weight)

    def _run(self, X: Array, links: Links, rng: np.random.Generator) -> BaselineRun:
        from maylink.baselines.kernels.pck_means import move_centers, penalty, squares
        from maylink.kernels.conditional_modes import iterated_conditional_modes

        middle = X.mean(axis=0)
        rows = np.ascontiguousarray(X - middle)
        columns = np.ascontiguousarray(rows.T)
        weights = self._weights(rows)
        votes = signed_votes(links, weights)
        centers = centers_from_links(rows, links, self.n_clusters, rng)
        halves = np.full(centers.shape, 0.5)
        cost = np.empty((len(rows), len(centers)))
        squares(columns, centers, halves, cost)
        labels = cost.argmin(axis=1)
        path: list[float] = []
        converged = False
        while not converged and len(path) < self.max_sweeps:
            order = rng.permutation(votes.linked_points)
            n_moved = iterated_conditional_modes(
                cost, *votes.by_point, *CONSTANT_COST, order, labels
            )
            move_centers(rows, labels, centers)
            squares(columns, centers, halves, cost)
            converged = n_moved == 0 and bool(path)  # the first centres are no means
            link_cost = penalty(*votes.pairs, *CONSTANT_COST, labels)
            path.append(float(cost[np.arange(labels.size), labels].sum()) + link_cost)
        return BaselineRun(
            labels,
            np.array(path),
            converged,
            {"cluster_centers_": centers + middle},
            {"link_weight_": weights},
        )

    def _weights(self, centred: Array) -> tuple[float, float]:
        if isinstance(self.link_weight, str):
            # Where all points are equal the links alone decide, so any weight will do.
            spread = float((centred**2).sum() / len(centred)) or 1.0
            return spread, spread
        return as_link_weights(self.link_weight)


CONSTANT_COST = (np.empty((0, 1)), np.empty(1))
"""For the kernels: a violated link costs its weight, whatever the distance of its points."""


class SignedVotes(NamedTuple):
    """Links as the kernels take them: +w for may, −w for may-not."""

    pairs: tuple[NDArray[Any], NDArray[Any], Array]
    """Both points and the signed weight of each link."""
    by_point: tuple[NDArray[Any], NDArray[Any], Array, NDArray[Any]]
    """The links of every point, as in :class:`maylink.links.SignedCSR`."""
    linked_points: Index
    """The points that have links."""


def signed_votes(links: Links, weights: tuple[float, float]) -> SignedVotes:
    """Return the links with their votes times the weight of their kind."""
    may, may_not = weights
    signed = links.weight * np.where(links.kind > 0, may, -may_not)
    csr = links.csr
    signed_by_point = csr.signed * np.where(csr.signed > 0, may, may_not)
    return SignedVotes(
        (links.i, links.j, signed),
        (csr.indptr, csr.neighbour, signed_by_point, csr.link),
        np.flatnonzero(np.diff(csr.indptr)),
    )


def centers_from_links(X: Array, links: Links, n_clusters: int, rng: np.random.Generator) -> Array:
    """Return centres to start from; see the notes of :class:`PCKMeans`."""
    blocks = neighbourhoods(links)
    is_large = blocks.size > 1
    large = np.flatnonzero(is_large)
    means = blocks.means(X)
    if large.size >= n_clusters:
        return means[large[_farthest_first(means[large], blocks.size[large], n_clusters)]]
    centers = means[large]
    if large.size:
        ends = np.concatenate([blocks.apart, blocks.apart[:, ::-1]])
        n_apart = np.bincount(ends[is_large[ends[:, 1]], 0], minlength=blocks.size.size)
        from_all = np.flatnonzero(~is_large & (n_apart == large.size))
        centers = np.concatenate([centers, means[from_all[:1]]])
    return plus_plus(X, centers, n_clusters, rng)


def _farthest_first(points: Array, size: Index, n_chosen: int) -> list[int]:
    """Choose the largest, then again and again the one with most size × distance from those."""
    chosen = [int(size.argmax())]
    distance = np.full(len(points), np.inf)
    while len(chosen) < n_chosen:
        distance = np.minimum(distance, cdist(points[chosen[-1:]], points)[0])
        score = size * distance
        score[chosen] = -1.0
        chosen.append(int(score.argmax()))
    return chosen
