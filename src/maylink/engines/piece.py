"""A piece of the data where it lies: the points without links of one chunk, on some worker.

A point without links sees nothing but centres. So its label is a function of the point, of its
place in the order of visits and of a :class:`Rule`: among the centres of before the sweep and
those that opened before its turn it takes the nearest; where all are λ or more away, it has opened
a cluster itself. Whatever else a piece knows (labels, bounds) it only remembers. A piece that was
lost with its worker is made again from its chunk, computes anew what it does not remember, and
returns the same bits.
"""

from __future__ import annotations

import threading
import uuid
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.engines.cpu import CpuEngine, Stored, Totals
from maylink.engines.sweep import Moves, Round, Turns, blank, first_look, numbers, recall, remember
from maylink.families.base import Family

NO_TURNS = np.empty(0, np.int32)


@dataclass(frozen=True)
class Rule:
    """The centres of a sweep: those of before, and those that opened in it."""

    theta: Array  # (K, s)
    c: Array  # (K,)
    opened: NDArray[np.int32]  # (K,) rank of the point that opened a cluster, −1 for those before
    n_old: int
    penalty: float


@dataclass(frozen=True)
class Assignment:
    """Labels of all points without links, said in few words.

    Parameters
    ----------
    token : str
        Different for different labels.
    uniform : int, optional
        The label of all, −1 for none.
    rule : Rule, optional
        Otherwise the rule that gives them, unless they come one by one.
    used : array of bool, optional
        Which clusters are not empty; the others get no number.
    """

    token: str
    uniform: int | None = None
    rule: Rule | None = None
    used: NDArray[np.bool_] | None = None

    def without(self, used: NDArray[np.bool_]) -> Assignment:
        """Return the same labels, numbered anew because some clusters have become empty."""
        both = used.copy()
        if self.used is not None:
            both = self.used.copy()
            both[self.used] = used
        return replace(self, token=uuid.uuid4().hex, used=both)


@dataclass(frozen=True)
class Pass:
    """One look of all points without links.

    Parameters
    ----------
    sweep : str
        Of which sweep.
    before : Assignment
        The labels of before the sweep.
    rule : Rule
        The centres that there are now.
    decided : int
        Rank up to which wishes to open a cluster have been dealt with.
    order : str
        Name of the order of visits.
    cut : array
        What cuts the points for exact sums; see :mod:`maylink.kernels.sums`.
    most : int
        At most so many wishes are wanted.
    """

    sweep: str
    before: Assignment
    rule: Rule
    decided: int
    order: str
    cut: Array
    most: int


class Found(NamedTuple):
    """What a look found: how the sums of the sweep change, and who wants a cluster of its own."""

    high: Array
    low: Array
    size: NDArray[np.int64]
    n_changed: int  # labels that differ from those of before the sweep
    n_wishes: int
    points: NDArray[Any]  # the first wishes by rank, mapped, shape (m, s)
    phi: Array
    rank: NDArray[np.int32]
    whole: bool  # whether these are all

    def first(self, most: int) -> Found:
        """Return the same with no more than so many wishes."""
        if self.rank.size <= most:
            return self
        few = slice(most)
        return self._replace(
            points=self.points[few], phi=self.phi[few], rank=self.rank[few], whole=False
        )


def merge(found: list[Found], most: int) -> Found:
    """Add up what several looks found; sums of cut points are exact in any order."""
    rank = np.concatenate([one.rank for one in found])
    limits = [one.rank[-1] for one in found if not one.whole]
    order = np.argsort(rank, kind="stable")
    if limits:  # beyond the first of these, some wishes are not here
        order = order[rank[order] <= min(limits)]
    return Found(
        np.sum([one.high for one in found], axis=0),
        np.sum([one.low for one in found], axis=0),
        np.sum([one.size for one in found], axis=0),
        sum(one.n_changed for one in found),
        sum(one.n_wishes for one in found),
        np.concatenate([one.points for one in found])[order],
        np.concatenate([one.phi for one in found])[order],
        rank[order],
        not limits,
    ).first(most)


