"""Whether clusters have heavy tails: mixtures of Gaussians against mixtures of Student-t.

Both are fitted by expectation maximisation, begun at what K-means makes of the points that are not
alone, with 1, 2, 3, 4, 6, … clusters, until more clusters make both worse. The Bayesian information
criterion compares them. Where the Student-t wins, points are drawn in towards its clusters
(:mod:`maylink.families.tails`) before anything else looks at them. Links are not looked at, so
nothing leaks.

Tails are not believed where the Student-t finds one cluster, for then a tail may be a cluster, nor
where it finds as many as were tried, for then clusters may be far more and far smaller.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from maylink.arrays import Array, Index
from maylink.families.columns import expected_clusters
from maylink.families.gaussian import EuclideanFamily
from maylink.families.rounding import rounding_variances
from maylink.families.tails import Tails
from maylink.problem import ChunkedProblem, Problem
from maylink.runtime.threads import one_thread

logger = logging.getLogger("maylink")

FREEDOM = 4.0  # degrees of freedom: the least, of whole even numbers, with a variance
LEVELS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)  # numbers of clusters
FALLS = 2  # levels in a row that are worse, after which no more are tried
POINTS_A_CLUSTER = 5  # at least on average
FEWEST, MOST = 50, 1000  # rows that are enough to tell, and rows that are looked at
MOST_FEATURES = 16  # above, covariances of a few hundred points tell nothing of tails
ROUNDS = 20  # of expectation maximisation
CLOSE = 1e-3  # rise of the log likelihood, in nats, below which it has settled
NEIGHBOURS = 10  # that tell how dense points lie
ALONE = 2.0  # times as far from its neighbours as they are from theirs: a point that is alone


class TailMixture(NamedTuple):
    """A mixture that was fitted; its distances are Student-t's, or Gaussian at infinite freedom."""

    weights: Array
    centers: Array
    whitenings: Array
    freedom: float
    criterion: float
    """Log likelihood less ½ ln n for each number that was learned."""


def with_tails(problems: Sequence[Problem]) -> list[Problem]:
    """Return problems whose Gaussian families draw points in, where clusters have heavy tails.

    Tails are looked for where several Gaussian families are open to choice. Families that are given
    stay as they are.
    """
    first = problems[0]
    n_gaussian = sum(isinstance(one.given_family, EuclideanFamily) for one in problems)
    if n_gaussian < 2 or isinstance(first, ChunkedProblem) or not _can_tell(first.X):
        return list(problems)
    tails = find_tails(first.X)
    if tails is None:
        return list(problems)
    inside = tails.drawn_in(first.X)
    logger.info("clusters have heavy tails: points are drawn in towards %d", len(tails.weights))
    return [
        _drawn_in(one, inside, tails) if isinstance(one.given_family, EuclideanFamily) else one
        for one in problems
    ]


