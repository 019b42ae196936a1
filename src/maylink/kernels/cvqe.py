"""Constrained vector quantisation: nearest centres, links one after the other, what they pull.

Centres reach the kernels turned over, one row a feature, so that the loop over clusters is the
inner one: it is vectorised without changing the order of any sum. Distances of linked points are
made anew where they are needed, which takes no memory of n × K.

Links are columns ``i``, ``j``, ``weight``; the first ``n_may`` of them are may links. D is the
squared Euclidean distance.

References: Davidson, Ravi: Clustering With Constraints, SDM 2005 (``ask_all_pairs``); Pelleg,
Baras: K-Means with Large and Noisy Constraint Sets, ECML 2007 (``ask_nearest``, ``ghosts``).
"""

from __future__ import annotations

import numpy as np

from maylink.kernels.compile import compiled


@compiled()
def nearest(X, turned, labels):
    """Give each point the label of the nearest centre, of equal ones the first.

    Parameters
    ----------
    X : in, (n, d)
    turned : in, (d, K)
    labels : out, (n,)
    """
    row = np.empty(turned.shape[1])
    for i in range(X.shape[0]):
        distances(X, turned, i, row)
        labels[i] = row.argmin()


@compiled()
def sums(X, labels, total, count):
    """Add the points to the sums of their clusters, in order.

    Parameters
    ----------
    X, labels : in, (n, d) and (n,)
    total, count : in and out, (K, d) and (K,)
    """
    for i in range(X.shape[0]):
        k = labels[i]
        count[k] += 1.0
        for f in range(X.shape[1]):
            total[k, f] += X[i, f]


@compiled()
def shared_sums(X, point, cluster, share, total, count):
    """Add shares of points to sums of clusters, in order.

    Parameters
    ----------
    X : in, (n, d)
    point, cluster, share : in, (m,) which point goes to which cluster, and how much of it
    total, count : in and out, (K, d) and (K,)
    """
    for e in range(point.size):
        k = cluster[e]
        count[k] += share[e]
        for f in range(X.shape[1]):
            total[k, f] += share[e] * X[point[e], f]


@compiled()
def distortion(X, labels, centers):
    """Return ``Σ_i D(x_i, centre of its cluster)``."""
    value = 0.0
    for i in range(X.shape[0]):
        for f in range(X.shape[1]):
            gap = X[i, f] - centers[labels[i], f]
            value += gap * gap
    return value


# ---------------------------------------------------------------------- CVQE


@compiled()
def ask_all_pairs(X, turned, gap, other, i, j, weight, n_may, labels):
    """Let each violated link choose among all K² assignments of its two points.

    Parameters
    ----------
    X, turned : in, (n, d) and (d, K)
    gap : in, (K, K) D between centres
    other : in, (K,) D of each centre from the nearest other one
    i, j, weight, n_may : in, links
    labels : in and out, (n,)
    """
    n_clusters = turned.shape[1]
    row_i, row_j = np.empty(n_clusters), np.empty(n_clusters)
    for link in range(i.size):
        a, b, votes, may = i[link], j[link], weight[link], link < n_may
        if (labels[a] == labels[b]) == may:
            continue
        distances(X, turned, a, row_i)
        distances(X, turned, b, row_j)
        least, best_a, best_b = np.inf, labels[a], labels[b]
        for k in range(n_clusters):
            for m in range(n_clusters):
                cost = row_i[k] + row_j[m]
                if may and k != m:
                    cost += votes * gap[k, m]
                elif not may and k == m:
                    cost += votes * other[k]
                if cost < least:
                    least, best_a, best_b = cost, k, m
        labels[a], labels[b] = best_a, best_b


@compiled()
def violations(i, j, weight, n_may, labels, torn, clash):
    """Add up the votes of violated links by cluster.

    Parameters
    ----------
    i, j, weight, n_may, labels : in, links and (n,)
    torn : in and out, (K, K) votes of may links between two clusters, at both places
    clash : in and out, (K,) votes of may-not links inside a cluster
    """
    for link in range(i.size):
        a, b = labels[i[link]], labels[j[link]]
        if link < n_may:
            if a != b:
                torn[a, b] += weight[link]
                torn[b, a] += weight[link]
        elif a == b:
            clash[a] += weight[link]


# ---------------------------------------------------------------------- LCVQE


@compiled(inline="always")
def rejoin(row_i, row_j, a, b, votes, labels):
    """Bring the points of a violated may link together where that is less than its violation."""
    k, m = labels[a], labels[b]
    keep = row_i[k] + row_j[m] + 0.5 * votes * (row_i[m] + row_j[k])
    both_k, both_m = row_i[k] + row_j[k], row_i[m] + row_j[m]
    if both_k < keep and both_k <= both_m:
        labels[b] = k
    elif both_m < keep:
        labels[a] = m


