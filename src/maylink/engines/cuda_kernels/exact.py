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
