"""What adding a point would gain each cluster, for all clusters at once.

A table holds for every cluster what :func:`maylink.kernels.conjugate.gain` would work out anew
for each point, laid out with the clusters along the last axis, so that processors work on several
clusters at a time. It must be refreshed for a cluster when that has changed, which is seldom: a
point leaves its cluster only when its label changes, since the probability of its staying follows
from the cluster with the point inside (by the determinant lemma for full covariances).

Counts: Γ(a + x)/Γ(a) = a (a + 1) … (a + x − 1), so that a point with small counts costs a few
multiplications and one logarithm in eight of them, not two logarithms of Γ for each feature.

The table has rows for Gaussian, Bernoulli, Poisson and multinomial clusters; the other families are
asked one cluster at a time.
"""

from __future__ import annotations

from math import lgamma, log
from typing import Any, NamedTuple

import numpy as np

from maylink.kernels.compile import compiled
from maylink.kernels.conjugate import (
    BERNOULLI,
    DIAGONAL,
    FULL,
    GAUSSIAN,
    MULTINOMIAL,
    POISSON,
    block_gain,
    gamma_ratio,
)
from maylink.kernels.logs import log_all
from maylink.kernels.quadratic import quadratic
from maylink.kernels.rising import MOST_FACTORS

LARGEST = 1e75  # a ratio of which four can be multiplied
FACTORS, GREATEST = 8, 1e37  # of counts that are multiplied before a logarithm, and none is greater


class ClusterTable(NamedTuple):
    """What does not depend on the point; a row for each number, a column for each cluster."""

    rows: Any  # (…, room); block b has the rows from ``at[b]`` on
    at: Any  # (blocks,)
    constant: Any  # (blocks, room) gain = constant − power · log(…)
    power: Any
    ratio: Any
    base: Any
    join: Any  # (room,) log weight that the partition's prior gives to joining
    join_fewer: Any  # (room,) of one point less
    reach: Any  # (blocks, room) what the last point's distance from each cluster was
    value: Any  # (room,) scratch
    bits: Any  # the same memory as ``value``
    logs: Any  # (room,) scratch


def make_table(prior: Any, room: int) -> ClusterTable:
    """Return a table with room for so many clusters, a multiple of ROUND."""
    d = np.diff(prior.first)
    ends = np.cumsum(np.where(prior.code == FULL, d + d * d, 3 * d))
    value, shape = np.ones(room), (prior.code.size, room)
    return ClusterTable(
        np.zeros((ends[-1], room)), np.append(0, ends[:-1]), np.zeros(shape), np.zeros(shape),
        np.zeros(shape), np.zeros(shape), np.full(room, -np.inf), np.full(room, -np.inf),
        np.zeros(shape), value, value.view(np.int64), np.zeros(room),
    )  # fmt: skip


@compiled(allocates=False, inner=True)
def refresh(prior, clusters, table, k, join):
    """Write down cluster k anew; ``join`` are log weights by size, −inf of 0 points."""
    m = int(clusters.size[k] + 0.5)
    table.join[k] = join[m]
    table.join_fewer[k] = join[m - 1] if m > 1 else -np.inf
    for b in range(prior.code.size):
        code = prior.code[b]
        if code == FULL:
            _refresh_full(prior, clusters, table, k, b)
        elif code == GAUSSIAN:
            _refresh_gaussian(prior, clusters, table, k, b)
        elif code == DIAGONAL:
            _refresh_diagonal(prior, clusters, table, k, b)
        elif code == BERNOULLI:
            _refresh_bernoulli(prior, clusters, table, k, b)
        elif code == POISSON:
            _refresh_poisson(prior, clusters, table, k, b)
        elif code == MULTINOMIAL:
            _refresh_multinomial(prior, clusters, table, k, b)


