"""Constrained vector quantisation: nearest centres, links one after the other, pulls on centres.

Centres reach the kernels transposed (``centers_t``), one row a feature, so that the loop over
clusters is the inner one: it is vectorised without changing the order of any sum. Distances of
linked points are computed where they are needed, which takes no memory of n × K.

Links are columns ``i``, ``j``, ``weight``; the first ``n_may`` of them are may links. D is the
squared Euclidean distance.

References: Davidson, Ravi: Clustering With Constraints, SDM 2005 (``reassign_over_all_pairs``);
Pelleg, Baras: K-Means with Large and Noisy Constraint Sets, ECML 2007 (``reassign_or_keep``,
``pulls_of_links``).
"""

from __future__ import annotations

import numpy as np

from maylink.kernels.compile import compiled


@compiled()
def nearest(X, centers_t, labels):
    """Give each point the label of the nearest centre, of equal ones the first.

    Parameters
    ----------
    X : in, (n, d)
    centers_t : in, (d, K)
    labels : out, (n,)
    """
    row = np.empty(centers_t.shape[1])
    for i in range(X.shape[0]):
        distances(X, centers_t, i, row)
        labels[i] = row.argmin()


@compiled()
def add_points(X, labels, total, count):
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
def add_fractions(X, point, cluster, fraction, total, count):
    """Add fractions of points to the sums of clusters, in order.

    Parameters
    ----------
    X : in, (n, d)
    point, cluster, fraction : in, (m,) which point goes to which cluster, and how much of it
    total, count : in and out, (K, d) and (K,)
    """
    for e in range(point.size):
        k = cluster[e]
        count[k] += fraction[e]
        for f in range(X.shape[1]):
            total[k, f] += fraction[e] * X[point[e], f]


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
def reassign_over_all_pairs(X, centers_t, gap, other, i, j, weight, n_may, labels):
    """Give the two points of each violated link the cheapest of all K² assignments.

    Parameters
    ----------
    X, centers_t : in, (n, d) and (d, K)
    gap : in, (K, K) D between centres
    other : in, (K,) D of each centre from the nearest other one
    i, j, weight, n_may : in, links
    labels : in and out, (n,)
    """
    n_clusters = centers_t.shape[1]
    row_i, row_j = np.empty(n_clusters), np.empty(n_clusters)
    for link in range(i.size):
        a, b, votes, may = i[link], j[link], weight[link], link < n_may
        if (labels[a] == labels[b]) == may:
            continue
        distances(X, centers_t, a, row_i)
        distances(X, centers_t, b, row_j)
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
def violations(i, j, weight, n_may, labels, may_between, not_inside):
    """Add up the votes of violated links by cluster.

    Parameters
    ----------
    i, j, weight, n_may, labels : in, links and (n,)
    may_between : in and out, (K, K) votes of may links between two clusters, at both places
    not_inside : in and out, (K,) votes of may-not links inside a cluster
    """
    for link in range(i.size):
        a, b = labels[i[link]], labels[j[link]]
        if link < n_may:
            if a != b:
                may_between[a, b] += weight[link]
                may_between[b, a] += weight[link]
        elif a == b:
            not_inside[a] += weight[link]


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
def reassign_or_keep(X, centers_t, i, j, weight, n_may, labels):
    """Move a point of each violated link where that costs less than the violation.

    Parameters
    ----------
    X, centers_t : in, (n, d) and (d, K)
    i, j, weight, n_may : in, links
    labels : in and out, (n,)
    """
    n_clusters = centers_t.shape[1]
    row_i, row_j = np.empty(n_clusters), np.empty(n_clusters)
    for link in range(i.size):
        a, b = i[link], j[link]
        if (labels[a] == labels[b]) == (link < n_may) or n_clusters == 1:
            continue
        distances(X, centers_t, a, row_i)
        distances(X, centers_t, b, row_j)
        k = labels[a]
        if link < n_may:
            rejoin(row_i, row_j, a, b, weight[link], labels)
        else:
            far, row = (b, row_j) if row_j[k] > row_i[k] else (a, row_i)
            second = nearest_but(row, k)
            if row[second] < row[k] + weight[link] * row[second]:
                labels[far] = second


@compiled()
def reassign_to_second(X, centers_t, i, j, n_may, labels, total, count):
    """Move points of violated links as the code behind the paper's LCVQE does.

    As ``reassign_or_keep`` with weights of 1, but the farther point of a may-not link goes to its
    second nearest centre of all. Where an earlier link has moved the point there, it stays, and the
    link stays violated. A may link that is left violated adds half of each point to the cluster of
    the other at once, whatever later links do.

    Parameters
    ----------
    X, centers_t : in, (n, d) and (d, K)
    i, j, n_may : in, links
    labels : in and out, (n,)
    total, count : in and out, (K, d) and (K,)
    """
    n_clusters = centers_t.shape[1]
    row_i, row_j = np.empty(n_clusters), np.empty(n_clusters)
    for link in range(i.size):
        a, b = i[link], j[link]
        if (labels[a] == labels[b]) == (link < n_may) or n_clusters == 1:
            continue
        distances(X, centers_t, a, row_i)
        distances(X, centers_t, b, row_j)
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
def pulls_of_links(X, centers_t, i, j, weight, n_may, labels, point, cluster, fraction):
    """List the points that violated links add to clusters, whose centres they pull as members do.

    A violated may link adds each of its points to the cluster of the other, with half its votes; a
    violated may-not link adds its farther point to the nearest other cluster, with its votes.

    Parameters
    ----------
    X, centers_t : in, (n, d) and (d, K)
    i, j, weight, n_may, labels : in, links and (n,)
    point, cluster, fraction : out, with room for two entries a link

    Returns
    -------
    int
        How many entries there are.
    """
    n_clusters = centers_t.shape[1]
    row_i, row_j = np.empty(n_clusters), np.empty(n_clusters)
    size = 0
    for link in range(i.size):
        a, b = i[link], j[link]
        if (labels[a] == labels[b]) == (link < n_may) or n_clusters == 1:
            continue
        k, m = labels[a], labels[b]
        if link < n_may:
            point[size], cluster[size], fraction[size] = a, m, 0.5 * weight[link]
            size += 1
            point[size], cluster[size], fraction[size] = b, k, 0.5 * weight[link]
        else:
            distances(X, centers_t, a, row_i)
            distances(X, centers_t, b, row_j)
            far, row = (b, row_j) if row_j[k] > row_i[k] else (a, row_i)
            point[size], cluster[size], fraction[size] = far, nearest_but(row, k), weight[link]
        size += 1
    return size


# ---------------------------------------------------------------------- of one point


@compiled(inline="always")
def distances(X, centers_t, i, row):
    """Write D of one point from each centre."""
    n_clusters = centers_t.shape[1]
    for k in range(n_clusters):
        row[k] = 0.0
    for f in range(centers_t.shape[0]):
        x = X[i, f]
        for k in range(n_clusters):
            gap = x - centers_t[f, k]
            row[k] += gap * gap


@compiled(inline="always")
def nearest_but(row, k):
    """Return the least entry of a row that is not k."""
    best = 1 if k == 0 else 0
    for m in range(best + 1, row.size):
        if m != k and row[m] < row[best]:
            best = m
    return best
