"""Scores in double precision, as on the CPU to the last bit; links are weighed by them."""

from __future__ import annotations

import triton
import triton.language as tl

from maylink.engines.cuda_kernels.nearest import FAR, OPENER


@triton.jit
def exact(
    points,
    theta,
    c,
    phi,
    rank,
    opened,
    rows_of,
    size_of,
    least_of,
    after,
    gap,
    own,
    n,
    n_clusters,
    penalty,
    STRIDE: tl.constexpr,
    COLUMNS: tl.constexpr,
    ROWS: tl.constexpr,
    CENTERS: tl.constexpr,
    NEW: tl.constexpr,
    LISTED: tl.constexpr,
    RANKED: tl.constexpr,
):
    """Find the nearest centre by scores in double precision, feature by feature, nothing fused.

    Long because arrays come one by one, each in a line of its own.

    The scores are those of :func:`maylink.kernels.exact.score`, to the last bit.

    Parameters
    ----------
    points : in, (n, STRIDE)
    theta, c : in, (COLUMNS, K) and (K,)
    phi : in, (n,)
    rows_of, size_of : in, which points, whose labels are decided where LISTED; else all
    least_of : out, (n,) the least divergence, where not LISTED
    after, gap : out, labels and by how much they are won, where LISTED
    own : out, φ less the least divergence, rounded down, where LISTED and RANKED
    penalty : in, λ is the first of these
    """
    size = n
    if LISTED:
        size = tl.load(size_of)
    limit = tl.load(penalty)
    for tile in range(tl.program_id(0), tl.cdiv(size, ROWS), tl.num_programs(0)):
        rows = tile * ROWS + tl.arange(0, ROWS)
        there = rows < size
        if LISTED:
            rows = tl.load(rows_of + rows, mask=there, other=0)
        at = rows.to(tl.int64) * STRIDE
        base = tl.load(phi + rows, mask=there, other=0.0)
        least = tl.full([ROWS], float("inf"), tl.float64)
        second = tl.full([ROWS], float("inf"), tl.float64)
        winner = tl.full([ROWS], OPENER, tl.int32)
        if NEW:
            turn = tl.load(rank + rows, mask=there, other=0)
        for start in range(0, n_clusters, CENTERS):
            k = start + tl.arange(0, CENTERS)
            used = k < n_clusters
            dot = tl.zeros([ROWS, CENTERS], tl.float64)
            for j in range(COLUMNS):
                t = tl.load(points + at + j, mask=there, other=0.0).to(tl.float64)
                slope = tl.load(theta + j * n_clusters + k, mask=used, other=0.0)
                dot += t[:, None] * slope[None, :]
            score = (base[:, None] + tl.load(c + k, mask=used, other=0.0)[None, :]) - dot
            score = tl.where(score > 0.0, score, 0.0)
            score = tl.where(used[None, :], score, float("inf"))
            if NEW:
                since = tl.load(opened + k, mask=used, other=0)
                score = tl.where(since[None, :] < turn[:, None], score, float("inf"))
            here = tl.min(score, axis=1)
            first = tl.min(tl.where(score == here[:, None], k[None, :], 2147483647), axis=1)
            others = tl.where(first[:, None] == k[None, :], float("inf"), score)
            second = tl.minimum(tl.minimum(second, tl.min(others, axis=1)), tl.maximum(here, least))
            winner = tl.where(here < least, first, winner)
            least = tl.minimum(here, least)
        if LISTED:
            winner = tl.where(least < limit, winner, OPENER)
            won = (tl.minimum(second, limit) - least).to(tl.float32)
            won -= tl.abs(won) * 1e-5
            if NEW:
                won = tl.full([ROWS], FAR, tl.float32)
            tl.store(gap + rows, won, mask=there)
            tl.store(after + rows, winner, mask=there)
            if RANKED:
                score = (base - least).to(tl.float32)
                score -= 1e-5 * (tl.abs(score) + tl.abs(base.to(tl.float32)))
                tl.store(own + rows, score, mask=there)
        else:
            tl.store(least_of + rows, least, mask=there)


@triton.jit
def dot_products(
    points,
    theta,
    rows_of,
    places,
    size,
    out,
    n_clusters,
    STRIDE: tl.constexpr,
    COLUMNS: tl.constexpr,
    ROWS: tl.constexpr,
    CENTERS: tl.constexpr,
):
    """Write the exact ⟨t, θ⟩ of some points and all centres into rows ``places`` of ``out``."""
    block = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    there = block < size
    rows = tl.load(rows_of + block, mask=there, other=0)
    at = rows.to(tl.int64) * STRIDE
    k = tl.program_id(1) * CENTERS + tl.arange(0, CENTERS)
    used = k < n_clusters
    dot = tl.zeros([ROWS, CENTERS], tl.float64)
    for j in range(COLUMNS):
        t = tl.load(points + at + j, mask=there, other=0.0).to(tl.float64)
        slope = tl.load(theta + j * n_clusters + k, mask=used, other=0.0)
        dot += t[:, None] * slope[None, :]
    place = tl.load(places + block, mask=there, other=0).to(tl.int64)
    into = place[:, None] * n_clusters + k[None, :]
    tl.store(out + into, dot, mask=there[:, None] & used[None, :])


