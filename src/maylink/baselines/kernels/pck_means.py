"""PCK-means and MPCK-means: distances in the metrics of clusters, means, penalties of links.

Two tricks, both exact:

* What a link costs in each metric is measured for all links at once, before a sweep, and not at
  each visit of a point by :func:`maylink.kernels.conditional_modes.iterated_conditional_modes`.
* The pair of points farthest apart is sought among few: with r the distances from any one point,
  a pair is at most ``r_i + r_j`` apart, so only pairs whose sum exceeds the largest distance so far
  are measured. They are counted first, and the search is not begun where they are too many.

References: Basu, Banerjee, Mooney: Active Semi-Supervision for Pairwise Constrained Clustering,
2004. Bilenko, Basu, Mooney: Integrating Constraints and Metric Learning in Semi-Supervised
Clustering, 2004.
"""

from __future__ import annotations

import numpy as np

from maylink.kernels.compile import compiled

BLOCK = 256  # points whose distances are summed side by side
ROUNDING = 1e-12  # relative; a search for the farthest pair leaves no pair out for less


@compiled()
def squares(points, centers, metrics, out):
    """Write ``out[i, k] = Σ_f metrics[k, f] (x_if − μ_kf)²`` for all points and centres.

    Parameters
    ----------
    points : in, (d, n) one column a point
    centers : in, (K, d)
    metrics : in, (K, d)
    out : out, (n, K)
    """
    n = points.shape[1]
    total = np.empty(BLOCK)
    for low in range(0, n, BLOCK):
        width = min(BLOCK, n - low)
        for k in range(centers.shape[0]):
            _measure(points, centers[k], metrics[k], low, width, total)
            for at in range(width):
                out[low + at, k] = total[at]


@compiled()
def _measure(points, center, metric, low, width, out):
    """Write the squared distances of the columns low … low + width − 1 from a centre."""
    for start in range(0, width, BLOCK):
        part = out[start : min(start + BLOCK, width)]
        part[:] = 0.0
        for f in range(points.shape[0]):
            middle, weight = center[f], metric[f]
            row = points[f, low + start : low + start + part.size]
            for at in range(part.size):
                gap = row[at] - middle
                part[at] += weight * gap * gap


@compiled()
def penalty(i, j, signed, between, far, labels):
    """Sum what violated links cost, as ``iterated_conditional_modes`` has it.

    Parameters
    ----------
    i, j, signed : in, (n_links,)
    between, far, labels : in

    Returns
    -------
    float
    """
    weighed = between.shape[0] > 0
    step = 1 if between.shape[1] > 1 else 0
    total = 0.0
    for e in range(i.size):
        a, b, weight = labels[i[e]], labels[j[e]], signed[e]
        if weight > 0.0 and a != b:
            if weighed:
                weight *= 0.5 * (between[e, a * step] + between[e, b * step])
            total += weight
        elif weight < 0.0 and a == b:
            if weighed:
                weight *= far[a * step] - between[e, a * step]
            total -= weight
    return total


@compiled()
def move_centers(X, labels, centers):
    """Move each centre to the mean of its points; one without points stays.

    Parameters
    ----------
    X : in, (n, d)
    labels : in, (n,)
    centers : in and out, (K, d)

    Returns
    -------
    array of shape (K,)
        Number of points of each cluster.
    """
    sums = np.zeros(centers.shape)
    size = np.zeros(centers.shape[0], np.int64)
    for i in range(X.shape[0]):
        k = labels[i]
        size[k] += 1
        for f in range(X.shape[1]):
            sums[k, f] += X[i, f]
    for k in range(size.size):
        if size[k] > 0:
            for f in range(X.shape[1]):
                centers[k, f] = sums[k, f] / size[k]
    return size


