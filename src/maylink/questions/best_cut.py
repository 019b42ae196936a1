"""The cut of a tree of mergers that data and neighbour graph make most probable, without answers.

It tells how many clusters the data have by themselves, how wide they are, and how far the neighbour
graph is believed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betaln, gammaln

from maylink.arrays import Array
from maylink.kernels.merge_tree import DATA_WEIGHT
from maylink.questions.pieces import Pieces

if TYPE_CHECKING:
    from maylink.questions.trees import Tree

RIGHT, WRONG = 9.0, 1.0  # votes that the graph is right and wrong before anything is known


class BestCut(NamedTuple):
    """A cut of a tree, and what it says.

    Parameters
    ----------
    score : float
        Its log probability, the reliability of the graph averaged out.
    n_clusters : int
        Its clusters.
    variance : float
        Within its clusters, in units of that which pieces suggest: clusters are wider than pieces.
    counts : tuple of four float
        Neighbours that it has together and apart, and random pairs that it has apart and together.
    """

    score: float
    n_clusters: int
    variance: float
    counts: tuple[float, float, float, float]

    def odds(self, pieces: Pieces) -> Array:
        """Return what the graph says of every two pieces: log odds that they are one cluster."""
        near_together, near_apart, random_apart, random_together = self.counts
        p = (RIGHT + near_together) / (RIGHT + WRONG + near_together + random_together)
        q = (RIGHT + random_apart) / (RIGHT + WRONG + random_apart + near_apart)
        odds: Array = pieces.wide * np.log(p / (1.0 - q)) + pieces.random * np.log((1.0 - p) / q)
        return odds


def best_cut(tree: Tree, pieces: Pieces) -> BestCut:
    """Return the best of the cuts that stop merging at some number of clusters."""
    size, total = pieces.size.copy(), pieces.total.copy()
    graph = np.stack([pieces.wide, pieces.random])
    live = np.ones(pieces.count, np.bool_)
    slot = list(range(pieces.count))
    together = np.trace(graph, axis1=1, axis2=2) / 2.0
    apart = graph.sum(axis=(1, 2)) / 2.0 - together
    best = _scored(pieces, size, total, together, apart)
    for left, right in tree.children[pieces.count :]:
        a, b = slot[left], slot[right]
        moved = graph[:, a, b].copy()
        together, apart = together + moved, apart - moved
        size[a] += size[b]
        total[a] += total[b]
        graph[:, a] += graph[:, b]
        graph[:, :, a] += graph[:, :, b]
        live[b] = False
        slot.append(a)
        best = max(best, _scored(pieces, size[live], total[live], together, apart))
    return best


def _scored(pieces: Pieces, size: Array, total: Array, together: Array, apart: Array) -> BestCut:
    """Score a partition; its clusters have the variance that makes it most probable."""
    n, r = size.sum(), total.shape[1]
    within = pieces.square - (total**2 / size[:, None]).sum()
    variance = max(1.0, float(within / (n * r)))
    precision = pieces.precision * variance
    scale = precision + size[:, None]
    data = 0.5 * (np.log(precision / scale) + total**2 / (variance * scale)).sum()
    data -= 0.5 * (n * r * np.log(variance) + pieces.square / variance)
    data += gammaln(size).sum()  # Dirichlet process
    near, random = float(together[0]), float(together[1])
    links = betaln(RIGHT + near, WRONG + random) + betaln(RIGHT + apart[1], WRONG + apart[0])
    counts = (near, float(apart[0]), float(apart[1]), random)
    return BestCut(float(DATA_WEIGHT * data + links), len(size), variance, counts)
