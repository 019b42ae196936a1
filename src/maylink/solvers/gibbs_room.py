"""Room for the clusters of a collapsed sampler; kernels ask for more when few slots are free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maylink.arrays import Index
from maylink.kernels.conjugate import ClusterArrays, make_clusters
from maylink.kernels.predictive import make_table
from maylink.kernels.quadratic import ROUND
from maylink.kernels.slots import GibbsScratch, Slots, fill

SPARE = 8  # slots for new clusters, at the least, before there must be more room


@dataclass(frozen=True)
class Room:
    """The clusters of a partition in slots, and what the kernels work in.

    Parameters
    ----------
    clusters : ClusterArrays
        Sums of the points in each slot.
    slots : Slots
        Which slots hold clusters.
    scratch : GibbsScratch
        Room that the moves work in.
    table : ClusterTable
        What adding a point would gain each cluster.
    """

    clusters: Any
    slots: Any
    scratch: Any
    table: Any

    @classmethod
    def of(cls, rows: Any, prior: Any, labels: Index, n_entries: int, n_sources: int) -> Room:
        """Put the clusters 0 … K − 1 of a partition into slots of the same numbers.

        Parameters
        ----------
        rows, prior : Rows, Prior
            Points and the prior of the clusters, as kernels take them.
        labels : array of shape (n,)
            The partition.
        n_entries, n_sources : int
            Entries of the links of all points; sources of links.
        """
        n, n_clusters, d = labels.size, int(labels.max()) + 1, prior.columns.shape[1]
        room = -(-(n_clusters + SPARE) // ROUND) * ROUND
        clusters, x, solve = make_clusters(prior, room), np.empty(d), np.empty(d)
        fill(rows, prior, labels, clusters, x, solve)
        free = [np.arange(room - 1, n_clusters - 1, -1), np.zeros(n_clusters, np.int64)]
        counts = np.array([n_clusters, room - n_clusters, 0])
        return cls(
            clusters,
            Slots(np.arange(room), np.concatenate(free), counts),
            GibbsScratch(
                x, solve, np.empty(room + 1), np.zeros(room), np.empty(room),
                np.full(n, -1, np.int8), np.empty(n, np.int64), np.empty(n), np.empty(n_entries),
                np.zeros((4, n_sources)), np.empty(room, np.int64),
            ),
            make_table(prior, room),
        )  # fmt: skip

    def doubled(self, prior: Any) -> Room:
        """Return the same clusters with twice the room."""
        active, free, count = self.slots
        old, room = active.size, 2 * active.size
        grown = make_clusters(prior, room)
        for new, before in zip(grown, self.clusters, strict=True):
            new[:old] = before
        more = np.concatenate([free[: count[1]], np.arange(old, room)])
        count = count + np.array([0, room - old, 0])
        scratch = self.scratch._replace(
            weights=np.empty(room + 1), pulls=np.zeros(room), added=np.empty(room),
            number=np.empty(room, np.int64),
        )  # fmt: skip
        slots = Slots(np.resize(active, room), np.resize(more, room), count)
        return Room(ClusterArrays(*grown), slots, scratch, make_table(prior, room))
