"""The collapsed Gibbs sampler: single-site moves, split–merge moves, and the scalars p, q, α.

A point's cluster is drawn from ``n_k · predictive_k(x)^γ · exp(pull_k)``, a new cluster from
``α · predictive_0(x)^γ``, where the pull of a cluster is the sum over the point's links into it of
``+weight · ln(p/(1−q))`` for may and ``−weight · ln(q/(1−p))`` for may-not links.

Clusters live in slots: ``active`` lists the slots in use, ``free`` the others.
"""

from __future__ import annotations

from math import exp, lgamma, log
from typing import Any, NamedTuple

import numpy as np

from maylink.kernels.compile import compiled
from maylink.kernels.conjugate import ClusterArrays, clear, copy_cluster, fetch, gain, put
from maylink.kernels.predictive import gains, loss, make_table, refresh

NOTHING = -42.0  # log of a weight that rounding would swallow: e^−42 is below 2^−60
SMALLEST = 1e-12  # how near p and q may come to 0 and 1


class LinkArrays(NamedTuple):
    """Links by point (``indptr``, ``neighbour``, ``link``) and in a list (the others)."""

    indptr: Any
    neighbour: Any
    link: Any
    i: Any
    j: Any
    may: Any
    weight: Any
    source: Any


class Scalars(NamedTuple):
    """What is drawn beside the partition: p and q by source, and α as an array of one."""

    p: Any
    q: Any
    alpha: Any


class Settings(NamedTuple):
    """How to sample; a prior of (0, 0) keeps the scalar as it is."""

    data_weight: float
    thin: int
    n_split_merge: int
    n_scans: int
    single_site: bool
    reliability_prior: tuple[float, float]
    alpha_prior: tuple[float, float]


class Slots(NamedTuple):
    """Which slots hold clusters; ``count`` is (how many do, how many are free, rebuild or not)."""

    active: Any
    free: Any
    count: Any


class Scratch(NamedTuple):
    """Room that the moves work in."""

    x: Any
    solve: Any
    weights: Any
    pulls: Any
    added: Any
    side: Any
    members: Any


@compiled()
def run(
    rng, rows, prior, links, settings, labels, clusters, slots, scalars, base, out_labels, out_trace
):
    """Draw ``len(out_labels)`` partitions.

    Parameters
    ----------
    rng : in and out, Generator
    rows, prior, links, settings : in
    labels : in and out, (n,) slot of each point
    clusters, slots : in and out; they may be moved to more room, so the caller's copies go stale
    scalars : in and out
    base : in, Σ log h(x), for the log joint
    out_labels : out, (draws, n)
    out_trace : out, (draws, 3 + 2 sources): clusters, α, log joint, p, q
    """
    n = labels.size
    d = prior.columns.shape[1]
    x, solve = np.empty(d), np.empty(d)
    fresh = np.empty(n)
    spare = slots.free[slots.count[1] - 1]
    for i in range(n):
        fetch(rows, i, x)
        fresh[i] = gain(prior, clusters, spare, x, 1.0, solve)
    side = np.full(n, np.int8(-1))
    members = np.empty(n, np.int64)
    pull = np.empty(links.neighbour.size)
    set_pull(links, scalars, pull)
    capacity = slots.active.size
    scratch = Scratch(
        x, solve, np.empty(capacity + 1), np.zeros(capacity), np.empty(capacity), side, members
    )
    counts = np.zeros((4, scalars.p.size))
    for draw in range(len(out_labels)):
        for _ in range(settings.thin):
            if slots.count[2] > 0:  # rounding spoilt a factor, or a split–merge move built anew
                for a in range(slots.count[0]):
                    clear(prior, clusters, slots.active[a])
                fill(rows, prior, labels, clusters)
                slots.count[2] = 0
            at = 0 if settings.single_site else n
            while at < n:
                if slots.count[1] < 4:
                    clusters, slots, scratch = grow(prior, clusters, slots, scratch)
                at = scan(
                    rng, rows, prior, links, pull, fresh, settings.data_weight, scalars.alpha[0],
                    labels, clusters, slots, scratch, make_table(prior, slots.active.size), at,
                )  # fmt: skip
            for _ in range(settings.n_split_merge):
                if slots.count[1] < 4:
                    clusters, slots, scratch = grow(prior, clusters, slots, scratch)
                split_merge(
                    rng, rows, prior, links, pull, settings.data_weight, scalars.alpha[0],
                    settings.n_scans, labels, clusters, slots, scratch,
                )  # fmt: skip
            count_kinds(links, labels, counts)
            if settings.reliability_prior[0] > 0.0:
                draw_reliability(rng, counts, settings.reliability_prior, scalars)
                set_pull(links, scalars, pull)
            if settings.alpha_prior[0] > 0.0:
                draw_alpha(rng, n, slots.count[0], settings.alpha_prior, scalars)
        renumber(labels, slots.active.size, out_labels[draw])
        out_trace[draw, 0] = slots.count[0]
        out_trace[draw, 1] = scalars.alpha[0]
        out_trace[draw, 2] = log_joint(
            clusters, slots, counts, settings.data_weight, settings.reliability_prior, scalars, base
        )
        for s in range(scalars.p.size):
            out_trace[draw, 3 + s] = scalars.p[s]
            out_trace[draw, 3 + scalars.p.size + s] = scalars.q[s]


