"""One step of RatioDCA on a cut: a convex inner problem, and the best of its thresholds.

A cut C of vertices with masses b has the ratio ``F(C) = (κ + Σ_{pairs that C cuts} t_ij) / S(C)``,
``S(C) = b(C) (b(V) − b(C)) / b(V)``. To cut a pair costs where t > 0 and pays where t < 0, and
``κ ≥ Σ_{t<0} |t|`` keeps the sum positive. On vectors F is ``(R1(f) − R2(f)) / S(f)`` with
``R1 = Σ_{t>0} t |f_i − f_j| + κ (max f − min f)`` and ``R2 = Σ_{t<0} |t| |f_i − f_j|``.

From the cut C a step takes subgradients r of R2 and s of S at its indicator, puts ``g = r + F s``
and minimises ``R1(f) − ⟨g, f⟩`` over the unit ball. In the dual every pair has a flow y within
[−t, t], and p, q lie in the simplex of size κ; the least ``|z|``, ``z = Aᵀ y + p − q − g``, is the
answer, and ``f = −z / |z|`` the vector. Measured in units of flow all rows of A hold ±1, whatever
the weights are; steps are as long as the degrees of the two ends allow (M − A Aᵀ is then
diagonally dominant), and momentum is Nesterov's, started anew when it points uphill.

References: Rangapuram, Hein: Constrained 1-Spectral Clustering, AISTATS 2012. Beck, Teboulle: A
Fast Iterative Shrinkage-Thresholding Algorithm, 2009.
"""

from __future__ import annotations

import numpy as np

from maylink.kernels.compile import compiled


@compiled()
def threshold(f, indptr, neighbour, signed, kappa, mass, side):
    """Find the best cut {i : f_i > some number}.

    Parameters
    ----------
    f : in, (n,) a vector
    indptr, neighbour, signed : in, t as a symmetric CSR matrix without a diagonal
    kappa : in, κ
    mass : in, (n,) b, positive
    side : out, (n,) True inside the best cut; untouched if f is constant

    Returns
    -------
    float
        The ratio of that cut; infinity if f is constant.
    """
    n = f.size
    order = np.argsort(-f)
    total = mass.sum()
    inside = np.zeros(n, np.bool_)
    crossing, volume = 0.0, 0.0
    best, size = np.inf, 0
    for at in range(n - 1):
        i = order[at]
        inside[i] = True
        volume += mass[i]
        for e in range(indptr[i], indptr[i + 1]):
            crossing += -signed[e] if inside[neighbour[e]] else signed[e]
        if f[i] == f[order[at + 1]]:
            continue
        ratio = (kappa + crossing) * total / (volume * (total - volume))
        if ratio < best:
            best, size = ratio, at + 1
    if size == 0:
        return np.inf
    for at in range(n):
        side[order[at]] = at < size
    return ratio_of(side, indptr, neighbour, signed, kappa, mass)


@compiled()
def ratio_of(side, indptr, neighbour, signed, kappa, mass):
    """Return the ratio F of a cut; arguments as those of ``threshold``, ``side`` is in."""
    crossing, volume, total = 0.0, 0.0, 0.0
    for i in range(side.size):
        total += mass[i]
        if side[i]:
            volume += mass[i]
            for e in range(indptr[i], indptr[i + 1]):
                if not side[neighbour[e]]:
                    crossing += signed[e]
    # a sum of positive terms that was taken as a difference: rounding must not make it negative
    return max(kappa + crossing, 0.0) * total / (volume * (total - volume))


