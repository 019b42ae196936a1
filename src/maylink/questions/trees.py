"""Trees of mergers: several opinions about which pieces of the data go together.

No single measure of likeness suits all data. So there are several *linkages*, and each makes a tree
of its own; answers tell which of them to believe (:mod:`maylink.questions.experts`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from maylink.arrays import Array, Index
from maylink.kernels.merge_tree import AVERAGE, ENERGY, SINGLE
from maylink.kernels.tree_cuts import meeting_nodes
from maylink.questions.best_cut import BestCut, best_cut
from maylink.questions.fits import FitOpinion
from maylink.questions.merging import MergingRule
from maylink.questions.parts import Part
from maylink.questions.pieces import Pieces

SURE = 0.5  # log number of clusters by which a fit's mergers stand away from where it cuts
A_FIT = 0.99  # weight of a fit's clusters beside the neighbour graph, in the tree of the fit


@dataclass(frozen=True)
class Tree:
    """A tree of mergers over pieces.

    Parameters
    ----------
    children : array of int of shape (2M − 1, 2)
        The two parts of each node; −1 of pieces, which are the nodes 0 … M − 1.
    heights : array of shape (2M − 1,)
        Height of each node: about the log of the number of clusters when it is merged.
    """

    children: Index
    heights: Array

    @property
    def n_pieces(self) -> int:
        """M."""
        return (len(self.children) + 1) // 2

    def meeting(self, a: Index, b: Index) -> Index:
        """Return the lowest node that holds both pieces, of every pair."""
        parents = np.full(len(self.children), -1)
        inner = np.arange(self.n_pieces, len(self.children))
        parents[self.children[inner]] = inner[:, None]
        nodes = np.empty(len(a), np.int64)
        meeting_nodes(parents, a, b, nodes)
        return nodes


class Linkage:
    """A measure of likeness of groups, and the heights of its scores.

    Parameters
    ----------
    name : str
        What it is called.
    rule : int
        ``ENERGY``: how much log p(x) and the log odds of the neighbour graph rise by merging, times
        the sum of 1 / rows of both groups. ``AVERAGE``: mean likeness of two rows. ``SINGLE``:
        likeness of the two pieces that are most alike.
    parts : sequence of Part
        All the pieces, in parts.
    near : callable
        Returns the likeness of the pieces of a part, shape (B, B).
    variance : float, default 1
        Of clusters, in units of that which pieces suggest.
    """

    def __init__(
        self,
        name: str,
        rule: int,
        parts: Sequence[Part],
        near: Callable[[Part], Array],
        variance: float = 1.0,
    ) -> None:
        self.name, self._rule, self._near, self._variance = name, rule, near, variance
        self.n_clusters: int | None = None
        """The most probable number of clusters without answers, where it is known."""
        self._rules = {part: self._rule_of(part) for part in parts}
        self.mergers = [one.mergers() for one in self._rules.values()]
        """The tree of each part without answers, and the scores of its mergers."""
        rising = np.sort(np.concatenate([one.scores for one in self.mergers]))
        self._known, first = np.unique(rising, return_index=True)
        self._set_heights(np.log(1.0 + len(parts) + first))  # parts are never merged

    def tree(self, part: Part, votes: Array | None, center: float, width: float) -> Tree:
        """Return the tree of a part, given answers.

        Parameters
        ----------
        part : Part
            The pieces.
        votes : array of shape (B, B), optional
            Log odds of the answers about each two pieces.
        center, width : float
            See :func:`maylink.kernels.merge_tree.merge_tree`.
        """
        if part not in self._rules:  # parts that were joined since
            self._rules[part] = self._rule_of(part)
            self._rules[part].set_heights(self._known, self._heights)
        children, scores = self._rules[part].mergers(votes, center, width)
        heights = np.zeros(len(children))
        if len(scores):
            heights[part.count :] = np.interp(scores, self._known, self._heights)
        return Tree(children, heights)

    def settle(self, n_clusters: int) -> None:
        """Take so many clusters for likely: mergers within them move up, those between down."""
        self.n_clusters = n_clusters
        apart = np.sign(self._heights - np.log(n_clusters + 0.5))
        self._set_heights(self._heights + SURE * apart)

    def _rule_of(self, part: Part) -> MergingRule:
        near, part = self._near(part), part.in_units_of(self._variance)
        return MergingRule(self._rule, part.size, near, part.total, part.precision)

    def _set_heights(self, heights: Array) -> None:
        self._heights = heights
        for one in self._rules.values():
            one.set_heights(self._known, heights)

    def forget_all_but(self, parts: Sequence[Part]) -> None:
        """Forget what is known of other parts: they have been joined."""
        kept = set(parts)
        self._rules = {part: rule for part, rule in self._rules.items() if part in kept}


def linkages(pieces: Pieces, parts: Sequence[Part]) -> list[Linkage]:
    """Return all opinions: the one that is most believed before any answer is the first.

    Parameters
    ----------
    pieces : Pieces
        The pieces.
    parts : sequence of Part
        The pieces in parts.
    """
    found = [
        Linkage("data", ENERGY, parts, lambda one: np.zeros_like(one.wide)),
        Linkage("many neighbours", AVERAGE, parts, lambda one: one.wide + _far(one)),
        Linkage(
            "nearest neighbours", SINGLE, parts,
            lambda one: one.close / np.minimum.outer(one.size, one.size) + one.far,
        ),
        Linkage("close neighbours", AVERAGE, parts, lambda one: one.close + _far(one)),
    ]  # fmt: skip
    cut = max(best_cut(one.mergers, parts, pieces) for one in found)
    energy = _energy(parts, cut)
    again = best_cut(energy.mergers, parts, pieces)
    if again > cut:
        cut, energy = again, _energy(parts, again)
    energy.n_clusters = cut.n_clusters
    return [energy, *found]


def _far(part: Part) -> Array:
    far: Array = part.far * np.outer(part.size, part.size) / 100.0
    return far


def _energy(parts: Sequence[Part], cut: BestCut) -> Linkage:
    """Return the linkage of data and graph, with clusters as wide as those of a cut."""
    return Linkage("data and neighbours", ENERGY, parts, cut.odds, cut.variance)


def linkage_of_fit(pieces: Pieces, parts: Sequence[Part], fit: FitOpinion) -> Linkage:
    """Return the linkage of the clusters of a fit.

    Parameters
    ----------
    pieces : Pieces
        The pieces.
    parts : sequence of Part
        The pieces in parts.
    fit : FitOpinion
        The clusters.
    """
    of_row, labels = pieces.of_row[fit.seen], fit.labels[fit.seen]
    share = 1.0 / np.maximum(np.bincount(of_row, minlength=pieces.count), 1)
    shape = pieces.count, int(labels.max()) + 1
    shares = sparse.coo_array((share[of_row], (of_row, labels)), shape=shape).tocsr()
    most = max(float(pieces.wide.max()), 1.0)

    def alike(part: Part) -> Array:
        own = shares[part.at]
        together = (own @ own.T).toarray() * np.outer(part.size, part.size)
        found: Array = A_FIT * together + (1.0 - A_FIT) * (part.wide / most + _far(part))
        return found

    linkage = Linkage("the fit", AVERAGE, parts, alike)
    linkage.settle(fit.n_clusters)
    return linkage
