"""What a sweep remembers: by how much each choice was won, and where the centres were then.

A divergence changes by at most ``‖t‖ ‖Δθ‖ + |Δc|`` when a centre moves, so bounds of before can be
worn down in place of being made anew (:mod:`maylink.kernels.nearest`). A memory is about the very
labels that its sweep left and is of no use for any others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.engines.points import PointStore
from maylink.engines.totals import Stored
from maylink.engines.visits import NOBODY
from maylink.kernels import linked, nearest

CHUNK = 100_000  # points whose bounds are made at a time
SMALL = 1e-6  # more than the rounding to single precision
SOME = 1.0 + 1e-5  # makes up for the rounding of what bounds are compared with


class Moves(NamedTuple):
    """How far centres have moved since the bounds were made: ‖Δθ‖ and |Δc| of each."""

    drift: Array
    shift: Array

    @classmethod
    def unknown(cls, n_clusters: int) -> Moves:
        """Return infinite moves, which bounds do not survive."""
        return cls(*np.full((2, n_clusters), np.inf))

    def any(self) -> bool:
        """Whether a centre has moved."""
        return bool(self.drift.any() or self.shift.any())


class Memory(NamedTuple):
    """What is known from the sweep that left these labels."""

    labels: Stored  # those that the caller holds
    work: Stored | None  # a copy of them that a sweep may change
    upper: NDArray[Any]  # bounds of points without links; see maylink.kernels.nearest
    lower: NDArray[Any]
    cap: NDArray[Any]
    fast: NDArray[np.int32]  # the centres that ``lower`` leaves out
    choices: Any  # of linked points; see maylink.kernels.linked
    theta: Array  # of the centres of that sweep
    c: Array
    penalty: float
    n_changed: int  # labels that changed in that sweep
    in_vain: float  # labels that had changed, the last time that bounds saved too little


def blank(store: PointStore, labels: Stored, theta: Array, c: Array, penalty: float) -> Memory:
    """Return a memory that knows nothing but the labels and the centres."""
    n_linked = store.n - store.layout.n_unlinked
    upper = np.full(store.layout.first_linked, np.inf, store.points.blocks.dtype)
    choices = linked.LinkedChoices(np.full(n_linked, -1, np.int32), np.zeros(n_linked, np.int8))
    cap = np.empty_like(upper)
    for low in range(0, cap.size, CHUNK):  # copies of all in double precision are large
        part = np.minimum(penalty - store.potential[low : min(low + CHUNK, cap.size)], nearest.FAR)
        with np.errstate(over="ignore"):
            cap[low : low + CHUNK] = part - SMALL * np.abs(part)
    return Memory(
        labels, None, upper, -upper, cap, NOBODY, choices, theta, c, penalty, store.n, np.inf
    )


def recall(
    store: PointStore,
    memory: Memory | None,
    labels: Stored,
    theta: Array,
    c: Array,
    penalty: float,
) -> tuple[Memory, Moves]:
    """Return what is known of these labels, and how far the centres have moved since."""
    if memory is None or memory.labels is not labels or memory.penalty != penalty:
        return blank(store, labels, theta, c, penalty), Moves.unknown(len(c))
    with np.errstate(over="ignore"):
        drift = np.sqrt(np.square(theta - memory.theta).sum(axis=1)) * SOME
        shift = np.abs(c - memory.c) * SOME
        moves = Moves(drift, shift)
    if store.family.root and moves.any():  # the bounds are about D, not √D
        moves = Moves.unknown(len(c))
    return memory, moves


def new_numbers(used: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the new number of each used cluster and, last, −1 for no cluster."""
    return np.append(np.cumsum(used, dtype=np.int32) - 1, np.int32(-1))
