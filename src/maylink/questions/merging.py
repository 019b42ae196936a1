"""Groups that are merged two by two: the tree that comes of it, and the groups of a cut of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maylink.arrays import Array, Index
from maylink.kernels.merge_tree import AVERAGE, merge_tree
from maylink.labels import first_appearance

NOTHING = np.empty(0)


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


class Mergers(NamedTuple):
    """A tree of mergers of M pieces.

    Parameters
    ----------
    children : array of int of shape (2M − 1, 2)
        The two parts of each node; −1 of pieces, which are the nodes 0 … M − 1.
    scores : array of shape (M − 1,)
        The score of each merger, in order.
    """

    children: Index
    scores: Array

    @classmethod
    def by_average(cls, alike: Array, size: Array) -> Mergers:
        """Merge the two groups whose points are most alike on average, until one is left.

        Parameters
        ----------
        alike : array of shape (M, M)
            Likeness of points of two pieces.
        size : array of shape (M,)
            Points of each piece.
        """
        n = len(size)
        groups = TreeGroups.of(size, np.zeros((n, 1)), alike * np.outer(size, size))
        return cls.of(AVERAGE, groups, np.ones(1), NOTHING, NOTHING, 0.0, 1.0)

    @classmethod
    def of(
        cls,
        rule: int,
        groups: TreeGroups,
        precision: Array,
        known: Array,
        heights: Array,
        center: float,
        width: float,
    ) -> Mergers:
        """Merge groups by a rule, see :func:`maylink.kernels.merge_tree.merge_tree`."""
        n = len(groups.size)
        children, scores = np.full((2 * n - 1, 2), -1), np.zeros(2 * n - 1)
        if n > 1:
            merge_tree(rule, groups, precision, known, heights, center, width, children, scores)
        return cls(children, scores[n:])

    def groups(self, least: float) -> Index:
        """Return the group of each piece, 0 … K − 1, when mergers of lower scores are left out.

        Parameters
        ----------
        least : float
            Score above which groups are merged; what lies below such a merger is one group.

        Examples
        --------
        >>> import numpy as np
        >>> from maylink.questions.merging import Mergers
        >>> alike = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.3], [0.2, 0.3, 1.0]])
        >>> Mergers.by_average(alike, np.ones(3)).groups(0.5)
        array([0, 0, 1])
        """
        n = len(self.scores) + 1
        label = np.arange(2 * n - 1)
        for node in range(2 * n - 2, n - 1, -1):
            if label[node] != node or self.scores[node - n] > least:
                label[self.children[node]] = label[node]
        return first_appearance(label[:n])[0]
