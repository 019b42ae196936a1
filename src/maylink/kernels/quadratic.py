"""Distances of points from Gaussian clusters with full covariances, many clusters at a time.

``(x − m)ᵀ Ψ⁻¹ (x − m)`` is the square of ``W x − W m``, with W the inverse of the Cholesky factor.
The clusters lie along the last axis, so that one instruction works on several of them, and no row
of W waits for another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from scipy.linalg.lapack import dtrtrs

from maylink.kernels.compile import compiled, instructions
from maylink.kernels.tile import opened
from maylink.kernels.vector import number

ROUND = 32  # clusters worked on together; there is room for a multiple of so many


@instructions
def quadratic(typing, x, low, rows, at, d, top, reach, b):
    """Write (x − m)ᵀ Ψ⁻¹ (x − m) of all clusters, the square of W x − W m with W = L⁻¹.

    Parameters
    ----------
    x, low : in, the point and its first column
    rows, at : in, from row ``at`` on: W m, then the d² entries of W
    d, top : in, columns; clusters
    reach, b : out, row b of (blocks, room)
    """

    def write(context, builder, signature, values):
        v, (point, board, result), shape = opened(context, builder, signature, values)
        begin, first, size, last, row = (values[a] for a in (1, 3, 4, 5, 7))
        room = shape(1, 1)
        point = v.at(point, begin)
        most = ROUND // v.lanes
        rest, total = [v.variable() for _ in range(most)], [v.variable() for _ in range(most)]

        def entry(which, k, q):
            return v.plus(v.plus(v.times(which, room), k), q * v.lanes)

        def group(k, n):
            """Work on n vectors of clusters from k on."""
            for q in range(n):
                builder.store(v.constant(0.0), total[q])
            with v.loop(size) as r:
                for q in range(n):
                    builder.store(v.load(board, entry(v.plus(first, r), k, q)), rest[q])
                lower = v.plus(v.plus(first, size), v.times(r, size))
                with v.loop(v.plus(r, 1)) as c:
                    here = v.splat(v.scalar(point, c))
                    for q in range(n):
                        factor = v.load(board, entry(v.plus(lower, c), k, q))
                        old = builder.load(rest[q])
                        builder.store(v.fused_subtract(old, factor, here), rest[q])
                for q in range(n):
                    y = builder.load(rest[q])
                    builder.store(v.fused_add(builder.load(total[q]), y, y), total[q])
            for q in range(n):
                v.store(builder.load(total[q]), result, entry(row, k, q))

        left = builder.and_(last, number(ROUND - 1))
        whole_groups = builder.sub(last, left)
        with v.loop(whole_groups, ROUND) as k:
            group(k, most)
        for n in range(1, most + 1):  # what is left, in as few vectors as it takes
            fewer = builder.icmp_signed(">", left, number((n - 1) * v.lanes))
            enough = builder.icmp_signed("<=", left, number(n * v.lanes))
            with builder.if_then(builder.and_(fewer, enough)):
                group(whole_groups, n)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(x, whole, rows, whole, whole, whole, reach, whole), write


def distances(T: Any, rows: Any, n_clusters: int, low: int, high: int, out: Any) -> None:
    """Write the distances of the points low … high − 1 of T (n, d) from all clusters, (n, K)."""
    _distances(T, rows, n_clusters, low, high, np.empty((1, rows.shape[1])), out)


@compiled(allocates=False)
def _distances(T, rows, n_clusters, low, high, reach, out):
    for i in range(low, high):
        quadratic(T[i], 0, rows, 0, T.shape[1], n_clusters, reach, 0)
        for k in range(n_clusters):
            out[i, k] = reach[0, k]


def pack_factors(factors: Any, means: Any) -> Any:
    """Return Cholesky factors (K, d, d) and means (K, d) as :func:`quadratic` takes them."""
    n_clusters, d = means.shape
    rows = np.zeros((d + d * d, -(-n_clusters // ROUND) * ROUND))
    identity = np.eye(d)
    for k in range(n_clusters):
        inverse, _ = dtrtrs(factors[k], identity, lower=1)
        rows[:d, k] = inverse @ means[k]
        rows[d:, k] = inverse.ravel()
    return rows


def pair_products(T: Any, low: int, high: int, out: Any) -> None:
    """Write the products of all pairs of columns, j ≤ l, of the rows low … high − 1."""
    at, d = 0, T.shape[1]
    for j in range(d):
        columns = out[: high - low, at : at + d - j]
        np.multiply(T[low:high, j : j + 1], T[low:high, j:], out=columns)
        at += d - j
