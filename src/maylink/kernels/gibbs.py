"""The collapsed Gibbs sampler: the loop over draws, and the moves of single points.

A point's cluster is drawn from ``n_k · predictive_k(x)^γ · exp(pull_k)``, a new cluster from
``α · predictive_0(x)^γ``, where the pull of a cluster is the sum over the point's links into it of
``+weight · ln(p/(1−q))`` for may and ``−weight · ln(q/(1−p))`` for may-not links.

In place of n_k and α other priors of the partition have other weights; all come from tables
(:mod:`maylink.kernels.partition_tables`). Clusters live in slots (:mod:`maylink.kernels.slots`),
and labels are slots. Split–merge moves and the draws of p, q and α are in other files; :func:`run`
calls them all.
"""

from __future__ import annotations

from math import exp
from typing import Any, NamedTuple

import numpy as np

from maylink.kernels.compile import compiled
from maylink.kernels.conjugate import clear, fetch, gain, put
from maylink.kernels.partition_tables import draw_component, present_terms
from maylink.kernels.predictive import gains, loss, refresh
from maylink.kernels.scalars import count_kinds, draw_alpha, draw_reliability, log_joint, set_pull
from maylink.kernels.slots import fill
from maylink.kernels.split_merge import split_merge

FEWEST = 4  # free slots that a move may need
NOTHING = -42.0  # log of a weight that rounding would swallow: e^−42 is below 2^−60


class KernelSettings(NamedTuple):
    """How to sample; a prior of (0, 0) says that p and q, or α, are known and not drawn."""

    data_weight: float
    thin: int
    n_split_merge: int
    n_scans: int
    single_site: bool
    sources: Any  # the prior of p and q
    alpha_prior: tuple[float, float]
    tables: Any  # of the partition's prior; what opening a cluster weighs is written in them


@compiled(allocates=False)
def run(
    rng, rows, prior, links, settings, labels, clusters, slots, scalars, scratch, table, cursor,
    base, out_labels, out_trace,
):  # fmt: skip
    """Draw ``len(out_labels)`` partitions, or as many as there is room for.

    Parameters
    ----------
    rng : in and out, Generator
    rows, prior, links, settings : in
    labels : in and out, (n,) slot of each point
    clusters, slots, scalars, scratch, table : in and out
    cursor : in and out, (4,) where it stands: draws made, sweeps of the next one, points visited
        and split–merge moves made in the present sweep; zeros to begin with
    base : in, Σ log h(x), for the log joint
    out_labels : out, (draws, n)
    out_trace : out, (draws, 3 + 2 sources): clusters, α, log joint, p, q

    Returns
    -------
    bool
        False where few slots are free: the caller makes more room and calls again.
    """
    n, tables, counts, pull = labels.size, settings.tables, scratch.counts, scratch.pull
    weight = settings.data_weight
    if cursor[0] + cursor[1] + cursor[2] + cursor[3] == 0:
        spare = slots.free[slots.count[1] - 1]
        for i in range(n):
            fetch(rows, i, scratch.x)
            scratch.fresh[i] = gain(prior, clusters, spare, scratch.x, 1.0, scratch.solve)
        set_pull(links, scalars, pull)
    while cursor[0] < len(out_labels):
        terms = present_terms(tables, scalars)
        if slots.count[2] > 0 and cursor[2] + cursor[3] == 0:
            # After rounding spoilt a factor, or a split–merge move.
            for a in range(slots.count[0]):
                clear(prior, clusters, slots.active[a])
            fill(rows, prior, labels, clusters, scratch.x, scratch.solve)
            slots.count[2] = 0
        while settings.single_site and cursor[2] < n:
            if slots.count[1] < FEWEST:
                return False
            cursor[2] = scan(
                rng, rows, prior, links, pull, scratch.fresh, weight, terms,
                labels, clusters, slots, scratch, table, cursor[2],
            )  # fmt: skip
        while cursor[3] < settings.n_split_merge:
            if slots.count[1] < FEWEST:
                return False
            split_merge(
                rng, rows, prior, links, pull, weight, terms,
                settings.n_scans, labels, clusters, slots, scratch,
            )  # fmt: skip
            cursor[3] += 1
        count_kinds(links, labels, counts)
        if settings.sources.own[0] > 0.0:
            draw_reliability(rng, counts, settings.sources, scalars)
            set_pull(links, scalars, pull)
        if settings.alpha_prior[0] > 0.0:
            draw_alpha(rng, n, slots.count[0], settings.alpha_prior, tables.discount, scalars)
        draw_component(rng, tables, clusters.size, scalars)
        cursor[1], cursor[2], cursor[3] = cursor[1] + 1, 0, 0
        if cursor[1] < settings.thin:
            continue
        draw, cursor[0], cursor[1] = cursor[0], cursor[0] + 1, 0
        renumber(labels, scratch.number, out_labels[draw])
        out_trace[draw, 0] = slots.count[0]
        out_trace[draw, 1] = scalars.alpha[0]
        out_trace[draw, 2] = log_joint(clusters, slots, counts, settings, scalars, base)
        for s in range(scalars.p.size):
            out_trace[draw, 3 + s] = scalars.p[s]
            out_trace[draw, 3 + scalars.p.size + s] = scalars.q[s]
    return True


