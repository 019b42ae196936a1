"""Clusters under conjugate priors: what a point adds to a cluster's log marginal probability.

With parameters integrated out, a cluster's data have the log probability
``log Z(posterior) − log Z(prior)`` (leaving out Σ log h(x), which no partition changes). The gain
of adding a point is the point's log predictive probability; the gain of taking it out is minus the
log predictive probability of the point given the others. Both are computed without touching the
cluster, so that nothing is updated unless a label changes.

A family is a code, and a prior a few numbers for each column; a product of families is a list of
blocks of columns. Full covariances are kept as Cholesky factors: the determinant lemma gives the
gain, rank-one updates the factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lgamma, log, sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from maylink.arrays import Matrix
from maylink.kernels.codes import GAPS, Block, Code
from maylink.kernels.compile import compiled
from maylink.kernels.rising import log_gamma_rise

GAUSSIAN = int(Code.GAUSSIAN)
DIAGONAL = int(Code.DIAGONAL_GAUSSIAN)
FULL = int(Code.FULL_GAUSSIAN)
MULTINOMIAL = int(Code.MULTINOMIAL)
POISSON = int(Code.POISSON)
BERNOULLI = int(Code.BERNOULLI)
GAMMA = int(Code.GAMMA)
DIRECTION = int(Code.VON_MISES_FISHER)
KNOWN = int(Code.KNOWN_VARIANCE)


class Rows(NamedTuple):
    """The points as the likelihood sees them: dense (n, d), or CSR with a dense of no rows."""

    dense: Any
    indptr: Any
    indices: Any
    data: Any


class Prior(NamedTuple):
    """Priors of the blocks: ``first[b]`` is block b's first column, ``at[b]`` its first factor.

    ``weight[b]`` is a power on the likelihood of a block that may be missing.
    """

    code: Any
    first: Any
    columns: Any
    scalars: Any
    factor: Any
    at: Any
    weight: Any


class ClusterArrays(NamedTuple):
    """Room for C clusters: sizes, sums, sums of squares, factors and log marginals.

    For a full covariance, ``total`` is the posterior mean and ``square[k, first]`` the log
    determinant of the posterior scale.
    """

    size: Any
    total: Any
    square: Any
    factor: Any
    norm: Any


def rows_of(points: Matrix) -> Rows:
    """Return points, as a family's likelihood sees them, in the form that kernels take."""
    nothing = np.empty(0, np.int64)
    if sparse.issparse(points):
        csr = points.tocsr()
        return Rows(
            np.empty((0, points.shape[1])),
            csr.indptr.astype(np.int64),
            csr.indices.astype(np.int64),
            csr.data.astype(np.float64),
        )
    return Rows(np.ascontiguousarray(points, np.float64), nothing, nothing, np.empty(0))


def prior_of(blocks: Sequence[Block]) -> Prior:
    """Return a family's prior, block by block, in the form that kernels take."""
    widths = [block.columns.shape[1] for block in blocks]
    return Prior(
        np.array([int(block.code) for block in blocks]),
        np.concatenate([[0], np.cumsum(widths)]).astype(np.int64),
        np.ascontiguousarray(np.hstack([block.columns for block in blocks]), np.float64),
        np.array([block.scalars for block in blocks], np.float64),
        np.concatenate([block.factor.ravel() for block in blocks]).astype(np.float64),
        np.concatenate([[0], np.cumsum([block.factor.size for block in blocks])]).astype(np.int64),
        np.array([block.weight for block in blocks], np.float64),
    )


def make_clusters(prior: Prior, capacity: int) -> ClusterArrays:
    """Return room for so many clusters, all empty."""
    d = prior.columns.shape[1]
    clusters = ClusterArrays(
        np.zeros(capacity),
        np.zeros((capacity, d)),
        np.zeros((capacity, d)),
        np.zeros((capacity, prior.factor.size)),
        np.zeros(capacity),
    )
    clear_all(prior, clusters)
    return clusters


@compiled(allocates=False)
def clear_all(prior, clusters):
    """Empty all clusters."""
    for k in range(clusters.size.size):
        clear(prior, clusters, k)


