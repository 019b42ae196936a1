"""Plain-Python references, written from the paper and textbooks, without a line of maylink.

``rdp_means`` is Algorithm 1 word for word: one point, one cluster, one link at a time. Values are
compared as exact fractions, so the huge link weights of the last sweeps lose no digits.
"""

from fractions import Fraction
from math import log, sqrt

import numpy as np
from scipy.special import digamma

SMOOTHING = 0.3


# ---------------------------------------------------------------------- Algorithm 1


class TooCloseError(Exception):
    """Two choices differ by so little that rounding may decide; no label is the right one."""


def rdp_means(X, name, links, penalty, order, xi=0.001, rate=2.0, patience=20, max_sweeps=300):
    """Labels, numbered by first appearance, and the number of sweeps."""
    points, divergence, mean = geometry(X, name)
    n = len(points)
    friends = {i: [] for i in range(n)}
    for i, j, kind, weight in links:
        friends[i].append((j, kind, weight))
        friends[j].append((i, kind, weight))
    labels = [0] * n
    centers = [mean(points)]
    still = sweeps = 0
    while still < patience and sweeps < max_sweeps:
        before = list(labels)
        for i in order:
            values = []
            for k in range(len(centers)):
                net = sum(
                    Fraction(kind) * Fraction(weight)
                    for j, kind, weight in friends[i]
                    if labels[j] == k
                )
                values.append(Fraction(divergence(points[i], centers[k])) - Fraction(xi) * net)
            labels[i] = chosen(values, penalty)
            if labels[i] == len(centers):
                centers.append(points[i])
        used = sorted(set(labels))
        labels = [used.index(k) for k in labels]
        before = [used.index(k) if k in used else -1 for k in before]
        centers = [mean([points[i] for i in range(n) if labels[i] == k]) for k in range(len(used))]
        still = still + 1 if before == labels else 0
        xi *= rate
        sweeps += 1
    return by_first_appearance(labels), sweeps


def chosen(values, penalty):
    """The cluster with the least value, or the next new one where that is the penalty or more."""
    least, tolerance = min(values), 1e-8 * (1 + abs(penalty))
    if sum(value - least < tolerance for value in values) > 1:
        raise TooCloseError
    if abs(least - Fraction(penalty)) < tolerance:
        raise TooCloseError
    return values.index(least) if least < penalty else len(values)


def by_first_appearance(labels):
    number = {}
    return [number.setdefault(k, len(number)) for k in labels]


# ---------------------------------------------------------------------- textbook divergences


