"""One sweep under way: points choose in parallel, then linked points and openers go in turn.

An *opener* is a point without links to which all centres are λ or more away, so that it wants to
open a cluster. Openers are visited in turn together with the linked points. A cluster that opened
is open to the points that come later in the order, so the points without links look again once some
clusters have opened.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.engines.memory import SOME, Memory, Moves, new_numbers
from maylink.engines.points import PointStore
from maylink.engines.totals import Stored, Swept, Totals
from maylink.engines.visits import NOBODY, VisitOrder
from maylink.kernels import exact, linked, nearest
from maylink.kernels.sums import make_sums, transfer_all
from maylink.kernels.tile import pack_centers

SAFETY = 4.0  # how much more than the rounding of a score a rough choice must win by


class Round:
    """The state of a sweep under way.

    Parameters
    ----------
    store : PointStore
        Holds the points.
    memory : Memory
        Labels and bounds; they change as the sweep goes on.
    visits : VisitOrder
        The order of visits.
    theta, c : arrays
        The centres.
    weights : (float, float)
        ξ_may and ξ_not.
    penalty : float
        λ.
    """

    def __init__(
        self,
        store: PointStore,
        memory: Memory,
        visits: VisitOrder,
        theta: Array,
        c: Array,
        weights: tuple[float, float],
        penalty: float,
    ) -> None:
        self.store = store
        self.memory = memory
        self.work = memory.labels.copy() if memory.work is None else memory.work
        self.visits = visits
        self.penalty = float(penalty)
        self.spare = store.settings.spare
        self.n_old = self.n_clusters = len(c)
        self.room = len(c) + max(self.spare, len(c))
        self.centers = store.prepared(theta, c, self.room)
        self.opened = np.full(self.room, -1, np.int32)
        blocks = store.points.blocks
        work = store.n * store.n_columns * max(self.n_old, self.spare)  # more clusters may open
        enough = work >= store.settings.rough_from
        self.is_rough = blocks.shape[0] > 0 and not store.family.root and enough
        unit = 0.5 * float(np.finfo(blocks.dtype).eps) if self.is_rough else 0.0
        self.rounding = SAFETY * (store.n_columns + 4) * (unit + 2.0**-53)
        self.smallest = SAFETY * store.n_columns * float(np.finfo(blocks.dtype).smallest_subnormal)
        self.begin(weights)

    def begin(self, weights: tuple[float, float]) -> Round:
        """Start, or start again: centres and bounds stand, link weights have changed."""
        self.weights = weights
        self.links = self._slot_links()
        self.sums = make_sums(self.room, self.store.n_columns)
        self.scratch = linked.make_scratch(self.room)
        self.decided = -1
        self.n_changed = 0
        self.scored = 0.0  # share of the blocks that bounds did not decide
        self.n_unsettled = 0  # linked points that must choose again when link weights grow
        return self

    # ------------------------------------------------------------------ in parallel

    def look(
        self, moves: Moves, fast: NDArray[np.int32] = NOBODY, *, linked_only: bool = False
    ) -> int:
        """Let points without links choose where bounds do not decide, and linked points too.

        The choices of linked points are provisional: they are made in view of present labels.

        Parameters
        ----------
        moves : Moves
            How far centres have moved since the bounds were made.
        fast : array
            The centres that are scored in any case.
        linked_only : bool, default False
            Whether to leave the points without links alone.

        Returns
        -------
        int
            How many openers there are.
        """
        store = self.store
        sizes = exact.sizes(self.centers, self.n_clusters)
        self.is_rough = self.is_rough and not self._overflows(*sizes)
        context, slack = self._context(), self._slack(moves, fast, *sizes)
        rough = self._rough(fast) if self.is_rough else None
        plain = rough if fast.size == 0 or rough is None else self._rough(NOBODY)
        lanes = store.lanes if self.is_rough else 1
        n_blocks = 0 if linked_only else -(-store.layout.n_unlinked // lanes)
        n_linked_blocks = -(-self.visits.linked.size // lanes)

        def part(low: int, high: int, sums: Any) -> Any:
            first, last = low * n_blocks // size, high * n_blocks // size
            counts = self._choose_unlinked(rough, context, slack, first, last, sums)
            first, last = low * n_linked_blocks // size, high * n_linked_blocks // size
            if last > first:
                self._choose_linked(plain, context, slack, first, last)
            return counts

        size = max(n_blocks, n_linked_blocks)
        if size == 0:
            return 0
        cost = lanes * self.n_clusters * store.n_columns
        counts = store.add_up(part, size, cost, self.sums, self.n_clusters)
        self.n_changed += sum(n_changed for n_changed, _, _ in counts)
        self.scored = sum(n_scored for _, _, n_scored in counts) / max(n_blocks, 1)
        return sum(n_openers for _, n_openers, _ in counts)

    def _choose_unlinked(
        self, rough: Any, context: Any, slack: Any, first: int, last: int, sums: Any
    ) -> tuple[int, int, int]:
        store, work = self.store, self.work
        if first == last:
            return 0, 0, 0
        counts: tuple[int, int, int]
        if rough is None:
            counts = nearest.nearest_exact(
                store.points, self.centers, store.cut, context, slack, first, last, work, sums
            )
        else:
            counts = nearest.nearest_rough(
                store.points, self.centers, rough, store.cut, context, slack,
                store.layout.n_unlinked, first, last, work, sums,
            )  # fmt: skip
        return counts

    def _choose_linked(self, rough: Any, context: Any, slack: Any, first: int, last: int) -> None:
        store, work, choices = self.store, self.work, self.memory.choices
        if rough is None:
            linked.choose_exact(
                store.points, self.centers, context, self.links, work, first, last, choices
            )
        else:
            begin = store.layout.first_linked // store.lanes
            linked.choose_rough(
                store.points, self.centers, rough, context, slack, self.links, work,
                begin + first, begin + last, choices,
            )  # fmt: skip

    # ------------------------------------------------------------------ in turn

    def visit(self, n_openers: int) -> None:
        """Visit linked points and openers, in turn."""
        cursor = np.zeros(4, np.int64)
        last = len(self.visits.order)
        n_scored = self.n_clusters  # when points last looked
        while cursor[0] < self.visits.linked.size or n_openers:
            openers, limit = self._openers(n_openers), last
            if openers.size and openers.size < n_openers:
                limit = int(self.visits.rank[openers[-1]])
            cursor[1:3] = 0
            moved = np.empty((3, self.visits.linked.size + openers.size), np.int32)
            enough = n_scored + max(self.spare, n_scored)
            while self.n_clusters < enough:
                slot = linked.visit(
                    self.store.points, self.centers, self._context(), self.links,
                    self.visits.linked, openers, limit, n_scored, cursor,
                    self.work, self.memory.choices, moved, self.scratch,
                )  # fmt: skip
                if slot < 0:
                    break
                self._open(slot)
                if self.n_clusters == enough:
                    limit = int(self.visits.rank[slot])
            self._transfer(moved, int(cursor[2]))
            self.decided = limit
            n_openers = 0
            if self.n_clusters > n_scored:
                n_openers = self.look(Moves.unknown(self.n_clusters))
                n_scored = self.n_clusters
        self.n_unsettled = int(cursor[3])

    def _transfer(self, moved: NDArray[np.int32], n_moved: int) -> None:
        """Bring the sums up to date with what has changed in turn."""
        store = self.store

        def part(low: int, high: int, sums: Any) -> None:
            transfer_all(store.points, store.cut, moved, low, high, sums)

        self.n_changed += n_moved
        if n_moved:
            work = 4 * store.n_columns  # two sums, in two parts
            store.add_up(part, n_moved, work, self.sums, self.n_clusters)

    def _openers(self, n_openers: int) -> Stored:
        """Return the slots of the first openers, in order of rank."""
        if n_openers == 0:
            return NOBODY
        most = min(n_openers, 16 * max(self.spare, self.n_clusters))
        slots: Stored = nearest.openers_in_order(
            self.visits.points, self.store.layout.position, self.memory.upper,
            self.store.layout.n_unlinked, self.decided + 1, most,
        )  # fmt: skip
        return slots

    def _open(self, slot: int) -> None:
        """Open a cluster at a point."""
        theta, c = self.store.family.tangent(self.store.center(slot))
        self.add(theta, c, self.visits.rank[slot : slot + 1])

    def add(self, theta: Array, c: Array, ranks: NDArray[np.int32]) -> None:
        """Add clusters that points of these ranks have opened."""
        size = self.n_clusters + len(c)
        while size >= self.room:
            self._make_room()
        new = slice(self.n_clusters, size)
        self.centers.theta[:, new] = theta.T
        self.centers.c[new] = c
        self.opened[new] = ranks
        self.n_clusters = size

    def _make_room(self) -> None:
        theta, c = self.centers.theta.T, self.centers.c
        self.room *= 2
        self.centers = self.store.prepared(theta, c, self.room)
        self.opened = np.concatenate([self.opened, np.full_like(self.opened, -1)])
        small, self.sums = self.sums, make_sums(self.room, self.store.n_columns)
        for column, values in zip(self.sums, small, strict=True):
            column[: len(values)] = values
        self.scratch = linked.make_scratch(self.room)

    # ------------------------------------------------------------------ the end

    def count_changes(self, labels: Stored) -> int:
        """Return how many labels differ from those of before the sweep."""
        if self.n_changed and self.n_clusters > self.n_old:  # a point may have changed twice
            self.n_changed = int(np.count_nonzero(self.work != labels))
        return self.n_changed

    def finish(self, totals: Totals) -> tuple[Swept, Memory]:
        """Add up the sums, leave out empty clusters; return that and what the sweep has learnt."""
        new = self.store.trimmed(self.sums).only(slice(self.n_clusters))
        new.high[: self.n_old] += totals.high
        new.low[: self.n_old] += totals.low
        new.size[: self.n_old] += totals.size
        used = new.size > 0
        memory = self.learnt(used)
        new = new if used.all() else new.only(used)
        return Swept(memory.labels, new, self.n_changed), memory

    def learnt(self, used: NDArray[np.bool_]) -> Memory:
        """Return what the sweep has learnt; labels are numbered without the unused clusters."""
        memory, size, labels = self.memory, self.n_clusters, self.work
        theta, c = self.centers.theta[:, :size].T, self.centers.c[:size]
        fast = memory.fast if size == self.n_old else NOBODY
        if not used.all():
            number = new_numbers(used)
            labels[:] = number[labels]
            fast = number[fast]
            theta, c = theta[used], c[used]
        return memory._replace(
            labels=labels, work=None, fast=fast, theta=theta.copy(), c=c.copy(),
            n_changed=self.n_changed,
        )  # fmt: skip

    def unchanged(self, theta: Array, c: Array) -> Memory:
        """Return what a sweep in which no label changed has learnt."""
        return self.memory._replace(work=self.work, theta=theta, c=c, n_changed=0)

    def outweighed_by(self, weights: tuple[float, float]) -> bool:
        """Whether these link weights are those of this sweep times one factor of at least 1."""
        (may, may_not), (new_may, new_not) = self.weights, weights
        old, new = max(may, may_not) or 1.0, max(new_may, new_not) or 1.0  # products could overflow
        ratios = (may / old) * (new_not / new), (may_not / old) * (new_may / new)
        alike = bool(np.isclose(*ratios, rtol=1e-12, atol=0.0))
        return alike and new_may >= may and new_not >= may_not

    # ------------------------------------------------------------------ arguments of the kernels

    def _slot_links(self) -> Any:
        """Return the links, with what rounding the heaviest of them can do to a choice."""
        heaviest = max(self.weights)
        if np.isfinite(self.penalty):  # in a fit they grow
            heaviest = max(heaviest, self.store.heaviest(self.penalty))
        with np.errstate(over="ignore"):
            return self.store.slot_links(*self.weights, 2.0**-50 * heaviest)

    def _context(self) -> Any:
        return nearest.SweepContext(
            self.penalty, self.visits.rank, self.opened, self.n_old, self.n_clusters, self.decided
        )

    def _slack(
        self, moves: Moves, fast: NDArray[np.int32], steepest: float, farthest: float
    ) -> Any:
        # How sure a choice must be: by the first times ‖t‖ plus the second.
        floor = self.rounding * farthest + SAFETY * 2.0**-51 * self.store.layout.largest[-1]
        margin = (self.rounding * steepest, floor + self.smallest)
        slow = slow_centers(len(moves.drift), fast) if fast.size else slice(None)
        real = self.store.points.blocks.dtype.type
        with np.errstate(over="ignore"):
            drift, shift = moves.drift.astype(real), moves.shift.astype(real)
            slope_and_floor = [real(part * SOME) for part in margin]
        return nearest.Slack(
            self.store.layout.norm,
            self.memory.cap,
            self.memory.upper,
            self.memory.lower,
            drift,
            shift,
            drift[slow].max(initial=real(0.0)),
            shift[slow].max(initial=real(0.0)),
            *slope_and_floor,
        )

    def _overflows(self, steepest: float, farthest: float) -> bool:
        """Whether rough scores may be too large for their precision."""
        store = self.store
        reach = store.longest * steepest + farthest + store.layout.largest[-1]
        return not reach < 0.01 * float(np.finfo(store.points.blocks.dtype).max)

    def _rough(self, fast: NDArray[np.int32]) -> Any:
        cluster_of = row_of = np.arange(self.n_clusters, dtype=np.int32)
        if fast.size:
            slow = cluster_of[slow_centers(self.n_clusters, fast)]
            cluster_of, row_of = np.concatenate([fast, slow]), np.empty_like(cluster_of)
            row_of[cluster_of] = np.arange(self.n_clusters)
        packed, starts = pack_centers(
            self.centers.theta, self.centers.c, cluster_of, self.store.points.blocks.dtype
        )
        return nearest.Rough(packed, starts, fast.size, cluster_of, row_of)


def slow_centers(n_clusters: int, fast: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Say for each centre whether it is none of the fast ones."""
    slow = np.ones(n_clusters, bool)
    slow[fast] = False
    return slow