@compiled(allocates=False, inner=True)
def scan(
    rng, rows, prior, links, pull, fresh, weight, terms, labels, clusters, slots, scratch, table, at
):
    """Redraw the cluster of each point from ``at`` on; stop early where room runs out.

    Returns
    -------
    int
        The first point not visited.
    """
    x, solve, weights, pulls = scratch.x, scratch.solve, scratch.weights, scratch.pulls
    indptr, neighbour, active, size = links.indptr, links.neighbour, slots.active, clusters.size
    n_active, n_free = slots.count[0], slots.count[1]
    join, opening, added = terms.join, terms.opening, scratch.added
    top = np.int64(8)  # slots from there on are free; no literal, which would be another type
    for k in range(table.join.size):
        table.join[k] = -np.inf
    for a in range(n_active):
        if active[a] >= top:
            top = 8 * (active[a] // 8 + 1)
        refresh(prior, clusters, table, active[a], join)
    for i in range(at, labels.size):
        if n_free < 3:
            slots.count[0], slots.count[1] = n_active, n_free
            return i
        fetch(rows, i, x)
        current = labels[i]
        for e in range(indptr[i], indptr[i + 1]):
            pulls[labels[neighbour[e]]] += pull[e]
        gains(prior, clusters, table, top, x, solve, added)
        for k in range(top):
            weights[k] = table.join[k] + weight * added[k] + pulls[k]
        lost = loss(prior, clusters, table, current, x, solve)
        weights[current] = table.join_fewer[current] - weight * lost + pulls[current]
        n_others = n_active - 1 if size[current] < 1.5 else n_active
        weights[top] = opening[n_others] + weight * fresh[i]
        for e in range(indptr[i], indptr[i + 1]):
            pulls[labels[neighbour[e]]] = 0.0
        target = choose(rng, weights, top + 1)
        if target == current or (target == top and size[current] < 1.5):
            continue
        if target == top:
            target = slots.free[n_free - 1]
            n_free -= 1
            active[n_active] = target
            n_active += 1
            if target >= top:
                top = 8 * (target // 8 + 1)
        if not put(prior, clusters, current, x, -1.0, lost, solve):
            slots.count[2] += 1
        if size[current] < 0.5:
            current_at = 0
            while active[current_at] != current:
                current_at += 1
            n_active -= 1
            active[current_at] = active[n_active]
            slots.free[n_free] = current
            n_free += 1
        change = gain(prior, clusters, target, x, 1.0, solve)
        put(prior, clusters, target, x, 1.0, change, solve)
        refresh(prior, clusters, table, current, join)
        refresh(prior, clusters, table, target, join)
        labels[i] = target
    slots.count[0], slots.count[1] = n_active, n_free
    return labels.size


@compiled(allocates=False, inner=True)
def renumber(labels, number, out):
    """Write the labels, numbered by first appearance; ``number`` (room,) is scratch."""
    n_seen = 0
    for k in range(number.size):
        number[k] = -1
    for i in range(labels.size):
        if number[labels[i]] < 0:
            number[labels[i]] = n_seen
            n_seen += 1
        out[i] = number[labels[i]]


@compiled(allocates=False, inner=True, fastmath={"nnan", "reassoc"})
def choose(rng, weights, size):
    """Draw a position from log weights, which are left as something else."""
    top = -np.inf
    for a in range(size):
        if weights[a] > top:
            top = weights[a]
    total = 0.0
    for a in range(size):
        weights[a] = exp(weights[a] - top) if weights[a] - top > NOTHING else 0.0
        total += weights[a]
    left = rng.random() * total
    chosen = -1
    for a in range(size):
        if weights[a] > 0.0:
            chosen = a
            left -= weights[a]
            if left < 0.0:
                break
    return chosen
