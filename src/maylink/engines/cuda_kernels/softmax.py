"""Responsibilities of linked points, and how far linked pairs share a cluster."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["begin"])
def softmax_at_once(
    scores,
    indptr,
    neighbour,
    pull,
    rows_of,
    begin,
    responsibilities,
    n_clusters,
    CENTERS: tl.constexpr,
):
    """Give points that are not linked to each other the responsibilities that follow; one each.

    The responsibilities are ``∝ exp(score + Σ_j pull_ij φ_j)``, as
    :func:`maylink.kernels.softmax.softmax_linked` has them.

    Parameters
    ----------
    scores : in, (m, K)
    indptr, neighbour, pull : in, the links of every point and what each adds
    rows_of, begin : in, the points are those of the list from there on
    responsibilities : in and out, (m, K)
    CENTERS : a power of two of at least K
    """
    i = tl.load(rows_of + begin + tl.program_id(0))
    _update(scores, indptr, neighbour, pull, i, responsibilities, n_clusters, CENTERS)


@triton.jit(do_not_specialize=["begin", "end"])
def softmax_in_turn(
    scores,
    indptr,
    neighbour,
    pull,
    rows_of,
    begin,
    end,
    responsibilities,
    n_clusters,
    CENTERS: tl.constexpr,
):
    """Do what :func:`softmax_at_once` does, point after point, in one program."""
    for place in range(begin, end):
        i = tl.load(rows_of + place)
        _update(scores, indptr, neighbour, pull, i, responsibilities, n_clusters, CENTERS)
        tl.debug_barrier()  # the next point may read what this one wrote


@triton.jit
def _update(
    scores, indptr, neighbour, pull, i, responsibilities, n_clusters, CENTERS: tl.constexpr
):
    """Write the responsibilities of one point."""
    k = tl.arange(0, CENTERS)
    used = k < n_clusters
    at = i.to(tl.int64) * n_clusters
    value = tl.load(scores + at + k, mask=used, other=float("-inf"))
    for e in range(tl.load(indptr + i), tl.load(indptr + i + 1)):
        other = tl.load(neighbour + e).to(tl.int64) * n_clusters
        share = tl.load(responsibilities + other + k, mask=used, other=0.0)
        value += tl.load(pull + e) * share
    weight = tl.exp(value - tl.max(value, axis=0))
    tl.store(responsibilities + at + k, weight / tl.sum(weight, axis=0), mask=used)


@triton.jit
def overlap(
    responsibilities,
    first,
    second,
    out,
    size,
    n_clusters,
    PAIRS: tl.constexpr,
    CENTERS: tl.constexpr,
):
    """Write Σ_k φ_ik φ_jk of each pair, at most 1.

    Parameters
    ----------
    responsibilities : in, (m, K)
    first, second : in, (size,) the points of each pair
    out : out, (size,)
    PAIRS, CENTERS : pairs of a program; a power of two of at least K
    """
    pair = tl.program_id(0) * PAIRS + tl.arange(0, PAIRS)
    there = pair < size
    k = tl.arange(0, CENTERS)
    used = there[:, None] & (k < n_clusters)[None, :]
    i = tl.load(first + pair, mask=there, other=0).to(tl.int64) * n_clusters
    j = tl.load(second + pair, mask=there, other=0).to(tl.int64) * n_clusters
    mine = tl.load(responsibilities + i[:, None] + k[None, :], mask=used, other=0.0)
    theirs = tl.load(responsibilities + j[:, None] + k[None, :], mask=used, other=0.0)
    together = tl.sum(mine * theirs, axis=1)
    tl.store(out + pair, tl.minimum(together, 1.0), mask=there)
