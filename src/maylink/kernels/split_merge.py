"""Split–merge moves of the collapsed Gibbs sampler (Jain & Neal 2004), with links.

One move proposes to split the cluster of two points in two, or to merge the clusters of two points.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from maylink.kernels.compile import compiled
from maylink.kernels.conjugate import clear, copy_cluster, fetch, gain, put
from maylink.kernels.slots import add, enlist, retire


@compiled(allocates=False, inner=True)
def split_merge(
    rng, rows, prior, links, pull, weight, terms, n_scans, labels, clusters, slots, scratch
):
    """Propose to split the cluster of two points, or to merge the two clusters that they are in.

    The launch state comes from a random split and ``n_scans`` restricted Gibbs scans. A last scan
    is the proposal of a split; for a merger its probability is that of the way back. Links count in
    the scans and in the acceptance ratio, and so do the terms of the partition's prior. Needs three
    free slots.

    Returns
    -------
    bool
        Whether the proposal was accepted.
    """
    if labels.size < 2:
        return False
    i, j = draw_pair(rng, links, labels.size)
    x, solve, side, members = scratch.x, scratch.solve, scratch.side, scratch.members
    from_i, from_j = labels[i], labels[j]
    n_free = slots.count[1]
    a, b, both = slots.free[n_free - 1], slots.free[n_free - 2], slots.free[n_free - 3]
    n_members = random_split(rng, rows, prior, labels, clusters, scratch, i, j, a, b)
    merging = from_i != from_j
    chance = 0.0
    for s in range(n_scans + 1):
        last = s == n_scans
        chance = restricted_scan(
            rng, rows, prior, links, pull, weight, terms.join, labels, clusters, scratch,
            n_members, a, b, from_i, last and merging,
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
    cross = pull_across(links, pull, side, members, n_members, i)
    size_a, size_b = int(clusters.size[a] + 0.5), int(clusters.size[b] + 0.5)
    n_together = slots.count[0] - 1 if merging else slots.count[0]
    size = terms.size
    split = terms.opening[n_together] - size[1] - cross
    split += size[size_a] + size[size_b] - size[size_a + size_b]
    split += weight * (clusters.norm[a] + clusters.norm[b] - merged)
    ratio = chance - split if merging else split - chance
    accepted = log(max(rng.random(), 1e-300)) < ratio
    if accepted:
        slots.count[2] += 1  # sums were built anew, in another order
        retire(prior, clusters, slots, from_i)
        if merging:
            retire(prior, clusters, slots, from_j)
            enlist(slots, both)
            relabel(labels, side, members, n_members, i, j, both, both)
        else:
            enlist(slots, a)
            enlist(slots, b)
            relabel(labels, side, members, n_members, i, j, a, b)
    if not accepted or merging:
        clear(prior, clusters, a)
        clear(prior, clusters, b)
    if merging and not accepted:
        clear(prior, clusters, both)
    side[i], side[j] = -1, -1
    for p in range(n_members):
        side[members[p]] = -1
    return accepted


@compiled(allocates=False, inner=True)
def relabel(labels, side, members, n_members, i, j, a, b):
    """Give points i and j and the members the label of their side, a or b."""
    labels[i], labels[j] = a, b
    for p in range(n_members):
        labels[members[p]] = a if side[members[p]] == 0 else b


@compiled(allocates=False, inner=True)
def draw_pair(rng, links, n):
    """Draw two points; half of the pairs are the ends of a random link."""
    if links.i.size > 0 and rng.random() < 0.5:
        e = int(rng.random() * links.i.size)
        return links.i[e], links.j[e]
    i = int(rng.random() * n)
    j = int(rng.random() * (n - 1))
    if j >= i:
        j += 1
    return i, j


@compiled(allocates=False, inner=True)
def random_split(rng, rows, prior, labels, clusters, scratch, i, j, a, b):
    """Put the points that share a cluster with i or j on a random side; return how many they are.

    Point i is on side 0, in slot a, and point j on side 1, in slot b.
    """
    x, solve, side, members = scratch.x, scratch.solve, scratch.side, scratch.members
    from_i, from_j = labels[i], labels[j]
    side[i], side[j] = 0, 1
    add(rows, prior, clusters, a, i, x, solve)
    add(rows, prior, clusters, b, j, x, solve)
    n_members = 0
    for m in range(labels.size):
        if (labels[m] == from_i or labels[m] == from_j) and m != i and m != j:
            members[n_members] = m
            n_members += 1
            side[m] = 0 if rng.random() < 0.5 else 1
            add(rows, prior, clusters, a if side[m] == 0 else b, m, x, solve)
    return n_members


@compiled(allocates=False, inner=True)
def pull_across(links, pull, side, members, n_members, i):
    """Return the sum of the pulls of links between side 0, on which point i is, and side 1."""
    total = 0.0
    for p in range(-1, n_members):
        m = i if p < 0 else members[p]
        if side[m] == 0:
            for e in range(links.indptr[m], links.indptr[m + 1]):
                if side[links.neighbour[e]] == 1:
                    total += pull[e]
    return total


@compiled(allocates=False, inner=True)
def restricted_scan(
    rng,
    rows,
    prior,
    links,
    pull,
    weight,
    join,
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
        current = side[m]
        here, there = (a, b) if current == 0 else (b, a)
        fetch(rows, m, x)
        loss = gain(prior, clusters, here, x, -1.0, solve)
        change = gain(prior, clusters, there, x, 1.0, solve)
        stay = join[int(clusters.size[here] - 0.5)] - weight * loss
        move = join[int(clusters.size[there] + 0.5)] + weight * change
        for e in range(links.indptr[m], links.indptr[m + 1]):
            where = side[links.neighbour[e]]
            if where == current:
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
            moves = (labels[m] == from_i) != (current == 0)
        else:
            moves = log(max(rng.random(), 1e-300)) < log_move
        total += log_move if moves else log_stay
        if moves:
            put(prior, clusters, here, x, -1.0, loss, solve)
            put(prior, clusters, there, x, 1.0, change, solve)
            side[m] = 1 - current
    return total
