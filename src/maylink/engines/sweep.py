"""One sweep of the CPU engine: who goes in parallel, who in turn, and what is remembered.

The engine remembers, from the sweep that left a partition, by how much each point's choice won and
how linked points lean. It uses that only for the sweep that starts from these very labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.errors import MaylinkError
from maylink.kernels import exact, linked, nearest
from maylink.kernels.sums import make_sums, transfer_all
from maylink.kernels.tile import ROWS, pack_centers

if TYPE_CHECKING:
    from maylink.arrays import Index
    from maylink.engines.cpu import CpuEngine, Stored, Swept, Totals

WORTH_ROUGH = 10_000_000  # multiplications of a sweep below which exact scores alone are as quick
SPARE = 64  # clusters that may open before the points without links look again, at the least
SAFETY = 4.0  # how much more than the rounding of a score a rough choice must win by
WORTH_A_PLAN = 50_000_000  # multiplications of a sweep below which planning saves nothing
WORTH_BOUNDS = 0.75  # share of a full sweep's work from which on bounds are not worth keeping
SHARES = (0.0, 0.1, 0.2, 0.3, 0.5)  # of the centres that may count as restless
CHUNK = 100_000  # points whose bounds are made at a time
MANY = 500  # linked points that are worth threads
NOBODY = np.empty(0, np.int32)
SMALL = 1e-6  # more than the rounding to single precision
SOME = 1.0 + 1e-5  # makes up for the rounding of what bounds are compared with


class Turns(NamedTuple):
    """An order of visits, as the kernels take it."""

    order: NDArray[Any]  # the points, as given
    points: NDArray[np.int32]  # the same
    rank: Stored  # the place of each slot in it
    linked: Stored  # the linked slots in that order


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
    """What the engine knows from the sweep that left these labels."""

    labels: Stored  # those that the caller holds
    work: Stored | None  # the same, ours to change
    own: NDArray[Any]  # bounds of unlinked points; see maylink.kernels.nearest
    others: NDArray[Any]
    cap: NDArray[Any]
    restless: NDArray[np.int32]  # the centres that ``others`` leaves out
    leanings: Any  # of linked points
    theta: Array  # of the centres of that sweep
    c: Array
    penalty: float
    n_changed: int  # labels that changed in it
    vain: float  # so many changes, the last time that bounds saved too little
    last: Round | None  # the sweep itself, where nothing did


class Round:
    """The state of a sweep under way.

    Parameters
    ----------
    engine : CpuEngine
        Holds the points.
    memory : Memory
        Labels and bounds; they change as the sweep goes on.
    turns : Turns
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
        engine: CpuEngine,
        memory: Memory,
        turns: Turns,
        theta: Array,
        c: Array,
        weights: tuple[float, float],
        penalty: float,
    ) -> None:
        self.engine = engine
        self.memory = memory
        self.work = memory.labels.copy() if memory.work is None else memory.work
        self.turns = turns
        self.penalty = float(penalty)
        self.n_old = self.n_clusters = len(c)
        self.most = len(c) + max(SPARE, len(c))
        self.centers = engine.prepared(theta, c, self.most)
        self.opened = np.full(self.most, -1, np.int32)
        blocks = engine.points.blocks
        work = engine.n * engine.n_columns * max(self.n_old, SPARE)  # more may open
        self.is_rough = blocks.shape[0] > 0 and not engine.family.root and work >= WORTH_ROUGH
        unit = 0.5 * float(np.finfo(blocks.dtype).eps) if self.is_rough else 0.0
        self.rounding = SAFETY * (engine.n_columns + 4) * (unit + 2.0**-53)
        self.smallest = SAFETY * engine.n_columns * float(np.finfo(blocks.dtype).smallest_subnormal)
        self.begin(weights)

    def begin(self, weights: tuple[float, float]) -> Round:
        """Start, or start again: centres and bounds stand, link weights have changed."""
        self.weights = weights
        self.links = self._link_table()
        self.sums = make_sums(self.most, self.engine.n_columns)
        self.scratch = linked.make_scratch(self.most)
        self.decided = -1
        self.n_changed = 0
        self.scored = 0.0  # share of the blocks that bounds did not decide
        self.n_unsettled = 0  # linked points that must be asked again
        return self

    # ------------------------------------------------------------------ in parallel

    def look(
        self, moves: Moves, restless: NDArray[np.int32] = NOBODY, *, linked_only: bool = False
    ) -> int:
        """Let points without links choose where bounds do not, and linked points lean.

        Linked points do so in view of the labels that they have now.

        Parameters
        ----------
        moves : Moves
            How far centres have moved since the bounds were made.
        restless : array
            The centres that are scored in any case.
        linked_only : bool, default False
            Whether to leave the points without links alone.

        Returns
        -------
        int
            How many points want to open a cluster.
        """
        engine, layout = self.engine, self.engine.layout
        sizes = exact.sizes(self.centers, self.n_clusters)
        self.is_rough = self.is_rough and not self._overflows(*sizes)
        sweep, slack = self._sweep(), self._slack(moves, restless, *sizes)
        rough = self._rough(restless) if self.is_rough else None
        plain = rough if restless.size == 0 or rough is None else self._rough(NOBODY)
        lanes = engine.lanes if self.is_rough else 1
        n_blocks = 0 if linked_only else -(-layout.n_unlinked // lanes)
        n_leaning = -(-self.turns.linked.size // lanes)

        def part(low: int, high: int, sums: Any) -> Any:
            first, last = low * n_blocks // size, high * n_blocks // size
            found = self._nearest(rough, sweep, slack, first, last, sums)
            first, last = low * n_leaning // size, high * n_leaning // size
            if last > first:
                self._lean(plain, sweep, slack, first, last)
            return found

        size = max(n_blocks, n_leaning)
        if size == 0:
            return 0
        cost = lanes * self.n_clusters * engine.n_columns
        found = engine.add_up(part, size, cost, self.sums, self.n_clusters)
        self.n_changed += sum(changed for changed, _, _ in found)
        self.scored = sum(scored for _, _, scored in found) / max(n_blocks, 1)
        return sum(wishes for _, wishes, _ in found)

    def _nearest(
        self, rough: Any, sweep: Any, slack: Any, first: int, last: int, sums: Any
    ) -> tuple[int, int, int]:
        engine, work = self.engine, self.work
        if first == last:
            return 0, 0, 0
        found: tuple[int, int, int]
        if rough is None:
            found = nearest.nearest_exact(
                engine.points, self.centers, engine.cut, sweep, slack, first, last, work, sums
            )
        else:
            found = nearest.nearest_rough(
                engine.points, self.centers, rough, engine.cut, sweep, slack,
                engine.layout.n_unlinked, first, last, work, sums,
            )  # fmt: skip
        return found

    def _lean(self, rough: Any, sweep: Any, slack: Any, first: int, last: int) -> None:
        engine, work, leanings = self.engine, self.work, self.memory.leanings
        if rough is None:
            linked.lean_exact(
                engine.points, self.centers, sweep, self.links, work, first, last, leanings
            )
        else:
            begin = engine.layout.first_linked // engine.lanes
            linked.lean_rough(
                engine.points, self.centers, rough, sweep, slack, self.links, work,
                begin + first, begin + last, leanings,
            )  # fmt: skip

    # ------------------------------------------------------------------ in turn

    def visit(self, n_wishes: int) -> None:
        """Visit linked points and those that want to open a cluster, in turn."""
        cursor = np.zeros(4, np.int64)
        last = len(self.turns.order)
        n_scored = self.n_clusters  # when points without links last looked, and linked ones leant
        while cursor[0] < self.turns.linked.size or n_wishes:
            wishes, limit = self._wishes(n_wishes), last
            if wishes.size and wishes.size < n_wishes:
                limit = int(self.turns.rank[wishes[-1]])
            cursor[1:3] = 0
            moved = np.empty((3, self.turns.linked.size + wishes.size), np.int32)
            enough = n_scored + max(SPARE, n_scored)
            while self.n_clusters < enough:
                slot = linked.visit(
                    self.engine.points, self.centers, self._sweep(), self.links,
                    self.turns.linked, wishes, limit, n_scored, cursor,
                    self.work, self.memory.leanings, moved, self.scratch,
                )  # fmt: skip
                if slot < 0:
                    break
                self._open(slot)
                if self.n_clusters == enough:
                    limit = int(self.turns.rank[slot])
            self._transfer(moved, int(cursor[2]))
            self.decided = limit
            n_wishes = 0
            if self.n_clusters > n_scored:
                n_wishes = self.look(Moves.unknown(self.n_clusters))
                n_scored = self.n_clusters
        self.n_unsettled = int(cursor[3])

    def _transfer(self, moved: NDArray[np.int32], n_moved: int) -> None:
        """Bring the sums up to date with what has changed in turn."""
        engine = self.engine

        def part(low: int, high: int, sums: Any) -> None:
            transfer_all(engine.points, engine.cut, moved, low, high, sums)

        self.n_changed += n_moved
        if n_moved:
            work = 4 * engine.n_columns  # two sums, in two parts
            engine.add_up(part, n_moved, work, self.sums, self.n_clusters)

    def _wishes(self, n_wishes: int) -> Stored:
        """Return the first slots, in order of rank, that want to open a cluster."""
        if n_wishes == 0:
            return np.empty(0, np.int32)
        most = min(n_wishes, 16 * max(SPARE, self.n_clusters))
        found: Stored = nearest.wishes_in_order(
            self.turns.points, self.engine.layout.position, self.memory.own,
            self.engine.layout.n_unlinked, self.decided + 1, most,
        )  # fmt: skip
        return found

    def _open(self, slot: int) -> None:
        """Open a cluster at a point."""
        theta, c = self.engine.family.tangent(self.engine.center(slot))
        self.add(theta, c, self.turns.rank[slot : slot + 1])

    def add(self, theta: Array, c: Array, ranks: NDArray[np.int32]) -> None:
        """Add clusters that points of these ranks have opened."""
        size = self.n_clusters + len(c)
        while size >= self.most:
            self._make_room()
        new = slice(self.n_clusters, size)
        self.centers.theta[:, new] = theta.T
        self.centers.c[new] = c
        self.opened[new] = ranks
        self.n_clusters = size

    def _make_room(self) -> None:
        theta, c = self.centers.theta.T, self.centers.c
        self.most *= 2
        self.centers = self.engine.prepared(theta, c, self.most)
        self.opened = np.concatenate([self.opened, np.full_like(self.opened, -1)])
        old, self.sums = self.sums, make_sums(self.most, self.engine.n_columns)
        for column, known in zip(self.sums, old, strict=True):
            column[: len(known)] = known
        self.scratch = linked.make_scratch(self.most)

    def outweighed_by(self, weights: tuple[float, float]) -> bool:
        """Whether these link weights are those of this sweep times one factor of at least 1."""
        (may, may_not), (new_may, new_not) = self.weights, weights
        old, new = max(may, may_not) or 1.0, max(new_may, new_not) or 1.0  # products could overflow
        ratios = (may / old) * (new_not / new), (may_not / old) * (new_may / new)
        alike = bool(np.isclose(*ratios, rtol=1e-12, atol=0.0))
        return alike and new_may >= may and new_not >= may_not

    # ------------------------------------------------------------------ what kernels are told

    def _link_table(self) -> Any:
        """Return the links, with what rounding the heaviest of them can do to a choice."""
        heaviest = max(self.weights)
        if np.isfinite(self.penalty):  # in a fit they grow
            heaviest = max(heaviest, self.engine.heaviest(self.penalty))
        with np.errstate(over="ignore"):
            return self.engine.link_table(*self.weights, 2.0**-50 * heaviest)

    def _sweep(self) -> Any:
        return nearest.Sweep(
            self.penalty, self.turns.rank, self.opened, self.n_old, self.n_clusters, self.decided
        )

    def _slack(
        self, moves: Moves, restless: NDArray[np.int32], steepest: float, farthest: float
    ) -> Any:
        # How sure a choice must be: by the first times ‖t‖ plus the second.
        floor = self.rounding * farthest + SAFETY * 2.0**-51 * self.engine.layout.largest[-1]
        room = (self.rounding * steepest, floor + self.smallest)
        quiet = quiet_ones(len(moves.drift), restless) if restless.size else slice(None)
        real = self.engine.points.blocks.dtype.type
        with np.errstate(over="ignore"):
            drift, shift = moves.drift.astype(real), moves.shift.astype(real)
            slope_and_floor = [real(part * SOME) for part in room]
        return nearest.Slack(
            self.engine.layout.norm,
            self.memory.cap,
            self.memory.own,
            self.memory.others,
            drift,
            shift,
            drift[quiet].max(initial=real(0.0)),
            shift[quiet].max(initial=real(0.0)),
            *slope_and_floor,
        )

    def _overflows(self, steepest: float, farthest: float) -> bool:
        """Whether rough scores may be too large for their precision."""
        engine = self.engine
        reach = engine.longest * steepest + farthest + engine.layout.largest[-1]
        return not reach < 0.01 * float(np.finfo(engine.points.blocks.dtype).max)

    def _rough(self, restless: NDArray[np.int32]) -> Any:
        cluster_of = row_of = np.arange(self.n_clusters, dtype=np.int32)
        if restless.size:
            others = cluster_of[quiet_ones(self.n_clusters, restless)]
            cluster_of, row_of = np.concatenate([restless, others]), np.empty_like(cluster_of)
            row_of[cluster_of] = np.arange(self.n_clusters)
        packed, starts = pack_centers(
            self.centers.theta, self.centers.c, cluster_of, self.engine.points.blocks.dtype
        )
        return nearest.Rough(packed, starts, restless.size, cluster_of, row_of)


def sweep(
    engine: CpuEngine,
    labels: Stored,
    totals: Totals,
    centers: Array,
    order: Index,
    weights: tuple[float, float],
    penalty: float,
) -> Swept:
    """Let every point choose its cluster, once; see :meth:`CpuEngine.sweep`."""
    from maylink.engines.cpu import Swept

    theta, c = engine.tangent(centers)
    turns = turns_of(engine, order)
    memory, moves = recall(engine, labels, theta, c, penalty)
    going, n_wishes = memory.last, 0
    grown = going is not None and going.turns is turns and going.outweighed_by(weights)
    if going is None or not grown or moves.any():
        if not moves.any():  # other weights, or another order
            moves = Moves.unknown(len(c))
        engine.memory = None  # a sweep that is broken off leaves none
        going = Round(engine, memory, turns, theta, c, weights, penalty)
        n_wishes = first_look(going, moves)
    elif going.n_unsettled:
        engine.memory = None
        many = going.n_unsettled > MANY
        going = going.begin(weights)
        if many:  # then they had better be asked in parallel
            going.look(moves, linked_only=True)
    else:  # nothing has moved, and heavier links only bind the linked points more
        return Swept(labels, totals, 0)
    going.visit(n_wishes)
    if going.n_changed == 0:
        engine.memory = going.memory._replace(
            work=going.work, theta=theta, c=c, n_changed=0, last=going
        )
        return Swept(labels, totals, 0)
    if going.n_clusters > going.n_old:  # a point may have changed its label twice
        going.n_changed = int(np.count_nonzero(going.work != labels))
    return finish(going, totals)


def first_look(going: Round, moves: Moves) -> int:
    """Let all points look at the centres of before the sweep; return how many want a new one."""
    memory = going.memory
    moves, restless = plan(going, moves)
    n_wishes = going.look(moves, restless)
    vain = memory.vain
    if np.isfinite(moves.drift[0]):
        vain = memory.n_changed if going.scored > WORTH_BOUNDS else np.inf
    going.memory = memory._replace(restless=restless, vain=vain, last=None)
    return n_wishes


def finish(going: Round, totals: Totals) -> Swept:
    """Add up the sums, leave out empty clusters and remember what the sweep has learnt."""
    from maylink.engines.cpu import Swept

    new = going.engine.trimmed(going.sums).only(slice(going.n_clusters))
    new.high[: going.n_old] += totals.high
    new.low[: going.n_old] += totals.low
    new.size[: going.n_old] += totals.size
    used = new.size > 0
    labels = remember(going, used)
    return Swept(labels, new if used.all() else new.only(used), going.n_changed)


def remember(going: Round, used: NDArray[np.bool_]) -> Stored:
    """Keep what a sweep has learnt; return its labels, numbered without the unused clusters."""
    memory, size, left = going.memory, going.n_clusters, going.work
    theta, c = going.centers.theta[:, :size].T, going.centers.c[:size]
    restless = memory.restless if size == going.n_old else NOBODY
    if not used.all():
        number = numbers(used)
        left[:] = number[left]
        restless = number[restless]
        theta, c = theta[used], c[used]
    going.engine.memory = memory._replace(
        labels=left, work=None, restless=restless, theta=theta.copy(), c=c.copy(),
        n_changed=going.n_changed, last=None,
    )  # fmt: skip
    return left


def numbers(used: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the new number of each used cluster and, last, −1 for no cluster."""
    return np.append(np.cumsum(used, dtype=np.int32) - 1, np.int32(-1))


def place(
    engine: CpuEngine, centers: Array, known: Index, weights: tuple[float, float], max_sweeps: int
) -> Index:
    """Label the points while centres stand still; see :meth:`CpuEngine.place`."""
    theta, c = engine.tangent(centers)
    labels = np.concatenate([np.full(engine.n_slots, -1), known]).astype(np.int32)
    memory = blank(engine, labels, theta, c, np.inf)
    going = Round(engine, memory, turns_of(engine, np.arange(engine.n)), theta, c, weights, np.inf)
    n_wishes = going.look(Moves.unknown(len(c)))
    for _ in range(max_sweeps):
        before = going.n_changed
        if n_wishes == 0:
            going.visit(0)
        if n_wishes or going.n_clusters > len(c):
            raise MaylinkError("a point of X is infinitely far from every centre; rescale X")
        if going.n_changed == before:
            break
    return engine.given(going.work)


# ---------------------------------------------------------------------- what is remembered


def recall(
    engine: CpuEngine, labels: Stored, theta: Array, c: Array, penalty: float
) -> tuple[Memory, Moves]:
    """Return what is known of these labels, and how far the centres have moved since."""
    memory = engine.memory
    if memory is None or memory.labels is not labels or memory.penalty != penalty:
        return blank(engine, labels, theta, c, penalty), Moves.unknown(len(c))
    with np.errstate(over="ignore"):
        drift = np.sqrt(np.square(theta - memory.theta).sum(axis=1)) * SOME
        shift = np.abs(c - memory.c) * SOME
        moves = Moves(drift, shift)
    if engine.family.root and moves.any():  # √D changes by other laws
        moves = Moves.unknown(len(c))
    return memory, moves


def blank(engine: CpuEngine, labels: Stored, theta: Array, c: Array, penalty: float) -> Memory:
    """Return a memory of nothing."""
    n_linked = engine.n - engine.layout.n_unlinked
    own = np.full(engine.layout.first_linked, np.inf, engine.points.blocks.dtype)
    leanings = linked.Leanings(np.full(n_linked, -1, np.int32), np.zeros(n_linked, np.int8))
    cap = np.empty_like(own)
    for low in range(0, own.size, CHUNK):  # copies of all in double precision are large
        part = np.minimum(penalty - engine.potential[low : min(low + CHUNK, own.size)], nearest.FAR)
        with np.errstate(over="ignore"):
            cap[low : low + CHUNK] = part - SMALL * np.abs(part)
    return Memory(
        labels, None, own, -own, cap, NOBODY, leanings, theta, c, penalty, engine.n, np.inf, None
    )


def plan(going: Round, moves: Moves) -> tuple[Moves, NDArray[np.int32]]:
    """Decide which centres count as restless, and whether bounds are worth a look.

    Returns
    -------
    Moves
        As given, or unknown where all points had better be scored in full.
    array
        The restless centres.
    """
    engine, memory, n_clusters = going.engine, going.memory, going.n_old
    restless, everywhere = memory.restless, Moves.unknown(n_clusters)
    n_unlinked = engine.layout.n_unlinked
    small = n_unlinked * engine.n_columns * n_clusters < WORTH_A_PLAN or n_unlinked < engine.lanes
    if small or not going.is_rough or n_clusters < 4 * ROWS:
        in_vain = 2 * memory.n_changed > memory.vain and going.is_rough
        return (everywhere if in_vain or restless.size else moves), NOBODY
    if not np.isfinite(moves.drift).all() or _mixed(memory.n_changed / engine.n, engine) > 0.5:
        return everywhere, NOBODY
    if restless.min(initial=0) >= 0:  # none of them has vanished
        still = np.delete(moves.drift, restless).max(initial=0.0)
        n_moving = int((moves.drift[restless] > still).sum())
        share = restless.size / n_clusters + _doubtful_blocks(going, moves)
        if share < WORTH_BOUNDS and 2 * n_moving >= restless.size:
            return moves, restless
    return everywhere, _choose_restless(going, moves)


def quiet_ones(n_clusters: int, restless: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Say for each centre whether it is none of the restless."""
    quiet = np.ones(n_clusters, bool)
    quiet[restless] = False
    return quiet


def _mixed(share: float, engine: CpuEngine) -> float:
    """Return the share of blocks that hold one of so large a share of the points."""
    return 1.0 - (1.0 - share) ** engine.lanes


def _doubtful_blocks(going: Round, moves: Moves) -> float:
    """Guess from a sample the share of blocks in which the bounds of some point meet."""
    memory, engine = going.memory, going.engine
    sample, _, norm = engine.sample
    labels = going.work[sample]
    quiet = quiet_ones(going.n_old, memory.restless)
    drift, shift = moves.drift * quiet, moves.shift * quiet
    own = memory.own[sample] + norm * drift[labels] + shift[labels]
    others = memory.others[sample] - norm * drift.max() - shift.max()
    doubtful = float(np.mean(~(others > own)))
    return _mixed(doubtful, engine)


def _choose_restless(going: Round, moves: Moves) -> NDArray[np.int32]:
    """Return the centres to score in every sweep: those that make it cheapest, by a sample."""
    n_clusters = going.n_old
    _, points, norm = going.engine.sample
    scores = np.empty((norm.size, n_clusters))
    exact.scores(points, going.centers, 0, norm.size, scores)
    own = scores.min(axis=1)
    order = np.argsort(-moves.drift, kind="stable")
    best, chosen = WORTH_BOUNDS, NOBODY
    for share in SHARES:
        size = ROWS * round(share * n_clusters / ROWS)
        quiet = order[size:]
        two = np.partition(scores[:, quiet], 1, axis=1)[:, :2]
        others = np.where(two[:, 0] == own, two[:, 1], two[:, 0])
        reach = 2.0 * (norm * moves.drift[quiet].max() + moves.shift[quiet].max())
        doubtful = float(np.mean(~(others - own > reach)))
        cost = size / n_clusters + _mixed(doubtful, going.engine)
        if cost < best:
            best, chosen = cost, np.sort(order[:size]).astype(np.int32)
    return chosen


def turns_of(engine: CpuEngine, order: Index) -> Turns:
    """Return an order of visits as the kernels take it; the last one is remembered."""
    known: Turns | None = engine.turns
    if known is None or known.order is not order:
        slots = engine.layout.position[order]
        rank = np.full(engine.n_slots, engine.n, np.int32)
        rank[slots] = np.arange(engine.n, dtype=np.int32)
        in_turn = slots[slots >= engine.layout.first_linked]
        engine.turns = known = Turns(order, np.asarray(order, np.int32), rank, in_turn)
    return known
