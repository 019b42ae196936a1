"""Single rows that answers put elsewhere than the rest of their piece.

The rows of a piece nearly always belong together, but not always. An answer is about two rows, and
where several about one row speak for another cluster, that row goes there by itself: its answers
must outweigh the odds that it belongs with its piece. The row that gains most goes first, so that
one wrong row moves, and not those that it is said to belong with.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index

LEAST_GAIN = 1e-9  # of a move, in log odds: less is rounding


def moved_rows(
    labels: Index, i: Index, j: Index, votes: Array, may_move: NDArray[np.bool_], odds: float
) -> Index:
    """Return the clusters after single rows have gone where their answers put them.

    A row goes only to a cluster that its answers speak for, and the last row of a cluster stays.
    Each move raises the log odds of all answers and of all rows that stayed, so that it ends.

    Parameters
    ----------
    labels : array of int of shape (n,)
        The cluster of each row before.
    i, j : array of int of shape (m,)
        The rows of each answer.
    votes : array of shape (m,)
        Log odds that each answer speaks of one cluster.
    may_move : array of bool of shape (n,)
        The rows that may go elsewhere.
    odds : float
        Log odds that a row belongs where it was.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.questions.single_rows import moved_rows
    >>> labels, i, j = np.array([0, 0, 0, 1, 1]), np.array([2, 2, 2]), np.array([3, 4, 0])
    >>> moved_rows(labels, i, j, np.array([2.0, 2.0, -2.0]), np.ones(5, bool), odds=3.0)
    array([0, 0, 1, 1, 1])
    """
    found, sizes = labels.copy(), np.bincount(labels)
    ends, others = np.concatenate([i, j]), np.concatenate([j, i])
    order = np.argsort(ends, kind="stable")
    others, strength = others[order], np.concatenate([votes, votes])[order]
    first = np.searchsorted(ends[order], np.arange(len(labels) + 1))

    def best_move(row: int) -> tuple[float, int]:
        """Return what the best move of a row gains, and the cluster it goes to."""
        at = slice(first[row], first[row + 1])
        clusters, told = np.unique(
            np.append(found[others[at]], [labels[row], found[row]]), return_inverse=True
        )
        said = np.bincount(told, np.append(strength[at], [0.0, 0.0]))
        worth = said + odds * (clusters == labels[row])
        open_to = (said > 0.0) | (clusters == labels[row])
        best = int(np.where(open_to, worth, -np.inf).argmax())
        return float(worth[best] - worth[told[-1]]), int(clusters[best])

    doubted = (votes > 0.0) != (labels[i] == labels[j])
    rows = np.unique(np.concatenate([i[doubted], j[doubted]])).tolist()
    waiting = [(-best_move(row)[0], row) for row in rows if may_move[row]]
    heapq.heapify(waiting)
    while waiting:
        promised, row = heapq.heappop(waiting)
        gain, cluster = best_move(row)
        if gain <= LEAST_GAIN or sizes[found[row]] == 1:
            continue
        if gain < -promised - LEAST_GAIN:  # less than when it was put there: others may gain more
            heapq.heappush(waiting, (-gain, row))
            continue
        sizes[found[row]] -= 1
        sizes[cluster] += 1
        found[row] = cluster
        for other in np.unique(others[first[row] : first[row + 1]]).tolist():
            if may_move[other]:
                heapq.heappush(waiting, (-best_move(other)[0], other))
    return found