@compiled(allocates=False, inner=True)
def clear(prior, clusters, k):
    """Empty cluster k."""
    clusters.size[k] = 0.0
    clusters.norm[k] = 0.0
    for j in range(clusters.total.shape[1]):
        clusters.total[k, j] = 0.0
        clusters.square[k, j] = 0.0
    for j in range(prior.factor.size):
        clusters.factor[k, j] = prior.factor[j]
    for b in range(prior.code.size):
        if prior.code[b] == FULL:
            low, d = prior.first[b], prior.first[b + 1] - prior.first[b]
            det = 0.0
            for j in range(d):
                clusters.total[k, low + j] = prior.columns[0, low + j]
                det += 2.0 * log(prior.factor[prior.at[b] + j * d + j])
            clusters.square[k, low] = det


@compiled(allocates=False, inner=True)
def copy_cluster(clusters, source, target):
    """Copy one cluster over another."""
    clusters.size[target] = clusters.size[source]
    clusters.norm[target] = clusters.norm[source]
    for j in range(clusters.total.shape[1]):
        clusters.total[target, j] = clusters.total[source, j]
        clusters.square[target, j] = clusters.square[source, j]
    for j in range(clusters.factor.shape[1]):
        clusters.factor[target, j] = clusters.factor[source, j]


@compiled(allocates=False, inner=True)
def fetch(rows, i, x):
    """Write point i into x."""
    if rows.dense.shape[0] > 0:
        for j in range(x.size):
            x[j] = rows.dense[i, j]
    else:
        for j in range(x.size):
            x[j] = 0.0
        for e in range(rows.indptr[i], rows.indptr[i + 1]):
            x[rows.indices[e]] = rows.data[e]


@compiled(allocates=False, inner=True)
def gain(prior, clusters, k, x, sign, scratch):
    """Return what adding x (sign +1) or taking it out (−1) adds to the log marginal of cluster k.

    Parameters
    ----------
    prior, clusters : in
    k : in, int
    x : in, (d,)
    sign : in, +1.0 or −1.0
    scratch : scratch, (d,)
    """
    value = 0.0
    for b in range(prior.code.size):
        value += block_gain(prior, clusters, k, x, sign, b, scratch)
    return value


@compiled(allocates=False, inner=True)
def block_gain(prior, clusters, k, x, sign, b, scratch):
    """Return the part of block b in it."""
    value = 0.0
    low, high = prior.first[b], prior.first[b + 1]
    code = prior.code[b]
    m = clusters.size[k]
    if code >= GAPS:  # the last column says whether the block is there; those that have it count
        code -= GAPS
        high -= 1
        m = clusters.total[k, high]
        if x[high] == 0.0:
            return value
    if code == GAUSSIAN:
        value += _gaussian(prior, clusters, k, x, sign, b, low, high)
    elif code == DIAGONAL:
        value += _diagonal(prior, clusters, k, x, sign, b, low, high, m)
    elif code == FULL:
        value += _full(prior, clusters, k, x, sign, b, low, high, scratch)
    elif code == MULTINOMIAL:
        # clusters.square[k, low] holds the sum over the columns
        grown = 0.0
        for j in range(low, high):
            if x[j] != 0.0:
                a = prior.columns[0, j] + clusters.total[k, j]
                value += log_gamma_rise(a, x[j], sign)
                grown += x[j]
        mass = prior.scalars[b, 0] + clusters.square[k, low]
        value -= log_gamma_rise(mass, grown, sign)
    elif code == POISSON:
        for j in range(low, high):
            a = prior.columns[0, j] + clusters.total[k, j]
            rate = prior.columns[1, j] + m
            value += a * log(rate / (rate + sign))
            if x[j] != 0.0:
                value += log_gamma_rise(a, x[j], sign)
                value -= sign * x[j] * log(rate + sign)
    elif code == BERNOULLI:
        for j in range(low, high):
            ones = clusters.total[k, j]
            zeros = m - ones
            mass = prior.columns[0, j] + ones if x[j] != 0.0 else prior.columns[1, j] + zeros
            both = prior.columns[0, j] + prior.columns[1, j] + m
            value += log(mass / both) if sign > 0 else log((both - 1.0) / (mass - 1.0))
    elif code == GAMMA:
        shape = prior.scalars[b, 0]
        for j in range(low, high):
            a = prior.columns[0, j] + shape * m
            rate = prior.columns[1, j] + clusters.total[k, j]
            value += lgamma(a + sign * shape) - lgamma(a)
            value -= (a + sign * shape) * log(rate + sign * x[j]) - a * log(rate)
    elif code == KNOWN:
        for j in range(low, high):
            precision = prior.columns[1, j] + m
            pulled = prior.columns[0, j] * prior.columns[1, j] + clusters.total[k, j]
            grown = pulled + sign * x[j]
            square = grown * grown / (precision + sign) - pulled * pulled / precision
            value += 0.5 * (square + log(precision / (precision + sign)))
    else:
        value += _direction(prior, clusters, k, x, sign, b, low, high)
    return value * prior.weight[b]


