"""The order in which a sweep visits the points, as the kernels take it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Index
from maylink.engines.points import PointStore
from maylink.engines.totals import Stored

NOBODY = np.empty(0, np.int32)


class VisitOrder(NamedTuple):
    """An order of visits."""

    order: NDArray[Any]  # the points, as the caller ordered them; known by identity
    points: NDArray[np.int32]  # the same
    rank: Stored  # the place of each slot in the order
    linked: Stored  # the linked slots in the order


def visit_order(store: PointStore, order: Index) -> VisitOrder:
    """Return an order of visits as the kernels take it."""
    slots = store.layout.position[order]
    rank = np.full(store.n_slots, store.n, np.int32)
    rank[slots] = np.arange(store.n, dtype=np.int32)
    linked = slots[slots >= store.layout.first_linked]
    return VisitOrder(order, np.asarray(order, np.int32), rank, linked)