@compiled()
def ask_nearest(X, turned, i, j, weight, n_may, labels):
    """Let each violated link choose between staying violated and moving one of its points.

    Parameters
    ----------
    X, turned : in, (n, d) and (d, K)
    i, j, weight, n_may : in, links
    labels : in and out, (n,)
    """
    n_clusters = turned.shape[1]
    row_i, row_j = np.empty(n_clusters), np.empty(n_clusters)
    for link in range(i.size):
        a, b = i[link], j[link]
        if (labels[a] == labels[b]) == (link < n_may) or n_clusters == 1:
            continue
        distances(X, turned, a, row_i)
        distances(X, turned, b, row_j)
        k = labels[a]
        if link < n_may:
            rejoin(row_i, row_j, a, b, weight[link], labels)
        else:
            far, row = (b, row_j) if row_j[k] > row_i[k] else (a, row_i)
            second = nearest_but(row, k)
            if row[second] < row[k] + weight[link] * row[second]:
                labels[far] = second


@compiled()
def ask_second(X, turned, i, j, n_may, labels, total, count):
    """Let links choose as the code behind the paper's LCVQE has it.

    As ``ask_nearest`` with weights of 1, but the farther point of a may-not link goes to its second
    nearest centre of all. Where an earlier link has moved it there, that is where it is, and the
    link stays violated. A may link that is left violated adds half of each point to the cluster of
    the other at once, whatever later links do.

    Parameters
    ----------
    X, turned : in, (n, d) and (d, K)
    i, j, n_may : in, links
    labels : in and out, (n,)
    total, count : in and out, (K, d) and (K,)
    """
    n_clusters = turned.shape[1]
    row_i, row_j = np.empty(n_clusters), np.empty(n_clusters)
    for link in range(i.size):
        a, b = i[link], j[link]
        if (labels[a] == labels[b]) == (link < n_may) or n_clusters == 1:
            continue
        distances(X, turned, a, row_i)
        distances(X, turned, b, row_j)
        k, m = labels[a], labels[b]
        if link < n_may:
            rejoin(row_i, row_j, a, b, 1.0, labels)
            if labels[a] != labels[b]:
                count[k] += 0.5
                count[m] += 0.5
                for f in range(X.shape[1]):
                    total[k, f] += 0.5 * X[b, f]
                    total[m, f] += 0.5 * X[a, f]
        else:
            far, row = (b, row_j) if row_j[k] > row_i[k] else (a, row_i)
            labels[far] = nearest_but(row, row.argmin())


@compiled()
def ghosts(X, turned, i, j, weight, n_may, labels, point, cluster, share):
    """List what violated links add to the clusters: points that pull a centre as members do.

    A violated may link adds each of its points to the cluster of the other, with half its votes; a
    violated may-not link adds its farther point to the nearest other cluster, with its votes.

    Parameters
    ----------
    X, turned : in, (n, d) and (d, K)
    i, j, weight, n_may, labels : in, links and (n,)
    point, cluster, share : out, room for two entries a link

    Returns
    -------
    int
        How many entries there are.
    """
    n_clusters = turned.shape[1]
    row_i, row_j = np.empty(n_clusters), np.empty(n_clusters)
    size = 0
    for link in range(i.size):
        a, b = i[link], j[link]
        if (labels[a] == labels[b]) == (link < n_may) or n_clusters == 1:
            continue
        k, m = labels[a], labels[b]
        if link < n_may:
            point[size], cluster[size], share[size] = a, m, 0.5 * weight[link]
            size += 1
            point[size], cluster[size], share[size] = b, k, 0.5 * weight[link]
        else:
            distances(X, turned, a, row_i)
            distances(X, turned, b, row_j)
            far, row = (b, row_j) if row_j[k] > row_i[k] else (a, row_i)
            point[size], cluster[size], share[size] = far, nearest_but(row, k), weight[link]
        size += 1
    return size


# ---------------------------------------------------------------------- of one point


@compiled(inline="always")
def distances(X, turned, i, row):
    """Write D of one point from each centre."""
    n_clusters = turned.shape[1]
    for k in range(n_clusters):
        row[k] = 0.0
    for f in range(turned.shape[0]):
        x = X[i, f]
        for k in range(n_clusters):
            gap = x - turned[f, k]
            row[k] += gap * gap


@compiled(inline="always")
def nearest_but(row, k):
    """Return the least entry of a row that is not k."""
    best = 1 if k == 0 else 0
    for m in range(best + 1, row.size):
        if m != k and row[m] < row[best]:
            best = m
    return best
