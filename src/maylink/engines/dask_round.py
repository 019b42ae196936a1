"""A sweep of the Dask engine under way: linked points on this machine, all others on the workers.

The steps are those of :class:`maylink.engines.round.Round`. Where it would look at the points
without links, the workers do (:mod:`maylink.engines.piece`): out go the centres, back come sums of
size K × s, a count of changed labels, and the first openers, as rows. There is room for these among
the slots on this machine, so that they are visited in turn with the linked points.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Index
from maylink.engines.memory import Memory, Moves
from maylink.engines.piece import Look, LookResult, merge
from maylink.engines.points import PointStore
from maylink.engines.round import Round
from maylink.engines.rules import Assignment, ChunkRanks, Partition, Rule, new_token
from maylink.engines.sweep import Sweeper
from maylink.engines.totals import Stored, Swept, Totals
from maylink.engines.visits import NOBODY, VisitOrder
from maylink.engines.workers import asked
from maylink.runtime.dask import compute, tree

if TYPE_CHECKING:
    from maylink.arrays import Array


class DaskRound(Round):
    """The state of a sweep under way.

    Parameters
    ----------
    store : PointStore
        Holds the linked points, and room for openers before them.
    pieces : list of Delayed
        Hold all other points.
    cut : array
        What cuts points for exact sums.
    before : Partition
        The labels of before the sweep.
    ranks : ChunkRanks
        The order of visits by chunk.
    others
        As for :class:`maylink.engines.round.Round`, for the linked points.
    """

    def __init__(
        self,
        store: PointStore,
        pieces: list[Any],
        cut: Array,
        before: Partition,
        ranks: ChunkRanks,
        *others: Any,
    ) -> None:
        self.pieces, self.cut = pieces, cut
        self.before, self.ranks = before, ranks
        super().__init__(store, *others)

    def begin(self, weights: tuple[float, float]) -> DaskRound:
        """Start, or start again: centres stand, link weights have changed."""
        super().begin(weights)
        self.sweep = new_token()
        self.result: LookResult | None = None  # of the last look of the workers
        return self

    def look(
        self, moves: Moves, fast: NDArray[np.int32] = NOBODY, *, linked_only: bool = False
    ) -> int:
        """Let the points on the workers and the linked points choose; return how many openers."""
        if not linked_only:
            self.result = self._look_on_workers()
        super().look(moves, linked_only=True)
        return 0 if linked_only or self.result is None else self.result.n_openers

    def rule(self) -> Rule:
        """Return the centres that there are now."""
        size = self.n_clusters
        return Rule(
            self.centers.theta[:, :size].T.copy(), self.centers.c[:size].copy(),
            self.opened[:size].copy(), self.n_old, self.penalty,
        )  # fmt: skip

    def _look_on_workers(self) -> LookResult:
        from dask import delayed

        before = self.before
        most = min(self.store.layout.n_unlinked, 16 * max(self.spare, self.n_clusters))
        task = delayed(
            Look(
                self.sweep, before.others, self.rule(), self.decided, self.ranks.token, self.cut,
                most,
            ),
            traverse=False,
        )  # fmt: skip
        parts = [
            delayed(asked, pure=False)(
                piece, "look", task, self.ranks.part(at), before.given_part(at), before.ranks.token,
                before.ranks.part(at),
            )
            for at, piece in enumerate(self.pieces)
        ]  # fmt: skip
        result: LookResult = compute([tree(partial(merge, most=most), parts)])[0][0]
        return result

    def _openers(self, n_openers: int) -> Stored:
        """Put the first openers into the room for them; return their slots."""
        if n_openers == 0 or self.result is None:
            return NOBODY
        result, store = self.result, self.store
        slots = np.arange(result.rank.size, dtype=np.int32)
        store.points.blocks[slots // store.lanes, :, slots % store.lanes] = result.points
        store.potential[slots] = result.phi
        self.visits.rank[slots] = result.rank
        self.work[slots] = -1
        return slots

    def _transfer(self, moved: NDArray[np.int32], n_moved: int) -> None:
        """Count what linked points have changed; the workers count for all others."""
        here = moved[:, :n_moved]
        here = np.ascontiguousarray(here[:, here[0] >= self.store.layout.first_linked])
        super()._transfer(here, here.shape[1])

    def count_changes(self, labels: Stored) -> int:
        """Return how many labels differ from those of before the sweep, here and on the workers."""
        if self.result is not None:
            self.n_changed += self.result.n_changed
        return self.n_changed

    def finish(self, totals: Totals) -> tuple[Swept, Memory]:
        """Add up the sums, leave out empty clusters; return that and what the sweep has learnt."""
        new = self.store.trimmed(self.sums).only(slice(self.n_clusters))
        for part in (totals, self.result):
            if part is not None:
                size = len(part.size)
                new.high[:size] += part.high
                new.low[:size] += part.low
                new.size[:size] += part.size
        used = new.size > 0
        before = self.before
        others, ranks, given = before.others, before.ranks, before.given
        if self.result is not None:
            others = Assignment(self.sweep, rule=self.rule(), used=used)
            ranks, given = self.ranks, None
        elif not used.all():
            others = others.without(used)
        self.work[: self.store.layout.first_linked] = -1  # openers, which are the workers' points
        memory = self.learnt(used)
        partition = Partition(memory.labels, others, ranks, given)
        new = new if used.all() else new.only(used)
        return Swept(partition, new, self.n_changed), memory


class DaskSweeper(Sweeper):
    """Makes sweeps over the points of a Dask engine and remembers what the last one learnt."""

    def _store(self, engine: Any) -> PointStore:
        store: PointStore = engine.local
        return store

    def _stored(self, labels: Any) -> Stored:
        stored: Stored = labels.linked
        return stored

    def _visit_order(self, engine: Any, order: Index) -> VisitOrder:
        visits: VisitOrder = engine.visits(order)[1]
        return visits

    def _round(
        self, engine: Any, labels: Any, memory: Memory, visits: VisitOrder, *centers_and_costs: Any
    ) -> Round:
        ranks = engine.visits(visits.order)[0]
        return DaskRound(
            engine.local, engine.pieces, engine.cut, labels, ranks, memory, visits,
            *centers_and_costs,
        )  # fmt: skip

    def _first_look(self, current: Round, moves: Moves) -> int:
        return current.look(moves)