class Going(NamedTuple):
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
    """

    def __init__(
        self, X: NDArray[Any], start: int, family: Family, linked: NDArray[np.int64]
    ) -> None:
        self.size = len(X)
        self.start = start
        self.linked = linked
        alone = np.ones(self.size, bool)
        alone[linked] = False
        self.rows = np.flatnonzero(alone).astype(np.int32)
        rows = X if linked.size == 0 else X[self.rows]
        self.engine = CpuEngine(rows, family, 1) if self.rows.size else None
        if self.engine is not None:
            self.engine.reach = 0.0  # weighs links, of which there are none here
        self._begin()

    def _begin(self) -> None:
        self.lock = threading.Lock()
        self.going: Going | None = None
        self.known: str | None = None  # token of the labels in the memory of the engine
        self.turns: tuple[str, Turns] | None = None
        self.nearest: tuple[Array, Array] | None = None  # centres, divergence from the nearest

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is only remembered."""
        return {
            "size": self.size, "start": self.start, "linked": self.linked, "rows": self.rows,
            "engine": self.engine,
        }  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.engine is not None:
            self.engine.forget()
        self._begin()

    def __sizeof__(self) -> int:
        """Say how much memory it takes, so that Dask can plan."""
        if self.engine is None:
            return 1000
        points = self.engine.points
        return int(1000 + points.blocks.nbytes + 2 * points.phi.nbytes + 24 * points.phi.size)

    # ------------------------------------------------------------------ looks

    def look(
        self,
        task: Pass,
        rank: Any,
        given: Any = None,
        order_before: str = "",
        rank_before: Any = None,
    ) -> Found:
        """Let the points choose.

        Parameters
        ----------
        task : Pass
            What to look at.
        rank : array of shape (m,), optional
            The place of each row of the chunk in the order of visits; the rows' own by default.
        given : array of shape (m,), optional
            The labels of before the sweep, where no rule tells them.
        order_before, rank_before : str and array, optional
            The order of visits that the rule of the labels of before is about.
        """
        n_clusters, s = task.rule.theta.shape
        if self.engine is None:
            zero, size = np.zeros((n_clusters, s + 1)), np.zeros(n_clusters, np.int64)
            nobody = np.empty((0, s)), np.empty(0), NO_TURNS
            return Found(zero, zero, size, 0, 0, *nobody, True)
        with self.lock:
            self.engine.cut = task.cut
            if self.going is None or self.going.sweep != task.sweep:
                before = self._labels(task.before, order_before or task.order, rank_before, given)
                going, n_wishes = self._begun(task, rank, before)
            else:
                going = self.going.round
                going.decided = task.decided
                n_wishes = _look_again(going, task.rule)
            totals = self.engine.trimmed(going.sums).only(slice(n_clusters))
            n_changed = int(np.count_nonzero(going.work != going.memory.labels))
            going.n_changed = n_changed
            slots = self._wishes(going) if n_wishes else np.empty(0, np.int64)
            found = Found(
                totals.high.copy(), totals.low.copy(), totals.size.copy(), n_changed, n_wishes,
                self._points(slots), self.engine.potential[slots], going.turns.rank[slots], True,
            )  # fmt: skip
            return found.first(task.most)

    def _begun(self, task: Pass, rank: Any, labels: Stored) -> tuple[Round, int]:
        """Begin a sweep with a look; a piece that comes late to it looks at all centres at once."""
        rule, engine = task.rule, self._engine
        old = rule.theta[: rule.n_old], rule.c[: rule.n_old]
        memory, moves = recall(engine, labels, *old, rule.penalty)
        engine.memory = self.known = None
        turns = self._turns(task.order, rank)
        going = Round(engine, memory, turns, *old, (0.0, 0.0), rule.penalty)
        self.going = Going(task.sweep, task.before.token, going)
        going.decided = task.decided
        if len(rule.c) > rule.n_old:
            return going, _look_again(going, rule)
        return going, first_look(going, moves if moves.any() else Moves.unknown(rule.n_old))

    def _wishes(self, going: Round) -> NDArray[np.int64]:
        """Return the slots that want to open a cluster, by rank."""
        slots = np.flatnonzero(np.isinf(going.memory.own[: self.rows.size]))
        rank = going.turns.rank[slots]
        slots, rank = slots[rank > going.decided], rank[rank > going.decided]
        return slots[np.argsort(rank)]

    def _points(self, slots: NDArray[np.int64]) -> NDArray[Any]:
        lanes = self._engine.lanes
        points: NDArray[Any] = self._engine.points.blocks[slots // lanes, :, slots % lanes]
        return points

    @property
    def _engine(self) -> CpuEngine:
        assert self.engine is not None
        return self.engine

    def _turns(self, order: str, rank: NDArray[np.int32] | None) -> Turns:
        """Return the order of visits as the kernels take it."""
        if self.turns is None or self.turns[0] != order:
            own = self.start + self.rows.astype(np.int64) if rank is None else rank[self.rows]
            slots = np.full(self._engine.n_slots, np.iinfo(np.int32).max, np.int32)
            slots[: own.size] = own
            self.turns = order, Turns(NO_TURNS, NO_TURNS, slots, NO_TURNS)
        return self.turns[1]

    # ------------------------------------------------------------------ labels

    def labels(
        self, wanted: Assignment, order: str, rank: Any, given: Any, cut: Array
    ) -> Stored | None:
        """Return the labels of the points without links, in the order of the slots."""
        if self.engine is None:
            return None
        with self.lock:
            self.engine.cut = cut
            return self._labels(wanted, order, rank, given).copy()

    def _labels(self, wanted: Assignment, order: str, rank: Any, given: Any) -> Stored:
        """Return labels: those that are remembered, or made anew."""
        engine, going = self._engine, self.going
        used = None if going is None else _used_by(going, wanted)
        if going is not None and used is not None:
            remember(going.round, used)
            self.known = wanted.token
        self.going = None
        if self.known == wanted.token and engine.memory is not None:
            labels: Stored = engine.memory.labels
            return labels
        engine.memory = self.known = None
        if wanted.rule is not None:
            labels = self._ruled(wanted.rule, self._turns(order, rank))
        else:
            labels = np.full(engine.n_slots, -1, np.int32)
            own: Any = wanted.uniform if given is None else given[self.rows]
            labels[: self.rows.size] = own
        return labels if wanted.used is None else numbers(wanted.used)[labels]

    def _ruled(self, rule: Rule, turns: Turns) -> Stored:
        """Return the labels of a rule, its clusters numbered as there."""
        engine = self._engine
        nobody = np.full(engine.n_slots, -1, np.int32)
        old = rule.theta[: rule.n_old], rule.c[: rule.n_old]
        memory = blank(engine, nobody, *old, rule.penalty)
        going = Round(engine, memory, turns, *old, (0.0, 0.0), rule.penalty)
        _look_again(going, rule)
        labels: Stored = going.work
        return labels

    # ------------------------------------------------------------------ sums and distances

    def largest(self) -> Array | None:
        """Return the greatest |t| of each column and, last, the greatest |φ|."""
        return None if self.engine is None else self.engine.layout.largest

    def sums(self, labels: Stored | None, n_clusters: int, cut: Array) -> Totals | None:
        """Return the sums of a partition."""
        if self.engine is None or labels is None:
            return None
        with self.lock:
            self.engine.cut = cut
            return self.engine.totals(labels, n_clusters)

    def reach(self, center: Array) -> float:
        """Return the greatest divergence from a centre."""
        return 0.0 if self.engine is None else float(self.engine.scores(center).max())

    def furthest(self, centers: Array) -> tuple[float, int, Array] | None:
        """Return how far the point is that is furthest from all centres, its row and itself."""
        if self.engine is None:
            return None
        with self.lock:
            before, nearest = self.nearest or (centers[:0], np.full(self.rows.size, np.inf))
            if not np.array_equal(before, centers[:-1]):
                before, nearest = centers[:0], np.full(self.rows.size, np.inf)
            for k in range(len(before), len(centers)):
                nearest = np.minimum(nearest, self.engine.scores(centers[k : k + 1])[:, 0])
            self.nearest = centers, nearest
            at = int(nearest.argmax())
            row = self.start + int(self.rows[at])
            return float(nearest[at]), row, self.engine.point(at)


def _used_by(going: Going, wanted: Assignment) -> NDArray[np.bool_] | None:
    """Return which clusters are in use where a sweep has left the wanted labels, None elsewhere.

    A piece may lie on several workers, so this copy may have missed a look: then it does not know
    all clusters that have opened.
    """
    size, every = going.round.n_clusters, np.ones(going.round.n_clusters, bool)
    if going.sweep == wanted.token and wanted.rule is not None and size == len(wanted.rule.c):
        return every if wanted.used is None else wanted.used
    unchanged = going.round.n_changed == 0 and size == going.round.n_old
    return every if unchanged and going.before == wanted.token else None


def _look_again(going: Round, rule: Rule) -> int:
    """Let all points look once clusters have opened; return how many still want one."""
    new = slice(going.n_clusters, len(rule.c))
    going.add(rule.theta[new], rule.c[new], rule.opened[new])
    _give_openers(going, new)
    return going.look(Moves.unknown(going.n_clusters))


def _give_openers(going: Round, new: slice) -> None:
    """Give those that have opened a cluster its label: no centre tells it."""
    from maylink.kernels.sums import scratch, transfer

    engine, rank = going.engine, going.turns.rank
    cluster = {int(going.opened[k]): k for k in range(new.start, new.stop)}
    point = scratch(engine.cut)
    for slot in np.flatnonzero(np.isin(rank, going.opened[new])):
        k, old = cluster[int(rank[slot])], int(going.work[slot])
        transfer(engine.points, engine.cut, int(slot), old, k, going.sums, point)
        going.work[slot] = k
