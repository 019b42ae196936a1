"""What many partitions say together: co-clustering, a point estimate, and a credible ball.

Two distances between partitions, both of the form ``Σ f(n_k) + Σ f(n_l) − 2 Σ f(n_kl)`` over the
sizes of their clusters and of the overlaps:

* **variation of information**, f(m) = m log m, divided by n;
* **Binder**, f(m) = m², divided by n(n − 1): the share of pairs on which they disagree.

The point estimate is the partition with the least mean distance to the draws, found by moving
points one at a time from several starts. The credible ball holds the share ``level`` of the draws
that are nearest to it (Wade & Ghahramani 2018).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maylink.arrays import Array
from maylink.errors import MaylinkError
from maylink.labels import complete_codes

LOSSES = ("vi", "binder")
MOST_DRAWS = 1000  # draws that the search looks at
WORK = 5_000_000  # points times draws that it looks at, but never fewer than a hundred draws
SMALL = 30  # points up to which eight times as many starts cost nothing
LARGEST_MATRIX = 5000  # points for which an n × n matrix is made

Labels = NDArray[np.int64]


class Ball(NamedTuple):
    """A credible ball around a partition.

    Its three bounds are draws inside it: the coarsest and the finest (fewest and most clusters; of
    several the furthest) and the furthest.

    Examples
    --------
    >>> from maylink.model.partitions import Ball
    >>> Ball._fields
    ('radius', 'coarsest', 'finest', 'furthest')
    """

    radius: float
    coarsest: Labels
    finest: Labels
    furthest: Labels


def distance(a: ArrayLike, b: ArrayLike, loss: str = "vi") -> float:
    """Return the distance between two partitions.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Two partitions of the same points.
    loss : {"vi", "binder"}, default "vi"
        Variation of information in nats, or the share of pairs on which they disagree.

    Examples
    --------
    >>> from maylink.model.partitions import distance
    >>> distance([0, 0, 1, 1], [0, 0, 0, 1], "binder")
    0.5
    """
    return float(distances(np.atleast_2d(complete_codes(a)), complete_codes(b), loss)[0])


def distances(draws: NDArray[np.integer], labels: Labels, loss: str = "vi") -> Array:
    """Return the distance of each of the draws, shape (m, n), to one partition.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.model.partitions import distances
    >>> distances(np.array([[0, 0, 1, 1], [0, 0, 0, 1]]), np.array([0, 0, 1, 1]), "binder")
    array([0. , 0.5])
    """
    n = labels.size
    if draws.shape[1] != n:
        raise MaylinkError(f"draws of {draws.shape[1]} points, but a partition of {n}")
    price, scale = _price(n, loss)
    width = int(labels.max()) + 1
    price_of_labels = price[np.bincount(labels)].sum()
    out = np.empty(len(draws))
    for m, draw in enumerate(draws):
        shared = np.bincount(draw.astype(np.int64) * width + labels)
        out[m] = price_of_labels + price[np.bincount(draw)].sum() - 2.0 * price[shared].sum()
    return np.maximum(out, 0.0) / scale


def point_estimate(
    draws: NDArray[np.integer],
    loss: str = "vi",
    *,
    n_starts: int = 16,
    rng: np.random.Generator | int | None = 0,
) -> Labels:
    """Return the partition with the least mean distance to the draws, as far as a search finds it.

    Parameters
    ----------
    draws : array of shape (m, n)
        Partitions; of more than a thousand, or a hundred for many points, evenly spaced ones are
        used.
    loss : {"vi", "binder"}, default "vi"
        The distance.
    n_starts : int, default 16
        Starts of the search, half of them the best draws, half built point by point; eight times
        as many for up to 30 points.
    rng : Generator or int, optional
        Draws the orders of visits.

    Returns
    -------
    array of shape (n,)
        Labels numbered by first appearance.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.model.partitions import point_estimate
    >>> point_estimate(np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]]))
    array([0, 0, 1, 1])
    """
    from maylink.kernels.partitions import descend

    generator = np.random.default_rng(rng)
    n = draws.shape[1]
    draws = _spaced(draws, int(np.clip(WORK // n, 100, MOST_DRAWS)))
    draws = np.ascontiguousarray(draws, np.int32)
    price, _ = _price(n, loss)
    if n <= SMALL:
        n_starts *= 8
    n_labels = int(draws.max()) + 1
    limit = n if n <= SMALL else min(n, n_labels + 1)
    distinct = _spaced(np.unique(draws, axis=0), int(np.clip(WORK // (100 * n), 20, 200)))
    means = np.array([distances(draws, row.astype(np.int64), loss).mean() for row in distinct])
    nearest = distinct[np.argsort(means, kind="stable")[: n_starts - n_starts // 2]]
    starts = [row.astype(np.int64) for row in nearest]
    starts += [np.full(n, -1) for _ in range(n_starts // 2)]
    if n <= SMALL:
        starts.append(np.arange(n))
    best, least = starts[0], np.inf
    for start in starts:
        descend(draws, n_labels, price, generator.permutation(n), limit, start)
        mean = float(distances(draws, complete_codes(start), loss).mean())
        if mean < least - 1e-12:
            best, least = start, mean
    return complete_codes(best)


def credible_ball(
    draws: NDArray[np.integer], labels: ArrayLike, loss: str = "vi", level: float = 0.95
) -> Ball:
    """Return the ball around a partition that holds this share of the draws.

    Parameters
    ----------
    draws : array of shape (m, n)
        Partitions.
    labels : array-like of shape (n,)
        The centre.
    loss : {"vi", "binder"}, default "vi"
        The distance.
    level : float, default 0.95
        The share.

    Returns
    -------
    Ball

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.model.partitions import credible_ball
    >>> draws = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 1, 0]])
    >>> ball = credible_ball(draws, [0, 0, 1, 1], "binder", level=0.75)
    >>> ball.radius, ball.furthest
    (0.5, array([0, 0, 0, 1]))
    """
    if not 0.0 < level <= 1.0:
        raise MaylinkError(f"level: {level} is not above 0 and at most 1")
    apart = distances(draws, complete_codes(labels), loss)
    radius = float(np.quantile(apart, level, method="inverted_cdf"))
    inside = np.flatnonzero(apart <= radius)
    n_clusters = draws[inside].max(axis=1) + 1

    def pick(chosen: NDArray[np.bool_]) -> Labels:
        rows = inside[chosen]
        return np.asarray(draws[rows[apart[rows].argmax()]], np.int64)

    return Ball(
        radius,
        coarsest=pick(n_clusters == n_clusters.min()),
        finest=pick(n_clusters == n_clusters.max()),
        furthest=pick(np.ones(inside.size, bool)),
    )


def coclustering(draws: NDArray[np.integer], i: Labels, j: Labels) -> Array:
    """Return how often each pair (i, j) shares a cluster, shape (pairs,).

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.model.partitions import coclustering
    >>> draws = np.array([[0, 0, 1], [0, 0, 0]])
    >>> coclustering(draws, np.array([0, 0]), np.array([1, 2]))
    array([1. , 0.5])
    """
    together = np.zeros(len(i))
    for draw in draws:
        together += draw[i] == draw[j]
    return np.asarray(together / len(draws))


def coclustering_matrix(draws: NDArray[np.integer]) -> Array:
    """Return the n × n matrix of how often points share a cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.model.partitions import coclustering_matrix
    >>> coclustering_matrix(np.array([[0, 0, 1], [0, 0, 0]]))
    array([[1. , 1. , 0.5],
           [1. , 1. , 0.5],
           [0.5, 0.5, 1. ]])
    """
    n = draws.shape[1]
    check_matrix(n)
    matrix = np.zeros((n, n))
    for draw in draws:
        matrix += draw[:, None] == draw
    return np.asarray(matrix / len(draws))


def responsibilities_of(draws: NDArray[np.integer], labels: Labels) -> Array:
    """Return how often each point shares a cluster with the members of each cluster, (n, K).

    Rows sum to 1.
    """
    n_clusters = int(labels.max()) + 1
    size = np.bincount(labels)
    responsibilities = np.zeros((labels.size, n_clusters))
    for draw in draws:
        width = int(draw.max()) + 1
        overlap = np.bincount(labels * width + draw, minlength=n_clusters * width)
        responsibilities += (overlap.reshape(n_clusters, width) / size[:, None])[:, draw].T
    return np.asarray(responsibilities / responsibilities.sum(axis=1, keepdims=True))


def check_matrix(n: int) -> None:
    """Raise where an n × n matrix would be too large."""
    if n > LARGEST_MATRIX:
        raise MaylinkError(
            f"a co-clustering matrix of {n} × {n} points is too large; ask for pairs instead"
        )


def _spaced(draws: NDArray[np.integer], most: int) -> NDArray[np.integer]:
    """Return the draws, or as many of them as there may be, evenly spaced."""
    if len(draws) <= most:
        return draws
    return draws[np.linspace(0, len(draws) - 1, most).round().astype(np.int64)]


def _price(n: int, loss: str) -> tuple[Array, float]:
    """Return f(0), …, f(n + 1) and what the sum is divided by."""
    if loss not in LOSSES:
        raise MaylinkError(f"loss: {loss!r} is not one of 'vi', 'binder'")
    sizes = np.arange(n + 2, dtype=np.float64)
    if loss == "binder":
        return sizes**2, float(max(n * (n - 1), 1))
    return sizes * np.log(np.maximum(sizes, 1.0)), float(n)
