"""The neighbour graph of the data as links: one more source whose reliability is learned.

Near points mostly are of one cluster and random pairs mostly are not, so that the graph says
something about the partition that a family of round clusters does not. How far it is right is not
assumed: p and q of this source are learned.
"""

from __future__ import annotations

import numpy as np

from maylink.links import Links
from maylink.pairs import distinct, pair_keys
from maylink.views.nearest import Neighbours, nearest

__all__ = ["SOURCE", "nearest", "neighbour_links"]

SOURCE = "neighbours of the data"
"""The source of these links."""


def neighbour_links(near: Neighbours, count: int, rng: np.random.Generator) -> Links:
    """Return links that say what the neighbour graph says.

    Each point and its neighbours "may", a pair once though both name each other; as many random
    pairs "may-not". Random pairs that happen to be neighbours stay: leaving them out would tell the
    model that no neighbours are ever drawn.

    Parameters
    ----------
    near : array of int of shape (n, m)
        The neighbours of each point, the nearest first; see :func:`maylink.views.nearest.nearest`.
    count : int
        How many of them to take, m at most.
    rng : numpy.random.Generator
        Draws the random pairs.

    Returns
    -------
    Links
        All of the source :data:`SOURCE`.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.views.neighbours import neighbour_links
    >>> near = np.array([[1, 2], [0, 2], [1, 0], [2, 1]])
    >>> neighbour_links(near, 1, np.random.default_rng(0)).may.tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    n = len(near)
    near = near[:, :count]
    keys = distinct(pair_keys(np.repeat(np.arange(n), near.shape[1]), near.ravel(), n))
    if keys.size == 0:
        return Links.from_pairs(n=n, source=SOURCE)
    first = rng.integers(n, size=keys.size)
    second = (first + rng.integers(1, n, size=keys.size)) % n  # another point, each as likely
    return Links.from_pairs(
        may=np.column_stack([keys // n, keys % n]),
        may_not=np.column_stack([first, second]),
        n=n,
        source=SOURCE,
    )
