"""New points among the clusters of a fit: each goes to the nearest, links aside.

A merged cluster that lies among the parts of another is as near as the nearest of its own parts.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index, Matrix
from maylink.engines.choice import DeviceRequest
from maylink.engines.cpu import CpuEngine
from maylink.engines.cuda import CudaEngine
from maylink.families import Family
from maylink.links import Links
from maylink.problem import ChunkedProblem, Problem
from maylink.solvers.fit import Clustering, Parts

NOBODY = np.empty(0, np.int64)
ROUNDS = 20
MOSTLY = 0.99  # share of the points that means must place where the fit did, to do without parts
MOST = 5_000  # points of a cluster that its parts are made from, about


def divergences(X: Matrix, family: Family, n_jobs: int | None, parts: Parts) -> Array:
    """Return the divergence of every point from every cluster, shape (n, K)."""
    scores = CpuEngine(X, family, n_jobs).scores(parts.centers)
    if parts.are_whole:
        return scores
    clusters = range(int(parts.cluster.max()) + 1)
    return np.stack([scores[:, parts.cluster == k].min(axis=1) for k in clusters], axis=1)


def place(
    X: Matrix,
    family: Family,
    n_jobs: int | None,
    parts: Parts,
    links: Links | None = None,
    fitted_labels: Index = NOBODY,
    weights: tuple[float, float] = (0.0, 0.0),
    device: DeviceRequest | None = None,
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
        Over the points of the fit and the new ones after them.
    fitted_labels : array of shape (n,)
        Clusters of the points of the fit.
    weights : (float, float)
        ξ_may and ξ_not.
    device : DeviceRequest, optional
        The GPU to work on; links are weighed on the processor.
    """
    if parts.are_whole and (device is None or links is not None):
        return CpuEngine(X, family, n_jobs, links).place(parts.centers, fitted_labels, weights)
    if device is None:
        nearest = CpuEngine(X, family, n_jobs).place(parts.centers, NOBODY, (0.0, 0.0))
    else:
        engine = CudaEngine(device.data(X), family, n_jobs, device=device.settings)
        nearest = engine.place(parts.centers)
    labels = np.append(fitted_labels, parts.cluster[nearest])
    linked = NOBODY if links is None else np.flatnonzero(links.touches())
    new = linked[linked >= fitted_labels.size]
    if links is not None and new.size:
        cost = divergences(X[new - fitted_labels.size], family, n_jobs, parts)
        labels[linked] = _moved(labels[linked], cost, links[linked], weights)
    return labels[fitted_labels.size :]


def _moved(labels: Index, cost: Array, links: Links, weights: tuple[float, float]) -> Index:
    """Move linked points, of which the last are new, while that costs less; return the labels."""
    from maylink.kernels.conditional_modes import iterated_conditional_modes

    new = np.arange(labels.size - len(cost), labels.size)
    costs = np.zeros((labels.size, cost.shape[1]))
    costs[new] = cost
    csr = links.csr
    signed = csr.signed * np.where(csr.signed > 0, *weights)
    alike = (np.empty((0, 1)), np.empty(1))  # a link costs the same everywhere
    by_point = (csr.indptr, csr.neighbour, signed, csr.link)
    iterated_conditional_modes(costs, *by_point, *alike, new, labels)
    return labels


def nearest_parts(
    X: Matrix, family: Family, n_jobs: int | None, parts: Parts, labels: Index
) -> Index:
    """Return the part of each point: of those of its cluster the nearest."""
    part_of_point = np.empty(labels.size, np.int64)
    for k in range(int(parts.cluster.max()) + 1):
        rows, parts_here = np.flatnonzero(labels == k), np.flatnonzero(parts.cluster == k)
        part_of_point[rows] = parts_here[0]
        if parts_here.size > 1 and rows.size:
            engine = CpuEngine(X[rows], family, n_jobs)
            part_of_point[rows] = parts_here[
                engine.place(parts.centers[parts_here], NOBODY, (0.0, 0.0))
            ]
    return part_of_point


def in_parts(
    problem: Problem, clustering: Clustering, pieces: Index, n_jobs: int | None
) -> Clustering:
    """Return clusters that were merged of pieces with these as parts, where means would not do.

    Parameters
    ----------
    problem : Problem
        Data and family, in memory.
    clustering : Clustering
        The clusters.
    pieces : array of shape (n,)
        The piece that each point was part of.
    n_jobs : int or None
        Threads.
    """
    labels, n_pieces = clustering.labels, int(pieces.max()) + 1
    means = Parts.one_each(clustering.centers)
    placed = place(problem.X, problem.family, n_jobs, means)
    if clustering.merged is not None or np.mean(placed == labels) >= MOSTLY:
        return clustering
    part, of_point = np.unique(labels * n_pieces + pieces, return_inverse=True)
    engine = CpuEngine(problem.X, problem.family, n_jobs)
    centers = engine.means(engine.totals(engine.stored(of_point), part.size))
    return replace(clustering, merged=Parts(centers, part // n_pieces))


def faithful(problem: Problem, clustering: Clustering, n_jobs: int | None) -> Clustering:
    """Return merged clusters with the parts that place points where the fit did, or with means.

    Links had a say in which part a point was in when clusters were merged; here points choose among
    the parts of their cluster by the data alone, until few move. Means do where merged clusters lie
    apart, and not where one lies among the parts of another: whichever leaves more points of the
    fit in their clusters is taken. Data in chunks go by means.
    """
    if clustering.merged is None or isinstance(problem, ChunkedProblem):
        return replace(clustering, merged=None)
    family, labels = problem.family, clustering.labels
    rows = [_some(labels == k) for k in range(clustering.n_clusters)]
    chosen_rows = np.sort(np.concatenate(rows))
    X, labels, parts = problem.X[chosen_rows], labels[chosen_rows], clustering.parts
    engine = CpuEngine(X, family, n_jobs)
    before = NOBODY
    for _ in range(ROUNDS):
        used, chosen = np.unique(
            nearest_parts(X, family, n_jobs, parts, labels), return_inverse=True
        )
        totals = engine.totals(engine.stored(chosen), used.size)
        parts = Parts(engine.means(totals), parts.cluster[used])
        if np.array_equal(before, chosen):
            break
        before = chosen
    n_by_parts, n_by_means = (
        np.count_nonzero(place(X, family, n_jobs, centers) == labels)
        for centers in (parts, Parts.one_each(clustering.centers))
    )
    return replace(clustering, merged=parts if n_by_parts > n_by_means else None)


def _some(member: NDArray[np.bool_]) -> Index:
    """Return rows of a cluster, evenly spaced where they are many; no memory of the others."""
    rows = np.flatnonzero(member)
    return rows[:: 1 + rows.size // MOST].copy()
