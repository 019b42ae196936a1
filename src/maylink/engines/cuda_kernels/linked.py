"""Linked points: their scores by short products, and rounds in which they choose."""

from __future__ import annotations

import triton
import triton.language as tl

from maylink.engines.cuda_kernels.nearest import append


@triton.jit(do_not_specialize=["size", "n_clusters"])
def short_products(
    points,
    theta,
    facts,
    out,
    size,
    n_clusters,
    SPAN: tl.constexpr,
    WIDE: tl.constexpr,
    ROWS: tl.constexpr,
    CENTERS: tl.constexpr,
):
    """Write ⟨t, θ⟩ of all linked points and all centres, from products of short numbers.

    Parameters
    ----------
    points : in, (size, SPAN) short numbers
    theta, facts : in, as in :func:`maylink.engines.cuda_kernels.nearest.nearest`
    out : out, (size, K)
    WIDE : how many columns are multiplied together; SPAN is a multiple of it
    """
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    k = tl.program_id(1) * CENTERS + tl.arange(0, CENTERS)
    wide = tl.arange(0, WIDE)
    there, used = rows < size, k < n_clusters
    at = rows.to(tl.int64)
    dot = tl.zeros([ROWS, CENTERS], tl.float32)
    for first in range(0, SPAN, WIDE):
        j = first + wide
        t = tl.load(points + at[:, None] * SPAN + j[None, :], mask=there[:, None], other=0.0)
        slopes = tl.load(theta + k[None, :] * SPAN + j[:, None], mask=used[None, :], other=0.0)
        dot = tl.dot(t, slopes, dot)
    into = out + at[:, None] * n_clusters + k[None, :]
    dot = dot * tl.load(facts + 3).to(tl.float32)
    tl.store(into, dot, mask=there[:, None] & used[None, :])


@triton.jit(do_not_specialize=["size"])
def take_labels(labels, rows_of, out, size, ROWS: tl.constexpr):
    """Write the labels of linked points, (size,), out of those of all points."""
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    there = i < size
    rows = tl.load(rows_of + i, mask=there, other=0)
    tl.store(out + i, tl.load(labels + rows, mask=there, other=0), mask=there)