@triton.jit(do_not_specialize=["size", "n_clusters"])
def choose_linked(
    dots,
    phi,
    c,
    is_exact,
    indptr,
    neighbour,
    signed,
    rank,
    rows_of,
    before,
    earlier,
    now,
    then,
    after,
    costs,
    doubts,
    n_doubts,
    counts,
    last,
    size,
    n_clusters,
    CENTERS: tl.constexpr,
    ALL: tl.constexpr,
):
    """Let linked points choose, in view of the labels that their neighbours have in their turn.

    Where no choice of the round before differed, and none was in doubt, nothing changes; nor does
    the choice of a point whose view has not, unless ALL must choose.

    Long because arrays come one by one, each in a line of its own.

    Parameters
    ----------
    dots, phi, c : in, (m, K), (m,) and (K,) what divergences φ + c − ⟨t, θ⟩ are made of
    is_exact : in and out, (m,) 1 where those of a point are exact, 2 where they must be made so
    indptr, neighbour, signed : in, links of each point; weights are negative for may-not
    rank : in, (m,) turns
    rows_of : in, (m,) where the points are among all
    before, earlier, now : in, (m,) labels of before the sweep, before the last round and after it
    then, after : out, (m,) and (n,) what is chosen, −1 to open a cluster
    costs : in, (4,) ξ_may, ξ_not, λ, and what rounding can do to scores that are not exact
    doubts, n_doubts : out, points whose scores must be exact, and how many
    counts : in and out, (3,) how many choices differ from ``now``; how many open a cluster; how
        many are in doubt for the first time
    last : in, (3,) those of the round before
    """
    is_done = (tl.load(last) == 0) & (tl.load(last + 2) == 0)
    for i in range(tl.program_id(0), size, tl.num_programs(0)):
        begin, end = tl.load(indptr + i), tl.load(indptr + i + 1)
        mine = tl.load(rank + i)
        differs = tl.where(is_done, 0, 1)
        if not ALL:  # noqa: SIM102 (the compiler knows this one, and must not see the next)
            if differs != 0:
                differs = _sees_other(begin, end, mine, neighbour, rank, earlier, now)
        label = tl.load(now + i)
        if differs != 0:
            k = tl.arange(0, CENTERS)
            pull, votes = _pull(begin, end, mine, k, neighbour, signed, rank, before, now, costs)
            row = dots + tl.cast(i, tl.int64) * n_clusters
            least, winner, second = _least_two(k, row, phi + i, c, pull, n_clusters)
            penalty = tl.load(costs + 2)
            old, label = label, tl.where(least < penalty, winner, -1)
            tl.store(after + tl.load(rows_of + i), label)
            if label != old:
                tl.atomic_add(counts, 1, sem="relaxed")
            room = tl.load(costs + 3) + votes * 1e-15
            won = tl.minimum(second - least, tl.abs(penalty - least))
            if (won < room) & (tl.load(is_exact + i) == 0):
                tl.store(is_exact + i, 2)
                tl.atomic_add(counts + 2, 1, sem="relaxed")
                tl.store(doubts + tl.atomic_add(n_doubts, 1, sem="relaxed"), i)
        if label < 0:
            tl.atomic_add(counts + 1, 1, sem="relaxed")
        tl.store(then + i, label)


@triton.jit
def _sees_other(begin, end, mine, neighbour, rank, earlier, now):
    """Whether the last round has changed a label that a point sees in its turn."""
    differs = tl.full((), 0, tl.int32)
    for e in range(begin, end):
        other = tl.load(neighbour + e)
        changed = tl.load(earlier + other) != tl.load(now + other)
        differs += (changed & (tl.load(rank + other) < mine)).to(tl.int32)
    return differs


@triton.jit
def _pull(begin, end, mine, k, neighbour, signed, rank, before, now, costs):
    """Return what the links of a point take from its scores, and the sum of their weights."""
    may, may_not = tl.load(costs), tl.load(costs + 1)
    pull = (k * 0).to(tl.float64)
    votes = tl.full((), 0.0, tl.float64)
    for e in range(begin, end):
        other = tl.load(neighbour + e)
        weight = tl.load(signed + e)
        earlier = tl.load(rank + other) < mine
        label = tl.where(earlier, tl.load(now + other), tl.load(before + other))
        xi = tl.where(weight > 0.0, may, may_not)
        pull += tl.where(k == label, weight * xi, 0.0)
        votes += tl.abs(weight * xi)
    return pull, votes


@triton.jit
def _least_two(k, dots, phi, c, pull, n_clusters):
    """Return the least value, whose it is, and the second least."""
    used = k < n_clusters
    dot = tl.load(dots + k, mask=used, other=0.0)
    score = (tl.load(phi) + tl.load(c + k, mask=used, other=0.0)) - dot
    score = tl.where(score > 0.0, score, 0.0)
    value = tl.where(used, score - pull, float("inf"))
    least = tl.min(value, axis=0)
    winner = tl.min(tl.where(value == least, k, 2147483647), axis=0)
    return least, winner, tl.min(tl.where(k == winner, float("inf"), value), axis=0)
