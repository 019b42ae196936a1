"""New points among the clusters of a fit: each goes to the nearest, links aside.

A cluster that was merged is as near as the nearest of its parts: its mean may lie where none of its
points is, among those of another.
"""

from __future__ import annotations

import numpy as np

from maylink.engines.cpu import CpuEngine, Index
from maylink.families import Family
from maylink.families.base import Array, Matrix
from maylink.labels import first_appearance
from maylink.links import Links
from maylink.result import Parts

NOBODY = np.empty(0, np.int64)
MOST_ROUNDS = 100


def divergences(X: Matrix, family: Family, n_jobs: int | None, parts: Parts) -> Array:
    """Return the divergence of every point from every cluster, shape (n, K)."""
    found = CpuEngine(X, family, n_jobs).scores(parts.centers)
    if parts.are_whole:
        return found
    first = np.flatnonzero(np.diff(parts.cluster, prepend=-1))
    return np.asarray(np.minimum.reduceat(found, first, axis=1))


def place(
    X: Matrix,
    family: Family,
    n_jobs: int | None,
    parts: Parts,
    links: Links | None = None,
    known: Index = NOBODY,
    weights: tuple[float, float] = (0.0, 0.0),
) -> Index:
    """Return the cluster of each point; none opens and no centre moves.

    Parameters
    ----------
    X : matrix of shape (m, d)
        New points.
    family : Family
        Of the fit.
    n_jobs : int or None
        Threads.
    parts : Parts
        What the clusters are made of.
    links : Links, optional
        Over the points that are known and the new ones after them.
    known : array of shape (n,)
        Clusters of the points that are known.
    weights : (float, float)
        ξ_may and ξ_not.
    """
    if parts.are_whole or links is None:
        engine = CpuEngine(X, family, n_jobs, links)
        return parts.cluster[engine.place(parts.centers, known, weights)]
    return _linked(divergences(X, family, n_jobs, parts), links, known, weights)


def _linked(cost: Array, links: Links, known: Index, weights: tuple[float, float]) -> Index:
    """Start from the nearest clusters; linked points then move while that costs less."""
    from maylink.kernels.pck_means import assign

    labels = np.append(known, cost.argmin(axis=1))
    linked = np.flatnonzero(links.touches())
    new = np.flatnonzero(linked >= known.size)
    own, csr = labels[linked], links[linked].csr
    costs = np.zeros((linked.size, cost.shape[1]))
    costs[new] = cost[linked[new] - known.size]
    signed = csr.signed * np.where(csr.signed > 0, *weights)
    alike = (np.empty((0, 1)), np.empty(1))  # a link costs the same everywhere
    assign(costs, csr.indptr, csr.neighbour, signed, csr.link, *alike, new, own)
    labels[linked] = own
    return labels[known.size :]


def settled(
    X: Matrix, family: Family, n_jobs: int | None, parts: Parts, labels: Index
) -> tuple[Parts, Index]:
    """Let the points of each cluster choose among its parts, by the data alone, until none moves.

    Links had a say in which part a point was in when the parts were merged.

    Returns
    -------
    Parts
        With the means of the points that chose them; those that nobody chose are gone.
    array of shape (n,)
        The part of each point.
    """
    centers: list[Array] = []
    chosen = np.empty(labels.size, np.int64)
    for k in range(int(parts.cluster[-1]) + 1):
        rows = np.flatnonzero(labels == k)
        engine = CpuEngine(X[rows], family, n_jobs)
        own, seats = parts.centers[parts.cluster == k], NOBODY
        for _ in range(MOST_ROUNDS):
            before, seats = seats, first_appearance(engine.place(own, NOBODY, (0.0, 0.0)))[0]
            own = engine.means(engine.totals(engine.stored(seats), int(seats.max()) + 1))
            if np.array_equal(before, seats):
                break
        chosen[rows] = sum(map(len, centers)) + seats
        centers.append(own)
    cluster = np.repeat(np.arange(len(centers)), [len(own) for own in centers])
    return Parts(np.concatenate(centers), cluster), chosen
