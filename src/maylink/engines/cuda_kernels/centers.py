"""Centres in the forms in which the other kernels take them, and what rounding does to scores.

Numbers that all programs of a sweep need lie in ``facts``: λ, slope, floor, unit and blur of short
products from 0 on and of long ones from 8 on (:func:`maylink.engines.cuda_kernels.nearest.nearest`
says what they are), the greatest moves at 5 and 6, the factor of θ at 7, and at 16 what
:func:`maylink.engines.cuda_kernels.linked.choose_linked` takes as costs.
"""

from __future__ import annotations

import triton
import triton.language as tl

UNIT = tl.constexpr(2.0**-23)  # of rounding on tensor cores, which cut digits off
SHORT = tl.constexpr(1.01 * 2.0**-10)  # a product of short numbers is off by this share
LONG = tl.constexpr(3.0 * 2.0**-20)  # three products of short numbers together by this one
SMALLEST = tl.constexpr(2.0**-24)  # of short numbers
RAISED = tl.constexpr(1.00001)  # so that what is stored in single precision is no less


@triton.jit(do_not_specialize=["n_clusters"])
def locate(
    sums,
    sizes,
    given,
    means,
    looked,
    looked_c,
    exact,
    c,
    moves,
    n_clusters,
    COLUMNS: tl.constexpr,
    WIDE: tl.constexpr,
    LEVELS: tl.constexpr,
    SUMMED: tl.constexpr,
    KNOWN: tl.constexpr,
):
    """Write θ and c of one centre, and how far it has moved.

    Parameters
    ----------
    sums, sizes : in, (2, K, COLUMNS + 1) and (K,) the sums of clusters, where SUMMED: the centre is
        their mean m, θ is 2 m and c is ‖m‖², added up by halves as on the CPU
    given : in, (K, COLUMNS + 1) θ and c otherwise
    means : out, (K, COLUMNS) where SUMMED
    looked, looked_c : in, (COLUMNS, K) and (K,) θ and c of the last look, where KNOWN
    exact, c : out, θ and c of the next one
    moves : out, (3, K) ‖θ‖; and where KNOWN ‖Δθ‖ and |Δc|; all rounded up
    WIDE, LEVELS : a power of two of at least COLUMNS, and which
    """
    k = tl.program_id(0)
    j = tl.arange(0, WIDE)
    there = j < COLUMNS
    at = k.to(tl.int64) * (COLUMNS + 1)
    if SUMMED:
        behind = n_clusters.to(tl.int64) * (COLUMNS + 1)
        total = tl.load(sums + at + j, mask=there, other=0.0)
        total += tl.load(sums + behind + at + j, mask=there, other=0.0)
        m = total / tl.load(sizes + k)
        tl.store(means + k.to(tl.int64) * COLUMNS + j, m, mask=there)
        theta = 2.0 * m
        half = m * m
        for _ in tl.static_range(LEVELS):
            half = tl.sum(tl.reshape(half, [2, half.shape[0] // 2]), axis=0)
        start = tl.sum(half, axis=0)
    else:
        theta = tl.load(given + at + j, mask=there, other=0.0)
        start = tl.load(given + at + COLUMNS)
    tl.store(exact + j * n_clusters + k, theta, mask=there)
    tl.store(c + k, start)
    tl.store(moves + k, (tl.sqrt(tl.sum(theta * theta, axis=0)) * RAISED).to(tl.float32))
    if KNOWN:
        step = theta - tl.load(looked + j * n_clusters + k, mask=there, other=0.0)
        shift = tl.abs(start - tl.load(looked_c + k))
        tl.store(moves + n_clusters + k, (tl.sqrt(tl.sum(step * step)) * RAISED).to(tl.float32))
        tl.store(moves + 2 * n_clusters + k, (shift * RAISED).to(tl.float32))


@triton.jit(do_not_specialize=["n_clusters"])
def judge(
    given,
    points,
    c,
    moves,
    slow,
    facts,
    counts,
    n_clusters,
    digits,
    long_digits,
    BLOCK: tl.constexpr,
    AGAIN: tl.constexpr,
):
    """Write ``facts``, and counts for a new sweep; one program does.

    Margins are worst cases: products are off by a share, each addition on tensor cores cuts off a
    digit, the last digits hold the number of a centre, and short numbers have a smallest one. The
    factor of θ is a power of two: θ stays below 2^8, −c below 2^23 and every score below 2^26, so
    that sums are exact enough and centres that only fill up, at −2^27 or less, are never nearest.

    Parameters
    ----------
    given : in, (3,) ξ_may, ξ_not and λ
    points : in, (4,) how many columns, the greatest ‖t‖ and |φ|, and the factor of short points
    c, moves : in, as :func:`locate` leaves them
    slow : out, (2,) zeros
    facts : out
    counts : out, (32,) zeros; from 8 on there are four for each round of linked points, and that
        before the first round counts as one that changed something
    digits, long_digits : in, numbers of centres that the last digits of scores tell apart
    AGAIN : whether centres are those of the last look: only ξ_may and ξ_not may differ then
    """
    e = tl.arange(0, 32)
    tl.store(counts + e, tl.where(e == 8, 1, 0))
    tl.store(slow, 0.0)
    tl.store(slow + 1, 0.0)
    tl.store(facts + 16, tl.load(given))
    tl.store(facts + 17, tl.load(given + 1))
    if not AGAIN:
        _weigh(given, points, c, moves, facts, n_clusters, digits, long_digits, BLOCK)


@triton.jit
def _weigh(given, points, c, moves, facts, n_clusters, digits, long_digits, BLOCK: tl.constexpr):
    """Write all facts but ξ_may and ξ_not; parameters as in :func:`judge`."""
    k = tl.arange(0, BLOCK)
    most = tl.zeros([BLOCK], tl.float64)
    far, drift, shift = most, most, most
    for start in range(0, n_clusters, BLOCK):
        used = start + k < n_clusters
        at = moves + start + k
        most = tl.maximum(most, tl.load(at, mask=used, other=0.0).to(tl.float64))
        far = tl.maximum(far, tl.abs(tl.load(c + start + k, mask=used, other=0.0)))
        at += n_clusters
        drift = tl.maximum(drift, tl.load(at, mask=used, other=0.0).to(tl.float64))
        at += n_clusters
        shift = tl.maximum(shift, tl.load(at, mask=used, other=0.0).to(tl.float64))
    steepest, farthest = tl.max(most, axis=0), tl.max(far, axis=0)
    columns, longest = tl.load(points), tl.load(points + 1)
    largest, scale = tl.load(points + 2), tl.load(points + 3)
    reach = longest * steepest + farthest
    power = tl.minimum(8 - _exponent(steepest), 26 - _exponent(scale * reach))
    power = tl.minimum(power, 23 - _exponent(scale * farthest))
    power = tl.minimum(tl.maximum(power, -100), 100)
    theta_scale = ((power + 1023) << 52).to(tl.float64, bitcast=True)
    penalty = tl.load(given + 2)
    added = (3.0 * columns + 48.0 + 2.0 * digits) * UNIT
    slope = 2.0 * (SHORT + added) * steepest
    floor = 2.0 * added * farthest + 8.0 * UNIT * largest
    floor += SMALLEST * tl.sqrt(columns) * (steepest / scale + longest / theta_scale)
    blur = tl.where(penalty < float("inf"), 8.0 * UNIT * penalty, 0.0)
    _tell(facts, penalty, slope, floor, 1.0 / (scale * theta_scale), blur)
    added = (3.0 * columns + 48.0 + 2.0 * long_digits) * UNIT
    slope = 2.0 * (LONG + added) * steepest
    floor = 2.0 * added * farthest + 8.0 * UNIT * largest
    _tell(facts + 8, penalty, slope, floor, 1.0 / theta_scale, blur)
    tl.store(facts + 5, tl.max(drift, axis=0))
    tl.store(facts + 6, tl.max(shift, axis=0))
    tl.store(facts + 7, theta_scale)
    room = (columns + 8.0) * 8.881784197001252e-16 * (largest + reach)  # 2^-50
    tl.store(facts + 18, penalty)
    tl.store(facts + 19, room)


@triton.jit
def _exponent(value):
    """Return the least e with value < 2^e."""
    return ((value.to(tl.int64, bitcast=True) >> 52) & 2047) - 1022


@triton.jit
def _tell(into, first, second, third, fourth, fifth):
    """Write five numbers."""
    tl.store(into, first)
    tl.store(into + 1, second)
    tl.store(into + 2, third)
    tl.store(into + 3, fourth)
    tl.store(into + 4, fifth)


@triton.jit(do_not_specialize=["n_clusters", "n_padded"])
def prepare(
    exact,
    c,
    facts,
    looked,
    looked_c,
    slopes,
    long_slopes,
    starts,
    minus_c,
    points,
    moves,
    fast_of,
    fast_slopes,
    fast_starts,
    slow,
    n_clusters,
    n_padded,
    scale,
    COLUMNS: tl.constexpr,
    SPAN: tl.constexpr,
    WIDE: tl.constexpr,
    IS_SURE: tl.constexpr,
    FAST: tl.constexpr,
):
    """Write one centre in short and in single precision, times the factor of θ.

    Long because arrays come one by one, each in a line of its own.

    Parameters
    ----------
    exact, c, facts : in, as :func:`locate` and :func:`judge` leave them
    looked, looked_c : out, copies of θ and c
    slopes, long_slopes : out, (n_padded, SPAN) θ, zeros behind; the second where IS_SURE
    starts : out, (n_padded, 16) −c in parts; see :data:`maylink.engines.cuda_centers.PARTS`
    minus_c : out, (2, n_padded) −c, also times the factor of points, and without that
    points, moves : in, as in :func:`judge`
    fast_of, fast_slopes, fast_starts : out, the FAST centres that have moved furthest, in the same
        forms; there are more than FAST, or FAST is 0
    slow : out, (2,) the greatest moves of the others
    scale : in, the factor of points
    WIDE : a power of two of at least SPAN
    """
    k = tl.program_id(0)
    j = tl.arange(0, WIDE)
    inside = j < SPAN
    real = k < n_clusters
    at = tl.minimum(k, n_clusters - 1)
    there = (j < COLUMNS) & (k + 0 * j < n_clusters)
    theta_scale = tl.load(facts + 7)
    theta = tl.load(exact + j * n_clusters + at, mask=there, other=0.0)
    start = tl.load(c + at)
    tl.store(looked + j * n_clusters + at, theta, mask=there)
    tl.store(looked_c + at, start, mask=real)
    scaled = theta * theta_scale
    tl.store(slopes + k * SPAN + j, scaled.to(slopes.dtype.element_ty), mask=inside)
    if IS_SURE:
        tl.store(long_slopes + k * SPAN + j, scaled.to(tl.float32), mask=inside)
    short = -start * theta_scale
    rest = short * scale
    tl.store(minus_c + n_padded + k, tl.where(real, short, -1e37).to(tl.float32))
    tl.store(minus_c + k, tl.where(real, rest, -1e37).to(tl.float32))
    e = tl.arange(0, 16)
    first = (rest / 256.0).to(starts.dtype.element_ty)
    rest -= first.to(tl.float64) * 256.0
    second = (rest / 0.125).to(starts.dtype.element_ty)
    rest -= second.to(tl.float64) * 0.125
    third = (rest / 0.00006103515625).to(starts.dtype.element_ty)
    parts = tl.where(e == 0, first, tl.where(e == 1, second, third))
    filled = tl.where(real, 0.0, tl.full([16], -65504.0, tl.float32)).to(parts.dtype)
    tl.store(starts + k * 16 + e, tl.where(e < 3, parts, filled))
    if FAST > 0 and real:
        drift, shift = tl.load(moves + n_clusters + k), tl.load(moves + 2 * n_clusters + k)
        longest = tl.load(points + 1).to(tl.float32)
        number = _number_faster(k, drift * longest + shift, longest, moves, n_clusters)
        if number < FAST:
            tl.store(fast_of + number, k)
            short_form = scaled.to(slopes.dtype.element_ty)
            tl.store(fast_slopes + number * SPAN + j, short_form, mask=inside)
            tl.store(fast_starts + number * 16 + e, tl.where(e < 3, parts, filled))
        else:
            tl.atomic_max(slow, drift, sem="relaxed")
            tl.atomic_max(slow + 1, shift, sem="relaxed")


@triton.jit
def _number_faster(k, cost, longest, moves, n_clusters):
    """Return how many centres have moved further than centre k, or as far and come earlier."""
    block = tl.arange(0, 1024)
    number = tl.full((), 0, tl.int32)
    for start in range(0, n_clusters, 1024):
        other = start + block
        used = other < n_clusters
        theirs = tl.load(moves + n_clusters + other, mask=used, other=0.0) * longest
        theirs += tl.load(moves + 2 * n_clusters + other, mask=used, other=0.0)
        ahead = used & ((theirs > cost) | ((theirs == cost) & (other < k)))
        number += tl.sum(ahead.to(tl.int32), axis=0)
    return number