def _can_tell(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.shape[0] >= FEWEST and X.shape[1] <= MOST_FEATURES


def _drawn_in(problem: Problem, inside: Any, tails: Tails) -> Problem:
    given: Any = problem.given_family
    grain = rounding_variances(problem.X) if given.rounded else None
    family = replace(given, rounded=False).adapt(inside)
    return replace(problem, family=replace(family, tails=tails, rounded=given.rounded, grain=grain))


def find_tails(X: Array) -> Tails | None:
    """Return the mixture of Student-t that describes the data better than Gaussians, or None.

    Parameters
    ----------
    X : array of shape (n, d)
        The data; of many rows a thousand are looked at.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.tuning.heavy_tails import find_tails
    >>> rng = np.random.default_rng(0)
    >>> centers = 20.0 * np.repeat([[0, 0], [0, 1], [1, 0]], 60, axis=0)
    >>> find_tails(centers + rng.normal(size=(180, 2))) is None
    True
    >>> len(find_tails(centers + rng.standard_t(2, size=(180, 2))).weights)
    3
    """
    rows = np.asarray(X, np.float64)
    if len(rows) > MOST:
        rows = rows[np.sort(np.random.default_rng(0).choice(len(rows), MOST, replace=False))]
    varying = np.flatnonzero(rows.max(axis=0) > rows.min(axis=0))
    if varying.size < X.shape[1] or not len(rows):
        return None
    shift = np.median(rows, axis=0)
    scale = np.median(np.abs(rows - shift), axis=0)
    if not np.all(scale > 0):  # most values of a column are equal
        return None
    with one_thread():
        best = _best((rows - shift) / scale)
    if best is None:
        return None
    return Tails(best.weights, best.centers * scale + shift, best.whitenings / scale, best.freedom)


def _best(Z: Array) -> TailMixture | None:
    from sklearn.cluster import KMeans

    near = Z[~_are_alone(Z)]
    spread = near.var(axis=0) / expected_clusters(len(Z)) ** (2.0 / Z.shape[1])
    best, falls, tried = dict[float, TailMixture](), 0, 0
    for count in LEVELS:
        if count * POINTS_A_CLUSTER > len(near) or falls == FALLS:
            break
        means = KMeans(count, n_init=1, max_iter=30, random_state=0).fit(near)
        falls, tried = falls + 1, count
        for freedom in (FREEDOM, np.inf):
            one = _mixture(Z, means.predict(Z), freedom, spread)
            if freedom not in best or one.criterion > best[freedom].criterion:
                best[freedom], falls = one, 0
    heavy = best[FREEDOM]
    wins = heavy.criterion > best[np.inf].criterion + 0.5 * np.log(len(Z))  # worth one number
    return heavy if wins and 1 < len(heavy.weights) < tried else None


def _are_alone(Z: Array) -> Any:
    """Whether points lie far from their neighbours, measured by how far those lie from theirs."""
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(Z) - 1)).fit(Z)
    distance, neighbour = search.kneighbors()
    reach = distance[:, -1]
    return reach > ALONE * np.median(reach[neighbour], axis=1)


def _mixture(Z: Array, labels: Index, freedom: float, spread: Array) -> TailMixture:
    """Fit a mixture from a partition; ``spread`` counts as d + 2 points of each cluster."""
    (n, d), count = Z.shape, int(labels.max()) + 1
    shares, scales = np.eye(count)[labels], np.ones((n, count))
    expected, last = (d + 2.0) * np.diag(spread), -np.inf
    for _ in range(ROUNDS):
        size = shares.sum(axis=0) + 1e-9
        each = shares * scales
        centers = each.T @ Z / (each.sum(axis=0) + 1e-9)[:, None]
        scatter = np.empty((count, d, d))
        for k in range(count):
            apart = Z - centers[k]
            scatter[k] = (each[:, k, None] * apart).T @ apart
        covariance = (scatter + expected) / (size[:, None, None] + d + 2.0)
        whitenings = np.linalg.inv(np.linalg.cholesky(covariance))
        square = _squares(Z, centers, whitenings)
        height = _log_density(square, d, freedom)
        height += np.log(size / n) + np.linalg.slogdet(whitenings)[1]
        highest = height.max(axis=1, keepdims=True)
        shares = np.exp(height - highest)
        total = shares.sum(axis=1, keepdims=True)
        shares /= total
        value = float((highest + np.log(total)).sum())
        if np.isfinite(freedom):
            scales = (freedom + d) / (freedom + square)
        if value - last < CLOSE:
            break
        last = value
    numbers = count * (1 + d + d * (d + 1) // 2) - 1
    criterion = value - 0.5 * np.log(n) * numbers
    return TailMixture(size / n, centers, whitenings, freedom, criterion)


def _squares(Z: Array, centers: Array, whitenings: Array) -> Array:
    """Return what squared_distances does, by products: rows need not be alike to the digit here."""
    turned = np.matmul(Z, whitenings.transpose(0, 2, 1))
    turned -= np.matmul(whitenings, centers[:, :, None])[:, None, :, 0]
    return np.asarray(np.square(turned).sum(axis=2).T)


def _log_density(square: Array, d: int, freedom: float) -> Array:
    """Return the log density of whitened points, by their squared distances."""
    if not np.isfinite(freedom):
        return np.asarray(-0.5 * (square + d * np.log(2 * np.pi)))
    constant = gammaln((freedom + d) / 2) - gammaln(freedom / 2) - d / 2 * np.log(freedom * np.pi)
    return np.asarray(constant - (freedom + d) / 2 * np.log1p(square / freedom))
