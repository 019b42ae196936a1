"""Linked points of a variational fit on a GPU: updated in the order of rows, many at once.

A linked point sees the new responsibilities of neighbours that come earlier, and the old ones of
those that come later. So it waits for the earlier ones only: points of one level
(:func:`maylink.kernels.levels.levels`) are updated together, level after level, and what that
leaves is what a visit in turn leaves. Random links have few levels; where links form long chains,
levels of one or two points are visited in turn by one program.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index
from maylink.engines.tile_shapes import power_of_two
from maylink.links import MAY, Links
from maylink.model.reliability import LinkCounts

NARROW = 2  # points of a level up to which a program of its own costs more than to visit in turn
BLOCK = 1024  # links whose votes are added up together
TILE = 2048  # numbers of pairs that a program looks at together


class LevelRun(NamedTuple):
    """Points that are updated by one kernel: all at once, or in turn."""

    begin: int
    end: int
    at_once: bool


class SoftLinks:
    """The links of one data set, and the points that have some.

    Parameters
    ----------
    links : Links
        Links between the n points.
    place : torch.device
        The GPU.
    """

    def __init__(self, links: Links, place: Any) -> None:
        import torch

        self.links, self.place = links, place
        rows: Index = np.flatnonzero(links.degree > 0)
        self.size = len(rows)
        self.rows = torch.as_tensor(rows, device=place)
        if not self.size:
            return
        number = np.zeros(links.n, np.int32)
        number[rows] = np.arange(self.size, dtype=np.int32)
        csr = links.csr
        indptr = np.append(csr.indptr[rows], csr.indptr[-1])
        neighbour = number[csr.neighbour]
        order, self.runs = _in_levels(indptr, neighbour)
        code = (2 * links.source.astype(np.int32) + (links.kind == MAY))[csr.link]
        self.order, self.indptr, self.neighbour, self.code, self.weight = (
            torch.as_tensor(np.ascontiguousarray(column), device=place)
            for column in (order, indptr, neighbour, code, links.weight[csr.link])
        )
        self._lay_out_votes(number)

    def _lay_out_votes(self, number: NDArray[np.int32]) -> None:
        """Put links in blocks of one source and kind each; links without weight fill them up."""
        import torch

        links = self.links
        group = 2 * links.source.astype(np.int64) + (links.kind == MAY)
        order = np.argsort(group, kind="stable")
        sizes = np.bincount(group, minlength=2 * len(links.sources))
        blocks = -(-sizes // BLOCK)
        self.group: Index = np.repeat(np.arange(len(sizes)), blocks)
        begin = np.cumsum(blocks * BLOCK) - blocks * BLOCK
        place = np.repeat(begin - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(order))
        length = int(blocks.sum()) * BLOCK
        first, second = np.zeros(length, np.int32), np.zeros(length, np.int32)
        first[place], second[place] = number[links.i[order]], number[links.j[order]]
        weight = np.zeros(length)
        weight[place] = links.weight[order]
        self.first, self.second, self.votes = (
            torch.as_tensor(column, device=self.place) for column in (first, second, weight)
        )

    def pull(self, may: Array, may_not: Array) -> Any:
        """Return what each link adds, as :func:`~maylink.model.reliability.link_pull` does."""
        import torch

        if not self.size:
            return None
        table = np.column_stack([-may_not, may]).ravel()
        return torch.as_tensor(table, device=self.place)[self.code] * self.weight

    def visit(self, scores: Any, before: Any, pull: Any) -> Any:
        """Return the new responsibilities of the linked points, shape (m, K).

        Parameters
        ----------
        scores, before : tensors of shape (m, K)
            What data and clusters say, and the responsibilities so far, which are overwritten.
        pull : tensor
            What links add.
        """
        from maylink.engines.cuda_kernels.softmax import softmax_at_once, softmax_in_turn

        n_clusters = int(scores.shape[1])
        shape = {"CENTERS": power_of_two(n_clusters), "num_warps": _warps(n_clusters)}
        links = (scores, self.indptr, self.neighbour, pull, self.order)
        for begin, end, at_once in self.runs:
            if at_once:
                softmax_at_once[(end - begin,)](*links, begin, before, n_clusters, **shape)
            else:
                softmax_in_turn[(1,)](*links, begin, end, before, n_clusters, **shape)
        return before

    def counts(self, responsibilities: Any) -> LinkCounts:
        """Count links by source, each as far as its points share a cluster.

        Parameters
        ----------
        responsibilities : tensor of shape (n, K)
            Of all points.
        """
        import torch

        from maylink.engines.cuda_kernels.softmax import overlap

        size = len(self.links.sources)
        if not self.size:
            return LinkCounts(*np.zeros((4, size)))
        linked = responsibilities[self.rows]
        n_clusters = int(linked.shape[1])
        together = torch.empty(len(self.votes), dtype=torch.float64, device=self.place)
        centers = power_of_two(n_clusters)
        pairs = max(1, TILE // centers)
        overlap[(-(-len(together) // pairs),)](
            linked, self.first, self.second, together, len(together), n_clusters, PAIRS=pairs,
            CENTERS=centers,
        )  # fmt: skip
        parts = torch.stack([self.votes * together, self.votes * (1.0 - together)])
        same, other = parts.view(2, -1, BLOCK).sum(dim=2).cpu().numpy()
        same, other = (
            np.bincount(self.group, part, minlength=2 * size).reshape(size, 2)
            for part in (same, other)
        )
        return LinkCounts(same[:, 1], same[:, 0], other[:, 0], other[:, 1])


def _in_levels(
    indptr: NDArray[np.int64], neighbour: NDArray[np.int32]
) -> tuple[NDArray[np.int32], list[LevelRun]]:
    """Return points in the order of their levels, and how these are visited."""
    from maylink.kernels.levels import levels

    level = np.empty(len(indptr) - 1, np.int32)
    levels(indptr, neighbour, level)
    order = np.argsort(level, kind="stable").astype(np.int32)
    ends = np.concatenate([[0], np.cumsum(np.bincount(level))])
    runs = list[LevelRun]()
    for begin, end in pairwise(ends.tolist()):
        at_once = end - begin > NARROW
        if runs and not at_once and not runs[-1].at_once:
            runs[-1] = LevelRun(runs[-1].begin, end, False)
        else:
            runs.append(LevelRun(begin, end, at_once))
    return order, runs


def _warps(n_clusters: int) -> int:
    return 1 if n_clusters <= 128 else 4
