"""Correlation clustering of a signed graph: contraction of edges, and moves of single points.

Edges are pairs of points with their net votes: positive, may; negative, may-not. Contraction joins
the two clusters with the most votes between them, again and again, while those are positive
(greedy additive edge contraction: Keuper et al., *Efficient Decomposition of Image and Mesh Graphs
by Lifted Multicuts*, ICCV 2015). Edges are half-edges in linked lists; of two clusters that join,
the one with the shorter list hands its edges over, so that each edge is handed over O(log n)
times; a hash table finds the edge between two clusters. Its entries are never taken out: those of
clusters that are gone are never asked for, and fall away when the table is made anew.
"""

from __future__ import annotations

import numpy as np

from maylink.kernels.compile import compiled

SLACK = 1e-12  # of all votes involved: less than this of them is rounding and decides nothing
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ over the golden ratio


@compiled()
def contract(n, first, second, net):
    """Join clusters, from single points on, while two have more may than may-not votes between.

    Parameters
    ----------
    n : in, number of points
    first, second : in, (m,) the ends of each edge, never the same; no pair twice
    net : in, (m,) votes, negative for may-not; of equal ones the earlier edge is contracted first

    Returns
    -------
    array of shape (n,)
        For each point the point that its cluster is named after.
    """
    m = first.size
    votes, all_votes = net.copy(), np.abs(net)
    end, following = np.empty(2 * m, np.int64), np.empty(2 * m, np.int64)
    head, degree, parent = np.full(n, -1), np.zeros(n, np.int64), np.arange(n)
    alive = np.ones(m, np.bool_)
    bits = 3
    while (1 << bits) < 4 * m:
        bits += 1
    keys, edges = np.full(1 << bits, -1), np.empty(1 << bits, np.int64)
    for e in range(m):
        end[2 * e], end[2 * e + 1] = first[e], second[e]
        for h in range(2 * e, 2 * e + 2):
            following[h] = head[end[h]]
            head[end[h]] = h
            degree[end[h]] += 1
        at = find(keys, bits, pair_key(n, first[e], second[e]))
        keys[at], edges[at] = pair_key(n, first[e], second[e]), e
    used = m

    # Whenever votes change an edge dies, so no more than m entries come after the first m.
    heap_votes, heap_edge = np.empty(2 * m + 1), np.empty(2 * m + 1, np.int64)
    size = 0
    for e in range(m):
        if votes[e] > 0.0:
            push(heap_votes, heap_edge, size, votes[e], e)
            size += 1
    while size > 0:
        top, e = heap_votes[0], heap_edge[0]
        size -= 1
        pop(heap_votes, heap_edge, size)
        if not alive[e] or votes[e] != top:
            continue
        a, b = end[2 * e], end[2 * e + 1]
        if degree[a] < degree[b]:
            a, b = b, a
        parent[b] = a
        alive[e] = False
        h = head[b]
        while h >= 0:
            after, e = following[h], h >> 1
            if alive[e]:
                other = end[h ^ 1]
                key = pair_key(n, a, other)
                at = find(keys, bits, key)
                if keys[at] == key:
                    alive[e] = False
                    f = edges[at]
                    votes[f] += votes[e]
                    all_votes[f] += all_votes[e]
                    if votes[f] > SLACK * all_votes[f]:
                        push(heap_votes, heap_edge, size, votes[f], f)
                        size += 1
                else:
                    keys[at], edges[at] = key, e
                    used += 1
                    end[h] = a
                    following[h] = head[a]
                    head[a] = h
                    degree[a] += 1
                    if 2 * used > keys.size:
                        used = 0
                        keys[:] = -1
                        for g in range(m):
                            if alive[g]:
                                key = pair_key(n, end[2 * g], end[2 * g + 1])
                                at = find(keys, bits, key)
                                keys[at], edges[at] = key, g
                                used += 1
            h = after
    for i in range(n):
        root = i
        while parent[root] != root:
            parent[root] = parent[parent[root]]
            root = parent[root]
        parent[i] = root
    return parent


@compiled()
def move_points(indptr, neighbour, net, order, labels, size, free):
    """Let each point go where its votes pull it most, or into a cluster of its own.

    Parameters
    ----------
    indptr, neighbour, net : in, the edges of each point as CSR
    order : in, the points to visit
    labels : in and out, (n,) 0 … n − 1
    size : in and out, (n,) points of each cluster
    free : in and out, (n + 1,) ``free[0]`` empty clusters, named at ``free[1:]``

    Returns
    -------
    int
        How many points moved.
    """
    n = labels.size
    pull, asked_by, asked = np.zeros(n), np.full(n, -1), np.empty(n, np.int64)
    moved = 0
    for i in order:
        own, n_asked, votes = labels[i], 1, 0.0
        asked[0], asked_by[own], pull[own] = own, i, 0.0
        for e in range(indptr[i], indptr[i + 1]):
            k = labels[neighbour[e]]
            if asked_by[k] != i:
                asked_by[k], pull[k] = i, 0.0
                asked[n_asked] = k
                n_asked += 1
            pull[k] += net[e]
            votes += abs(net[e])
        best, most = own, pull[own] + SLACK * votes
        for p in range(1, n_asked):
            if pull[asked[p]] > most:
                best, most = asked[p], pull[asked[p]]
        if most < 0.0 and size[own] > 1:
            best = free[free[0]]
            free[0] -= 1
        if best != own:
            labels[i] = best
            size[best] += 1
            size[own] -= 1
            if size[own] == 0:
                free[0] += 1
                free[free[0]] = own
            moved += 1
    return moved


# ---------------------------------------------------------------------- hash table and heap


@compiled(inline="always")
def pair_key(n, a, b):
    """Return the number of a pair of points, whichever comes first."""
    return min(a, b) * n + max(a, b)


@compiled()
def find(keys, bits, key):
    """Return where in the table the key is, or the empty place where it belongs."""
    at = np.int64((np.uint64(key) * SPREAD) >> np.uint64(64 - bits))
    while keys[at] != -1 and keys[at] != key:
        at = (at + 1) & (keys.size - 1)
    return at


@compiled()
def push(votes, edge, size, new_votes, new_edge):
    """Put an entry into a heap of ``size``: most votes on top, of equal ones the earlier edge."""
    at = size
    while at > 0:
        up = (at - 1) >> 1
        if votes[up] > new_votes or (votes[up] == new_votes and edge[up] < new_edge):
            break
        votes[at], edge[at] = votes[up], edge[up]
        at = up
    votes[at], edge[at] = new_votes, new_edge


@compiled()
def pop(votes, edge, size):
    """Take the top from a heap, of which ``size`` entries are left; the last stands at size."""
    last_votes, last_edge = votes[size], edge[size]
    at = 0
    while True:
        down = 2 * at + 1
        if down >= size:
            break
        right = down + 1
        if right < size and (
            votes[right] > votes[down] or (votes[right] == votes[down] and edge[right] < edge[down])
        ):
            down = right
        if last_votes > votes[down] or (last_votes == votes[down] and last_edge < edge[down]):
            break
        votes[at], edge[at] = votes[down], edge[down]
        at = down
    votes[at], edge[at] = last_votes, last_edge
