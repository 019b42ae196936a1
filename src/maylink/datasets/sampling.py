"""Links drawn from true labels, with noise, after the two protocols of the experiments."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from maylink.errors import MaylinkError
from maylink.labels import complete_codes
from maylink.links import MAY, MAY_NOT, Links
from maylink.pairs import draw_distinct, unrank_pairs

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
    for name, value in (("rate", rate), ("accuracy", accuracy)):
        if not 0.0 <= value <= 1.0:
            raise MaylinkError(f"{name}: {value} is not between 0 and 1")
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
    same = labels[i] == labels[j]
    right = generator.random(i.size) < accuracy
    kind = np.where(same == right, MAY, MAY_NOT)
    if protocol == "published":
        key = np.minimum(i, j) * n + np.maximum(i, j)
        _, last = np.unique(key[::-1], return_index=True)
        keep = i.size - 1 - last
        i, j, kind = i[keep], j[keep], kind[keep]
    return Links(n=n, i=i, j=j, kind=kind)
