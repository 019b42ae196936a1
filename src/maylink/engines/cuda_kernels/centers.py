"""Centres in the forms in which the other kernels take them, and how far each has moved."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def prepare(
    values,
    known,
    slopes,
    long_slopes,
    starts,
    minus_c,
    exact,
    moves,
    n_clusters,
    n_padded,
    theta_scale,
    scale,
    COLUMNS: tl.constexpr,
    SPAN: tl.constexpr,
    WIDE: tl.constexpr,
    LONG: tl.constexpr,
    KNOWN: tl.constexpr,
):
    """Write one centre in all forms.

    Parameters
    ----------
    values, known : in, (K, COLUMNS + 1) θ and c, now and at the last look, in double precision
    slopes, long_slopes : out, (n_padded, SPAN) θ times ``theta_scale``, zeros behind
    starts : out, (n_padded, 16) −c in parts; see :data:`maylink.engines.cuda_centers.PARTS`
    minus_c : out, (2, n_padded) −c times both scales, and times ``theta_scale``
    exact : out, (COLUMNS, K)
    moves : out, (2, K) ‖Δθ‖ and |Δc|, rounded up
    WIDE : a power of two of at least SPAN
    """
    k = tl.program_id(0)
    j = tl.arange(0, WIDE)
    inside = j < SPAN
    real = k < n_clusters
    at = tl.minimum(k, n_clusters - 1).to(tl.int64) * (COLUMNS + 1)
    there = (j < COLUMNS) & (k + 0 * j < n_clusters)
    theta = tl.load(values + at + j, mask=there, other=0.0)
    c = tl.load(values + at + COLUMNS)
    scaled = theta * theta_scale
    tl.store(slopes + k * SPAN + j, scaled.to(slopes.dtype.element_ty), mask=inside)
    if LONG:
        tl.store(long_slopes + k * SPAN + j, scaled.to(tl.float32), mask=inside)
    tl.store(exact + j * n_clusters + k, theta, mask=there)
    short = tl.where(real, -c * theta_scale, -1e37)
    tl.store(minus_c + n_padded + k, short.to(tl.float32))
    tl.store(minus_c + k, tl.where(real, short * scale, -1e37).to(tl.float32))
    e = tl.arange(0, 16)
    rest = -c * theta_scale * scale
    first = (rest / 256.0).to(starts.dtype.element_ty)
    rest -= first.to(tl.float64) * 256.0
    second = (rest / 0.125).to(starts.dtype.element_ty)
    rest -= second.to(tl.float64) * 0.125
    third = (rest / 0.00006103515625).to(starts.dtype.element_ty)
    parts = tl.where(e == 0, first, tl.where(e == 1, second, third))
    filled = tl.where(real, 0.0, tl.full([16], -65504.0, tl.float32)).to(parts.dtype)
    tl.store(starts + k * 16 + e, tl.where(e < 3, parts, filled))
    if KNOWN and real:
        before = tl.load(known + at + j, mask=there, other=0.0)
        drift = tl.sqrt(tl.sum((theta - before) * (theta - before), axis=0)) * 1.00001
        shift = tl.abs(c - tl.load(known + at + COLUMNS)) * 1.00001
        tl.store(moves + k, drift.to(tl.float32))
        tl.store(moves + n_clusters + k, shift.to(tl.float32))
