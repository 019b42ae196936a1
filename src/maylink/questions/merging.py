"""Groups that a tree of mergers begins with, and merging as long as it pays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maylink.arrays import Array, Index
from maylink.kernels.merge_tree import AVERAGE, merge_tree
from maylink.labels import first_appearance


class TreeGroups(NamedTuple):
    """Groups that are merged, by slots 0 … M − 1; what :func:`merge_tree` changes."""

    size: Array
    total: Array
    near: Array
    votes: Array
    score: Array
    soon: Array
    alone: Array
    live: Array
    node: Index
    partner: Index

    @classmethod
    def of(cls, size: Array, total: Array, near: Array, votes: Array | None = None) -> TreeGroups:
        """Begin with single pieces: their sizes, sums, likeness, and log odds of answers."""
        n = len(size)
        own = np.zeros((n, n)) if votes is None else votes.copy()
        score, soon, alone = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)
        live: Array = np.ones(n, np.bool_)
        node, partner = np.arange(n), np.zeros(n, np.int64)
        groups = size.copy(), total.copy(), near.copy(), own
        return cls(*groups, score, soon, alone, live, node, partner)


def merged_while(alike: Array, size: Array, least: float) -> Index:
    """Merge the two groups that are most alike on average, as long as they are alike enough.

    Parameters
    ----------
    alike : array of shape (M, M)
        Likeness of points of two pieces.
    size : array of shape (M,)
        Points of each piece.
    least : float
        Likeness above which groups are merged.

    Returns
    -------
    array of int of shape (M,)
        The group of each piece, 0 … K − 1.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.questions.merging import merged_while
    >>> alike = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.3], [0.2, 0.3, 1.0]])
    >>> merged_while(alike, np.ones(3), 0.5)
    array([0, 0, 1])
    """
    n = len(size)
    groups = TreeGroups.of(size, np.zeros((n, 1)), alike * np.outer(size, size))
    children, scores = np.full((2 * n - 1, 2), -1), np.zeros(2 * n - 1)
    nothing = np.empty(0)
    if n > 1:
        merge_tree(
            AVERAGE, groups, np.ones(1), nothing, nothing, 0.0, 1.0, children, scores
        )  # fmt: skip
    label = np.arange(2 * n - 1)
    for node in range(2 * n - 2, n - 1, -1):
        if label[node] != node or scores[node] > least:
            label[children[node]] = label[node]
    return first_appearance(label[:n])[0]