@compiled(allocates=False)
def scan(
    rng, rows, prior, links, pull, fresh, weight, alpha, labels, clusters, slots, scratch, board, at
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
    log_size, added = board.log_size, scratch.added
    log_alpha = log(alpha)
    top = 8  # slots from there on are free
    for a in range(n_active):
        top = max(top, 8 * (active[a] // 8 + 1))
        refresh(prior, clusters, board, active[a])
    for i in range(at, labels.size):
        if n_free < 3:
            slots.count[0], slots.count[1] = n_active, n_free
            return i
        fetch(rows, i, x)
        own = labels[i]
        for e in range(indptr[i], indptr[i + 1]):
            pulls[labels[neighbour[e]]] += pull[e]
        gains(prior, clusters, board, top, x, solve, added)
        for k in range(top):
            weights[k] = log_size[k] + weight * added[k] + pulls[k]
        lost = loss(prior, clusters, board, own, x, solve)
        weights[own] = board.log_fewer[own] - weight * lost + pulls[own]
        weights[top] = log_alpha + weight * fresh[i]
        for e in range(indptr[i], indptr[i + 1]):
            pulls[labels[neighbour[e]]] = 0.0
        target = choose(rng, weights, top + 1)
        if target == own or (target == top and size[own] < 1.5):
            continue
        if target == top:
            target = slots.free[n_free - 1]
            n_free -= 1
            active[n_active] = target
            n_active += 1
            top = max(top, 8 * (target // 8 + 1))
        if not put(prior, clusters, own, x, -1.0, lost, solve):
            slots.count[2] += 1
        if size[own] < 0.5:
            own_at = 0
            while active[own_at] != own:
                own_at += 1
            n_active -= 1
            active[own_at] = active[n_active]
            slots.free[n_free] = own
            n_free += 1
        change = gain(prior, clusters, target, x, 1.0, solve)
        put(prior, clusters, target, x, 1.0, change, solve)
        refresh(prior, clusters, board, own)
        refresh(prior, clusters, board, target)
        labels[i] = target
    slots.count[0], slots.count[1] = n_active, n_free
    return labels.size


@compiled()
def split_merge(
    rng, rows, prior, links, pull, weight, alpha, n_scans, labels, clusters, slots, scratch
):
    """Propose to split the cluster of two points or to merge their two (Jain & Neal 2004).

    Half of the pairs are the ends of a random link. The launch state comes from a random split and
    ``n_scans`` restricted Gibbs scans; a last scan is the proposal, or the chance of coming back.
    Links count in the scans and in the acceptance ratio. Needs three free slots.
    """
    n = labels.size
    if n < 2:
        return False
    if links.i.size > 0 and rng.random() < 0.5:
        e = int(rng.random() * links.i.size)
        i, j = links.i[e], links.j[e]
    else:
        i = int(rng.random() * n)
        j = int(rng.random() * (n - 1))
        if j >= i:
            j += 1
    x, solve, side, members = scratch.x, scratch.solve, scratch.side, scratch.members
    from_i, from_j = labels[i], labels[j]
    n_free = slots.count[1]
    a, b, both = slots.free[n_free - 1], slots.free[n_free - 2], slots.free[n_free - 3]
    side[i], side[j] = 0, 1
    add(rows, prior, clusters, a, i, x, solve)
    add(rows, prior, clusters, b, j, x, solve)
    n_members = 0
    for m in range(n):
        if (labels[m] == from_i or labels[m] == from_j) and m != i and m != j:
            members[n_members] = m
            n_members += 1
            side[m] = 0 if rng.random() < 0.5 else 1
            add(rows, prior, clusters, a if side[m] == 0 else b, m, x, solve)
    merging = from_i != from_j
    chance = 0.0
    for s in range(n_scans + 1):
        last = s == n_scans
        chance = restricted_scan(
            rng, rows, prior, links, pull, weight, labels, clusters, scratch, n_members,
            a, b, from_i, last and merging,
        )  # fmt: skip
    if merging:
        copy_cluster(clusters, a, both)
        for p in range(-1, n_members):
            m = j if p < 0 else members[p]
            if side[m] == 1:
                add(rows, prior, clusters, both, m, x, solve)
        merged = clusters.norm[both]
    else:
        merged = clusters.norm[from_i]
    cross = 0.0
    for p in range(-1, n_members):
        m = i if p < 0 else members[p]
        if side[m] == 0:
            for e in range(links.indptr[m], links.indptr[m + 1]):
                if side[links.neighbour[e]] == 1:
                    cross += pull[e]
    size_a, size_b = clusters.size[a], clusters.size[b]
    split = log(alpha) + lgamma(size_a) + lgamma(size_b) - lgamma(size_a + size_b) - cross
    split += weight * (clusters.norm[a] + clusters.norm[b] - merged)
    ratio = chance - split if merging else split - chance
    accepted = log(max(rng.random(), 1e-300)) < ratio
    if accepted:
        for p in range(-2, n_members):
            m = i if p == -2 else (j if p == -1 else members[p])
            if merging:
                labels[m] = both
            else:
                labels[m] = a if side[m] == 0 else b
        slots.count[2] += 1
        _retire(prior, clusters, slots, from_i)
        if merging:
            _retire(prior, clusters, slots, from_j)
            _enlist(slots, both)
        else:
            _enlist(slots, a)
            _enlist(slots, b)
    if not accepted or merging:
        clear(prior, clusters, a)
        clear(prior, clusters, b)
    if merging and not accepted:
        clear(prior, clusters, both)
    side[i], side[j] = -1, -1
    for p in range(n_members):
        side[members[p]] = -1
    return accepted


@compiled()
def restricted_scan(
    rng,
    rows,
    prior,
    links,
    pull,
    weight,
    labels,
    clusters,
    scratch,
    n_members,
    a,
    b,
    from_i,
    forced,
):
    """Redraw for each member whether it stands on side a or b; forced, put it where it was.

    Returns
    -------
    float
        Log probability of the choices.
    """
    x, solve, side, members = scratch.x, scratch.solve, scratch.side, scratch.members
    total = 0.0
    for p in range(n_members):
        m = members[p]
        own = side[m]
        here, there = (a, b) if own == 0 else (b, a)
        fetch(rows, m, x)
        loss = gain(prior, clusters, here, x, -1.0, solve)
        change = gain(prior, clusters, there, x, 1.0, solve)
        stay = log(clusters.size[here] - 1.0) - weight * loss
        move = log(clusters.size[there]) + weight * change
        for e in range(links.indptr[m], links.indptr[m + 1]):
            where = side[links.neighbour[e]]
            if where == own:
                stay += pull[e]
            elif where >= 0:
                move += pull[e]
        odds = move - stay
        # log P(move) and log P(stay) without overflow
        if odds > 0.0:
            log_move = -np.log1p(exp(-odds))
            log_stay = log_move - odds
        else:
            log_stay = -np.log1p(exp(odds))
            log_move = log_stay + odds
        if forced:
            moves = (labels[m] == from_i) != (own == 0)
        else:
            moves = log(max(rng.random(), 1e-300)) < log_move
        total += log_move if moves else log_stay
        if moves:
            put(prior, clusters, here, x, -1.0, loss, solve)
            put(prior, clusters, there, x, 1.0, change, solve)
            side[m] = 1 - own
    return total


@compiled()
def add(rows, prior, clusters, slot, i, x, solve):
    """Put point i into a slot; x and solve are scratch."""
    fetch(rows, i, x)
    put(prior, clusters, slot, x, 1.0, gain(prior, clusters, slot, x, 1.0, solve), solve)


@compiled()
def fill(rows, prior, labels, clusters):
    """Put every point into its slot; the clusters must be empty."""
    x, solve = np.empty(prior.columns.shape[1]), np.empty(prior.columns.shape[1])
    for i in range(labels.size):
        add(rows, prior, clusters, labels[i], i, x, solve)


@compiled()
def renumber(labels, capacity, out):
    """Write the labels, numbered by first appearance."""
    number = np.full(capacity, -1)
    n_seen = 0
    for i in range(labels.size):
        if number[labels[i]] < 0:
            number[labels[i]] = n_seen
            n_seen += 1
        out[i] = number[labels[i]]


@compiled(allocates=False, fastmath={"nnan", "reassoc"})
def choose(rng, weights, size):
    """Draw a position from log weights, which are left as something else."""
    top = -np.inf
    for a in range(size):
        top = max(top, weights[a])
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


@compiled()
def grow(prior, clusters, slots, scratch):
    """Move everything to twice the room."""
    old = slots.active.size
    room = 2 * old
    size, norm = np.zeros(room), np.zeros(room)
    total = np.zeros((room, clusters.total.shape[1]))
    square = np.zeros((room, clusters.square.shape[1]))
    factor = np.zeros((room, clusters.factor.shape[1]))
    size[:old], norm[:old] = clusters.size, clusters.norm
    total[:old], square[:old], factor[:old] = clusters.total, clusters.square, clusters.factor
    grown = ClusterArrays(size, total, square, factor, norm)
    active, free = np.empty(room, np.int64), np.empty(room, np.int64)
    active[:old], free[:old] = slots.active, slots.free
    for k in range(old, room):
        clear(prior, grown, k)
        free[slots.count[1] + k - old] = k
    slots.count[1] += room - old
    return (
        grown,
        Slots(active, free, slots.count),
        Scratch(
            scratch.x, scratch.solve, np.empty(room + 1), np.zeros(room), np.empty(room),
            scratch.side, scratch.members,
        ),
    )  # fmt: skip


@compiled()
def _retire(prior, clusters, slots, slot):
    n_active = slots.count[0]
    for a in range(n_active):
        if slots.active[a] == slot:
            slots.active[a] = slots.active[n_active - 1]
            break
    clear(prior, clusters, slot)
    slots.free[slots.count[1]] = slot
    slots.count[0] -= 1
    slots.count[1] += 1


@compiled()
def _enlist(slots, slot):
    n_free = slots.count[1]
    for f in range(n_free):
        if slots.free[f] == slot:
            slots.free[f] = slots.free[n_free - 1]
            break
    slots.active[slots.count[0]] = slot
    slots.count[0] += 1
    slots.count[1] -= 1


# ---------------------------------------------------------------------- p, q and α


@compiled()
def set_pull(links, scalars, pull):
    """Write the pull of each link at each of its points."""
    for e in range(pull.size):
        link = links.link[e]
        p, q = scalars.p[links.source[link]], scalars.q[links.source[link]]
        may = log(p) - log(1.0 - q)
        may_not = log(q) - log(1.0 - p)
        pull[e] = links.weight[link] * (may if links.may[link] else -may_not)


@compiled()
def count_kinds(links, labels, counts):
    """Count links by source: may same, may-not same, may-not different, may different."""
    counts[:] = 0.0
    for e in range(links.i.size):
        if labels[links.i[e]] == labels[links.j[e]]:
            row = 0 if links.may[e] else 1
        else:
            row = 3 if links.may[e] else 2
        counts[row, links.source[e]] += links.weight[e]


@compiled()
def draw_reliability(rng, counts, prior, scalars):
    """Draw p and q of each source given how often its links are right."""
    for s in range(scalars.p.size):
        p = rng.beta(prior[0] + counts[0, s], prior[1] + counts[1, s])
        q = rng.beta(prior[0] + counts[2, s], prior[1] + counts[3, s])
        scalars.p[s] = min(max(p, SMALLEST), 1.0 - SMALLEST)
        scalars.q[s] = min(max(q, SMALLEST), 1.0 - SMALLEST)


@compiled()
def draw_alpha(rng, n, n_clusters, prior, scalars):
    """Draw α given the number of clusters (Escobar & West 1995)."""
    eta = max(rng.beta(scalars.alpha[0] + 1.0, float(n)), 1e-300)
    rate = prior[1] - log(eta)
    odds = (prior[0] + n_clusters - 1.0) / (n * rate)
    more = 1.0 if rng.random() * (1.0 + odds) < odds else 0.0
    drawn = rng.gamma(prior[0] + n_clusters - 1.0 + more, 1.0 / rate)
    scalars.alpha[0] = max(drawn, 1e-300)


@compiled()
def log_joint(clusters, slots, counts, weight, reliability_prior, scalars, base):
    """Return log p(x, E, z) given α; p and q are integrated out where they are learned."""
    alpha = scalars.alpha[0]
    n = 0.0
    value = weight * base
    for a in range(slots.count[0]):
        k = slots.active[a]
        n += clusters.size[k]
        value += log(alpha) + lgamma(clusters.size[k]) + weight * clusters.norm[k]
    value += lgamma(alpha) - lgamma(alpha + n)
    right, wrong = reliability_prior
    for s in range(scalars.p.size):
        if right > 0.0:
            constant = lgamma(right + wrong) - lgamma(right) - lgamma(wrong)
            for good, bad in ((counts[0, s], counts[1, s]), (counts[2, s], counts[3, s])):
                value += constant + lgamma(right + good) + lgamma(wrong + bad)
                value -= lgamma(right + wrong + good + bad)
        else:
            value += counts[0, s] * log(scalars.p[s]) + counts[1, s] * log(1.0 - scalars.p[s])
            value += counts[2, s] * log(scalars.q[s]) + counts[3, s] * log(1.0 - scalars.q[s])
    return value
