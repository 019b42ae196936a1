"""Groups that are merged two by two: the tree that comes of it, and the groups of a cut of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maylink.arrays import Array, Index
from maylink.kernels.merge_tree import (
    AVERAGE,
    ENERGY,
    first_heights,
    first_scores,
    log_shrinkages,
    merge_tree,
)
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
    joined: Array
    live: Array
    node: Index
    partner: Index


class MergingRule:
    """Pieces, and how it is decided which groups of them are merged next.

    What holds for single pieces, whatever is answered, is worked out once.

    Parameters
    ----------
    rule : int
        See :func:`maylink.kernels.merge_tree.merge_tree`.
    size : array of shape (M,)
        Points of each piece.
    near : array of shape (M, M)
        Likeness of each two pieces.
    total : array of shape (M, r), optional
        Sum of the points of each piece, of unit variance. Needed by the rule ``ENERGY`` alone.
    precision : array of shape (r,), optional
        Precision of the centres of clusters.
    """

    def __init__(
        self, rule: int, size: Array, near: Array, total: Array | None = None,
        precision: Array = NOTHING,
    ) -> None:  # fmt: skip
        n = len(size)
        by_column = np.zeros((0, n)) if total is None else np.ascontiguousarray(total.T)
        self._rule, self._precision, self._shrinkage = rule, precision, NOTHING
        self._known = self._heights = NOTHING
        self._first = TreeGroups(
            size, by_column, near, np.zeros((0, 0)), np.zeros((n, n)), np.zeros((n, n)),
            np.zeros(n), np.zeros(n), np.ones(n, np.bool_), np.arange(n), np.zeros(n, np.int64),
        )  # fmt: skip
        if rule == ENERGY:
            self._shrinkage = np.empty(int(size.sum()) + 1)
            log_shrinkages(precision, self._shrinkage)
        first_scores(rule, self._first, precision, self._shrinkage)
        self._first.soon[:] = self._first.score

    def set_heights(self, known: Array, heights: Array) -> None:
        """Tell the heights of scores: from now on heights and votes decide what is merged next.

        Parameters
        ----------
        known, heights : array of shape (m,)
            Scores of a tree without answers, rising, and their heights.
        """
        if not len(known):  # there was nothing to merge
            return
        self._known, self._heights = known, heights
        first_heights(self._first.score, known, heights, self._first.soon)

    def mergers(
        self, votes: Array | None = None, center: float = 0.0, width: float = 1.0
    ) -> Mergers:
        """Merge until one group is left.

        Parameters
        ----------
        votes : array of shape (M, M), optional
            Log odds of the answers about each two pieces. They count once heights are set.
        center, width : float
            See :func:`maylink.kernels.merge_tree.merge_tree`.
        """
        n = len(self._first.size)
        own = np.zeros((n, n)) if votes is None else votes.copy()
        groups = TreeGroups._make(one.copy() for one in self._first)._replace(votes=own)
        if len(self._known):
            groups.soon[:] = (groups.soon - center) / width + own
        children, scores = np.full((2 * n - 1, 2), -1), np.zeros(2 * n - 1)
        if n > 1:
            merge_tree(
                self._rule, groups, self._precision, self._shrinkage, self._known, self._heights,
                center, width, children, scores,
            )  # fmt: skip
        return Mergers(children, scores[n:])


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
        return MergingRule(AVERAGE, size, alike * np.outer(size, size)).mergers()

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
