"""Links drawn from true labels, with noise: on random pairs, and on points that look alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maylink.errors import MaylinkError
from maylink.labels import complete_codes
from maylink.links import MAY, MAY_NOT, Links
from maylink.pairs import draw_distinct, pair_keys, unrank_pairs
from maylink.parameters import check_integer

PROTOCOLS = ("stated", "published")


def sample_links(
    y: ArrayLike,
    rate: float,
    accuracy: float = 1.0,
    protocol: str = "stated",
    rng: np.random.Generator | int | None = None,
) -> Links:
    """Draw links on random pairs from the true labels, each right with a given probability.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels.
    rate : float
        r, the proportion of the n × n link matrix to fill, 0 to 1.
    accuracy : float, default 1
        p, the probability that a link is right.
    protocol : {"stated", "published"}, default "stated"
        ``"stated"`` is what the paper's text says: r n² entries of a symmetric matrix, so ⌊r n²/2⌋
        different pairs. ``"published"`` is what its tables were made with: ⌊r n²⌋ different
        *ordered* pairs, each written to (i, j) and (j, i), a later draw of the reverse pair
        overwriting an earlier one, so that a proportion of about 2r − r² is filled.
    rng : Generator or int, optional
        Source of randomness.

    Returns
    -------
    Links
        At most one link on a pair.

    Examples
    --------
    >>> from maylink import sample_links
    >>> sample_links([0] * 10 + [1] * 10, rate=0.1, accuracy=0.9, rng=0)
    Links(20 points, 20 links: 9 may, 11 may-not; 16 points linked; no contradictory pairs)
    """
    if protocol not in PROTOCOLS:
        raise MaylinkError(f"protocol: {protocol!r} is not one of {', '.join(PROTOCOLS)}")
    _check_proportions(rate=rate, accuracy=accuracy)
    generator = np.random.default_rng(rng)
    labels = complete_codes(y, "y")
    n = labels.size
    if protocol == "stated":
        n_pairs = n * (n - 1) // 2
        rank = draw_distinct(n_pairs, min(int(rate * n * n / 2), n_pairs), generator)
        i, j = unrank_pairs(rank, n)
    else:
        n_pairs = n * (n - 1)
        rank = draw_distinct(n_pairs, min(int(rate * n * n), n_pairs), generator)
        i, j = rank // max(n - 1, 1), rank % max(n - 1, 1)
        j += j >= i  # skip the diagonal
    kind = _kinds(labels, i, j, accuracy, generator)
    if protocol == "published":
        key = np.minimum(i, j) * n + np.maximum(i, j)
        _, last = np.unique(key[::-1], return_index=True)
        keep = i.size - 1 - last
        i, j, kind = i[keep], j[keep], kind[keep]
    return Links(n=n, i=i, j=j, kind=kind)


def sample_look_alikes(
    X: Any,
    y: ArrayLike,
    n_links: int,
    accuracy: float = 1.0,
    *,
    n_neighbors: int = 15,
    proportion: float = 0.7,
    rng: np.random.Generator | int | None = None,
) -> Links:
    """Draw links of which most join points that look alike: the pairs that people are asked about.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        The data, in which Euclidean distance tells what looks alike.
    y : array-like of shape (n,)
        True labels.
    n_links : int
        Number of links, each on another pair; all pairs, where there are no more.
    accuracy : float, default 1
        p, the probability that a link is right.
    n_neighbors : int, default 15
        A point looks like so many of its nearest neighbours.
    proportion : float, default 0.7
        The proportion of links that join a random point to one of its neighbours; all others join
        random points. Where neighbours make too few pairs, random ones take their place.
    rng : Generator or int, optional
        Source of randomness.

    Returns
    -------
    Links
        At most one link on a pair.

    Examples
    --------
    >>> from maylink.datasets import make_pattern, sample_look_alikes
    >>> data = make_pattern("moons", n=100, rng=0)
    >>> sample_look_alikes(data.X, data.y, 50, accuracy=0.9, rng=0)
    Links(100 points, 50 links: 35 may, 15 may-not; 65 points linked; no contradictory pairs)
    """
    _check_proportions(accuracy=accuracy, proportion=proportion)
    check_integer("n_links", n_links, 0)
    check_integer("n_neighbors", n_neighbors, 1)
    generator = np.random.default_rng(rng)
    labels = complete_codes(y, "y")
    n = labels.size
    if X.shape[0] != n:
        raise MaylinkError(f"X: {X.shape[0]} points, but y has {n} labels")
    n_pairs = n * (n - 1) // 2
    size = min(n_links, n_pairs)
    keys = _alike_keys(X, min(n_neighbors, n - 1), generator)[: round(proportion * size)]
    # As many random pairs as links: enough are left when those that are taken already go.
    i, j = unrank_pairs(draw_distinct(n_pairs, size, generator), n)
    further = pair_keys(i, j, n)
    further = further[~np.isin(further, keys)][: size - keys.size]
    keys = np.concatenate([keys, further])
    i, j = keys // max(n, 1), keys % max(n, 1)
    return Links(n=n, i=i, j=j, kind=_kinds(labels, i, j, accuracy, generator))


def _alike_keys(X: Any, n_neighbors: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the pairs of points and neighbours, each once, by lot; mutual ones have two lots."""
    if n_neighbors < 1:
        return np.zeros(0, np.int64)
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=n_neighbors).fit(X)
    neighbours = model.kneighbors(return_distance=False)
    n = neighbours.shape[0]
    lots = rng.permutation(pair_keys(np.repeat(np.arange(n), n_neighbors), neighbours.ravel(), n))
    _, first = np.unique(lots, return_index=True)
    return lots[np.sort(first)]


def _kinds(
    labels: NDArray[Any],
    i: NDArray[np.int64],
    j: NDArray[np.int64],
    accuracy: float,
    rng: np.random.Generator,
) -> NDArray[Any]:
    """Return what links on these pairs say, each right with the given probability."""
    right = rng.random(i.size) < accuracy
    return np.where((labels[i] == labels[j]) == right, MAY, MAY_NOT)


def _check_proportions(**proportions: float) -> None:
    for name, value in proportions.items():
        if not 0.0 <= value <= 1.0:
            raise MaylinkError(f"{name}: {value} is not between 0 and 1")