@compiled(allocates=False, inner=True)
def put(prior, clusters, k, x, sign, change, scratch):
    """Add x to cluster k (sign +1) or take it out (−1); ``change`` is the gain of doing so.

    Returns
    -------
    bool
        False when rounding has spoilt a Cholesky factor, which must then be made anew.
    """
    sound = True
    for b in range(prior.code.size):
        low, high, code = prior.first[b], prior.first[b + 1], prior.code[b]
        if code == FULL:
            sound = _update_full(prior, clusters, k, x, sign, b, low, high, scratch) and sound
            continue
        grown = 0.0
        for j in range(low, high):
            clusters.total[k, j] += sign * x[j]
            grown += x[j]
            if code == GAUSSIAN or code % GAPS == DIAGONAL:
                clusters.square[k, j] += sign * x[j] * x[j]
        if code % GAPS == MULTINOMIAL:
            clusters.square[k, low] += sign * (grown if code < GAPS else grown - x[high - 1])
    clusters.size[k] += sign
    clusters.norm[k] += change
    if clusters.size[k] < 0.5:
        clear(prior, clusters, k)
    return sound


# ---------------------------------------------------------------------- the families, one by one


@compiled(allocates=False, inner=True)
def _gaussian(prior, clusters, k, x, sign, b, low, high):
    strength0, shape0, rate0 = prior.scalars[b, 0], prior.scalars[b, 1], prior.scalars[b, 2]
    m = clusters.size[k]
    before, after = 0.0, 0.0
    kappa = strength0 + m
    kappa_new = kappa + sign
    for j in range(low, high):
        mean0 = prior.columns[0, j]
        pulled = strength0 * mean0 + clusters.total[k, j]
        square = clusters.square[k, j] + strength0 * mean0 * mean0
        before += square - pulled * pulled / kappa
        pulled += sign * x[j]
        after += square + sign * x[j] * x[j] - pulled * pulled / kappa_new
    d = high - low
    shape = shape0 + 0.5 * d * m
    shape_new = shape + 0.5 * d * sign
    rate = rate0 + 0.5 * max(before, 0.0)
    rate_new = rate0 + 0.5 * max(after, 0.0)
    value = lgamma(shape_new) - lgamma(shape) - shape_new * log(rate_new) + shape * log(rate)
    return value + 0.5 * d * log(kappa / kappa_new)


@compiled(allocates=False, inner=True)
def _diagonal(prior, clusters, k, x, sign, b, low, high, m):
    strength0, shape0 = prior.scalars[b, 0], prior.scalars[b, 1]
    kappa = strength0 + m
    kappa_new = kappa + sign
    shape = shape0 + 0.5 * m
    shape_new = shape + 0.5 * sign
    d = high - low
    value = d * (lgamma(shape_new) - lgamma(shape) + 0.5 * log(kappa / kappa_new))
    for j in range(low, high):
        mean0 = prior.columns[0, j]
        pulled = strength0 * mean0 + clusters.total[k, j]
        square = clusters.square[k, j] + strength0 * mean0 * mean0
        before = max(square - pulled * pulled / kappa, 0.0)
        pulled += sign * x[j]
        after = max(square + sign * x[j] * x[j] - pulled * pulled / kappa_new, 0.0)
        rate0 = prior.columns[1, j]
        value += shape * log(rate0 + 0.5 * before) - shape_new * log(rate0 + 0.5 * after)
    return value