@triton.jit(do_not_specialize=["size"])
def look_around(
    indptr,
    neighbour,
    rank,
    earlier,
    now,
    then,
    asked,
    counts,
    last,
    size,
    ROWS: tl.constexpr,
):
    """Begin a round: list the points who see other labels than in the round before.

    The others choose as they did. Nobody is listed where no choice of the round before differed,
    and none was in doubt.

    Parameters
    ----------
    indptr, neighbour : in, links of each point
    rank : in, (m,) turns
    earlier, now : in, (m,) labels before the last round and after it
    then : out, (m,) a copy of ``now``
    asked : out, which points choose again
    counts : in and out, (4,) of which the second grows by the labels −1, and the last says how many
        points are asked
    last : in, (4,) those of the round before
    """
    is_open = (tl.load(last) != 0) | (tl.load(last + 2) != 0)
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    there = i < size
    label = tl.load(now + i, mask=there, other=0)
    tl.store(then + i, label, mask=there)
    n_opening = tl.sum((there & (label < 0)).to(tl.int32), axis=0)
    if n_opening > 0:
        tl.atomic_add(counts + 1, n_opening, sem="relaxed")
    if is_open:
        begin = tl.load(indptr + i, mask=there, other=0)
        end = tl.load(indptr + i + 1, mask=there, other=0)
        mine = tl.load(rank + i, mask=there, other=0)
        differs = there & (mine < 0)
        for step in range(tl.max(end - begin, axis=0).to(tl.int32)):
            used = begin + step < end
            other = tl.load(neighbour + begin + step, mask=used, other=0)
            old = tl.load(earlier + other, mask=used, other=0)
            new = tl.load(now + other, mask=used, other=0)
            turn = tl.load(rank + other, mask=used, other=0)
            differs = differs | (used & (old != new) & (turn < mine))
        append(i, differs, asked, counts + 3)


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
    now,
    then,
    after,
    costs,
    asked,
    doubts,
    n_doubts,
    counts,
    size,
    n_clusters,
    ROWS: tl.constexpr,
    CENTERS: tl.constexpr,
    ALL: tl.constexpr,
    SURE: tl.constexpr,
):
    """Let linked points choose, in view of the labels that their neighbours have in their turn.

    Long because arrays come one by one, each in a line of its own.

    Parameters
    ----------
    dots, phi, c : in, (m, K), (m,) and (K,) what divergences φ + c − ⟨t, θ⟩ are made of
    is_exact : in and out, (m,) 1 where those of a point are exact, 2 where they must be made so
    indptr, neighbour, signed : in, links of each point; weights are negative for may-not
    rank : in, (m,) turns
    rows_of : in, (m,) where the points are among all
    before, now : in, (m,) labels of before the sweep, and after the last round
    then, after : out, (m,) and (n,) what is chosen, −1 to open a cluster
    costs : in, (4,) ξ_may, ξ_not, λ, and what rounding can do to scores that are not exact
    asked : in, which points choose, unless ALL do; how many is the fourth of ``counts``
    doubts, n_doubts : out, points whose scores must be exact, and how many, where SURE
    counts : in and out, (4,) how many choices differ from ``now``; how many open a cluster; how
        many are in doubt for the first time
    ROWS, CENTERS : how many points are asked together, and about how many centres at a time
    """
    n_asked = size
    if not ALL:
        n_asked = tl.load(counts + 3)
    form = dots.dtype.element_ty
    penalty = tl.load(costs + 2).to(form)
    for tile in range(tl.program_id(0), tl.cdiv(n_asked, ROWS), tl.num_programs(0)):
        i = tile * ROWS + tl.arange(0, ROWS)
        there = i < n_asked
        if not ALL:
            i = tl.load(asked + i, mask=there, other=0)
        begin = tl.load(indptr + i, mask=there, other=0)
        end = tl.load(indptr + i + 1, mask=there, other=0)
        mine = tl.load(rank + i, mask=there, other=0)
        old = tl.load(now + i, mask=there, other=0)
        into = tl.load(rows_of + i, mask=there, other=0)
        base = tl.load(phi + i, mask=there, other=0.0).to(form)
        longest = tl.max(end - begin, axis=0).to(tl.int32)
        first_seen, first_force = _link(
            begin, end, mine, neighbour, signed, rank, before, now, costs
        )  # fmt: skip
        least = tl.full([ROWS], float("inf"), form)
        second = tl.full([ROWS], float("inf"), form)
        winner = tl.full([ROWS], -1, tl.int32)
        for start in range(0, n_clusters, CENTERS):
            k = start + tl.arange(0, CENTERS)
            used = k < n_clusters
            row = dots + i.to(tl.int64)[:, None] * n_clusters + k[None, :]
            dot = tl.load(row, mask=there[:, None] & used[None, :], other=0.0)
            score = (base[:, None] + tl.load(c + k, mask=used, other=0.0).to(form)[None, :]) - dot
            score = tl.where(score > 0.0, score, 0.0)
            pull = tl.where(k[None, :] == first_seen[:, None], first_force.to(form)[:, None], 0.0)
            for step in range(1, longest):
                seen, force = _link(
                    begin + step, end, mine, neighbour, signed, rank, before, now, costs
                )  # fmt: skip
                pull += tl.where(k[None, :] == seen[:, None], force.to(form)[:, None], 0.0)
            value = tl.where(used[None, :], score - pull, float("inf"))
            here = tl.min(value, axis=1)
            first = tl.min(tl.where(value == here[:, None], k[None, :], 2147483647), axis=1)
            if SURE:
                others = tl.min(tl.where(k[None, :] == first[:, None], float("inf"), value), axis=1)
                second = tl.minimum(tl.minimum(second, others), tl.maximum(here, least))
            winner = tl.where(here < least, first, winner)
            least = tl.minimum(here, least)
        label = tl.where(least < penalty, winner, -1)
        tl.store(after + into, label, mask=there)
        tl.store(then + i, label, mask=there)
        n_other = tl.sum((there & (label != old)).to(tl.int32), axis=0)
        if n_other > 0:
            tl.atomic_add(counts, n_other, sem="relaxed")
        opening = (there & (label < 0)).to(tl.int32)
        if not ALL:
            opening -= (there & (old < 0)).to(tl.int32)  # they are counted already
        n_opening = tl.sum(opening, axis=0)
        if n_opening != 0:
            tl.atomic_add(counts + 1, n_opening, sem="relaxed")
        if SURE:
            votes = tl.abs(first_force)
            for step in range(1, longest):
                _, force = _link(
                    begin + step, end, mine, neighbour, signed, rank, before, now, costs
                )  # fmt: skip
                votes += tl.abs(force)
            room = tl.load(costs + 3) + votes * 1e-15
            won = tl.minimum(second - least, tl.abs(penalty - least))
            known = tl.load(is_exact + i, mask=there, other=1)
            unsure = there & (won < room) & (known == 0)
            tl.store(is_exact + i, tl.full([ROWS], 2, tl.uint8), mask=unsure)
            n_unsure = tl.sum(unsure.to(tl.int32), axis=0)
            if n_unsure > 0:
                tl.atomic_add(counts + 2, n_unsure, sem="relaxed")
            append(i, unsure, doubts, n_doubts)


@triton.jit
def _link(place, end, mine, neighbour, signed, rank, before, now, costs):
    """Return which label a link lets each point see, and what it takes from the score of that."""
    used = place < end
    other = tl.load(neighbour + place, mask=used, other=0)
    weight = tl.load(signed + place, mask=used, other=0.0)
    is_earlier = tl.load(rank + other, mask=used, other=0) < mine
    new = tl.load(now + other, mask=used, other=0)
    old = tl.load(before + other, mask=used, other=0)
    xi = tl.where(weight > 0.0, tl.load(costs), tl.load(costs + 1))
    seen = tl.where(used, tl.where(is_earlier, new, old), -1)
    return seen, tl.where(used, weight * xi, 0.0)
