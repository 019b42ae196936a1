"""Look-alike pairs: the pairs that are worth judging or scoring, where all pairs are too many."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Matrix
from maylink.errors import MaylinkError
from maylink.views.nearest import nearest


def look_alike_pairs(
    X: Matrix | Any, per_row: int = 5, *, n_jobs: int | None = None
) -> NDArray[np.int64]:
    """Return each row with its nearest rows: candidates for judges, splink or dedupe.

    Two records of one person mostly are among the nearest of each other, in features of
    :func:`maylink.text_features`, while random pairs hardly ever are of one person. In record
    linkage this is called blocking.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Rows of unit length, or others between which the Euclidean distance counts.
    per_row : int, default 5
        How many of the nearest rows of each row; n − 1 where there are no more.
    n_jobs : int, optional
        Threads; all processors by default. They do not change the result.

    Returns
    -------
    array of int of shape (m, 2)
        Each pair once, i < j, the nearest first.

    Examples
    --------
    >>> import maylink as ml
    >>> names = ["anna berg", "karl hill", "ana berg", "carl hill"]
    >>> sorted(ml.look_alike_pairs(ml.text_features(names), per_row=1).tolist())
    [[0, 2], [1, 3]]
    """
    if isinstance(per_row, bool) or not isinstance(per_row, (int, np.integer)) or per_row < 1:
        raise MaylinkError(f"per_row: {per_row!r} is not a number of rows; give 1 or more")
    near = nearest(X, int(per_row), n_jobs)
    first = np.repeat(np.arange(near.shape[0]), near.shape[1])
    pairs = np.unique(np.sort(np.column_stack([first, near.ravel()]), axis=1), axis=0)
    between = X[pairs[:, 0]] - X[pairs[:, 1]]
    squares = np.asarray((between * between).sum(axis=1)).ravel()
    return np.asarray(pairs[np.argsort(squares, kind="stable")], np.int64)