@compiled()
def step(indptr, neighbour, signed, first, second, limit, kappa, mass, flow, p, q, rounds, side):
    """Make one step of RatioDCA from a cut.

    Parameters
    ----------
    indptr, neighbour, signed : in, t as a symmetric CSR matrix without a diagonal
    first, second, limit : in, (m,) the pairs with t > 0, each once, and their t
    kappa : in, κ
    mass : in, (n,) b, positive
    flow : in and out, (m,) y; where the last step left it, or zeros
    p, q : in and out, (n,) likewise
    rounds : in, the most rounds of the inner problem
    side : in and out, (n,) the cut; never one with a greater ratio

    Returns
    -------
    (float, bool)
        The ratio of the cut, and whether it is less than before.
    """
    n, m = mass.size, limit.size
    ratio = ratio_of(side, indptr, neighbour, signed, kappa, mass)
    g = _subgradient(ratio, indptr, neighbour, signed, mass, side)
    tiny = 1e-10 * np.sqrt((g * g).sum())

    degree = np.zeros(n)
    for e in range(m):
        degree[first[e]] += 1.0
        degree[second[e]] += 1.0
    ends = 4.0 if kappa > 0.0 else 0.0
    pace = 1.0 / (degree.max() + 2.0)
    y_bar, p_bar, q_bar = flow.copy(), p.copy(), q.copy()
    z, f = np.empty(n), np.empty(n)
    trial = np.empty(n, np.bool_)
    best = ratio
    momentum = 1.0
    for turn in range(1, rounds + 1):
        residual(first, second, y_bar, p_bar, q_bar, g, z)
        ahead = (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum)) / 2.0
        push = (momentum - 1.0) / ahead
        momentum = ahead
        uphill = 0.0
        for e in range(m):
            i, j = first[e], second[e]
            new = y_bar[e] - (z[i] - z[j]) / (degree[i] + degree[j] + ends)
            new = min(max(new, -limit[e]), limit[e])
            uphill += (y_bar[e] - new) * (new - flow[e]) * (degree[i] + degree[j] + ends)
            y_bar[e] = new + push * (new - flow[e])
            flow[e] = new
        if kappa > 0.0:
            uphill += move_in_simplex(p, p_bar, z, pace, push, kappa)
            uphill += move_in_simplex(q, q_bar, z, -pace, push, kappa)
        if uphill > 0.0:
            momentum = 1.0
        if turn % 20 != 0 and turn != rounds:
            continue
        residual(first, second, flow, p, q, g, z)
        length = np.sqrt((z * z).sum())
        if length <= tiny:  # no vector is better than this cut
            break
        for i in range(n):
            f[i] = -z[i] / length
        trial_ratio = threshold(f, indptr, neighbour, signed, kappa, mass, trial)
        if trial_ratio < best:
            best = trial_ratio
            side[:] = trial
        # Half of what the inner problem can give is enough for a step that pays; without one,
        # go on until nearly all of it is there.
        enough = 0.5 if best < ratio * (1.0 - 1e-10) else 0.999
        if _inner_value(f, g, first, second, limit, kappa) <= -enough * length:
            break
    return best, best < ratio * (1.0 - 1e-10)


@compiled()
def _subgradient(ratio, indptr, neighbour, signed, mass, side):
    """Return ``g = r + F s`` at the indicator of a cut with the ratio F."""
    n = mass.size
    total = mass.sum()
    volume = 0.0
    for i in range(n):
        if side[i]:
            volume += mass[i]
    g = np.empty(n)
    for i in range(n):
        g[i] = ratio * mass[i] * (total - volume if side[i] else -volume) / total
        for e in range(indptr[i], indptr[i + 1]):
            if signed[e] < 0.0 and side[neighbour[e]] != side[i]:
                g[i] += -signed[e] if side[i] else signed[e]
    return g


@compiled()
def _inner_value(f, g, first, second, limit, kappa):
    """Return ``R1(f) − ⟨g, f⟩``."""
    value, low, high = 0.0, np.inf, -np.inf
    for i in range(f.size):
        low, high = min(low, f[i]), max(high, f[i])
        value -= g[i] * f[i]
    value += kappa * (high - low)
    for e in range(limit.size):
        value += limit[e] * abs(f[first[e]] - f[second[e]])
    return value


@compiled()
def residual(first, second, flow, p, q, g, z):
    """Put ``Aᵀ y + p − q − g`` into z."""
    for i in range(z.size):
        z[i] = p[i] - q[i] - g[i]
    for e in range(flow.size):
        z[first[e]] += flow[e]
        z[second[e]] -= flow[e]


@compiled()
def move_in_simplex(p, p_bar, z, pace, push, size):
    """Move p down its gradient into the simplex {p ≥ 0, Σ p = size}, and p_bar ahead of it.

    Returns how much the move goes against the momentum. The projection is Michelot's: subtract
    one number from all, drop those below zero, and again until none is dropped.
    """
    n = p.size
    point = np.empty(n)
    for i in range(n):
        point[i] = p_bar[i] - pace * z[i]
    cut = -np.inf
    count = n + 1
    while True:
        above, total = 0, 0.0
        for i in range(n):
            if point[i] > cut:
                above += 1
                total += point[i]
        if above == 0 or above >= count:  # more than before can only be rounding
            break
        count = above
        cut = (total - size) / above
    uphill = 0.0
    for i in range(n):
        new = max(point[i] - cut, 0.0)
        uphill += (p_bar[i] - new) * (new - p[i]) / abs(pace)
        p_bar[i] = new + push * (new - p[i])
        p[i] = new
    return uphill