@compiled(inline="always")
def gains(prior, clusters, table, top, x, scratch, out):
    """Write what adding x would gain the clusters 0 … top − 1, log marginals, into ``out``.

    Best where ``top`` is a multiple of 8; columns beyond the clusters hold nothing of use.
    """
    rows, value, bits, logs = table.rows, table.value, table.bits, table.logs
    constant, power, ratio, base = table.constant, table.power, table.ratio, table.base
    reach, columns = table.reach, prior.columns
    for k in range(top):
        out[k] = 0.0
    for b in range(prior.code.size):
        low, high, at = prior.first[b], prior.first[b + 1], table.at[b]
        d = high - low
        code = prior.code[b]
        if code == FULL:
            quadratic(x, low, rows, at, d, top, reach, b)
            for k in range(top):
                value[k] = 1.0 + ratio[b, k] * reach[b, k]
        elif code == GAUSSIAN:
            own = 0.0
            for k in range(top):
                value[k] = 0.0
            for j in range(d):
                own += x[low + j] * x[low + j]
                twice = 2.0 * x[low + j]
                for k in range(top):
                    value[k] += twice * rows[at + j, k]
            rate = prior.scalars[b, 2]
            for k in range(top):
                after = base[b, k] + own - (value[k] + own) * ratio[b, k]
                value[k] = rate + 0.5 * max(after, 0.0)
        elif code == DIAGONAL:
            for k in range(top):
                value[k] = 1.0
            for j in range(d):
                t, rate = x[low + j], columns[1, low + j]
                for k in range(top):
                    v = rows[at + j, k] + t
                    after = rows[at + d + j, k] + t * t - v * v * ratio[b, k]
                    grown = (rate + 0.5 * max(after, 0.0)) * rows[at + 2 * d + j, k]
                    value[k] *= min(grown, LARGEST)
                if j % 4 == 3 and j < d - 1:
                    log_all(value, bits, top, logs)
                    for k in range(top):
                        out[k] -= power[b, k] * logs[k]
                        value[k] = 1.0
        elif code == BERNOULLI:
            _bit_gains(table, top, x, b, low, d, out)
            continue
        elif code in (POISSON, MULTINOMIAL):
            _count_gains(clusters, table, top, x, b, low, d, code == POISSON, out)
            continue
        else:
            for k in range(top):
                if clusters.size[k] > 0.5:
                    out[k] += block_gain(prior, clusters, k, x, 1.0, b, scratch)
            continue
        log_all(value, bits, top, logs)
        for k in range(top):
            logs[k] = constant[b, k] - power[b, k] * logs[k]
        for k in range(top):
            out[k] += logs[k]


@compiled(allocates=False, inner=True)
def _bit_gains(table, top, x, b, low, d, out):
    """Add what the ones and zeros of x would gain each cluster, of one block."""
    rows, at = table.rows, table.at[b]
    for j in range(d):
        if x[low + j] != 0.0:
            for k in range(top):
                out[k] += rows[at + j, k]
    for k in range(top):
        out[k] += table.constant[b, k]


@compiled(allocates=False, inner=True)
def _count_gains(clusters, table, top, x, b, low, d, is_poisson, out):
    """Add what the counts of x would gain each cluster, of one block.

    Each factor is divided by what the rate, or the mass, grows to; so it is near the mean of a
    count, or a proportion.
    """
    rows, at, value, base = table.rows, table.at[b], table.value, table.base
    for k in range(top):
        value[k] = 1.0
        out[k] += table.constant[b, k]
    waiting, before = 0, 0.0
    for j in range(d):
        count = x[low + j]
        if count == 0.0:
            continue
        if count > MOST_FACTORS or count != int(count):
            for k in range(top):
                if clusters.size[k] > 0.5:
                    a, mass = rows[at + j, k], base[b, k] + before
                    out[k] += lgamma(a + count) - lgamma(a)
                    if is_poisson:
                        out[k] += count * log(rows[at + d + j, k])
                    else:
                        out[k] -= lgamma(mass + count) - lgamma(mass)
            before += count
            continue
        for i in range(int(count)):
            if is_poisson:
                for k in range(top):
                    factor = (rows[at + j, k] + i) * rows[at + d + j, k]
                    value[k] *= min(max(factor, 1.0 / GREATEST), GREATEST)
            else:
                for k in range(top):
                    factor = (rows[at + j, k] + i) / (base[b, k] + before)
                    value[k] *= min(max(factor, 1.0 / GREATEST), GREATEST)
            before += 1.0
            waiting += 1
            if waiting == FACTORS:
                _add_logs(table, top, out)
                waiting = 0
    if waiting:
        _add_logs(table, top, out)


@compiled(allocates=False, inner=True)
def _add_logs(table, top, out):
    """Add the logarithms of the products so far, and begin new ones."""
    log_all(table.value, table.bits, top, table.logs)
    for k in range(top):
        out[k] += table.logs[k]
        table.value[k] = 1.0


@compiled(inline="always")
def loss(prior, clusters, table, k, x, scratch):
    """Return what taking x out of its cluster would add to the log marginal, after `gains`."""
    value = 0.0
    for b in range(prior.code.size):
        if prior.code[b] == FULL and clusters.size[k] > 1.5:
            kappa = prior.scalars[b, 0] + clusters.size[k]
            dof = prior.scalars[b, 1] + clusters.size[k]
            left = max(1.0 - kappa / (kappa - 1.0) * table.reach[b, k], 1e-12)
            value += table.base[b, k] - 0.5 * (dof - 1.0) * log(left)
        else:
            value += block_gain(prior, clusters, k, x, -1.0, b, scratch)
    return value


# ---------------------------------------------------------------------- a row for each family


