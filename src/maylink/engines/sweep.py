"""Sweeps of the CPU engine, one after the other: what each starts from and what it leaves.

A sweep that starts from the labels that the last one left, with its penalty, uses what that one has
learnt (:mod:`maylink.engines.memory`). Where centres, order and labels are those of a sweep that
changed nothing and the links have only become heavier, no more is left to do than to ask the
linked points that were not settled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maylink.arrays import Array, Index
from maylink.engines.memory import Memory, Moves, blank, recall
from maylink.engines.plan import plan
from maylink.engines.points import PointStore
from maylink.engines.round import Round
from maylink.engines.totals import Stored, Swept, Totals
from maylink.engines.visits import VisitOrder, visit_order
from maylink.errors import MaylinkError


class Sweeper:
    """Makes sweeps over the points of one engine and remembers what the last one learnt.

    The engine comes as an argument: two objects that hold each other would outlive their use.
    """

    def __init__(self) -> None:
        self.memory: Memory | None = None
        self.last: Round | None = None  # the sweep that left the memory, where it changed nothing
        self._visits: VisitOrder | None = None

    def sweep(
        self,
        engine: Any,
        labels: Any,
        totals: Totals,
        centers: Array,
        order: Index,
        weights: tuple[float, float],
        penalty: float,
    ) -> Swept:
        """Let every point choose its cluster, once; see :meth:`CpuEngine.sweep`."""
        store, stored = self._store(engine), self._stored(labels)
        theta, c = store.tangent(centers)
        visits = self._visit_order(engine, order)
        memory, moves = recall(store, self.memory, stored, theta, c, penalty)
        last = self.last if memory is self.memory else None
        n_openers = 0
        grown = last is not None and last.visits is visits and last.outweighed_by(weights)
        if last is None or not grown or moves.any():
            if not moves.any():  # other weights, or another order
                moves = Moves.unknown(len(c))
            self.forget()  # a sweep that is broken off leaves no memory
            current = self._round(engine, labels, memory, visits, theta, c, weights, penalty)
            n_openers = self._first_look(current, moves)
        elif last.n_unsettled:
            self.forget()
            many = last.n_unsettled > store.settings.parallel_from
            current = last.begin(weights)
            if many:
                current.look(moves, linked_only=True)
        else:  # nothing has moved, and heavier links only bind the linked points more
            return Swept(labels, totals, 0)
        current.visit(n_openers)
        if current.count_changes(stored) == 0:
            self.memory, self.last = current.unchanged(theta, c), current
            return Swept(labels, totals, 0)
        swept, self.memory = current.finish(totals)
        return swept

    def forget(self) -> None:
        """Give back the memory of what sweeps have learnt, but for the order of visits."""
        self.memory = self.last = None

    # ------------------------------------------------------------------ what depends on the engine

    def _store(self, engine: Any) -> PointStore:
        """Return where the points are that are visited in turn."""
        store: PointStore = engine
        return store

    def _stored(self, labels: Any) -> Stored:
        """Return the labels of the points in the store."""
        stored: Stored = labels
        return stored

    def _visit_order(self, engine: Any, order: Index) -> VisitOrder:
        """Return an order of visits as the kernels take it; the last one is remembered."""
        if self._visits is None or self._visits.order is not order:
            self._visits = visit_order(engine, order)
        return self._visits

    def _round(
        self, engine: Any, labels: Any, memory: Memory, visits: VisitOrder, *centers_and_costs: Any
    ) -> Round:
        return Round(engine, memory, visits, *centers_and_costs)

    def _first_look(self, current: Round, moves: Moves) -> int:
        return first_look(current, moves)


def place(
    store: PointStore,
    centers: Array,
    known_labels: Index,
    weights: tuple[float, float],
    max_sweeps: int,
) -> Index:
    """Label the points while centres stand still; see :meth:`CpuEngine.place`."""
    theta, c = store.tangent(centers)
    labels = np.concatenate([np.full(store.n_slots, -1), known_labels]).astype(np.int32)
    memory = blank(store, labels, theta, c, np.inf)
    visits = visit_order(store, np.arange(store.n))
    current = Round(store, memory, visits, theta, c, weights, np.inf)
    n_openers = current.look(Moves.unknown(len(c)))
    for _ in range(max_sweeps):
        n_before = current.n_changed
        if n_openers == 0:
            current.visit(0)
        if n_openers or current.n_clusters > len(c):
            raise MaylinkError("a point of X is infinitely far from every centre; rescale X")
        if current.n_changed == n_before:
            break
    return store.given(current.work)


def first_look(current: Round, moves: Moves) -> int:
    """Let all points look at the centres of before the sweep; return how many want a new one."""
    memory = current.memory
    moves, fast = plan(current, moves)
    n_openers = current.look(moves, fast)
    in_vain = memory.in_vain
    if np.isfinite(moves.drift[0]):
        saved_little = current.scored > current.store.settings.bounds_up_to
        in_vain = memory.n_changed if saved_little else np.inf
    current.memory = memory._replace(fast=fast, in_vain=in_vain)
    return n_openers
