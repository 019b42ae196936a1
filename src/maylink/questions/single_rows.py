"""Single rows that answers put elsewhere than the rest of their piece.

The rows of a piece nearly always belong together, but not always. An answer is about two rows, and
where several about one row speak for another cluster, that row goes there by itself: its answers
must outweigh the odds that it belongs with its piece.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index


def moved_rows(
    labels: Index, i: Index, j: Index, votes: Array, may_move: NDArray[np.bool_], odds: float
) -> Index:
    """Return the clusters after single rows have gone where their answers put them.

    Each move raises the log odds of all answers and of all rows that stayed, so that it ends.

    Parameters
    ----------
    labels : array of int of shape (n,)
        The cluster of each row, by its piece.
    i, j : array of int of shape (m,)
        The rows of each answer.
    votes : array of shape (m,)
        Log odds that each answer speaks of one cluster.
    may_move : array of bool of shape (n,)
        The rows that may go elsewhere.
    odds : float
        Log odds that a row belongs with its piece.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.questions.single_rows import moved_rows
    >>> labels, i, j = np.array([0, 0, 0, 1, 1]), np.array([2, 2, 2]), np.array([3, 4, 0])
    >>> moved_rows(labels, i, j, np.array([2.0, 2.0, -2.0]), np.ones(5, bool), odds=3.0)
    array([0, 0, 1, 1, 1])
    """
    found = labels.copy()
    doubted = (votes > 0.0) != (labels[i] == labels[j])
    if not doubted.any():
        return found
    ends, others = np.concatenate([i, j]), np.concatenate([j, i])
    order = np.argsort(ends, kind="stable")
    others, strength = others[order], np.concatenate([votes, votes])[order]
    first = np.searchsorted(ends[order], np.arange(len(labels) + 1))
    waiting = deque(np.unique(np.concatenate([i[doubted], j[doubted]])).tolist())
    waits = set(waiting)
    while waiting:
        row = waiting.popleft()
        waits.remove(row)
        if not may_move[row]:
            continue
        at = slice(first[row], first[row + 1])
        clusters, told = np.unique(
            np.concatenate([found[others[at]], [labels[row], found[row]]]), return_inverse=True
        )
        worth = np.bincount(told, np.concatenate([strength[at], [odds, 0.0]]))
        best = int(worth.argmax())
        if worth[best] > worth[told[-1]] + 1e-9:
            found[row] = clusters[best]
            for other in others[at].tolist():
                if other not in waits:
                    waits.add(other)
                    waiting.append(other)
    return found
