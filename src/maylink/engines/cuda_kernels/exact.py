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
    n,
    n_clusters,
    penalty,
    STRIDE: tl.constexpr,
    COLUMNS: tl.constexpr,
    ROWS: tl.constexpr,
    CENTERS: tl.constexpr,
    NEW: tl.constexpr,
    LISTED: tl.constexpr,
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
    penalty : in, (1,) λ
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


@triton.jit
def choose_linked(
    dots,
    phi,
    c,
    is_exact,
    indptr,
    neighbour,
    signed,
    rank,
    before,
    now,
    then,
    costs,
    doubts,
    counts,
    last,
    n_clusters,
    CENTERS: tl.constexpr,
):
    """Let one linked point choose, in view of the labels that its neighbours have in its turn.

    Where no choice of the round before differed, and none was in doubt, nothing changes.

    Parameters
    ----------
    dots, phi, c : in, (m, K), (m,) and (K,) what divergences φ + c − ⟨t, θ⟩ are made of
    is_exact : in, (m,) whether those of a point are exact
    indptr, neighbour, signed : in, links of each point; weights are negative for may-not
    rank : in, (m,) turns
    before, now : in, (m,) labels of before the sweep, and of those who come earlier in it
    then : out, (m,) what is chosen, −1 to open a cluster
    costs : in, (4,) ξ_may, ξ_not, λ, and what rounding can do to scores that are not exact
    doubts : out, points whose scores must be exact
    counts : in and out, (3,) how many choices differ from ``now``; how many open a cluster; how
        many doubts there are
    last : in, (3,) those of the round before
    """
    i = tl.program_id(0)
    if (tl.load(last) == 0) & (tl.load(last + 2) == 0):
        tl.store(then + i, tl.load(now + i))
    else:
        _choose(
            i, dots, phi, c, is_exact, indptr, neighbour, signed, rank, before, now, then, costs,
            doubts, counts, n_clusters, CENTERS,
        )  # fmt: skip


@triton.jit
def _choose(
    i,
    dots,
    phi,
    c,
    is_exact,
    indptr,
    neighbour,
    signed,
    rank,
    before,
    now,
    then,
    costs,
    doubts,
    counts,
    n_clusters,
    CENTERS: tl.constexpr,
):
    """Let one linked point choose; parameters as in :func:`choose_linked`."""
    k = tl.arange(0, CENTERS)
    pull = tl.zeros([CENTERS], tl.float64)
    mine = tl.load(rank + i)
    may, may_not, penalty = tl.load(costs), tl.load(costs + 1), tl.load(costs + 2)
    votes = tl.full((), 0.0, tl.float64)
    for e in range(tl.load(indptr + i), tl.load(indptr + i + 1)):
        other = tl.load(neighbour + e)
        weight = tl.load(signed + e)
        earlier = tl.load(rank + other) < mine
        label = tl.where(earlier, tl.load(now + other), tl.load(before + other))
        xi = tl.where(weight > 0.0, may, may_not)
        pull += tl.where(k == label, weight * xi, 0.0)
        votes += tl.abs(weight * xi)
    used = k < n_clusters
    dot = tl.load(dots + i.to(tl.int64) * n_clusters + k, mask=used, other=0.0)
    score = (tl.load(phi + i) + tl.load(c + k, mask=used, other=0.0)) - dot
    score = tl.where(score > 0.0, score, 0.0)
    value = tl.where(used, score - pull, float("inf"))
    least = tl.min(value, axis=0)
    winner = tl.min(tl.where(value == least, k, 2147483647), axis=0)
    second = tl.min(tl.where(k == winner, float("inf"), value), axis=0)
    label = tl.where(least < penalty, winner, -1)
    tl.store(then + i, label)
    if label != tl.load(now + i):
        tl.atomic_add(counts, 1, sem="relaxed")
    if label < 0:
        tl.atomic_add(counts + 1, 1, sem="relaxed")
    room = tl.load(costs + 3) + votes * 1e-15
    won = tl.minimum(second - least, tl.abs(penalty - least))
    if (won < room) & (tl.load(is_exact + i) == 0):
        tl.store(doubts + tl.atomic_add(counts + 2, 1, sem="relaxed"), i)
