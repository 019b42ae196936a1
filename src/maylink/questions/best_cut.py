"""The cut of a tree of mergers that data and neighbour graph make most probable, without answers.

It tells how many clusters the data have by themselves, how wide they are, and how far the neighbour
graph is believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, gammaln

from maylink.arrays import Array
from maylink.kernels.merge_tree import DATA_WEIGHT
from maylink.questions.merging import Mergers
from maylink.questions.parts import Part
from maylink.questions.pieces import Pieces

LOOKS = 128  # numbers of clusters that are tried at most
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

    def odds(self, part: Part) -> Array:
        """Return what the graph says of every two pieces: log odds that they are one cluster."""
        near_together, near_apart, random_apart, random_together = self.counts
        p = (RIGHT + near_together) / (RIGHT + WRONG + near_together + random_together)
        q = (RIGHT + random_apart) / (RIGHT + WRONG + random_apart + near_apart)
        odds: Array = part.wide * np.log(p / (1.0 - q)) + part.random * np.log((1.0 - p) / q)
        return odds


def best_cut(trees: Sequence[Mergers], parts: Sequence[Part], pieces: Pieces) -> BestCut:
    """Return the best of the cuts that stop merging at some number of clusters.

    Of many pieces, 128 numbers of clusters are tried, each larger than the last by the same share.

    Parameters
    ----------
    trees : sequence of Mergers
        The tree of each part.
    parts : sequence of Part
        The parts.
    pieces : Pieces
        All pieces.
    """
    size, total = pieces.size.copy(), pieces.total.copy()
    live = np.ones(pieces.count, np.bool_)
    slots = [part.at.tolist() for part in parts]
    graph = [np.stack([part.wide, part.random]) for part in parts]
    everything = np.array([pieces.wide.sum(), pieces.random.sum()]) / 2.0
    together = sum(np.trace(one, axis1=1, axis2=2) for one in graph) / 2.0
    local = [{at: k for k, at in enumerate(part.at.tolist())} for part in parts]
    best = _score_of(pieces, size, total, together, everything - together)
    order = _in_order(trees)
    numbers = _numbers(pieces.count, len(order))
    for left_over, (k, left, right) in zip(range(pieces.count - 1, 0, -1), order, strict=False):
        a, b = slots[k][left], slots[k][right]
        size[a] += size[b]
        total[a] += total[b]
        x, y = local[k][a], local[k][b]
        between = graph[k]
        together = together + between[:, x, y]
        between[:, x] += between[:, y]
        between[:, :, x] += between[:, :, y]
        live[b] = False
        slots[k].append(a)
        if left_over in numbers:
            apart = everything - together
            best = max(best, _score_of(pieces, size[live], total[live], together, apart))
    return best


def _in_order(trees: Sequence[Mergers]) -> list[tuple[int, int, int]]:
    """Return all mergers, those of high scores first, a part's in its own order."""
    found = []
    for k, (children, scores) in enumerate(trees):
        lowest = np.minimum.accumulate(scores)
        for step, (pair, score) in enumerate(zip(children[len(scores) + 1 :], lowest, strict=True)):
            found.append((-float(score), k, step, int(pair[0]), int(pair[1])))
    found.sort()
    return [(k, left, right) for _, k, _, left, right in found]


def _numbers(n_pieces: int, n_mergers: int) -> set[int]:
    """Return the numbers of clusters that are looked at."""
    fewest = n_pieces - n_mergers
    if n_mergers <= 2 * LOOKS:
        return set(range(fewest, n_pieces))
    return set(np.geomspace(fewest, n_pieces - 1, LOOKS).astype(int).tolist())


def _score_of(pieces: Pieces, size: Array, total: Array, together: Array, apart: Array) -> BestCut:
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
