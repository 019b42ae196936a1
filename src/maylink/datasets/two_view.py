"""Data drawn from the TVClust model itself: one hidden partition, seen through data and links."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.errors import MaylinkError
from maylink.families import Family, as_family
from maylink.links import MAY, MAY_NOT, Links
from maylink.pairs import draw_distinct, unrank_pairs


@dataclass(frozen=True)
class TwoView:
    """A draw from the model.

    Parameters
    ----------
    X : array of shape (n, d)
        The data view.
    links : Links
        The link view.
    y : array of shape (n,)
        The hidden partition.
    parameters : array of shape (K, s)
        Natural parameter of each cluster.

    Examples
    --------
    >>> from maylink.datasets import make_two_view
    >>> draw = make_two_view(50, rng=0)
    >>> draw.X.shape, draw.links.n_links, draw.y.shape
    ((50, 2), 100, (50,))
    """

    X: Array
    links: Links
    y: NDArray[np.int64]
    parameters: Array


def make_two_view(
    n: int = 300,
    n_features: int = 2,
    *,
    family: Family | str = "gaussian",
    prior: Any = None,
    alpha: float = 1.0,
    links_per_point: float = 4.0,
    reliability: Mapping[Hashable, tuple[float, float]] | tuple[float, float] = (0.9, 0.9),
    rng: np.random.Generator | int | None = None,
) -> TwoView:
    """Draw a partition, data and links from the TVClust model.

    The partition comes from a Chinese restaurant process, each cluster's parameter from the prior,
    points from their cluster's parameter, and links on random pairs: a pair in one cluster gets a
    may link with probability p, a pair in two clusters a may-not link with probability q.

    Parameters
    ----------
    n : int, default 300
        Number of points.
    n_features : int, default 2
        Number of features.
    family : Family or str, default "gaussian"
        What the data are.
    prior : optional
        Prior of the clusters' parameters; the family's unit prior if not given.
    alpha : float, default 1
        Concentration of the process: larger makes more clusters.
    links_per_point : float, default 4
        Average number of links a point has from each source.
    reliability : (p, q) or mapping of source to (p, q), default (0.9, 0.9)
        How reliable the links are.
    rng : Generator or int, optional
        Source of randomness.

    Returns
    -------
    TwoView

    Examples
    --------
    >>> from maylink.datasets import make_two_view
    >>> draw = make_two_view(100, reliability={"expert": (0.99, 0.99), "rule": (0.7, 0.8)}, rng=0)
    >>> draw.links
    Links(100 points, 400 links: 120 may, 280 may-not; 2 sources; 100 points linked; \
3 contradictory pairs)
    """
    generator = np.random.default_rng(rng)
    model = as_family(family)
    y = draw_partition(n, alpha, generator)
    if prior is None:
        prior = model.unit_prior(n_features)
    parameters = np.array(
        [model.sample_parameters(prior, generator) for _ in range(int(y.max(initial=-1)) + 1)]
    )
    X = np.empty((n, n_features))
    for k, theta in enumerate(parameters):
        X[y == k] = model.sample(theta, int((y == k).sum()), generator)
    by_source = reliability if isinstance(reliability, Mapping) else {0: reliability}
    links = Links.empty(n)
    for number, (source, (p, q)) in enumerate(by_source.items()):
        from_source = _draw_links(y, links_per_point, p, q, source, generator)
        links = from_source if number == 0 else links + from_source
    return TwoView(X, links, y, parameters)


def draw_partition(n: int, alpha: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw a partition of n points from a Chinese restaurant process."""
    y = np.zeros(n, np.int64)
    sizes: list[float] = []
    for i in range(n):
        weights = np.array([*sizes, alpha])
        y[i] = rng.choice(weights.size, p=weights / weights.sum())
        if y[i] == len(sizes):
            sizes.append(0.0)
        sizes[y[i]] += 1.0
    return y


def _draw_links(
    y: NDArray[np.int64], per_point: float, p: float, q: float, source: Hashable, rng: Any
) -> Links:
    for name, value in (("p", p), ("q", q)):
        if not 0.0 <= value <= 1.0:
            raise MaylinkError(f"reliability: {name} = {value} is not between 0 and 1")
    n_pairs = y.size * (y.size - 1) // 2
    size = min(round(per_point * y.size / 2), n_pairs)
    i, j = unrank_pairs(draw_distinct(n_pairs, size, rng), y.size)
    says_may = rng.random(size) < np.where(y[i] == y[j], p, 1.0 - q)
    sources: Any = [source] * size
    return Links(y.size, i, j, np.where(says_may, MAY, MAY_NOT), source=sources)
