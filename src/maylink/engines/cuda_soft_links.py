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
        rows: Index = np.flatnonzero(links.touches())
        self.size = len(rows)
        self.rows = torch.as_tensor(rows, device=place)
        if not self.size:
            return
        number = torch.zeros(links.n, dtype=torch.int32, device=place)
        number[self.rows] = torch.arange(self.size, dtype=torch.int32, device=place)
        i, j = (number[_there(end, np.int64, place)] for end in (links.i, links.j))
        group = 2 * _there(links.source, np.int32, place)
        group += _there(links.kind == MAY, np.int32, place)
        weight = _there(links.weight, np.float64, place)
        self._lay_out_links(i, j, group, weight)
        self._lay_out_votes(i, j, group, weight)

    def _lay_out_links(self, i: Any, j: Any, group: Any, weight: Any) -> None:
        """Put the links of every point beside each other, as :mod:`maylink.link_csr` does."""
        import torch

        ends = torch.cat([i, j])
        order = ends.sort(stable=True).indices
        link = torch.where(order < len(i), order, order - len(i))
        self.neighbour = torch.cat([j, i])[order]
        self.code, self.weight = group[link], weight[link]
        sizes = torch.bincount(ends, minlength=self.size)
        self.indptr = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])
        order_of_visits, self.runs = _in_levels(
            self.indptr.cpu().numpy(), self.neighbour.cpu().numpy()
        )
        self.order = torch.as_tensor(order_of_visits, device=self.place)

    def _lay_out_votes(self, i: Any, j: Any, group: Any, weight: Any) -> None:
        """Put links in blocks of one source and kind each; links without weight fill them up."""
        import torch

        order = group.sort(stable=True).indices
        sizes = torch.bincount(group, minlength=2 * len(self.links.sources))
        blocks = -(-sizes // BLOCK)
        self.group: Index = np.repeat(np.arange(len(sizes)), blocks.cpu().numpy())
        behind = (blocks.cumsum(0) - blocks) * BLOCK - (sizes.cumsum(0) - sizes)
        place = behind[group[order].to(torch.int64)] + torch.arange(len(i), device=self.place)
        length = len(self.group) * BLOCK

        def filled(values: Any) -> Any:
            out = torch.zeros(length, dtype=values.dtype, device=self.place)
            out[place] = values[order]
            return out

        self.first, self.second, self.votes = filled(i), filled(j), filled(weight)

    def pull(self, may: Array, may_not: Array) -> Any:
        """Return what each link adds, as :func:`~maylink.model.reliability.link_pull` does."""
        import torch

        if not self.size:
            return None
        table = np.column_stack([-may_not, may]).ravel()
        return torch.as_tensor(table, device=self.place)[self.code.to(torch.int64)] * self.weight

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
        by_block = parts.view(2, -1, BLOCK).sum(dim=2).cpu().numpy()
        same, other = (
            np.bincount(self.group, part, minlength=2 * size).reshape(size, 2).astype(np.float64)
            for part in by_block
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


def _there(values: Any, form: Any, place: Any) -> Any:
    """Return a column of links on the GPU."""
    import torch

    return torch.as_tensor(np.array(values, form), device=place)
