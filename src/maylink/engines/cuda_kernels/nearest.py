"""The nearest centre of points without links, by short products; what bounds settle."""

from __future__ import annotations

import triton
import triton.language as tl

FAR = tl.constexpr(-1e37)  # below every score
OPENER = tl.constexpr(-1)  # a label: all centres are λ away
DOUBT = tl.constexpr(-2)  # a label: rounding might decide


@triton.jit
def append(rows, chosen, rows_of, counter):
    """Write the chosen rows behind those that are in a list; what is made of it knows no order."""
    many = chosen.to(tl.int32)
    size = tl.sum(many, axis=0)
    if size > 0:
        start = tl.atomic_add(counter, size, sem="relaxed")
        tl.store(rows_of + start + tl.cumsum(many, axis=0) - 1, rows, mask=chosen)


@triton.jit(do_not_specialize=["n_clusters"])
def wear(
    gap,
    own,
    norm,
    linked,
    before,
    after,
    moves,
    slow,
    facts,
    rows_of,
    counts,
    n,
    n_clusters,
    RANKED: tl.constexpr,
    FAST: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Take from what choices were won by what the moves of centres can have cost; list the rest.

    Parameters
    ----------
    gap : in and out, (n,) by how much each choice was won; where FAST, −FAR with links, FAR without
        a label
    own : in and out, (n,) the score of the chosen centre, at the least, where RANKED
    norm, linked : in, (n,)
    before : out, (n,) a copy of ``after``
    after : in, (n,) labels
    moves : in, (3, K), of which ‖Δθ‖ and |Δc| of each centre are taken
    slow : in, (2,) the greatest of both among the centres that are not fast
    facts : in, :mod:`maylink.engines.cuda_kernels.centers`
    rows_of : out, the points that must choose again; not where FAST: the fast centres are still to
        be looked at
    counts : out, how many these are; where RANKED, how many they are by the moves of all centres,
        and how many without the fast ones
    """
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    there = rows < n
    label = tl.load(after + rows, mask=there, other=-1)
    known = there & (label >= 0)
    free = tl.load(linked + rows, mask=there, other=1) == 0
    length = tl.load(norm + rows, mask=there, other=0.0)
    cost = length * tl.load(moves + n_clusters + label, mask=known, other=0.0)
    cost += tl.load(moves + 2 * n_clusters + label, mask=known, other=0.0)
    most = length * tl.load(facts + 5).to(tl.float32) + tl.load(facts + 6).to(tl.float32)
    won = tl.load(gap + rows, mask=there, other=0.0)
    won -= tl.abs(won) * 2.4e-7
    left = won - (cost + most) * 1.00001
    open_to_all = free & ~(known & (left > 0.0))
    if RANKED:
        score = tl.load(own + rows, mask=there, other=0.0)
        tl.store(own + rows, score - tl.abs(score) * 2.4e-7 - cost * 1.00001, mask=there)
        by_slow = won - (cost + length * tl.load(slow) + tl.load(slow + 1)) * 1.00001
        open_to_slow = free & ~(known & (by_slow > 0.0))
        tl.atomic_add(counts + 1, tl.sum(open_to_all.to(tl.int32), axis=0), sem="relaxed")
        tl.atomic_add(counts + 2, tl.sum(open_to_slow.to(tl.int32), axis=0), sem="relaxed")
        if FAST:
            left = tl.where(free, tl.where(known, by_slow, FAR), -FAR)
    tl.store(gap + rows, left, mask=there)
    tl.store(before + rows, label, mask=there)
    if not FAST:
        append(rows, open_to_all, rows_of, counts)


@triton.jit
def list_open(gap, rows_of, counter, n, ROWS: tl.constexpr):
    """List the points whose choices are no longer won for sure."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    there = rows < n
    left = tl.load(gap + rows, mask=there, other=0.0)
    append(rows, there & ~(left > 0.0), rows_of, counter)


@triton.jit
def _loaded(begin, columns, there, scale, STRIDE: tl.constexpr, CAST: tl.constexpr):
    """Load some columns of a tile of points, made shorter where CAST."""
    t = tl.load(
        begin + columns[None, :], mask=there[:, None] & (columns < STRIDE)[None, :], other=0.0
    )
    if CAST:
        t = (t * scale).to(tl.float16)
    return t


@triton.jit
def nearest(
    points,
    theta,
    minus_c,
    phi,
    norm,
    linked,
    after,
    gap,
    own,
    rank,
    opened,
    rows_of,
    size_of,
    n,
    n_padded,
    facts,
    scale,
    STRIDE: tl.constexpr,
    SPAN: tl.constexpr,
    WIDE: tl.constexpr,
    REST: tl.constexpr,
    LOOPED: tl.constexpr,
    ROWS: tl.constexpr,
    CENTERS: tl.constexpr,
    MASK: tl.constexpr,
    LISTED: tl.constexpr,
    CAST: tl.constexpr,
    SURE: tl.constexpr,
    NEW: tl.constexpr,
    RANKED: tl.constexpr,
    GAUGED: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Give points without links the number of their nearest centre.

    Long because arrays come one by one, each in a line of its own.

    Parameters
    ----------
    points : in, (n, STRIDE)
    theta, minus_c : in, (n_padded, SPAN) and (n_padded,), filled up by centres far away, in units
        of scores
    phi, norm, linked : in, (n,) φ, ‖t‖, and whether a point has links; these keep their labels
    after : out, (n,) labels; OPENER and DOUBT are among them
    gap : out, (n,) by how much each choice is won, at the least, where GAUGED
    own : out, (n,) the score of the chosen centre, at the least, where GAUGED and RANKED
    rank, opened : in, as in :class:`maylink.kernels.nearest.SweepContext`
    rows_of, size_of : in, which points and how many, where LISTED
    facts : in, λ; slope, floor: a choice is sure that wins by slope · ‖t‖ + floor; unit of scores;
        blur: how much more than that a choice must win by against λ
    scale : in, by what points are multiplied before they are made shorter, where CAST
    WIDE, REST : how many columns are loaded together; all at once, or WIDE by WIDE where LOOPED
    MASK : the last digits of a score, which hold the number of its centre, or of a group of centres
        where LOOPED
    """
    size = n
    if LISTED:
        size = tl.load(size_of)
    wide = tl.arange(0, WIDE)
    column = tl.arange(0, CENTERS)
    for tile in range(tl.program_id(0), tl.cdiv(size, ROWS), tl.num_programs(0)):
        rows = tile * ROWS + tl.arange(0, ROWS)
        there = rows < size
        if LISTED:
            rows = tl.load(rows_of + rows, mask=there, other=0)
        at = rows.to(tl.int64)[:, None] * STRIDE
        if not LOOPED:
            t = _loaded(points + at, wide, there, scale, STRIDE, CAST)
            if REST > 0:
                rest = WIDE + tl.arange(0, REST)
                u = _loaded(points + at, rest, there, scale, STRIDE, CAST)
        if NEW:
            turn = tl.load(rank + rows, mask=there, other=0)
        best = tl.full([ROWS, CENTERS], FAR, tl.float32)
        second = tl.full([ROWS, CENTERS], FAR, tl.float32)
        for start in range(0, n_padded, CENTERS):
            k = start + column
            begin = theta + k[None, :] * SPAN
            g = tl.broadcast_to(tl.load(minus_c + k)[None, :], [ROWS, CENTERS])
            if LOOPED:
                for first in range(0, SPAN, WIDE):
                    t = _loaded(points + at, first + wide, there, scale, STRIDE, CAST)
                    slope_part = tl.load(begin + first + wide[:, None])
                    g = tl.dot(t, slope_part, g, input_precision=PRECISION)
            else:
                g = tl.dot(t, tl.load(begin + wide[:, None]), g, input_precision=PRECISION)
                if REST > 0:
                    g = tl.dot(u, tl.load(begin + rest[:, None]), g, input_precision=PRECISION)
            if NEW:
                g = tl.where(tl.load(opened + k)[None, :] < turn[:, None], g, FAR)
            number = start // CENTERS + 0 * k if LOOPED else k
            bits = (g.to(tl.int32, bitcast=True) & ~MASK) | number[None, :]
            g = bits.to(tl.float32, bitcast=True)
            best, second = _best_two(g, best, second, GAUGED)
        _settle(
            best, second, rows, there, phi, norm, linked, after, gap, own, facts, ROWS, CENTERS,
            MASK, LOOPED, SURE, NEW, RANKED, GAUGED,
        )  # fmt: skip


@triton.jit
def nearest_resident(
    points,
    theta,
    starts,
    phi,
    norm,
    linked,
    after,
    gap,
    own,
    rows_of,
    size_of,
    n,
    facts,
    scale,
    STRIDE: tl.constexpr,
    SPAN: tl.constexpr,
    ROWS: tl.constexpr,
    CENTERS: tl.constexpr,
    GROUPS: tl.constexpr,
    MASK: tl.constexpr,
    LISTED: tl.constexpr,
    CAST: tl.constexpr,
    SURE: tl.constexpr,
    RANKED: tl.constexpr,
    GAUGED: tl.constexpr,
    STAGES: tl.constexpr,
):
    """Do what :func:`nearest` does, while few centres stay where they are scored.

    Long because arrays come one by one, each in a line of its own.

    GROUPS is 1, 2 or 4: so many times CENTERS are there, in shared memory all the time. So are
    their −c, as columns ``starts`` (GROUPS · CENTERS, 16) that are multiplied by the parts of
    :data:`maylink.engines.cuda_centers.PARTS`: registers would be too few for them.
    """
    wide = tl.arange(0, SPAN)
    k = tl.arange(0, CENTERS)
    e = tl.arange(0, 16)
    group = CENTERS * SPAN
    at = theta + k[None, :] * SPAN + wide[:, None]
    begin = starts + k[None, :] * 16 + e[:, None]
    theta_0, c_0 = tl.load(at), tl.load(begin)
    if GROUPS > 1:
        theta_1, c_1 = tl.load(at + group), tl.load(begin + 16 * CENTERS)
    if GROUPS > 2:
        theta_2, c_2 = tl.load(at + 2 * group), tl.load(begin + 32 * CENTERS)
        theta_3, c_3 = tl.load(at + 3 * group), tl.load(begin + 48 * CENTERS)
    parts = _parts(e, ROWS, theta_0.dtype)
    size = n
    if LISTED:
        size = tl.load(size_of)
    n_tiles = tl.cdiv(size, ROWS)
    for tile in tl.range(tl.program_id(0), n_tiles, tl.num_programs(0), num_stages=STAGES):
        rows = tile * ROWS + tl.arange(0, ROWS)
        there = rows < size
        if LISTED:
            rows = tl.load(rows_of + rows, mask=there, other=0)
        row = points + rows.to(tl.int64)[:, None] * STRIDE
        t = _loaded(row, wide, there, scale, STRIDE, CAST)
        best = _numbered(t, parts, theta_0, c_0, k, MASK)
        second = tl.full([ROWS, CENTERS], FAR, tl.float32)
        if GROUPS > 1:
            g = _numbered(t, parts, theta_1, c_1, k + CENTERS, MASK)
            best, second = _best_two(g, best, second, GAUGED)
        if GROUPS > 2:
            g = _numbered(t, parts, theta_2, c_2, k + 2 * CENTERS, MASK)
            best, second = _best_two(g, best, second, GAUGED)
            g = _numbered(t, parts, theta_3, c_3, k + 3 * CENTERS, MASK)
            best, second = _best_two(g, best, second, GAUGED)
        _settle(
            best, second, rows, there, phi, norm, linked, after, gap, own, facts, ROWS, CENTERS,
            MASK, False, SURE, False, RANKED, GAUGED,
        )  # fmt: skip


@triton.jit
def glimpse(
    points,
    theta,
    starts,
    fast_of,
    norm,
    before,
    gap,
    own,
    n,
    facts,
    scale,
    STRIDE: tl.constexpr,
    SPAN: tl.constexpr,
    ROWS: tl.constexpr,
    CENTERS: tl.constexpr,
    CAST: tl.constexpr,
    SURE: tl.constexpr,
    STAGES: tl.constexpr,
):
    """See by how much choices are still won against a few fast centres.

    Where the chosen centre is one of them, its score is known again, and so is by how much it wins
    against all others: since ``own`` was at most the score, none of theirs is more than ``own``
    less ``gap``. Not where choices must be SURE: that is true but for rounding.

    Parameters
    ----------
    points, theta, starts : in, as in :func:`nearest_resident`
    fast_of : in, (CENTERS,) which centres these are
    norm, before : in, (n,)
    gap : in and out, (n,) by how much each choice is won; so far only against the other centres
    own : in and out, (n,) the score of the chosen centre, at the least
    """
    wide = tl.arange(0, SPAN)
    k = tl.arange(0, CENTERS)
    e = tl.arange(0, 16)
    slopes = tl.load(theta + k[None, :] * SPAN + wide[:, None])
    minus_c = tl.load(starts + k[None, :] * 16 + e[:, None])
    number = tl.load(fast_of + k)
    parts = _parts(e, ROWS, slopes.dtype)
    unit = tl.load(facts + 3).to(tl.float32)
    for tile in tl.range(tl.program_id(0), tl.cdiv(n, ROWS), tl.num_programs(0), num_stages=STAGES):
        rows = tile * ROWS + tl.arange(0, ROWS)
        there = rows < n
        row = points + rows.to(tl.int64)[:, None] * STRIDE
        t = _loaded(row, wide, there, scale, STRIDE, CAST)
        g = tl.dot(t, slopes, tl.dot(parts, minus_c))
        label = tl.load(before + rows, mask=there, other=-1)
        is_own = number[None, :] == label[:, None]
        best = tl.max(tl.where(is_own, FAR, g), axis=1)
        won = tl.load(gap + rows, mask=there, other=0.0)
        score = tl.load(own + rows, mask=there, other=0.0)
        room = 0.0
        if SURE:
            slope, floor = tl.load(facts + 1).to(tl.float32), tl.load(facts + 2).to(tl.float32)
            room = 1.5 * (slope * tl.load(norm + rows, mask=there, other=0.0) + floor)
        else:
            found = tl.max(tl.where(is_own, g, FAR), axis=1) * unit
            found -= tl.abs(found) * 2.4e-7
            better = found > score
            tl.store(own + rows, found, mask=there & better)
            raised = won + (found - score)
            won = tl.where(better & (won < 1e36), raised - tl.abs(raised) * 2.4e-7, won)
            score = tl.where(better, found, score)
        left = score - best * unit - room
        left = tl.minimum(left - tl.abs(left) * 2.4e-7, won)
        tl.store(gap + rows, tl.where(won < 1e36, left, won), mask=there)


@triton.jit
def _parts(e, ROWS: tl.constexpr, form: tl.constexpr):
    """Return what columns of −c are multiplied by; :data:`maylink.engines.cuda_centers.PARTS`."""
    part = tl.where(e == 1, 0.125, tl.where(e == 2, 0.00006103515625, 256.0))
    return tl.broadcast_to(part[None, :], [ROWS, 16]).to(form)


@triton.jit
def _numbered(t, parts, theta, start, k, MASK: tl.constexpr):
    """Score points against centres; the last digits of a score hold the number of the centre."""
    g = tl.dot(t, theta, tl.dot(parts, start))
    bits = (g.to(tl.int32, bitcast=True) & ~MASK) | k[None, :]
    return bits.to(tl.float32, bitcast=True)


@triton.jit
def _best_two(g, best, second, GAUGED: tl.constexpr):
    """Return the greatest and, where GAUGED, the second greatest of scores so far and some more."""
    if GAUGED:
        second = tl.maximum(second, tl.minimum(g, best))
    return tl.maximum(g, best), second


@triton.jit
def _settle(
    best,
    second,
    rows,
    there,
    phi,
    norm,
    linked,
    after,
    gap,
    own,
    facts,
    ROWS: tl.constexpr,
    CENTERS: tl.constexpr,
    MASK: tl.constexpr,
    GROUPED: tl.constexpr,
    SURE: tl.constexpr,
    NEW: tl.constexpr,
    RANKED: tl.constexpr,
    GAUGED: tl.constexpr,
):
    """Choose by the best scores of a tile of points; write labels, and gaps where GAUGED.

    The last digits of a score hold the number of its centre, or of a group of centres. Choices that
    must be sure are always gauged.
    """
    penalty, unit = tl.load(facts).to(tl.float32), tl.load(facts + 3).to(tl.float32)
    top = tl.max(best, axis=1)
    winner = top.to(tl.int32, bitcast=True) & MASK
    if GROUPED:
        column = tl.broadcast_to(tl.arange(0, CENTERS)[None, :], [ROWS, CENTERS])
        first = tl.min(tl.where(best == top[:, None], column, CENTERS), axis=1)
        winner = winner * CENTERS + first
    away = tl.load(phi + rows, mask=there, other=0.0) - top * unit - penalty
    label = tl.where(away < 0.0, winner, OPENER)
    free = tl.load(linked + rows, mask=there, other=1) == 0
    if GAUGED:
        if GROUPED:
            runner = tl.max(tl.where(column == first[:, None], second, best), axis=1)
        else:
            runner = tl.max(tl.where(best == top[:, None], second, best), axis=1)
        won, score = (top - runner) * unit, top * unit
    if SURE:
        slope, floor = tl.load(facts + 1).to(tl.float32), tl.load(facts + 2).to(tl.float32)
        blur = tl.load(facts + 4).to(tl.float32)
        room = slope * tl.load(norm + rows, mask=there, other=0.0) + floor
        near, far = -away > room + blur, away > room + blur
        label = tl.where(far | (near & (won > room)), label, DOUBT)
        won = tl.minimum(won - 1.5 * room, -away - 1.5 * (room + blur))
        score -= 1.5 * room
    elif GAUGED:
        won = tl.minimum(won, -away)
    if GAUGED:
        if NEW:
            won = tl.full([ROWS], FAR, tl.float32)  # other centres are open in the next sweep
        tl.store(gap + rows, won, mask=free)
        if RANKED:
            tl.store(own + rows, score, mask=free)
    tl.store(after + rows, label, mask=free)


@triton.jit
def collect(
    before,
    after,
    linked,
    doubts,
    movers,
    openers,
    counts,
    doubt_counter,
    rows_of,
    size_of,
    n,
    DOUBTS: tl.constexpr,
    LISTED: tl.constexpr,
    ROWS: tl.constexpr,
):
    """List the points in doubt; or those whose labels have changed, and among them the openers.

    ``counts`` holds the sizes of the lists: movers at 1, openers at 2, doubts where told. Where
    LISTED, only the first ``size_of`` points of ``rows_of`` are asked.
    """
    size = n
    if LISTED:
        size = tl.load(size_of)
    for block in range(tl.program_id(0), tl.cdiv(size, ROWS), tl.num_programs(0)):
        rows = block * ROWS + tl.arange(0, ROWS)
        there = rows < size
        if LISTED:
            rows = tl.load(rows_of + rows, mask=there, other=0)
        label = tl.load(after + rows, mask=there, other=0)
        if DOUBTS:
            append(rows, there & (label == DOUBT), doubts, counts + doubt_counter)
        else:
            opens = there & (label == OPENER) & (tl.load(linked + rows, mask=there, other=1) == 0)
            old = tl.load(before + rows, mask=there, other=0)
            append(rows, opens | (there & (label != old)), movers, counts + 1)
            append(rows, opens, openers, counts + 2)
