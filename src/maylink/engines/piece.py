"""A piece of the data where it lies: the points without links of one chunk, on some worker.

A :class:`~maylink.engines.rules.Rule` says the labels of these points. Whatever else a piece knows
(labels, bounds) it only remembers. A piece that was lost with its worker is made again from its
chunk, computes anew what it does not remember, and returns the same bits.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.engines.memory import Memory, Moves, blank, new_numbers, recall
from maylink.engines.points import PointStore
from maylink.engines.round import Round
from maylink.engines.rules import Assignment, Rule
from maylink.engines.settings import EngineSettings
from maylink.engines.sweep import first_look
from maylink.engines.totals import Stored, Totals
from maylink.engines.visits import NOBODY, VisitOrder
from maylink.families.base import Family


@dataclass(frozen=True)
class Look:
    """One look of all points without links at the centres.

    Parameters
    ----------
    sweep : str
        Of which sweep.
    before : Assignment
        The labels of before the sweep.
    rule : Rule
        The centres that there are now.
    decided : int
        Rank up to which openers have been dealt with.
    order : str
        Name of the order of visits.
    cut : array
        What cuts the points for exact sums; see :mod:`maylink.kernels.sums`.
    most : int
        The most openers to send.
    """

    sweep: str
    before: Assignment
    rule: Rule
    decided: int
    order: str
    cut: Array
    most: int


class LookResult(NamedTuple):
    """What came of a look: how the sums of the sweep change, and the openers."""

    high: Array
    low: Array
    size: NDArray[np.int64]
    n_changed: int  # labels that differ from those of before the sweep
    n_openers: int
    points: NDArray[Any]  # the first openers by rank, mapped, shape (m, s)
    phi: Array
    rank: NDArray[np.int32]
    whole: bool  # whether these are all openers

    def first(self, most: int) -> LookResult:
        """Return the same with no more than so many openers."""
        if self.rank.size <= most:
            return self
        few = slice(most)
        return self._replace(
            points=self.points[few], phi=self.phi[few], rank=self.rank[few], whole=False
        )


def merge(results: list[LookResult], most: int) -> LookResult:
    """Add up the results of several pieces; sums of cut points are exact in any order."""
    rank = np.concatenate([result.rank for result in results])
    limits = [result.rank[-1] for result in results if not result.whole]
    order = np.argsort(rank, kind="stable")
    if limits:  # beyond the first of these, some openers are not here
        order = order[rank[order] <= min(limits)]
    return LookResult(
        np.sum([result.high for result in results], axis=0),
        np.sum([result.low for result in results], axis=0),
        np.sum([result.size for result in results], axis=0),
        sum(result.n_changed for result in results),
        sum(result.n_openers for result in results),
        np.concatenate([result.points for result in results])[order],
        np.concatenate([result.phi for result in results])[order],
        rank[order],
        not limits,
    ).first(most)


def no_result(n_clusters: int, s: int) -> LookResult:
    """Return what comes of a look at no points."""
    zero, size = np.zeros((n_clusters, s + 1)), np.zeros(n_clusters, np.int64)
    return LookResult(zero, zero, size, 0, 0, np.empty((0, s)), np.empty(0), NOBODY, whole=True)


class PieceSweep(NamedTuple):
    """A sweep under way."""

    sweep: str
    before: str  # token of the labels that it started from
    round: Round


class Piece:
    """The points without links of a chunk.

    Parameters
    ----------
    X : array of shape (m, d)
        The chunk.
    start : int
        The number of its first row.
    family : Family
        Adapted to all data.
    linked : array of int
        Which rows of the chunk have links.
    settings : EngineSettings, optional
        When to use which way to the same labels.
    """

    def __init__(
        self,
        X: NDArray[Any],
        start: int,
        family: Family,
        linked: NDArray[np.int64],
        settings: EngineSettings | None = None,
    ) -> None:
        self.size = len(X)
        self.start = start
        self.linked = linked
        alone = np.ones(self.size, bool)
        alone[linked] = False
        self.rows = np.flatnonzero(alone).astype(np.int32)
        rows = X if linked.size == 0 else X[self.rows]
        self.store = PointStore(rows, family, 1, settings=settings) if self.rows.size else None
        if self.store is not None:
            self.store.reach = 0.0  # weighs links, of which there are none here
        self._begin()

    def _begin(self) -> None:
        self.lock = threading.Lock()
        self.current: PieceSweep | None = None
        self.memory: Memory | None = None
        self.token: str | None = None  # of the labels in the memory
        self.visits: tuple[str, VisitOrder] | None = None
        self.nearest: tuple[Array, Array] | None = None  # centres, divergence from the nearest

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is only remembered."""
        return {
            "size": self.size, "start": self.start, "linked": self.linked, "rows": self.rows,
            "store": self.store,
        }  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def __sizeof__(self) -> int:
        """Say how much memory it takes, so that Dask can plan."""
        if self.store is None:
            return 1000
        points = self.store.points
        return int(1000 + points.blocks.nbytes + 2 * points.phi.nbytes + 24 * points.phi.size)

    # ------------------------------------------------------------------ looks

    def look(
        self,
        task: Look,
        rank: Any,
        explicit: Any = None,
        order_before: str = "",
        rank_before: Any = None,
    ) -> LookResult:
        """Let the points choose.

        Parameters
        ----------
        task : Look
            What to look at.
        rank : array of shape (m,), optional
            The place of each row of the chunk in the order of visits; its number by default.
        explicit : array of shape (m,), optional
            The labels of before the sweep, where no rule says them.
        order_before, rank_before : str and array, optional
            The order of visits that the rule of the labels of before is about.
        """
        n_clusters, s = task.rule.theta.shape
        if self.store is None:
            return no_result(n_clusters, s)
        with self.lock:
            self.store.cut = task.cut
            if self.current is None or self.current.sweep != task.sweep:
                before = self._labels(
                    task.before, order_before or task.order, rank_before, explicit
                )
                current, n_openers = self._first_look(task, rank, before)
            else:
                current = self.current.round
                current.decided = task.decided
                n_openers = _look_again(current, task.rule)
            totals = self.store.trimmed(current.sums).only(slice(n_clusters))
            n_changed = int(np.count_nonzero(current.work != current.memory.labels))
            current.n_changed = n_changed
            slots = self._openers(current) if n_openers else np.empty(0, np.int64)
            return LookResult(
                totals.high.copy(), totals.low.copy(), totals.size.copy(), n_changed, n_openers,
                self._points(slots), self.store.potential[slots], current.visits.rank[slots],
                whole=True,
            ).first(task.most)  # fmt: skip

    def _first_look(self, task: Look, rank: Any, labels: Stored) -> tuple[Round, int]:
        """Begin a sweep with a look; a piece that comes late to it looks at all centres at once."""
        rule, store = task.rule, self._store
        old = rule.theta[: rule.n_old], rule.c[: rule.n_old]
        memory, moves = recall(store, self.memory, labels, *old, rule.penalty)
        self.memory = self.token = None
        visits = self._visit_order(task.order, rank)
        current = Round(store, memory, visits, *old, (0.0, 0.0), rule.penalty)
        self.current = PieceSweep(task.sweep, task.before.token, current)
        current.decided = task.decided
        if len(rule.c) > rule.n_old:
            return current, _look_again(current, rule)
        return current, first_look(current, moves if moves.any() else Moves.unknown(rule.n_old))

    def _openers(self, current: Round) -> NDArray[np.int64]:
        """Return the slots that want to open a cluster, by rank."""
        slots = np.flatnonzero(np.isinf(current.memory.upper[: self.rows.size]))
        rank = current.visits.rank[slots]
        slots, rank = slots[rank > current.decided], rank[rank > current.decided]
        return slots[np.argsort(rank)]

    def _points(self, slots: NDArray[np.int64]) -> NDArray[Any]:
        lanes = self._store.lanes
        points: NDArray[Any] = self._store.points.blocks[slots // lanes, :, slots % lanes]
        return points

    @property
    def _store(self) -> PointStore:
        assert self.store is not None
        return self.store

    def _visit_order(self, order: str, rank: NDArray[np.int32] | None) -> VisitOrder:
        """Return the order of visits as the kernels take it."""
        if self.visits is None or self.visits[0] != order:
            by_row = self.start + self.rows.astype(np.int64) if rank is None else rank[self.rows]
            slots = np.full(self._store.n_slots, np.iinfo(np.int32).max, np.int32)
            slots[: by_row.size] = by_row
            self.visits = order, VisitOrder(NOBODY, NOBODY, slots, NOBODY)
        return self.visits[1]

    # ------------------------------------------------------------------ labels

    def labels(
        self, assignment: Assignment, order: str, rank: Any, explicit: Any, cut: Array
    ) -> Stored | None:
        """Return the labels of the points without links, in the order of the slots."""
        if self.store is None:
            return None
        with self.lock:
            self.store.cut = cut
            return self._labels(assignment, order, rank, explicit).copy()

    def _labels(self, assignment: Assignment, order: str, rank: Any, explicit: Any) -> Stored:
        """Return labels: those that are remembered, or made anew."""
        store, current = self._store, self.current
        used = None if current is None else _used_by(current, assignment)
        if current is not None and used is not None:
            self.memory = current.round.learnt(used)
            self.token = assignment.token
        self.current = None
        if self.token == assignment.token and self.memory is not None:
            return self.memory.labels
        self.memory = self.token = None
        if assignment.rule is not None:
            labels = self._labels_of_rule(assignment.rule, self._visit_order(order, rank))
        else:
            labels = np.full(store.n_slots, -1, np.int32)
            values: Any = assignment.uniform if explicit is None else explicit[self.rows]
            labels[: self.rows.size] = values
        return labels if assignment.used is None else new_numbers(assignment.used)[labels]

    def _labels_of_rule(self, rule: Rule, visits: VisitOrder) -> Stored:
        """Return the labels of a rule, its clusters numbered as there."""
        store = self._store
        nothing = np.full(store.n_slots, -1, np.int32)
        old = rule.theta[: rule.n_old], rule.c[: rule.n_old]
        memory = blank(store, nothing, *old, rule.penalty)
        current = Round(store, memory, visits, *old, (0.0, 0.0), rule.penalty)
        _look_again(current, rule)
        return current.work

    # ------------------------------------------------------------------ sums and distances

    def largest(self) -> Array | None:
        """Return the greatest |t| of each column and, last, the greatest |φ|."""
        return None if self.store is None else self.store.layout.largest

    def sums(self, labels: Stored | None, n_clusters: int, cut: Array) -> Totals | None:
        """Return the sums of a partition."""
        if self.store is None or labels is None:
            return None
        with self.lock:
            self.store.cut = cut
            return self.store.totals(labels, n_clusters)

    def reach(self, center: Array) -> float:
        """Return the greatest divergence from a centre."""
        return 0.0 if self.store is None else float(self.store.scores(center).max())

    def furthest(self, centers: Array) -> tuple[float, int, Array] | None:
        """Return how far the point is that is furthest from all centres, its row and itself."""
        if self.store is None:
            return None
        with self.lock:
            before, nearest = self.nearest or (centers[:0], np.full(self.rows.size, np.inf))
            if not np.array_equal(before, centers[:-1]):
                before, nearest = centers[:0], np.full(self.rows.size, np.inf)
            for k in range(len(before), len(centers)):
                nearest = np.minimum(nearest, self.store.scores(centers[k : k + 1])[:, 0])
            self.nearest = centers, nearest
            at = int(nearest.argmax())
            row = self.start + int(self.rows[at])
            return float(nearest[at]), row, self.store.point(at)


def _used_by(current: PieceSweep, assignment: Assignment) -> NDArray[np.bool_] | None:
    """Return which clusters are in use where the sweep has left these labels, None elsewhere.

    A piece may lie on several workers, so this copy may have missed a look: then it does not know
    all clusters that have opened.
    """
    size, every = current.round.n_clusters, np.ones(current.round.n_clusters, bool)
    rule = assignment.rule
    if current.sweep == assignment.token and rule is not None and size == len(rule.c):
        return every if assignment.used is None else assignment.used
    unchanged = current.round.n_changed == 0 and size == current.round.n_old
    return every if unchanged and current.before == assignment.token else None


def _look_again(current: Round, rule: Rule) -> int:
    """Let all points look once clusters have opened; return how many openers are left."""
    new = slice(current.n_clusters, len(rule.c))
    current.add(rule.theta[new], rule.c[new], rule.opened[new])
    _label_founders(current, new)
    return current.look(Moves.unknown(current.n_clusters))


def _label_founders(current: Round, new: slice) -> None:
    """Give the points that have opened a cluster its label: no centre says it."""
    from maylink.kernels.sums import scratch, transfer

    store, rank = current.store, current.visits.rank
    cluster = {int(current.opened[k]): k for k in range(new.start, new.stop)}
    point = scratch(store.cut)
    for slot in np.flatnonzero(np.isin(rank, current.opened[new])):
        k, old = cluster[int(rank[slot])], int(current.work[slot])
        transfer(store.points, store.cut, int(slot), old, k, current.sums, point)
        current.work[slot] = k