@compiled()
def scatter(X, labels, centers, i, j, signed, span):
    """Sum the squares by which a diagonal metric is learned, for each cluster and feature.

    ``Σ (x − μ)² + Σ_{may violated} w g² / 2 + Σ_{may-not violated} w (s² − g²)``, g = x_i − x_j

    Parameters
    ----------
    X, labels, centers : in, (n, d), (n,), (K, d)
    i, j, signed : in, (n_links,)
    span : in, (K, d) s, by which the two points farthest apart differ

    Returns
    -------
    array of shape (K, d)
    """
    sums = np.zeros(centers.shape)
    n_features = X.shape[1]
    for p in range(X.shape[0]):
        k = labels[p]
        for f in range(n_features):
            sums[k, f] += (X[p, f] - centers[k, f]) ** 2
    for e in range(i.size):
        a, b, weight = labels[i[e]], labels[j[e]], signed[e]
        if weight > 0.0 and a != b:
            for f in range(n_features):
                part = 0.5 * weight * (X[i[e], f] - X[j[e], f]) ** 2
                sums[a, f] += part
                sums[b, f] += part
        elif weight < 0.0 and a == b:
            for f in range(n_features):
                sums[a, f] -= weight * (span[a, f] ** 2 - (X[i[e], f] - X[j[e], f]) ** 2)
    return sums


@compiled()
def farthest(points, metric, square, budget, pair):
    """Look for the two points farthest apart.

    Parameters
    ----------
    points : in, (d, n) one column a point
    metric : in, (d,) weights of the squared features
    square : in, (n,) squared distance of each point from the origin
    budget : in, how many pairs may be measured
    pair : in and out, (2,) two points that may be far apart, the same one twice if none are known;
        then the two farthest apart

    Returns
    -------
    bool
        Whether they are the farthest; unknown where more pairs than ``budget`` would have to be
        measured.
    """
    n = square.size
    first = np.argmax(square)
    one, two = pair
    if one == two:
        two = first
    best = 0.0
    for f in range(metric.size):
        best += metric[f] * (points[f, one] - points[f, two]) ** 2
    gaps = np.empty(n)
    for _ in range(3):  # go to the farthest point, and from there to the farthest, and again
        _measure(points, points[:, two].copy(), metric, 0, n, gaps)
        goal = np.argmax(gaps)
        if gaps[goal] <= best:
            break
        one, two, best = two, goal, gaps[goal]
    pair[0], pair[1] = one, two
    longest = np.sqrt(best)
    n_wide = np.sum(square > 0.25 * best)  # each two of these may be farther apart
    if n_wide * (n_wide - 1) // 2 > budget:
        return False
    least = max(longest - np.sqrt(square[first]), 0.0) ** 2 * (1.0 - ROUNDING)
    near = np.flatnonzero(square >= least)
    near = near[np.argsort(-square[near])]
    radius = np.sqrt(square[near]) * (1.0 + ROUNDING)
    if _count_pairs(radius, longest) > budget:
        return False
    _measure_pairs(points, metric, near, radius, best, gaps, pair)
    return True


@compiled()
def _count_pairs(radius, longest):
    """Count the pairs whose radii, which fall, sum to more than ``longest``."""
    n_pairs, last = 0, radius.size - 1
    for a in range(radius.size):  # the partners of a are the points up to ``last``, ever fewer
        while last > a and radius[a] + radius[last] <= longest:
            last -= 1
        if last <= a:
            break
        n_pairs += last - a
    return n_pairs


@compiled()
def _measure_pairs(points, metric, near, radius, best, gaps, pair):
    """Measure the pairs that may be farther apart than the square ``best``; keep the farthest."""
    rest = np.empty((points.shape[0], near.size))
    center = np.empty(points.shape[0])
    for f in range(points.shape[0]):
        for b in range(near.size):
            rest[f, b] = points[f, near[b]]
    longest, last = np.sqrt(best), near.size - 1
    for a in range(near.size):
        while last > a and radius[a] + radius[last] <= longest:
            last -= 1
        if last <= a:
            break
        center[:] = rest[:, a]
        _measure(rest, center, metric, a + 1, last - a, gaps)
        for at in range(last - a):
            if gaps[at] > best:
                pair[0], pair[1], best = near[a], near[a + 1 + at], gaps[at]
        longest = np.sqrt(best)