@compiled(allocates=False, inner=True)
def _refresh_full(prior, clusters, table, k, b):
    low, at, rows, m = prior.first[b], table.at[b], table.rows, clusters.size[k]
    d = prior.first[b + 1] - low
    kappa, dof = prior.scalars[b, 0] + m, prior.scalars[b, 1] + m
    begin, inverse, factor = prior.at[b], at + d, clusters.factor
    for r in range(d):  # row r of the inverse of the factor, and times the mean
        over = 1.0 / factor[k, begin + r * d + r]
        center = over * clusters.total[k, low + r]
        for c in range(r):
            v = 0.0
            for q in range(c, r):
                v -= factor[k, begin + r * d + q] * rows[inverse + q * d + c, k]
            rows[inverse + r * d + c, k] = v * over
            center += v * over * clusters.total[k, low + c]
        rows[inverse + r * d + r, k] = over
        rows[at + r, k] = center
    table.ratio[b, k] = kappa / (kappa + 1.0)
    table.power[b, k] = 0.5 * (dof + 1.0)
    table.constant[b, k] = (
        0.5 * d * log(2.0) + gamma_ratio(0.5 * (dof + 1.0), d)
        - 0.5 * clusters.square[k, low] + 0.5 * d * log(kappa / (kappa + 1.0))
    )  # fmt: skip
    if m > 1.5:  # of taking a point out
        table.base[b, k] = (
            -0.5 * d * log(2.0) - gamma_ratio(0.5 * dof, d)
            + 0.5 * clusters.square[k, low] + 0.5 * d * log(kappa / (kappa - 1.0))
        )  # fmt: skip


@compiled(allocates=False, inner=True)
def _refresh_gaussian(prior, clusters, table, k, b):
    low, at, rows, m = prior.first[b], table.at[b], table.rows, clusters.size[k]
    d = prior.first[b + 1] - low
    strength, shape = prior.scalars[b, 0], prior.scalars[b, 1] + 0.5 * d * m
    kappa = strength + m
    square, pulled = 0.0, 0.0
    for j in range(d):
        mean = prior.columns[0, low + j]
        v = strength * mean + clusters.total[k, low + j]
        rows[at + j, k] = v
        square += clusters.square[k, low + j] + strength * mean * mean
        pulled += v * v
    rate = prior.scalars[b, 2] + 0.5 * max(square - pulled / kappa, 0.0)
    table.base[b, k] = square - pulled / (kappa + 1.0)
    table.ratio[b, k] = 1.0 / (kappa + 1.0)
    table.power[b, k] = shape + 0.5 * d
    table.constant[b, k] = (
        lgamma(shape + 0.5 * d) - lgamma(shape) + shape * log(rate)
        + 0.5 * d * log(kappa / (kappa + 1.0))
    )  # fmt: skip


@compiled(allocates=False, inner=True)
def _refresh_diagonal(prior, clusters, table, k, b):
    low, at, rows, m = prior.first[b], table.at[b], table.rows, clusters.size[k]
    d = prior.first[b + 1] - low
    strength, shape = prior.scalars[b, 0], prior.scalars[b, 1] + 0.5 * m
    kappa = strength + m
    logs = 0.0
    for j in range(d):
        mean = prior.columns[0, low + j]
        v = strength * mean + clusters.total[k, low + j]
        square = clusters.square[k, low + j] + strength * mean * mean
        rate = prior.columns[1, low + j] + 0.5 * max(square - v * v / kappa, 0.0)
        rows[at + j, k] = v
        rows[at + d + j, k] = square
        rows[at + 2 * d + j, k] = 1.0 / rate
        logs += log(rate)
    table.ratio[b, k] = 1.0 / (kappa + 1.0)
    table.power[b, k] = shape + 0.5
    table.constant[b, k] = (
        d * (lgamma(shape + 0.5) - lgamma(shape) + 0.5 * log(kappa / (kappa + 1.0)))
        - 0.5 * logs
    )  # fmt: skip


@compiled(allocates=False, inner=True)
def _refresh_bernoulli(prior, clusters, table, k, b):
    low, at, rows, m = prior.first[b], table.at[b], table.rows, clusters.size[k]
    d = prior.first[b + 1] - low
    table.constant[b, k] = 0.0
    for j in range(d):
        one = prior.columns[0, low + j] + clusters.total[k, low + j]
        zero = prior.columns[1, low + j] + m - clusters.total[k, low + j]
        rows[at + j, k] = log(one / zero)
        table.constant[b, k] += log(zero / (one + zero))


@compiled(allocates=False, inner=True)
def _refresh_poisson(prior, clusters, table, k, b):
    low, at, rows, m = prior.first[b], table.at[b], table.rows, clusters.size[k]
    d = prior.first[b + 1] - low
    table.constant[b, k] = 0.0
    for j in range(d):
        a, rate = prior.columns[0, low + j] + clusters.total[k, low + j], prior.columns[1, low + j]
        rows[at + j, k] = a
        rows[at + d + j, k] = 1.0 / (rate + m + 1.0)
        table.constant[b, k] += a * log((rate + m) / (rate + m + 1.0))


@compiled(allocates=False, inner=True)
def _refresh_multinomial(prior, clusters, table, k, b):
    low, at = prior.first[b], table.at[b]
    table.base[b, k] = prior.scalars[b, 0] + clusters.square[k, low]
    for j in range(prior.first[b + 1] - low):
        table.rows[at + j, k] = prior.columns[0, low + j] + clusters.total[k, low + j]
