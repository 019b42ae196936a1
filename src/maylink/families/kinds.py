"""What data can be, as their values tell."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from maylink.arrays import Matrix
from maylink.families.rows import row_sums

KINDS = ("real", "counts", "bits", "positive", "directions", "mixed")
"""What data can be; ones and zeros are bits, and counts too."""

UNIT = 1e-3  # by how much rows of unit length may miss it: those of half precision do


def kinds_of(X: Matrix) -> frozenset[str]:
    """Return the kinds of data that these values could be, of those that values tell.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families.kinds import kinds_of
    >>> sorted(kinds_of(np.array([[1.0, 3.0]])))
    ['counts', 'positive', 'real']

    Rows of unit length are directions, as those of embeddings. So are sparse rows that are nowhere
    negative, as those of weighted words: texts differ in length, and their direction tells.

    >>> sorted(kinds_of(np.array([[0.6, 0.0, -0.8]])))
    ['directions', 'real']

    What holds of all rows holds of each chunk of them: the kinds of data in chunks are those that
    all chunks have.
    """
    values = X.data if sparse.issparse(X) else X
    kinds = {"real"}
    if bool(np.all(values >= 0) and np.all(values == np.floor(values))):
        kinds |= {"counts", "bits"} if np.all(values <= 1) else {"counts"}
    if not sparse.issparse(X) and np.all(values > 0):
        kinds.add("positive")
    if _are_directions(X):
        kinds.add("directions")
    return frozenset(kinds)


def _are_directions(X: Matrix) -> bool:
    """Whether rows of three features or more are of unit length, or sparse and never negative."""
    if X.shape[1] < 3:
        return False
    if sparse.issparse(X) and bool(np.all(X.data >= 0)):
        return True
    for rows in (X[:1], X):  # the first row mostly tells
        length = np.sqrt(row_sums(rows, np.square))
        if not np.all((length == 0) | (np.abs(length - 1.0) <= UNIT)):
            return False
    return True