@compiled(allocates=False, inner=True)
def _full(prior, clusters, k, x, sign, b, low, high, scratch):
    d = high - low
    kappa = prior.scalars[b, 0] + clusters.size[k]
    dof = prior.scalars[b, 1] + clusters.size[k]
    at = prior.at[b]
    reach = 0.0  # (x − m)ᵀ Ψ⁻¹ (x − m) by forward substitution
    for r in range(d):
        v = x[low + r] - clusters.total[k, low + r]
        for c in range(r):
            v -= clusters.factor[k, at + r * d + c] * scratch[c]
        v /= clusters.factor[k, at + r * d + r]
        scratch[r] = v
        reach += v * v
    det = clusters.square[k, low]
    if sign > 0:
        grown = log(1.0 + kappa / (kappa + 1.0) * reach)
        top = gamma_ratio(0.5 * (dof + 1.0), d)
        return (
            0.5 * d * log(2.0) + top - 0.5 * det - 0.5 * (dof + 1.0) * grown
            + 0.5 * d * log(kappa / (kappa + 1.0))
        )  # fmt: skip
    grown = log(max(1.0 - kappa / (kappa - 1.0) * reach, 1e-12))
    top = gamma_ratio(0.5 * dof, d)
    return (
        -0.5 * d * log(2.0) - top + 0.5 * det - 0.5 * (dof - 1.0) * grown
        + 0.5 * d * log(kappa / (kappa - 1.0))
    )  # fmt: skip


@compiled(allocates=False, inner=True)
def gamma_ratio(a, d):
    """Return log Γ(a) − log Γ(a − d/2), mostly from a product of d // 2 factors."""
    whole = d // 2
    total, product = 0.0, 1.0
    for i in range(1, whole + 1):
        product *= a - i
        if i % 8 == 0:
            total += log(product)
            product = 1.0
    total += log(product)
    if d % 2 == 1:
        total += lgamma(a - whole) - lgamma(a - whole - 0.5)
    return total


@compiled(allocates=False, inner=True)
def _update_full(prior, clusters, k, x, sign, b, low, high, scratch):
    """Rank-one update of the factor: Ψ ± c (x − m)(x − m)ᵀ, by rotations."""
    d = high - low
    kappa = prior.scalars[b, 0] + clusters.size[k]
    at = prior.at[b]
    factor = clusters.factor[k]
    mean = clusters.total[k]
    root = sqrt(kappa / (kappa + sign))
    for r in range(d):
        scratch[r] = root * (x[low + r] - mean[low + r])
        mean[low + r] += sign * (x[low + r] - mean[low + r]) / (kappa + sign)
    sound = True
    det = 0.0
    for c in range(d):
        old = factor[at + c * d + c]
        square = old * old + sign * scratch[c] * scratch[c]
        if square <= 1e-12 * old * old:
            square = 1e-12 * old * old
            sound = False
        new = sqrt(square)
        cosine, sine = new / old, scratch[c] / old
        over, push = 1.0 / cosine, sign * sine
        factor[at + c * d + c] = new
        det += 2.0 * log(new)
        for r in range(c + 1, d):
            entry = (factor[at + r * d + c] + push * scratch[r]) * over
            scratch[r] = cosine * scratch[r] - sine * entry
            factor[at + r * d + c] = entry
    clusters.square[k, low] = det
    return sound


@compiled(allocates=False, inner=True)
def _direction(prior, clusters, k, x, sign, b, low, high):
    kappa = prior.scalars[b, 0]
    before, after = 0.0, 0.0
    for j in range(low, high):
        v = prior.columns[0, j] + kappa * clusters.total[k, j]
        before += v * v
        v += sign * kappa * x[j]
        after += v * v
    order = 0.5 * (high - low) - 1.0
    return log_bessel(order, sqrt(after)) - log_bessel(order, sqrt(before))


@compiled(allocates=False, inner=True)
def log_bessel(order, x):
    """Return log(I_order(x)/x^order) + order log 2, by series."""
    if x > 500.0 and x > 100.0 * order * order:  # far out; the error is below 1e-10
        mu = 4.0 * order * order
        far = 1.0 - (mu - 1.0) / (8.0 * x) * (
            1.0 - (mu - 9.0) / (16.0 * x) * (1.0 - (mu - 25.0) / (24.0 * x))
        )
        return x - 0.5 * log(2.0 * np.pi * x) + log(far) - order * log(0.5 * x)
    quarter = 0.25 * x * x
    peak = np.floor(0.5 * (sqrt(order * order + x * x) - order))
    total, term, m = 1.0, 1.0, peak
    while term > 1e-17 * total:
        m += 1.0
        term *= quarter / (m * (order + m))
        total += term
    term, m = 1.0, peak
    while m > 0.0 and term > 1e-17 * total:
        term *= m * (order + m) / quarter
        m -= 1.0
        total += term
    start = peak * log(quarter) if peak > 0.0 else 0.0
    return start - lgamma(peak + 1.0) - lgamma(order + peak + 1.0) + log(total)