def geometry(X, name):
    """Points as the mean sees them, the divergence, and the mean, for a family of the zoo."""
    X = np.asarray(X, float)
    if name == "product":
        return _product(X)
    if name == "product-with-gaps":
        return _product_with_gaps(X)
    if name == "von-mises-fisher":
        points = [row / sqrt(sum(v * v for v in row)) for row in X]
        return points, lambda x, m: 1 - sum(a * b for a, b in zip(x, m, strict=True)), _direction
    if name == "multinomial":
        points = [(row + SMOOTHING) / (row.sum() + SMOOTHING * len(row)) for row in X]
        return points, _kl, _mean
    if name == "categorical":
        points = [(row + 2 * SMOOTHING / len(row)) / (1 + 2 * SMOOTHING) for row in X]
        return points, _kl, _mean
    if name == "dirichlet-multinomial":
        return geometry(_fresh_draws(X), "multinomial")
    if name == "shared-gaussian":
        inverse = np.linalg.inv(_within(X))
        return list(X), lambda x, m: float((x - m) @ inverse @ (x - m)), _mean
    if name == "plda":  # in as many principal directions as points can tell a covariance of
        count = min(32, int(((8 * len(X) + 1) ** 0.5 - 1) // 2))
        turn = np.linalg.eigh(np.cov(X.T, bias=True))[1][:, ::-1][:, :count]
        inverse = turn @ np.linalg.inv(_within(X @ turn, 15)) @ turn.T
        return list(X), lambda x, m: float((x - m) @ inverse @ (x - m)), _mean
    if name == "diagonal-gaussian":
        return list(X / X.std(axis=0)), _square, _mean
    if name == "full-gaussian":
        inverse = np.linalg.inv(np.cov(X.T, bias=True))
        return list(X), lambda x, m: float((x - m) @ inverse @ (x - m)), _mean
    return (
        list(X),
        {
            "gaussian": _square,
            "poisson": _i_divergence,
            "bernoulli": _logistic,
            "gamma": _itakura_saito,
        }[name],
        _mean,
    )


def _mean(points):
    return sum(points) / len(points)


def _direction(points):
    total = sum(points)
    return total / sqrt(sum(v * v for v in total))


def _square(x, m):
    return sum((a - b) ** 2 for a, b in zip(x, m, strict=True))


def _kl(x, m):
    return sum(a * log(a / b) for a, b in zip(x, m, strict=True))


def _i_divergence(x, m):
    pairs = [(a + SMOOTHING, b + SMOOTHING) for a, b in zip(x, m, strict=True)]
    return sum(a * log(a / b) - a + b for a, b in pairs)


def _logistic(x, m):
    total = 0.0
    for a, b in zip(x, m, strict=True):
        a, b = ((v + SMOOTHING) / (1 + 2 * SMOOTHING) for v in (a, b))
        total += a * log(a / b) + (1 - a) * log((1 - a) / (1 - b))
    return total


def _itakura_saito(x, m):
    return sum(a / b - log(a / b) - 1 for a, b in zip(x, m, strict=True))


def _fresh_draws(X):
    """Expected fresh draws of a Dirichlet-multinomial urn whose s is found by bisection."""
    proportion = X.mean(axis=0) + 0.5 / len(X)
    proportion = proportion / proportion.sum()

    def fresh(x, b):
        return b * (digamma(b + x) - digamma(b)) if x > 1 else x

    def draws(s):
        return np.array(
            [[fresh(x, s * m) for x, m in zip(row, proportion, strict=True)] for row in X]
        )

    def excess(s):
        return draws(s).sum() - sum(fresh(row.sum(), s) for row in X)

    low, high = 1e-6, 1e4 * X.sum(axis=1).max()
    if excess(high) > -1e-12 * X.sum():
        return X
    for _ in range(90):
        middle = sqrt(low * high)
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return draws(low)


def _within(X, neighbours=5):
    """Half the scatter of differences to some neighbours, shrunk (Ledoit & Wolf), five times."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    d = Z.shape[1]
    S = np.eye(d)
    for _ in range(5):
        inverse = np.linalg.inv(S)
        apart = []
        for x in Z:
            nearest = sorted(Z, key=lambda z, x=x: (x - z) @ inverse @ (x - z))[1:]
            apart += [x - z for z in nearest[:neighbours]]
        S = sum(np.outer(a, a) for a in apart) / len(apart)
        size = np.trace(S) / d
        wrong = np.square(S - size * np.eye(d)).sum()
        noise = sum(np.square(np.outer(a, a) - S).sum() for a in apart) / len(apart) ** 2
        shrink = min(noise / wrong, 1.0)
        S = ((1 - shrink) * S + shrink * size * np.eye(d)) / 2
    return S * np.outer(X.std(axis=0), X.std(axis=0))


def _product(X):
    def divergence(x, m):
        return _square(x[:1], m[:1]) + _i_divergence(x[2:], m[2:]) + _logistic(x[1:2], m[1:2])

    return list(X), divergence, _mean


def _product_with_gaps(X):
    """The sum over the cells that are there; a centre without a value has that of all points."""
    every = np.nanmean(X, axis=0)
    spread = np.nanstd(X[:, 0])

    def divergence(x, m):
        of_column = (lambda a, b: _square(a, b) / spread**2, _logistic, _i_divergence)
        cells = [slice(j, j + 1) for j in range(3) if not np.isnan(x[j])]
        center = np.where(np.isnan(m), every, m)
        return sum(of_column[one.start](x[one], center[one]) for one in cells)

    def mean(points):
        points = np.array(points)
        there = ~np.isnan(points)
        count = there.sum(axis=0)
        return np.where(there, points, 0.0).sum(axis=0) / np.where(count, count, np.nan)

    return list(X), divergence, mean


# ---------------------------------------------------------------------- partitions


def all_partitions(n):
    """Every partition of n points, as labels numbered by first appearance."""
    if n == 0:
        return [()]
    return [
        (*labels, k) for labels in all_partitions(n - 1) for k in range(max(labels, default=-1) + 2)
    ]


def votes_inside(first, second, votes, labels):
    """The sum of the votes inside clusters, pair by pair."""
    pairs = zip(first, second, votes, strict=True)
    return sum(vote for i, j, vote in pairs if labels[i] == labels[j])


def most_votes_inside(n, first, second, votes):
    """The largest sum of the votes inside clusters, over all partitions."""
    return max(votes_inside(first, second, votes, labels) for labels in all_partitions(n))
