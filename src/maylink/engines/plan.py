"""Which centres a sweep counts as fast, and whether bounds are worth a look at all.

One centre that moves far uses up the bounds of all points. So a few such centres, the *fast* ones,
are scored in every sweep, and the bounds are about the others, the *slow* ones. How many to count
as fast is guessed from a sample of points: the more, the more to score in every sweep, and the
fewer blocks in which some point's bounds meet, so that the block must be scored in full.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maylink.engines.memory import Moves
from maylink.engines.points import PointStore
from maylink.engines.round import Round, slow_centers
from maylink.engines.visits import NOBODY
from maylink.kernels import exact
from maylink.kernels.tile import ROWS

SHARES = (0.0, 0.1, 0.2, 0.3, 0.5)  # of the centres that may count as fast
MIXED = 0.5  # share of blocks with a changed label above which new bounds would not last


def plan(current: Round, moves: Moves) -> tuple[Moves, NDArray[np.int32]]:
    """Decide which centres count as fast, and whether bounds are worth a look.

    Returns
    -------
    Moves
        As given, or unknown where all points had better be scored in full.
    array
        The fast centres.
    """
    store, memory, n_clusters = current.store, current.memory, current.n_old
    settings = store.settings
    everywhere = Moves.unknown(n_clusters)
    n_unlinked = store.layout.n_unlinked
    work = n_unlinked * store.n_columns * n_clusters
    small = work < settings.plan_from or n_unlinked < store.lanes
    if small or not current.is_rough or n_clusters < 4 * ROWS:
        in_vain = 2 * memory.n_changed > memory.in_vain and current.is_rough
        return (everywhere if in_vain or memory.fast.size else moves), NOBODY
    if not np.isfinite(moves.drift).all():
        return everywhere, NOBODY
    if settings.fast_share is None and _mixed(memory.n_changed / store.n, store) > MIXED:
        return everywhere, NOBODY
    if _bounds_hold(current, moves):
        return moves, memory.fast
    return everywhere, _choose_fast(current, moves)


def _bounds_hold(current: Round, moves: Moves) -> bool:
    """Whether the bounds, with the fast centres that they leave out, are worth keeping."""
    fast, settings = current.memory.fast, current.store.settings
    if fast.min(initial=0) < 0:  # one of them has vanished
        return False
    slow_drift = np.delete(moves.drift, fast).max(initial=0.0)
    n_faster = int((moves.drift[fast] > slow_drift).sum())
    if 2 * n_faster < fast.size:
        return False
    if settings.fast_share is not None:
        return fast.size > 0
    cost = fast.size / current.n_old + _doubtful_blocks(current, moves)
    return cost < settings.bounds_up_to


def _choose_fast(current: Round, moves: Moves) -> NDArray[np.int32]:
    """Return the centres to score in every sweep: those that make it cheapest, by a sample."""
    n_clusters, settings = current.n_old, current.store.settings
    order = np.argsort(-moves.drift, kind="stable")
    if settings.fast_share is not None:
        size = ROWS * round(settings.fast_share * n_clusters / ROWS)
        return np.sort(order[:size]).astype(np.int32)
    _, points, norm = current.store.sample
    scores = np.empty((norm.size, n_clusters))
    exact.scores(points, current.centers, 0, norm.size, scores)
    nearest = scores.min(axis=1)
    least, chosen = settings.bounds_up_to, NOBODY
    for share in SHARES:
        size = ROWS * round(share * n_clusters / ROWS)
        slow = order[size:]
        two = np.partition(scores[:, slow], 1, axis=1)[:, :2]
        rival = np.where(two[:, 0] == nearest, two[:, 1], two[:, 0])
        reach = 2.0 * (norm * moves.drift[slow].max() + moves.shift[slow].max())
        doubtful = float(np.mean(~(rival - nearest > reach)))
        cost = size / n_clusters + _mixed(doubtful, current.store)
        if cost < least:
            least, chosen = cost, np.sort(order[:size]).astype(np.int32)
    return chosen


def _doubtful_blocks(current: Round, moves: Moves) -> float:
    """Guess from a sample the share of blocks in which the bounds of some point meet."""
    memory, store = current.memory, current.store
    slots, _, norm = store.sample
    labels = current.work[slots]
    slow = slow_centers(current.n_old, memory.fast)
    drift, shift = moves.drift * slow, moves.shift * slow
    upper = memory.upper[slots] + norm * drift[labels] + shift[labels]
    lower = memory.lower[slots] - norm * drift.max() - shift.max()
    doubtful = float(np.mean(~(lower > upper)))
    return _mixed(doubtful, store)


def _mixed(share: float, store: PointStore) -> float:
    """Return the share of blocks that hold at least one of so large a share of the points."""
    return 1.0 - (1.0 - share) ** store.lanes
